"""Reduce: counts -> dense coordinates of every division's documents.

One file per dataset and base (counts, vocabulary, weighting, scope, kind), at the largest rank that
the study asks for; every dense method reads it, and smaller ranks are prefixes.
"""


rule reduce:
    """Fit a reduction on the training documents of every fold and inner fold."""
    input:
        code=code("reduce"),
        folds="results/folds/{study}/{dataset}.parquet",
        inner_folds="results/inner_folds/{study}/{dataset}.parquet",
        counts=counts_reduced,
        vocabularies=vocabularies_reduced,
    output:
        "results/reductions/{study}/{dataset}/{tokenizer}/{reduction}.npz",
    log:
        "logs/reduce/{study}/{dataset}/{tokenizer}/{reduction}.log",
    benchmark:
        "results/benchmarks/{study}/reduce/{dataset}/{tokenizer}/{reduction}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(12, least=800),
    params:
        task=reduction_of,
    shell:
        "python {input.code[0]:q} --task {params.task:q}"
        " --folds {input.folds:q} --inner-folds {input.inner_folds:q}"
        " --counts {input.counts:q} --vocabularies {input.vocabularies:q}"
        " --threads {threads} --output {output:q} --log {log:q}"
