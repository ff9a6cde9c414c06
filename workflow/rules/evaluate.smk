"""Evaluate: run folders -> cells, one per dataset, representation, method and selection."""


rule describe_study:
    """Write the names, titles and order that tables and figures need."""
    output:
        "results/studies/{study}.json",
    params:
        description=storage.canonical_json(study.description()),
    localrule: True
    log:
        "logs/evaluate/{study}-study.log",
    threads: 1
    resources:
        mem_mb=100,
    shell:
        "printf '%s\\n' {params.description:q} > {output:q} 2> {log:q}"


rule summarise_cells:
    """Summarise the scores of every run into the cells of the tables."""
    input:
        code=code("summarise_cells", "experiments.evaluation", "logs"),
        runs=runs_of_study(),
        scores=runs_of_study("scores.parquet"),
        timings=runs_of_study("timings.parquet"),
    output:
        "results/cells/{study}.parquet",
    log:
        "logs/evaluate/{study}.log",
    threads: 1
    resources:
        mem_mb=megabytes(10),
    shell:
        "{sys.executable:q} {input.code[0]:q} --runs {input.runs:q} --output {output:q} --log {log:q}"
