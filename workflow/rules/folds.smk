"""Folds: corpus -> which documents train and which test.

Output: one table per dataset (repeat, fold, id), which every method shares; seeds come from the
dataset's name and the repeat.
"""


rule draw_folds:
    """Draw the folds of a dataset under the study's protocol."""
    input:
        code=code("draw_folds", "experiments.folds", "datasets.corpus", "logs"),
        corpus="results/corpora/{dataset}/corpus.parquet",
    output:
        "results/folds/{study}/{dataset}.parquet",
    log:
        "logs/folds/{study}/{dataset}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=megabytes(4),
    params:
        protocol=protocol_of,
    shell:
        "python {input.code[0]:q} --dataset {wildcards.dataset:q}"
        " --corpus {input.corpus:q} --protocol {params.protocol:q} --output {output:q} --log {log:q}"
