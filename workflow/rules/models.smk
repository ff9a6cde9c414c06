"""Models: the final model of what the study keeps, trained on all documents; portable folders.

Output: model.json (what the model is, and its evaluation) and arrays.npz, which
textbaselines.load reads.
"""


rule store_best_model:
    """Train the best fixed cell of a dataset on all its documents."""
    input:
        code=code("store_model"),
        study=of_study.description,
        cells=of_study.cells,
        runs=runs_of_dataset,
        corpus=results.corpus("{dataset}"),
        folds=of_study.folds("{dataset}"),
        tokens=tokens_of_representations,
        counts=counts_of_representations,
    output:
        model=of_study.model("{dataset}", "best") / "model.json",
        arrays=of_study.model("{dataset}", "best") / "arrays.npz",
    log:
        of_study.log("models", "{dataset}", "best"),
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(12, least=800),
    shell:
        "python {input.code[0]:q} --study {input.study:q} --dataset {wildcards.dataset:q}"
        " --model {output.model:q} --log {log:q}"


rule store_model:
    """Train one run's fixed point on all documents."""
    input:
        code=code("store_model"),
        study=of_study.description,
        cells=of_study.cells,
        run=record_of_run,
        corpus=results.corpus("{dataset}"),
        folds=of_study.folds("{dataset}"),
        tokens=tokens_of,
        counts=counts_of,
    output:
        model=of_study.model("{dataset}", "{representation}", "{method}") / "model.json",
        arrays=of_study.model("{dataset}", "{representation}", "{method}") / "arrays.npz",
    log:
        of_study.log("models", "{dataset}", "{representation}", "{method}"),
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(12, least=800),
    shell:
        "python {input.code[0]:q} --study {input.study:q} --dataset {wildcards.dataset:q}"
        " --representation {wildcards.representation:q} --method {wildcards.method:q}"
        " --model {output.model:q} --log {log:q}"
