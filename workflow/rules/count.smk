"""Count: token ids -> sparse document-term counts and what each training fold knows.

Counts hold the whole corpus once per dataset, tokenizer and n-gram range. Vocabularies are fitted
on the training documents of each fold, once per dataset, tokenizer and UNK policy; every method on
a fold uses the same. One job makes all that rest on the same tokens (experiments.counting_jobs).
"""

for counting in counting_jobs(study):

    rule:
        """Count the n-grams of every document, and fit the vocabulary of every fold."""
        name:
            counting.rule
        input:
            code=code("count_ngrams"),
            tokens=f"results/tokens/{{study}}/{{dataset}}/{counting.tokenizer}.npz",
            folds="results/folds/{study}/{dataset}.parquet",
            inner="results/inner_folds/{study}/{dataset}.parquet",
        output:
            matrices=counted_files(counting, "matrix.npz"),
            summaries=counted_files(counting, "summary.json"),
            vocabularies=vocabulary_files(counting),
        log:
            f"logs/count/{{study}}/{{dataset}}/{counting.rule}.log",
        benchmark:
            f"results/benchmarks/{{study}}/count/{{dataset}}/{counting.rule}.tsv"
        wildcard_constraints:
            dataset="|".join(map(re.escape, counting.datasets)),
        conda:
            ENVIRONMENT
        threads: 1
        resources:
            mem_mb=megabytes(60),
        params:
            plan=plan_file,
            counting=digest_of("count", "{dataset}", counting.rule),
            job=counting.rule,
        shell:
            "python {input.code[0]:q} --tokens {input.tokens:q} --folds {input.folds:q}"
            " --inner {input.inner:q} --plan {params.plan:q} --dataset {wildcards.dataset:q} --job {params.job:q}"
            " --counts results/counts/{wildcards.study:q}/{wildcards.dataset:q}"
            " --vocabularies results/vocabularies/{wildcards.study:q}/{wildcards.dataset:q}"
            " --threads {threads} --log {log:q}"
