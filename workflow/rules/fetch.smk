"""Fetch: source -> verified raw file.

Input: a dataset file, which lists ordered sources with digests. Output: the raw file, whole and
verified, and beside it which source gave it.
"""


rule fetch:
    """Fetch one raw file from the first of its sources that gives the pinned bytes."""
    input:
        code=code("fetch"),
    output:
        file=results.raw / "{file}",
        provenance=results.raw / "{file}.source.json",
    log:
        "logs/fetch/{file}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=500,
    params:
        raw_file=raw_file_of,
    shell:
        "python {input.code[0]:q} --raw-file {params.raw_file:q}"
        " --output {output.file:q} --provenance {output.provenance:q} --log {log:q}"
