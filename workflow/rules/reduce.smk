"""Reduce: counts -> dense coordinates of every division's documents.

One file per dataset and base (counts, vocabulary, weighting, scope, kind), at the largest rank that
the study asks for; every dense method reads it, and smaller ranks are prefixes.
"""


rule reduce:
    """Fit a reduction on the training documents of every fold and inner fold."""
    input:
        code=code("reduce"),
        folds=of_study.folds("{dataset}"),
        inner_folds=of_study.inner_folds("{dataset}"),
        counts=counts_reduced,
        vocabularies=vocabularies_reduced,
    output:
        of_study.reductions("{dataset}", "{tokenizer}/{reduction}"),
    log:
        of_study.log("reduce", "{dataset}", "{tokenizer}", "{reduction}"),
    benchmark:
        of_study.benchmark("reduce", "{dataset}", "{tokenizer}", "{reduction}")
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(12, least=800),
    params:
        task=reduction_of,
    shell:
        "python {input.code[0]:q} --dataset {wildcards.dataset:q} --task {params.task:q}"
        " --folds {input.folds:q} --inner-folds {input.inner_folds:q}"
        " --counts {input.counts:q} --vocabularies {input.vocabularies:q}"
        " --threads {threads} --output {output:q} --log {log:q}"
