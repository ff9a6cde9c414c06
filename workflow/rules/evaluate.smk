"""Evaluate: run folders -> cells, one per dataset, representation, method and selection.

Nested selection is decided here, from the scores on inner folds that the run folders hold.
"""


rule describe_study:
    """Write the names, titles and order that tables and figures need."""
    output:
        "results/studies/{study}.json",
    log:
        "logs/evaluate/{study}-study.log",
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=100,
    params:
        description=storage.canonical_json(description_of_study()),
    shell:
        "printf '%s\\n' {params.description:q} > {output:q} 2> {log:q}"


rule summarise_cells:
    """Summarise the scores of every run into the cells of the tables; measure the overlap of folds."""
    input:
        code=code(
            "summarise_cells",
            "experiments.evaluation",
            "experiments.folds",
            "experiments.macro_f1_intervals",
            "datasets.corpus",
            "logs",
        ),
        study="results/studies/{study}.json",
        runs=runs_of_study(),
        scores=runs_of_study("scores.parquet"),
        inner_scores=runs_of_study("inner_scores.parquet"),
        predictions=runs_of_study("predictions.parquet"),
        corpora=corpora_of_study(),
        folds=expand("results/folds/{{study}}/{dataset}.parquet", dataset=study.datasets),
    output:
        cells="results/cells/{study}.parquet",
        selections="results/selections/{study}.parquet",
        overlap="results/duplicates/{study}/overlap.parquet",
    log:
        "logs/evaluate/{study}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=megabytes(8, least=1000),
    shell:
        "python {input.code[0]:q} --study {input.study:q}"
        " --runs results/runs/{wildcards.study:q} --corpora results/corpora"
        " --folds results/folds/{wildcards.study:q} --output {output.cells:q}"
        " --selections {output.selections:q} --overlap {output.overlap:q} --log {log:q}"
