"""Tokenise: corpus -> token ids, once per dataset and tokenizer."""


rule tokenise:
    """Split every document into tokens and number them."""
    input:
        code=code("tokenise"),
        corpus=results.corpus("{dataset}"),
    output:
        of_study.tokens("{dataset}", "{tokenizer}"),
    log:
        of_study.log("tokenise", "{dataset}", "{tokenizer}"),
    benchmark:
        of_study.benchmark("tokenise", "{dataset}", "{tokenizer}")
    conda:
        ENVIRONMENT
    threads: text_threads
    resources:
        mem_mb=megabytes(25),
    params:
        tokenizer=tokenizer_of,
        language=language_of,
    shell:
        "python {input.code[0]:q} --dataset {wildcards.dataset:q} --corpus {input.corpus:q}"
        " --tokenizer {params.tokenizer:q} --language {params.language:q} --threads {threads}"
        " --output {output:q} --log {log:q}"
