"""Count: token ids -> sparse document-term counts and what each training fold knows.

Counts hold the whole corpus once per dataset, tokenizer and n-gram range. Vocabularies are fitted
on the training documents of each fold, once per dataset, tokenizer and UNK policy; every method on
a fold uses the same.
"""


rule count_ngrams:
    """Count the n-grams of every document."""
    input:
        code=code("count_ngrams", "text.counts", "logs"),
        tokens=tokens_counted,
    output:
        matrix="results/counts/{study}/{dataset}/{counts}/matrix.npz",
        summary="results/counts/{study}/{dataset}/{counts}/summary.json",
    log:
        "logs/count/{study}/{dataset}-{counts}.log",
    benchmark:
        "results/benchmarks/{study}/count/{dataset}-{counts}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=megabytes(60),
    params:
        counting=counting_of,
    shell:
        "python {input.code[0]:q} --tokens {input.tokens:q}"
        " --counting {params.counting:q} --matrix {output.matrix:q} --threads {threads}"
        " --log {log:q}"


rule fit_vocabularies:
    """Fit the vocabulary of every fold and inner fold on its training documents."""
    input:
        code=code("fit_vocabularies", "text.vocabulary", "experiments.folds", "logs"),
        tokens=tokens_known,
        folds="results/folds/{study}/{dataset}.parquet",
        inner="results/inner_folds/{study}/{dataset}.parquet",
    output:
        "results/vocabularies/{study}/{dataset}/{vocabulary}.npz",
    log:
        "logs/vocabulary/{study}/{dataset}-{vocabulary}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=megabytes(10),
    params:
        policy=policy_of,
    shell:
        "python {input.code[0]:q} --tokens {input.tokens:q} --folds {input.folds:q}"
        " --inner {input.inner:q} --policy {params.policy:q} --output {output:q} --log {log:q}"
