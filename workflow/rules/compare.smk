"""Compare: predictions -> is a difference real, on each dataset and over all of them.

Output: every pair of rows of the tables with paired tests and effect sizes, the contrasts of the
study with adjusted p-values, ranks over datasets; tables and the critical-difference
diagram.
"""


rule compare_rows:
    """Test every pair of rows on shared test documents, and the contrasts of the study."""
    input:
        code=code("compare_rows"),
        study="results/studies/{study}.json",
        cells="results/cells/{study}.parquet",
        selections="results/selections/{study}.parquet",
        runs=runs_of_study(),
        corpora=expand("results/corpora/{dataset}/corpus.parquet", dataset=study.datasets),
    output:
        contrasts=report(
            "results/significance/{study}/contrasts.csv",
            category="Tables",
            labels={"table": "contrasts", "form": "CSV"},
            caption="../report/contrasts.rst",
        ),
        pairs=report(
            "results/significance/{study}/pairs.csv",
            category="Tables",
            labels={"table": "all pairs", "form": "CSV"},
            caption="../report/pairs.rst",
        ),
        ranks=report(
            "results/significance/{study}/ranks.csv",
            category="Tables",
            labels={"table": "average ranks", "form": "CSV"},
            caption="../report/ranks.rst",
        ),
        omnibus=report(
            "results/significance/{study}/omnibus.csv",
            category="Tables",
            labels={"table": "Friedman test", "form": "CSV"},
            caption="../report/ranks.rst",
        ),
        nemenyi=report(
            "results/significance/{study}/nemenyi.csv",
            category="Tables",
            labels={"table": "Nemenyi test", "form": "CSV"},
            caption="../report/critical_difference.rst",
        ),
        across=report(
            "results/significance/{study}/across.csv",
            category="Tables",
            labels={"table": "contrasts over all datasets", "form": "CSV"},
            caption="../report/contrasts.rst",
        ),
    log:
        "logs/compare/{study}/rows.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=megabytes(8, least=1000),
    shell:
        "python {input.code[0]:q} --study {input.study:q} --cells {input.cells:q}"
        " --selections {input.selections:q}"
        " --runs results/runs/{wildcards.study:q} --corpora results/corpora"
        " --output results/significance/{wildcards.study:q} --log {log:q}"


rule write_contrasts:
    """Write the tables of the contrasts and the critical-difference diagram."""
    input:
        code=code("write_contrasts"),
        study="results/studies/{study}.json",
        contrasts="results/significance/{study}/contrasts.csv",
        ranks="results/significance/{study}/ranks.csv",
        omnibus="results/significance/{study}/omnibus.csv",
        nemenyi="results/significance/{study}/nemenyi.csv",
        across="results/significance/{study}/across.csv",
    output:
        html=report(
            "results/tables/{study}/contrasts.html",
            category="Tables",
            labels={"table": "contrasts", "form": "page"},
            caption="../report/contrasts.rst",
        ),
        markdown="results/tables/{study}/contrasts.md",
        latex="results/tables/{study}/contrasts.tex",
        text="results/tables/{study}/contrasts.txt",
        svg=report(
            "results/figures/{study}/critical-difference.svg",
            category="Figures",
            labels={"figure": "critical difference", "form": "SVG"},
            caption="../report/critical_difference.rst",
        ),
        png="results/figures/{study}/critical-difference.png",
        narrow="results/figures/{study}/critical-difference-narrow.svg",
        words="results/figures/{study}/critical-difference.txt",
    log:
        "logs/compare/{study}/tables.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=500,
    shell:
        "python {input.code[0]:q} --study {input.study:q}"
        " --significance results/significance/{wildcards.study:q}"
        " --tables results/tables/{wildcards.study:q}/contrasts"
        " --figure results/figures/{wildcards.study:q}/critical-difference --log {log:q}"
