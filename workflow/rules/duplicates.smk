"""Duplicates: the methods once more on folds that keep identical texts together, beside the plain.

Made under `protocol: {grouped: both}`. Output, for the whole study: grouped.csv, plain and grouped
accuracy of every method, at its fixed point and as inner folds choose, and what the leak of repeated
texts is worth.
"""


rule compare_with_grouped:
    """Train on grouped folds; set the accuracies beside the plain ones."""
    input:
        code=code("compare_with_grouped"),
        corpus="results/corpora/{dataset}/corpus.parquet",
        folds="results/folds/{study}/{dataset}.parquet",
        inner_folds="results/inner_folds/{study}/{dataset}.parquet",
        counts=counts_of_dataset,
        tokens=tokens_of_dataset,
        runs=runs_of_dataset(
            "run.json", "scores.parquet", "inner_scores.parquet", "predictions.parquet"
        ),
    output:
        "results/duplicates/{study}/grouped/{dataset}.parquet",
    log:
        "logs/duplicates/{study}-{dataset}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(12, least=800),
    params:
        plan=plan_file,
        work=digest_of("grouped", "{dataset}"),
        protocol=protocol_of,
    shell:
        "python {input.code[0]:q} --plan {params.plan:q} --dataset {wildcards.dataset:q}"
        " --protocol {params.protocol:q} --corpus {input.corpus:q} --folds {input.folds:q}"
        " --inner-folds {input.inner_folds:q} --runs results/runs/{wildcards.study:q} --threads {threads} --output {output:q} --log {log:q}"


rule write_grouped:
    """Write the comparisons of all datasets as one table."""
    input:
        code=code("write_grouped"),
        compared=expand(
            "results/duplicates/{{study}}/grouped/{dataset}.parquet", dataset=study.datasets
        ),
    output:
        report(
            "results/duplicates/{study}/grouped.csv",
            category="Tables",
            labels={"table": "grouped beside plain", "form": "CSV"},
            caption="../report/grouped.rst",
        ),
    log:
        "logs/duplicates/{study}-grouped.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(4),
    shell:
        "python {input.code[0]:q} --compared {input.compared:q} --output {output:q} --log {log:q}"
