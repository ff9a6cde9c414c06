"""Duplicates: the methods once more on folds that keep identical texts together, beside the plain.

Made under `protocol: {grouped: both}`, batch by batch as the plain ones. Output, for the whole study: grouped.csv, plain and grouped
accuracy of every method, at its fixed point and as inner folds choose, and what the leak of repeated
texts is worth.
"""


rule train_grouped:
    """Train a batch of the plan on folds that keep identical texts together."""
    input:
        code=code("train_grouped"),
        corpus="results/corpora/{dataset}/corpus.parquet",
        audit="results/corpora/{dataset}/audit.json",
        folds="results/folds/{study}/{dataset}.parquet",
        inner_folds="results/inner_folds/{study}/{dataset}.parquet",
        counts=counts_of_representations,
        tokens=tokens_of_representations,
    output:
        batch_files("results/duplicates/{study}/runs/{dataset}/{batch}"),
    log:
        "logs/duplicates/{study}/trained/{dataset}/{batch}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(12, least=800),
    params:
        plan=plan_file,
        digest=digest_of_batch,
    shell:
        "python {input.code[0]:q} --plan {params.plan:q} --dataset {wildcards.dataset:q}"
        " --batch {wildcards.batch:q} --corpus {input.corpus:q} --audit {input.audit:q}"
        " --folds {input.folds:q} --inner-folds {input.inner_folds:q}"
        " --counts results/counts/{wildcards.study:q}/{wildcards.dataset:q}"
        " --tokens results/tokens/{wildcards.study:q}/{wildcards.dataset:q} --threads {threads}"
        " --output results/duplicates/{wildcards.study:q}/runs/{wildcards.dataset:q}/{wildcards.batch:q}"
        " --log {log:q}"


rule compare_with_grouped:
    """Set the accuracies on grouped folds beside the plain ones."""
    input:
        code=code("compare_with_grouped"),
        corpus="results/corpora/{dataset}/corpus.parquet",
        folds="results/folds/{study}/{dataset}.parquet",
        batches="results/runs/{study}/batches.json",
        plain=runs_of_dataset("results/runs/{study}"),
        grouped=runs_of_dataset("results/duplicates/{study}/runs"),
    output:
        "results/duplicates/{study}/grouped/{dataset}.parquet",
    log:
        "logs/duplicates/{study}/compared/{dataset}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(12, least=800),
    params:
        plan=plan_file,
        digest=digest_of_grouped_runs,
    shell:
        "python {input.code[0]:q} --plan {params.plan:q} --dataset {wildcards.dataset:q}"
        " --corpus {input.corpus:q} --folds {input.folds:q}"
        " --runs results/runs/{wildcards.study:q}"
        " --grouped results/duplicates/{wildcards.study:q}/runs --output {output:q} --log {log:q}"


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
        "logs/duplicates/{study}/all-datasets.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(4),
    shell:
        "python {input.code[0]:q} --compared {input.compared:q} --output {output:q} --log {log:q}"
