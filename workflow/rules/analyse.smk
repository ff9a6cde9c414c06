"""Analyse: predictions -> what is behind the numbers of the tables.

Output: calibration of probabilities, accuracy by document length, what methods get wrong, and where
the study asks for them learning curves; CSV files, and figures beside them.
"""


rule measure_calibration:
    """Measure how far probabilities are what they say, before and after calibration."""
    input:
        code=code("measure_calibration"),
        study="results/studies/{study}.json",
        cells="results/cells/{study}.parquet",
        selections="results/selections/{study}.parquet",
        runs=runs_of_study(),
        corpora=corpora_of_study(),
        tokens=tokens_measured(),
    output:
        calibration=report(
            "results/calibration/{study}/calibration.csv",
            category="Tables",
            labels={"table": "calibration", "form": "CSV"},
            caption="../report/calibration.rst",
        ),
        reliability=report(
            "results/calibration/{study}/reliability.csv",
            category="Tables",
            labels={"table": "reliability", "form": "CSV"},
            caption="../report/calibration.rst",
        ),
        by_length=report(
            "results/calibration/{study}/by_length.csv",
            category="Tables",
            labels={"table": "over-confidence by length", "form": "CSV"},
            caption="../report/calibration.rst",
        ),
        svg=report(
            "results/calibration/{study}/reliability.svg",
            category="Figures",
            labels={"figure": "reliability", "form": "SVG"},
            caption="../report/calibration.rst",
        ),
        png="results/calibration/{study}/reliability.png",
        narrow="results/calibration/{study}/reliability-narrow.svg",
        words="results/calibration/{study}/reliability.txt",
        length_svg=report(
            "results/calibration/{study}/by_length.svg",
            category="Figures",
            labels={"figure": "over-confidence by length", "form": "SVG"},
            caption="../report/calibration.rst",
        ),
        length_png="results/calibration/{study}/by_length.png",
        length_narrow="results/calibration/{study}/by_length-narrow.svg",
        length_words="results/calibration/{study}/by_length.txt",
    log:
        "logs/analyse/{study}/calibration.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(8, least=1000),
    shell:
        "python {input.code[0]:q} --study {input.study:q} --cells {input.cells:q}"
        " --selections {input.selections:q} --runs results/runs/{wildcards.study:q}"
        " --corpora results/corpora --tokens {input.tokens:q}"
        " --output results/calibration/{wildcards.study:q} --log {log:q}"


rule measure_lengths:
    """Measure accuracy by document length."""
    input:
        code=code("measure_lengths"),
        study="results/studies/{study}.json",
        cells="results/cells/{study}.parquet",
        selections="results/selections/{study}.parquet",
        runs=runs_of_study(),
        tokens=tokens_measured(),
    output:
        csv=report(
            "results/lengths/{study}/accuracy_by_length.csv",
            category="Tables",
            labels={"table": "accuracy by length", "form": "CSV"},
            caption="../report/lengths.rst",
        ),
        svg=report(
            "results/lengths/{study}/accuracy_by_length.svg",
            category="Figures",
            labels={"figure": "accuracy by length", "form": "SVG"},
            caption="../report/lengths.rst",
        ),
        png="results/lengths/{study}/accuracy_by_length.png",
        narrow="results/lengths/{study}/accuracy_by_length-narrow.svg",
        words="results/lengths/{study}/accuracy_by_length.txt",
    log:
        "logs/analyse/{study}/lengths.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(8, least=1000),
    shell:
        "python {input.code[0]:q} --study {input.study:q} --cells {input.cells:q}"
        " --selections {input.selections:q} --runs results/runs/{wildcards.study:q}"
        " --tokens {input.tokens:q}"
        " --stem results/lengths/{wildcards.study:q}/accuracy_by_length --log {log:q}"


rule analyse_errors:
    """List what methods get wrong, the n-grams behind it, and how far methods agree."""
    input:
        code=code("analyse_errors"),
        study="results/studies/{study}.json",
        cells="results/cells/{study}.parquet",
        selections="results/selections/{study}.parquet",
        runs=runs_of_study(),
        corpora=corpora_of_study(),
        features=features_of_study(),
    output:
        hard=report(
            "results/errors/{study}/hard_documents.csv",
            category="Tables",
            labels={"table": "hard documents", "form": "CSV"},
            caption="../report/errors.rst",
        ),
        hardness=report(
            "results/errors/{study}/hardness.csv",
            category="Tables",
            labels={"table": "hardness", "form": "CSV"},
            caption="../report/hardness.rst",
        ),
        suspects=report(
            "results/errors/{study}/suspects.csv",
            category="Tables",
            labels={"table": "suspect labels", "form": "CSV"},
            caption="../report/suspects.rst",
        ),
        confident=report(
            "results/errors/{study}/confident_errors.csv",
            category="Tables",
            labels={"table": "confident errors", "form": "CSV"},
            caption="../report/confident_errors.rst",
        ),
        ngrams=report(
            "results/errors/{study}/ngrams.csv",
            category="Tables",
            labels={"table": "strongest n-grams", "form": "CSV"},
            caption="../report/ngrams.rst",
        ),
        confusion=report(
            "results/errors/{study}/confusion.csv",
            category="Tables",
            labels={"table": "confusion matrices", "form": "CSV"},
            caption="../report/confusion.rst",
        ),
        agreement=report(
            "results/errors/{study}/agreement.csv",
            category="Tables",
            labels={"table": "agreement of methods", "form": "CSV"},
            caption="../report/agreement.rst",
        ),
    log:
        "logs/analyse/{study}/errors.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(4, least=1000),
    shell:
        "python {input.code[0]:q} --study {input.study:q} --cells {input.cells:q}"
        " --selections {input.selections:q} --results results"
        " --output results/errors/{wildcards.study:q} --log {log:q}"


rule draw_confusion:
    """Draw the confusion matrices of datasets with more than two classes as heat maps."""
    input:
        code=code("draw_confusion"),
        study="results/studies/{study}.json",
        confusion="results/errors/{study}/confusion.csv",
    output:
        svg=report(
            "results/errors/{study}/confusion.svg",
            category="Figures",
            labels={"figure": "confusion matrices", "form": "SVG"},
            caption="../report/confusion.rst",
        ),
        narrow="results/errors/{study}/confusion-narrow.svg",
        png="results/errors/{study}/confusion.png",
        words="results/errors/{study}/confusion.txt",
    log:
        "logs/analyse/{study}-confusion.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=500,
    shell:
        "python {input.code[0]:q} --study {input.study:q} --confusion {input.confusion:q}"
        " --stem results/errors/{wildcards.study:q}/confusion --log {log:q}"


rule train_learning_curves:
    """Train on nested parts of each fold's training documents, all methods on the same ones."""
    input:
        code=code("train_learning_curves"),
        corpus="results/corpora/{dataset}/corpus.parquet",
        folds="results/folds/{study}/{dataset}.parquet",
        counts=counts_of,
        tokens=tokens_of,
    output:
        "results/learning_curves/{study}/{dataset}/{representation}.parquet",
    log:
        "logs/analyse/{study}/curves/{dataset}/{representation}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(12, least=800),
    params:
        plan=plan_file,
        digest=digest_of_curves,
    shell:
        "python {input.code[0]:q} --plan {params.plan:q} --dataset {wildcards.dataset:q}"
        " --representation {wildcards.representation:q} --corpus {input.corpus:q}"
        " --folds {input.folds:q} --counts {input.counts:q} --tokens {input.tokens:q}"
        " --threads {threads} --output {output:q} --log {log:q}"


rule write_learning_curves:
    """Write and draw the learning curves, and where discriminative methods overtake others."""
    input:
        code=code("write_learning_curves"),
        study="results/studies/{study}.json",
        scores=curves_of_study(),
    output:
        curves=report(
            "results/learning_curves/{study}/curves.csv",
            category="Tables",
            labels={"table": "learning curves", "form": "CSV"},
            caption="../report/learning_curves.rst",
        ),
        crossings=report(
            "results/learning_curves/{study}/crossings.csv",
            category="Tables",
            labels={"table": "crossings of learning curves", "form": "CSV"},
            caption="../report/learning_curves.rst",
        ),
        svg=report(
            "results/learning_curves/{study}/curves.svg",
            category="Figures",
            labels={"figure": "learning curves", "form": "SVG"},
            caption="../report/learning_curves.rst",
        ),
        png="results/learning_curves/{study}/curves.png",
        narrow="results/learning_curves/{study}/curves-narrow.svg",
        words="results/learning_curves/{study}/curves.txt",
    log:
        "logs/analyse/{study}/curves.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=500,
    shell:
        "python {input.code[0]:q} --study {input.study:q} --scores {input.scores:q}"
        " --output results/learning_curves/{wildcards.study:q} --log {log:q}"
