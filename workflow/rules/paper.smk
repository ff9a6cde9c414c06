"""Paper: cells beside the numbers that a paper published, where the study names a file of them.

Output: every published cell with our mean over draws and whether it is reproduced (fidelity.csv),
the paper's tables in its own layout, and its claims with a paired test and a verdict each.
"""


rule write_paper_tables:
    """Set published numbers beside ours and judge the paper's claims."""
    input:
        code=code("write_paper_tables"),
        published=published_file(),
        cells=f"results/cells/{study.name}.parquet",
        study=f"results/studies/{study.name}.json",
        runs=runs_of_study(),
        summaries=summaries_of_study(),
        audits=audits_of_study(),
    output:
        fidelity=report(
            "results/tables/fidelity.csv",
            category="Tables",
            labels={"table": "fidelity", "form": "CSV"},
            caption="../report/fidelity.rst",
        ),
        claims=report(
            f"results/tables/{study.name}/claims.csv",
            category="Tables",
            labels={"table": "claims", "form": "CSV"},
            caption="../report/claims.rst",
        ),
        verdicts=report(
            f"results/tables/{study.name}/claim_verdicts.csv",
            category="Tables",
            labels={"table": "verdicts on the claims", "form": "CSV"},
            caption="../report/claims.rst",
        ),
        html=report(
            f"results/tables/{study.name}/paper.html",
            category="Tables",
            labels={"table": "paper", "form": "page"},
            caption="../report/paper.rst",
        ),
        markdown=f"results/tables/{study.name}/paper.md",
        latex=f"results/tables/{study.name}/paper.tex",
        text=f"results/tables/{study.name}/paper.txt",
    log:
        f"logs/paper/{study.name}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=1000,
    params:
        study=study.name,
    shell:
        "python {input.code[0]:q} --published {input.published:q} --cells {input.cells:q}"
        " --study {input.study:q} --runs results/runs/{params.study:q}"
        " --corpora results/corpora --counts results/counts/{params.study:q}"
        " --fidelity {output.fidelity:q} --claims {output.claims:q}"
        " --verdicts {output.verdicts:q}"
        " --stem results/tables/{params.study:q}/paper --log {log:q}"
