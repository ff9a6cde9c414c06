"""Folds: corpus -> which documents train and which test.

Output: two tables per dataset, which every method shares: the folds (repeat, fold, id), and the
inner folds that choose hyper-parameters (repeat, fold, inner, id). Seeds come from the dataset's
name, the repeat and the fold.
"""


rule fold:
    """Draw the folds of a dataset under the study's protocol."""
    input:
        code=code("fold"),
        corpus=results.corpus("{dataset}"),
    output:
        folds=of_study.folds("{dataset}"),
        inner_folds=of_study.inner_folds("{dataset}"),
    log:
        of_study.log("folds", "{dataset}"),
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(4),
    params:
        protocol=protocol_of,
    shell:
        "python {input.code[0]:q} --dataset {wildcards.dataset:q}"
        " --corpus {input.corpus:q} --protocol {params.protocol:q} --folds {output.folds:q}"
        " --inner-folds {output.inner_folds:q} --log {log:q}"
