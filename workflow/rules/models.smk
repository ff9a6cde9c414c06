"""Models: the final model of what the study keeps, trained on all documents; portable folders.

Output: model.json (what the model is, and its evaluation) and arrays.npz, which
textbaselines.load reads; and, unless tracking is switched off, a registered model of MLflow for
each dataset.
"""


MODELS = f"results/models/{study.name}"


def models_of_study():
    """What every kept model says of itself."""
    best = [f"{MODELS}/{dataset}/best/model.json" for dataset in study.datasets_with_best()]
    return best + [f"{MODELS}/{'/'.join(run)}/model.json" for run in study.kept_models()]


def registry_of_study():
    """The receipt of the registered models, unless nothing is kept or tracking is off."""
    tracked = study.config["tracking"] != "none" and models_of_study()
    return [f"results/tracking/{study.name}-models.json"] if tracked else []


def of_dataset(folder, name):
    """A function from wildcards to the files that all of a dataset's representations rest on."""

    def files(wildcards):
        used = {run[1] for run in study.runs() if run[0] == wildcards.dataset}
        names = {getattr(study.representations[representation], folder) for representation in used}
        kind = {"tokenizer": "tokens"}.get(folder, folder)
        return [
            f"results/{kind}/{study.name}/{wildcards.dataset}/{one}{name}" for one in sorted(names)
        ]

    return files


def runs_of_dataset(wildcards):
    """The record of every run of a dataset."""
    return [
        f"results/runs/{study.name}/{'/'.join(run)}/run.json"
        for run in study.runs()
        if run[0] == wildcards.dataset
    ]


def tokens_of(wildcards):
    """The tokens that a representation rests on."""
    tokenizer = study.representations[wildcards.representation].tokenizer
    return f"results/tokens/{study.name}/{wildcards.dataset}/{tokenizer}.npz"


rule store_best_model:
    """Train the best fixed cell of a dataset on all its documents."""
    input:
        code=code("store_model", "experiments.final_models", "datasets.corpus", "logs"),
        study="results/studies/{study}.json",
        cells="results/cells/{study}.parquet",
        runs=runs_of_dataset,
        corpus="results/corpora/{dataset}/corpus.parquet",
        folds="results/folds/{study}/{dataset}.parquet",
        tokens=of_dataset("tokenizer", ".npz"),
        counts=of_dataset("counts", "/matrix.npz"),
    output:
        model="results/models/{study}/{dataset}/best/model.json",
        arrays="results/models/{study}/{dataset}/best/arrays.npz",
    log:
        "logs/models/{study}/{dataset}-best.log",
    conda:
        "../../environment.yml"
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
        code=code("store_model", "experiments.final_models", "datasets.corpus", "logs"),
        study="results/studies/{study}.json",
        cells="results/cells/{study}.parquet",
        run="results/runs/{study}/{dataset}/{representation}/{method}/run.json",
        corpus="results/corpora/{dataset}/corpus.parquet",
        folds="results/folds/{study}/{dataset}.parquet",
        tokens=tokens_of,
        counts=counts_of,
    output:
        model="results/models/{study}/{dataset}/{representation}/{method}/model.json",
        arrays="results/models/{study}/{dataset}/{representation}/{method}/arrays.npz",
    log:
        "logs/models/{study}/{dataset}-{representation}-{method}.log",
    conda:
        "../../environment.yml"
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
        code=code("register_models", "reporting.registered_models", "reporting.served_model", "logs"),
        tracked="results/tracking/{study}.json",
        models=models_of_study(),
    output:
        receipt="results/tracking/{study}-models.json",
    log:
        "logs/track/{study}-models.log",
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        mlflow_store=1,
    shell:
        "python {input.code[0]:q} --study {wildcards.study:q} --models {input.models:q}"
        " --store results/mlflow.db --receipt {output.receipt:q} --log {log:q}"
