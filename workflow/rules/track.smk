"""Track: finished runs and kept models -> the MLflow store, by one process at a time.

The store (results/mlflow.db and results/mlflow-artifacts/) can be thrown away and made anew; the
rule's outputs are receipts: which run, and which model, is which of MLflow.
"""


rule track:
    """Log every run and register each dataset's best model; what is there already stays."""
    input:
        code=code("track"),
        study=here.description,
        cells=here.cells,
        runs=runs_of_study(),
        measures=measures_of_study(),
        models=models_of_study(),
    output:
        receipts_of_study(),
    log:
        here.log("track", "track"),
    localrule: True
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=1000,
        mlflow_store=1,  # of the one that profiles/default has
    params:
        plan=plan_file,
        root=relative(ROOT),
        suffix=study.name.removeprefix(study.config["name"]),  # of a trial, in models' names
        server=literal(server_of_study()),
        kept=storage.short_digest(plan.content["models"]),  # not in the command
    shell:
        "python {input.code[0]:q} --study {input.study:q} --plan {params.plan:q}"
        " --root {params.root:q} --suffix={params.suffix:q} {params.server:q} --log {log:q}"
