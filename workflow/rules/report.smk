"""Report: what repeated texts are worth, and all tables and figures as one page that opens offline.

Output: results/reports/<study>.html, and the same as results/report.html for the study run last.
"""


rule measure_leak:
    """Compare accuracy on test documents that stand in training with that on new ones."""
    input:
        code=code("measure_leak"),
        study="results/studies/{study}.json",
        cells="results/cells/{study}.parquet",
        selections="results/selections/{study}.parquet",
        runs=runs_of_study(),
        corpora=expand("results/corpora/{dataset}/corpus.parquet", dataset=study.datasets),
        folds=expand("results/folds/{{study}}/{dataset}.parquet", dataset=study.datasets),
    output:
        report(
            "results/duplicates/{study}/leak.csv",
            category="Tables",
            labels={"table": "repeated texts", "form": "CSV"},
            caption="../report/leak.rst",
        ),
    log:
        "logs/duplicates/{study}/leak.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(8, least=1000),
    shell:
        "python {input.code[0]:q} --study {input.study:q} --cells {input.cells:q}"
        " --selections {input.selections:q} --results results --output {output:q} --log {log:q}"


rule write_data_tables:
    """Write what the audits of the study's corpora found as tables."""
    input:
        code=code("write_data_tables"),
        audits=audits_of_study(),
    output:
        data=report(
            "results/tables/{study}/data.csv",
            category="Tables",
            labels={"table": "data audit", "form": "CSV"},
            caption="../report/data.rst",
        ),
        near=report(
            "results/tables/{study}/near_duplicates.csv",
            category="Tables",
            labels={"table": "near-duplicates", "form": "CSV"},
            caption="../report/data.rst",
        ),
    log:
        "logs/tables/{study}/data.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=500,
    shell:
        "python {input.code[0]:q} --audits {input.audits:q} --data {output.data:q}"
        " --near-duplicates {output.near:q} --log {log:q}"


rule write_report:
    """Write the report of the study: the answer first, then everything it rests on."""
    input:
        code=code("write_report"),
        parts=parts_of_page(),
        study=f"results/studies/{study.name}.json",
        files=files_of_report(),
    output:
        page=f"results/reports/{study.name}.html",
        latest="results/report.html",
    log:
        f"logs/report/{study.name}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=500,
    params:
        root=relative(ROOT),
    shell:
        "python {input.code[0]:q} --study {input.study:q} --results results"
        " --files {input.files:q} --root {params.root:q}"
        " --pages {output.page:q} {output.latest:q} --log {log:q}"
