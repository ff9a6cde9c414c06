"""Evaluate: runs -> cells, tests between them, and what is behind their numbers.

A cell is one number of the tables: a dataset, a representation, a method and a selection of
hyper-parameters (fixed: the study's one point; nested: what inner folds chose). Everything here is
data, for reading and for tables.smk to show. Scripts take study.json and find files beside it.
"""


rule evaluate:
    """Summarise the scores of every run into cells; choose by inner folds; measure the overlap."""
    input:
        code=code("evaluate"),
        study=of_study.description,
        runs=runs_of_study(),
        corpora=corpora_of_study(),
        folds=folds_of_study(),
    output:
        cells=of_study.cells,
        selections=of_study.selections,
        overlap=of_study.overlap,
    log:
        of_study.log("evaluate", "evaluate"),
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(8, least=1000),
    shell:
        "python {input.code[0]:q} --study {input.study:q} --log {log:q}"


rule compare:
    """Test every pair of rows on shared test documents, the contrasts, and ranks over datasets."""
    input:
        code=code("compare"),
        study=of_study.description,
        cells=of_study.cells,
        selections=of_study.selections,
        runs=runs_of_study(),
        corpora=corpora_of_study(),
    output:
        [of_study.significance(table) for table in SIGNIFICANCE],
    log:
        of_study.log("evaluate", "compare"),
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(8, least=1000),
    shell:
        "python {input.code[0]:q} --study {input.study:q} --log {log:q}"


rule calibrate:
    """Measure how far probabilities are what they say, before and after calibration."""
    input:
        code=code("calibrate"),
        study=of_study.description,
        cells=of_study.cells,
        selections=of_study.selections,
        runs=runs_of_study(),
        corpora=corpora_of_study(),
        tokens=tokens_measured(),
    output:
        [of_study.analysis(table) for table in CALIBRATION],
    log:
        of_study.log("evaluate", "calibrate"),
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(8, least=1000),
    shell:
        "python {input.code[0]:q} --study {input.study:q} --log {log:q}"


rule analyse:
    """Find errors and the n-grams behind them, and what length, repeats and search are worth."""
    input:
        code=code("analyse"),
        study=of_study.description,
        cells=of_study.cells,
        selections=of_study.selections,
        runs=runs_of_study(),
        corpora=corpora_of_study(),
        folds=folds_of_study(),
        tokens=tokens_measured(),
        features=features_of_study(),
        grouped=grouped_runs_of_study(),
        learning_curves=learning_curves_of_study(),
    output:
        [of_study.analysis(table) for table in study.analyses()],
    log:
        of_study.log("evaluate", "analyse"),
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(6, least=1000),
    params:
        plan=plan_file,  # for the names of grouped runs, which are those of the inputs
    shell:
        "python {input.code[0]:q} --study {input.study:q} --plan {params.plan:q} --log {log:q}"
