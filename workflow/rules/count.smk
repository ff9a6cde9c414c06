"""Count: token ids -> sparse document-term counts and what each training fold knows.

Counts hold the whole corpus once per dataset, tokenizer and n-gram range. Vocabularies are fitted
on the training documents of each fold, once per dataset, tokenizer and UNK policy; every method on
a fold uses the same.
"""


rule count:
    """Count the n-grams of every document."""
    input:
        code=code("count"),
        tokens="results/tokens/{study}/{dataset}/{tokenizer}.npz",
    output:
        matrix="results/counts/{study}/{dataset}/{tokenizer}/{lowest}-{highest}/matrix.npz",
        summary="results/counts/{study}/{dataset}/{tokenizer}/{lowest}-{highest}/summary.json",
    log:
        "logs/count/{study}/{dataset}/{tokenizer}/{lowest}-{highest}.log",
    benchmark:
        "results/benchmarks/{study}/count/{dataset}/{tokenizer}/{lowest}-{highest}.tsv"
    conda:
        ENVIRONMENT
    threads: text_threads
    resources:
        mem_mb=megabytes(60),
    params:
        tokenizer=tokenizer_of,
        output=subpath(output.matrix, parent=True),
    shell:
        "python {input.code[0]:q} --tokens {input.tokens:q} --tokenizer {params.tokenizer:q}"
        " --ngrams {wildcards.lowest} {wildcards.highest} --output {params.output:q}"
        " --threads {threads} --log {log:q}"


rule fit_vocabularies:
    """Fit the vocabulary of every fold and inner fold on its training documents."""
    input:
        code=code("fit_vocabularies"),
        tokens="results/tokens/{study}/{dataset}/{tokenizer}.npz",
        folds="results/folds/{study}/{dataset}.parquet",
        inner_folds="results/inner_folds/{study}/{dataset}.parquet",
    output:
        "results/vocabularies/{study}/{dataset}/{tokenizer}/{policy}-{min_count}.npz",
    log:
        "logs/count/{study}/{dataset}/{tokenizer}/{policy}-{min_count}.log",
    benchmark:
        "results/benchmarks/{study}/count/{dataset}/{tokenizer}/{policy}-{min_count}.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(20),
    shell:
        "python {input.code[0]:q} --tokens {input.tokens:q} --folds {input.folds:q}"
        " --inner-folds {input.inner_folds:q} --policy {wildcards.policy}"
        " --min-count {wildcards.min_count} --output {output:q} --log {log:q}"
