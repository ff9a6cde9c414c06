"""Folds: corpus -> which documents train and which test.

Output: two tables per dataset, which every method shares: the folds (repeat, fold, id), and the
inner folds that choose hyper-parameters (repeat, fold, inner, id). Seeds come from the dataset's
name, the repeat and the fold.
"""


rule fold:
    """Draw the folds of a dataset under the study's protocol."""
    input:
        code=code("draw_folds"),
        corpus="results/corpora/{dataset}/corpus.parquet",
    output:
        folds="results/folds/{study}/{dataset}.parquet",
        inner="results/inner_folds/{study}/{dataset}.parquet",
    log:
        "logs/folds/{study}/{dataset}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(4),
    params:
        protocol=protocol_of,
    shell:
        "python {input.code[0]:q} --dataset {wildcards.dataset:q}"
        " --corpus {input.corpus:q} --protocol {params.protocol:q} --output {output.folds:q}"
        " --inner {output.inner:q} --log {log:q}"
