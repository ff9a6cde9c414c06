"""Search: scores on inner folds -> how good the best of n grid points is expected to be."""


rule write_search_curves:
    """Write and draw the expected best inner accuracy against the number of trials."""
    input:
        code=code("write_search_curves"),
        study="results/studies/{study}.json",
        runs=runs_of_study(),
    output:
        csv=report(
            "results/search/{study}/curves.csv",
            category="Tables",
            labels={"table": "search", "form": "CSV"},
            caption="../report/search.rst",
        ),
        svg=report(
            "results/search/{study}/curves.svg",
            category="Figures",
            labels={"figure": "search", "form": "SVG"},
            caption="../report/search.rst",
        ),
        png="results/search/{study}/curves.png",
        narrow="results/search/{study}/curves-narrow.svg",
        text="results/search/{study}/curves.txt",
    log:
        "logs/search/{study}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=500,
    shell:
        "python {input.code[0]:q} --study {input.study:q} --runs results/runs/{wildcards.study:q}"
        " --stem results/search/{wildcards.study:q}/curves --log {log:q}"
