"""Evaluate: runs -> cells, one per dataset, representation, method and selection.

Nested selection is decided here, from the scores on inner folds that the runs hold.
"""


rule summarise_cells:
    """Summarise the scores of every run into the cells of the tables; measure the overlap of folds."""
    input:
        code=code("summarise_cells"),
        study="results/studies/{study}.json",
        runs=runs_of_study(),
        corpora=corpora_of_study(),
        folds=expand("results/folds/{{study}}/{dataset}.parquet", dataset=study.datasets),
    output:
        cells="results/cells/{study}.parquet",
        selections="results/selections/{study}.parquet",
        overlap="results/duplicates/{study}/overlap.parquet",
    log:
        "logs/evaluate/{study}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(8, least=1000),
    shell:
        "python {input.code[0]:q} --study {input.study:q}"
        " --runs results/runs/{wildcards.study:q} --corpora results/corpora"
        " --folds results/folds/{wildcards.study:q} --output {output.cells:q}"
        " --selections {output.selections:q} --overlap {output.overlap:q} --log {log:q}"
