"""Track: finished runs and kept models -> the MLflow store, by one process at a time.

The store (results/mlflow.db and results/mlflow-artifacts/) can be thrown away and made anew; the
rules' outputs are receipts: which run of ours is which run of MLflow.
"""


rule log_runs:
    """Log every run to MLflow; what is logged already is left alone."""
    input:
        code=code("log_runs"),
        study=of_study.description,
        cells=of_study.cells,
        runs=runs_of_study(),
        measures=measures_of_study(),
    output:
        of_study.tracked_runs,
    log:
        of_study.log("track", "log_runs"),
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
        "python {input.code[0]:q} --study {input.study:q} --root {params.root:q}"
        " {params.server:q} --log {log:q}"


rule register_models:
    """Log each dataset's best kept model to MLflow and make it the dataset's champion."""
    input:
        code=code("register_models"),
        study=of_study.description,
        tracked=of_study.tracked_runs,
        models=models_of_study(),
    output:
        of_study.tracked_models,
    log:
        of_study.log("track", "register_models"),
    localrule: True
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=1000,
        mlflow_store=1,
    params:
        plan=plan_file,
        suffix=study.name.removeprefix(study.config["name"]),
        server=literal(server_of_study()),
        kept=storage.short_digest(plan.content["models"]),
    shell:
        "python {input.code[0]:q} --study {input.study:q} --plan {params.plan:q}"
        " --suffix={params.suffix:q} {params.server:q} --log {log:q}"
