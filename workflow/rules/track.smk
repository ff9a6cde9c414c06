"""Track: finished run folders -> the MLflow store, by one rule in one process.

The store (results/mlflow.db and results/mlflow-artifacts/) can be thrown away and made anew; the
rule's output is the receipt: which run of ours is which run of MLflow.
"""


rule log_runs:
    """Log every run to MLflow; what is logged already is left alone."""
    input:
        code=code("log_runs"),
        cells="results/cells/{study}.parquet",
        study="results/studies/{study}.json",
        runs=runs_of_study(),
        benchmarks=benchmarks_of_study(),
    output:
        receipt="results/tracking/{study}.json",
    log:
        "logs/track/{study}/runs.log",
    localrule: True
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=1000,
        mlflow_store=1,
    params:
        root=relative(ROOT),
        server=literal(server_of_study()),
    shell:
        "python {input.code[0]:q} --runs results/runs/{wildcards.study:q} --cells {input.cells:q}"
        " --study {input.study:q} --store results/mlflow.db --artifacts results/mlflow-artifacts"
        " --benchmarks results/benchmarks/{wildcards.study:q}/train {params.server:q}"
        " --root {params.root:q} --receipt {output.receipt:q} --log {log:q}"
