"""Tables: what a paper shows, as Markdown, LaTeX, CSV, HTML and pictures, and the study's report."""


rule write_tables:
    """Write the comparison, contrasts, costs and data as tables, and draw all figures."""
    input:
        code=code("write_tables"),
        study=of_study.description,
        cells=of_study.cells,
        overlap=of_study.overlap,
        significance=[of_study.significance(table) for table in SIGNIFICANCE],
        calibration=[of_study.analysis(table) for table in CALIBRATION],
        analyses=[of_study.analysis(table) for table in study.analyses()],
        runs=runs_of_study(),
        measures=measures_of_study(),
        audits=audits_of_study(),
    output:
        tables=[of_study.table(*table) for table in TABLES],
        figures=[f"{of_study.figure(name)}{form}" for name in study.figures() for form in FORMS],
    log:
        of_study.log("tables", "write_tables"),
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=1000,
    shell:
        "python {input.code[0]:q} --study {input.study:q} --log {log:q}"


rule write_paper_tables:
    """Set published numbers beside ours and judge the paper's claims."""
    input:
        code=code("write_paper_tables"),
        published=published_file(),
        cells=of_study.cells,
        study=of_study.description,
        runs=runs_of_study(),
        summaries=counts_summaries_of_study(),
        audits=audits_of_study(),
    output:
        [of_study.table(*table) for table in PAPER_TABLES],
    log:
        of_study.log("tables", "write_paper_tables"),
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=1000,
    shell:
        "python {input.code[0]:q} --study {input.study:q} --published {input.published:q}"
        " --log {log:q}"


rule write_report:
    """Write the report of the study: the answer first, then everything it rests on."""
    input:
        code=code("write_report"),
        parts=parts_of_page(),
        study=here.description,
        files=files_of_report(),
    output:
        page=report(here.report, caption="../report/study.rst"),
        latest=results.report,
    log:
        here.log("tables", "write_report"),
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=500,
    params:
        root=relative(ROOT),
    shell:
        "python {input.code[0]:q} --study {input.study:q} --files {input.files:q}"
        " --root {params.root:q} --log {log:q}"
