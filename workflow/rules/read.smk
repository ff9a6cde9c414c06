"""Read: raw files -> corpus.

Output: the documents as Parquet (id, text, label, rating, split, group of identical text) and an
audit: documents per class, empty ones, lengths, repeated texts, texts with two labels, what was
left out and why.
"""


rule read:
    """Read a dataset's documents and refuse any that are not the expected ones."""
    input:
        code=code("read"),
        raw=raw_files,
        dataset=ancient(dataset_file),  # what counts of it is the parameter
    output:
        corpus=results.corpus("{dataset}"),
        audit=results.audit("{dataset}"),
    log:
        "logs/read/{dataset}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(20),
    params:
        reading=reading_of,
    shell:
        "python {input.code[0]:q} --dataset {wildcards.dataset:q} --dataset-file {input.dataset:q}"
        " --raw {input.raw:q} --corpus {output.corpus:q}"
        " --audit {output.audit:q} --log {log:q}"
