"""Tokenise: corpus -> token ids, once per dataset and tokenizer."""


rule tokenise:
    """Split every document into tokens and number them."""
    input:
        code=code("tokenise_corpus"),
        corpus="results/corpora/{dataset}/corpus.parquet",
    output:
        "results/tokens/{study}/{dataset}/{tokenizer}.npz",
    log:
        "logs/tokenise/{study}/{dataset}/{tokenizer}.log",
    benchmark:
        "results/benchmarks/{study}/tokenise/{dataset}/{tokenizer}.tsv"
    conda:
        ENVIRONMENT
    threads: text_threads
    resources:
        mem_mb=megabytes(25),
    params:
        tokenizer=tokenizer_of,
        language=language_of,
    shell:
        "python {input.code[0]:q} --corpus {input.corpus:q}"
        " --tokenizer {params.tokenizer:q} --language {params.language:q} --output {output:q}"
        " --threads {threads} --log {log:q}"
