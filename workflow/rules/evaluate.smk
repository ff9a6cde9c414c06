"""Evaluate: runs -> cells, one per dataset, representation, method and selection.

Nested selection is decided here, from the scores on inner folds that the runs hold.
"""


rule summarise_cells:
    """Summarise the scores of every run into the cells of the tables."""
    input:
        code=code("summarise_cells", "experiments.evaluation", "logs"),
        study="results/studies/{study}.json",
        runs=runs_of_study(),
    output:
        cells="results/cells/{study}.parquet",
        selections="results/selections/{study}.parquet",
    log:
        "logs/evaluate/{study}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=megabytes(10),
    shell:
        "python {input.code[0]:q} --study {input.study:q}"
        " --runs results/runs/{wildcards.study:q} --output {output.cells:q}"
        " --selections {output.selections:q} --log {log:q}"
