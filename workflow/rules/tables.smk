"""Tables and figures: cells -> what a paper shows, as Markdown, LaTeX, CSV, HTML and pictures."""


rule write_tables:
    """Write the comparison tables: methods as rows, datasets as columns."""
    input:
        code=code("write_tables"),
        cells="results/cells/{study}.parquet",
        overlap="results/duplicates/{study}/overlap.parquet",
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
        "logs/tables/{study}/comparison.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=500,
    shell:
        "python {input.code[0]:q} --cells {input.cells:q} --overlap {input.overlap:q}"
        " --study {input.study:q}"
        " --stem results/tables/{wildcards.study:q}/comparison --log {log:q}"


rule draw_figures:
    """Draw accuracy by method with 95 % intervals, one panel per dataset."""
    input:
        code=code("draw_figures"),
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
        narrow="results/figures/{study}/accuracy-narrow.svg",
        text="results/figures/{study}/accuracy.txt",
    log:
        "logs/figures/{study}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=500,
    shell:
        "python {input.code[0]:q} --cells {input.cells:q} --study {input.study:q}"
        " --stem results/figures/{wildcards.study:q}/accuracy --log {log:q}"


rule write_costs:
    """Write the table of costs and the figure of accuracy against seconds per fit."""
    input:
        code=code("write_costs"),
        study="results/studies/{study}.json",
        cells="results/cells/{study}.parquet",
        runs=runs_of_study(),
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
        front="results/costs/{study}/front.csv",
        svg=report(
            "results/costs/{study}/front.svg",
            category="Figures",
            labels={"figure": "accuracy against cost", "form": "SVG"},
            caption="../report/cost_front.rst",
        ),
        png="results/costs/{study}/front.png",
        narrow="results/costs/{study}/front-narrow.svg",
        text="results/costs/{study}/front.txt",
    log:
        "logs/costs/{study}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=500,
    shell:
        "python {input.code[0]:q} --study {input.study:q} --runs results/runs/{wildcards.study:q}"
        " --benchmarks results/benchmarks/{wildcards.study:q}/train"
        " --cells {input.cells:q} --stem results/costs/{wildcards.study:q}/costs"
        " --front results/costs/{wildcards.study:q}/front --log {log:q}"
