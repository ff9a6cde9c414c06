"""Train: one job per batch of the plan, tasks of one dataset with their whole grids over all folds.

A task is a method on a representation. Batches are cut by estimated time (experiments.batches), so
that a study of one dataset has many and one of many datasets large ones. Output, for all tasks of
a batch: runs.json (what was run), scores (one row per grid point, repeat and fold), out-of-fold
predictions, scores and predictions on the inner folds that choose hyper-parameters, and the times,
which alone differ from run to run. Jobs keep what they trained under results/trained, with receipts
(experiments.receipts): one that is run again, or has failed, trains only the tasks whose receipt
names another task, input or code.
"""


rule train:
    """Fit every grid point of a batch's tasks on every fold and score it on its test documents."""
    input:
        code=code("train"),
        corpus="results/corpora/{dataset}/corpus.parquet",
        audit="results/corpora/{dataset}/audit.json",
        folds="results/folds/{study}/{dataset}.parquet",
        inner_folds="results/inner_folds/{study}/{dataset}.parquet",
        features=features_of_batch,
    output:
        batch_files("results/runs/{study}/{dataset}/{batch}"),
        measures="results/benchmarks/{study}/train/{dataset}/{batch}.tsv",
    log:
        "logs/train/{study}/{dataset}/{batch}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(12, least=800),
    params:
        plan=plan_file,
        digest=digest_of_batch,
    shell:
        "python {input.code[0]:q} --plan {params.plan:q} --dataset {wildcards.dataset:q}"
        " --batch {wildcards.batch:q} --code {input.code:q}"
        " --corpus {input.corpus:q} --audit {input.audit:q}"
        " --folds {input.folds:q} --inner-folds {input.inner_folds:q}"
        " --counts results/counts/{wildcards.study:q}/{wildcards.dataset:q}"
        " --vocabularies results/vocabularies/{wildcards.study:q}/{wildcards.dataset:q}"
        " --reductions results/reductions/{wildcards.study:q}/{wildcards.dataset:q}"
        " --kept results/trained/{wildcards.study:q}/{wildcards.dataset:q}"
        " --output results/runs/{wildcards.study:q}/{wildcards.dataset:q}/{wildcards.batch:q}"
        " --measures {output.measures:q} --threads {threads} --log {log:q}"
