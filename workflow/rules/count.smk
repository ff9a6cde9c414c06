"""Count: token ids -> sparse document-term counts and what each training fold knows.

Counts hold the whole corpus once per dataset, tokenizer and n-gram range. Vocabularies are fitted
on the training documents of each fold, once per dataset, tokenizer and UNK policy; every method on
a fold uses the same.
"""


rule count:
    """Count the n-grams of every document."""
    input:
        code=code("count"),
        tokens=of_study.tokens("{dataset}", "{tokenizer}"),
    output:
        matrix=of_study.counts("{dataset}", "{tokenizer}/{lowest}-{highest}"),
        summary=of_study.counts_summary("{dataset}", "{tokenizer}/{lowest}-{highest}"),
    log:
        of_study.log("count", "{dataset}", "{tokenizer}", "{lowest}-{highest}"),
    benchmark:
        of_study.benchmark("count", "{dataset}", "{tokenizer}", "{lowest}-{highest}")
    conda:
        ENVIRONMENT
    threads: text_threads
    resources:
        mem_mb=megabytes(60),
    params:
        tokenizer=tokenizer_of,
    shell:
        "python {input.code[0]:q} --dataset {wildcards.dataset:q} --tokens {input.tokens:q}"
        " --tokenizer {params.tokenizer:q} --lowest {wildcards.lowest}"
        " --highest {wildcards.highest} --threads {threads} --matrix {output.matrix:q}"
        " --log {log:q}"


rule fit_vocabularies:
    """Fit the vocabulary of every fold and inner fold on its training documents."""
    input:
        code=code("fit_vocabularies"),
        tokens=of_study.tokens("{dataset}", "{tokenizer}"),
        folds=of_study.folds("{dataset}"),
        inner_folds=of_study.inner_folds("{dataset}"),
    output:
        of_study.vocabularies("{dataset}", "{tokenizer}/{policy}-{min_count}"),
    log:
        of_study.log("vocabularies", "{dataset}", "{tokenizer}", "{policy}-{min_count}"),
    benchmark:
        of_study.benchmark("vocabularies", "{dataset}", "{tokenizer}", "{policy}-{min_count}")
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(20),
    shell:
        "python {input.code[0]:q} --dataset {wildcards.dataset:q} --tokens {input.tokens:q}"
        " --folds {input.folds:q} --inner-folds {input.inner_folds:q} --policy {wildcards.policy}"
        " --min-count {wildcards.min_count} --output {output:q} --log {log:q}"
