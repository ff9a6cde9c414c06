"""Read: raw files -> corpus.

Output: the documents as Parquet (id, text, label, rating, split, group of identical text) and an
audit: documents per class, empty ones, lengths, repeated texts, texts with two labels, what was
left out and why.
"""


rule read_corpus:
    """Read a dataset's documents and refuse any that are not the expected ones."""
    input:
        code=code("read_corpus"),
        raw=raw_files,
        dataset=ancient(dataset_file),
    output:
        corpus="results/corpora/{dataset}/corpus.parquet",
        audit="results/corpora/{dataset}/audit.json",
    log:
        "logs/read/{dataset}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(20, least=500),
    params:
        reading=reading_of,
    shell:
        "python {input.code[0]:q} --dataset {input.dataset:q}"
        " --raw results/raw --corpus {output.corpus:q} --audit {output.audit:q} --log {log:q}"
