"""Models: the final model of what the study keeps, trained on all documents; portable folders.

Output: model.json (what the model is, and its evaluation) and arrays.npz, which
textbaselines.load reads; and, unless tracking is switched off, a registered model of MLflow for
each dataset.
"""


rule store_best_model:
    """Train the best fixed cell of a dataset on all its documents."""
    input:
        code=code("store_model"),
        study="results/studies/{study}.json",
        cells="results/cells/{study}.parquet",
        runs=runs_of_dataset("results/runs/{study}"),
        corpus="results/corpora/{dataset}/corpus.parquet",
        folds="results/folds/{study}/{dataset}.parquet",
        tokens=tokens_of_representations,
        counts=counts_of_representations,
    output:
        model="results/models/{study}/{dataset}/best/model.json",
        arrays="results/models/{study}/{dataset}/best/arrays.npz",
    log:
        "logs/models/{study}/{dataset}/best.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(12, least=800),
    shell:
        "python {input.code[0]:q} --dataset {wildcards.dataset:q} --study {input.study:q}"
        " --cells {input.cells:q} --corpus {input.corpus:q} --folds {input.folds:q}"
        " --results results --model {output.model:q} --log {log:q}"


rule store_model:
    """Train one run's fixed point on all documents."""
    input:
        code=code("store_model"),
        study="results/studies/{study}.json",
        cells="results/cells/{study}.parquet",
        run=record_of_run,
        corpus="results/corpora/{dataset}/corpus.parquet",
        folds="results/folds/{study}/{dataset}.parquet",
        tokens=tokens_of,
        counts=counts_of,
    output:
        model="results/models/{study}/{dataset}/{representation}/{method}/model.json",
        arrays="results/models/{study}/{dataset}/{representation}/{method}/arrays.npz",
    log:
        "logs/models/{study}/{dataset}/{representation}/{method}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(12, least=800),
    shell:
        "python {input.code[0]:q} --dataset {wildcards.dataset:q} --study {input.study:q}"
        " --cells {input.cells:q} --corpus {input.corpus:q} --folds {input.folds:q}"
        " --representation {wildcards.representation:q} --method {wildcards.method:q}"
        " --results results --model {output.model:q} --log {log:q}"


rule register_models:
    """Log each dataset's best kept model to MLflow and make it the dataset's champion."""
    input:
        code=code("register_models"),
        tracked="results/tracking/{study}.json",
        models=models_of_study(),
    output:
        receipt="results/tracking/{study}-models.json",
    log:
        "logs/track/{study}/models.log",
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
        "python {input.code[0]:q} --study {wildcards.study:q} --suffix={params.suffix:q}"
        " --plan {params.plan:q} --models results/models/{wildcards.study:q}"
        " --store results/mlflow.db --artifacts results/mlflow-artifacts {params.server:q}"
        " --receipt {output.receipt:q} --log {log:q}"
