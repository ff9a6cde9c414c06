"""Tables and figures: cells -> what a paper shows, as Markdown, LaTeX, CSV, HTML and pictures."""


rule write_tables:
    """Write the comparison tables: methods as rows, datasets as columns."""
    input:
        code=code("write_tables", "reporting.tables", "logs"),
        cells="results/cells/{study}.parquet",
        study="results/studies/{study}.json",
    output:
        markdown="results/tables/{study}/comparison.md",
        latex="results/tables/{study}/comparison.tex",
        csv=report(
            "results/tables/{study}/comparison.csv",
            category="Tables",
            labels={"table": "comparison", "form": "CSV"},
            caption="../report/comparison.rst",
        ),
        html=report(
            "results/tables/{study}/comparison.html",
            category="Tables",
            labels={"table": "comparison", "form": "page"},
            caption="../report/comparison.rst",
        ),
        text="results/tables/{study}/comparison.txt",
    log:
        "logs/tables/{study}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
    shell:
        "python {input.code[0]:q} --cells {input.cells:q} --study {input.study:q}"
        " --stem results/tables/{wildcards.study:q}/comparison --log {log:q}"


rule draw_figures:
    """Draw accuracy by method with 95 % intervals, one panel per dataset."""
    input:
        code=code("draw_figures", "reporting.figures", "logs"),
        cells="results/cells/{study}.parquet",
        study="results/studies/{study}.json",
    output:
        svg=report(
            "results/figures/{study}/accuracy.svg",
            category="Figures",
            labels={"figure": "accuracy", "form": "SVG"},
            caption="../report/accuracy.rst",
        ),
        png="results/figures/{study}/accuracy.png",
        text="results/figures/{study}/accuracy.txt",
    log:
        "logs/figures/{study}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
    shell:
        "python {input.code[0]:q} --cells {input.cells:q} --study {input.study:q}"
        " --stem results/figures/{wildcards.study:q}/accuracy --log {log:q}"


rule write_costs:
    """Write the table of costs: seconds per fit, microseconds per document, memory per job."""
    input:
        code=code("write_costs", "experiments.costs", "reporting.costs", "logs"),
        study="results/studies/{study}.json",
        runs=runs_of_study(),
        timings=runs_of_study("timings.parquet"),
        benchmarks=benchmarks_of_study(),
    output:
        csv=report(
            "results/costs/{study}/costs.csv",
            category="Tables",
            labels={"table": "costs", "form": "CSV"},
            caption="../report/costs.rst",
        ),
        html=report(
            "results/costs/{study}/costs.html",
            category="Tables",
            labels={"table": "costs", "form": "page"},
            caption="../report/costs.rst",
        ),
        markdown="results/costs/{study}/costs.md",
        latex="results/costs/{study}/costs.tex",
    log:
        "logs/costs/{study}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
    shell:
        "python {input.code[0]:q} --study {input.study:q} --runs results/runs/{wildcards.study:q}"
        " --benchmarks results/benchmarks/{wildcards.study:q}/train"
        " --stem results/costs/{wildcards.study:q}/costs --log {log:q}"
