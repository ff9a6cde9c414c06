"""Train: one job per batch of the plan, tasks of one dataset with their whole grids over all folds.

A task is a method on a representation. Batches are cut by estimated time, whatever the cores
(src/textbaselines/study/batches.py), so that a study of one dataset has many and one of many
datasets large ones. Output, for all tasks of a batch: runs.json (what was run), scores (one row per
grid point, repeat and fold), out-of-fold predictions, scores and predictions on the inner folds
that choose hyper-parameters, and the times, which alone differ from run to run. Scripts find files
by the plan, which lies in the study's folder.

Jobs of `train` keep each task in the study's folder trained/, with receipts
(src/textbaselines/training/receipts.py): a job that is run again, or has failed, trains only the
tasks whose receipt names another task, input or code, also where a larger grid has cut batches in
another way. The other two rules train all again.
"""


rule train:
    """Fit every grid point of a batch's tasks on every fold and score it on its test documents."""
    input:
        code=code("train"),
        corpus=results.corpus("{dataset}"),
        audit=results.audit("{dataset}"),
        folds=of_study.folds("{dataset}"),
        inner_folds=of_study.inner_folds("{dataset}"),
        features=features_of_batch,
    output:
        [of_study.runs / "{dataset}" / "{batch}" / name for name in BATCH_FILES],
        # Written by the job, a line for each task.
        measures=of_study.benchmark("train", "{dataset}", "{batch}"),
    log:
        of_study.log("train", "{dataset}", "{batch}"),
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(12, least=800),
    params:
        plan=plan_file,
        digest=digest_of_batch,  # not in the command: its change runs the job again
    shell:
        "python {input.code[0]:q} --plan {params.plan:q} --dataset {wildcards.dataset:q}"
        " --batch {wildcards.batch:q} --code {input.code:q} --threads {threads}"
        " --measures {output.measures:q} --log {log:q}"


rule train_grouped:
    """Train a batch once more, on folds that keep identical texts together."""
    input:
        code=code("train_grouped"),
        corpus=results.corpus("{dataset}"),
        audit=results.audit("{dataset}"),
        folds=of_study.folds("{dataset}"),
        inner_folds=of_study.inner_folds("{dataset}"),
        counts=counts_of_representations,
        tokens=tokens_of_representations,  # vocabularies are fitted on the grouped folds here
    output:
        [of_study.grouped_runs / "{dataset}" / "{batch}" / name for name in BATCH_FILES],
    log:
        of_study.log("train_grouped", "{dataset}", "{batch}"),
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(12, least=800),
    params:
        plan=plan_file,
        digest=digest_of_batch,  # not in the command: its change runs the job again
    shell:
        "python {input.code[0]:q} --plan {params.plan:q} --dataset {wildcards.dataset:q}"
        " --batch {wildcards.batch:q} --threads {threads} --log {log:q}"


rule train_learning_curves:
    """Train on nested parts of each fold's training documents, all methods on the same ones."""
    input:
        code=code("train_learning_curves"),
        corpus=results.corpus("{dataset}"),
        folds=of_study.folds("{dataset}"),
        counts=counts_of,
        tokens=tokens_of,
    output:
        of_study.learning_curve("{dataset}", "{representation}"),
    log:
        of_study.log("learning_curves", "{dataset}", "{representation}"),
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(12, least=800),
    params:
        plan=plan_file,
        digest=digest_of_curves,  # not in the command
    shell:
        "python {input.code[0]:q} --plan {params.plan:q} --dataset {wildcards.dataset:q}"
        " --representation {wildcards.representation:q} --corpus {input.corpus:q}"
        " --folds {input.folds:q} --counts {input.counts:q} --tokens {input.tokens:q}"
        " --threads {threads} --output {output:q} --log {log:q}"
