"""Describe: the study's plan -> names, titles and order for tables, and which run is where.

The plan itself (results/plans) is written when the Snakefile is read: it says what every job does.
"""


rule describe_study:
    """Write the names, titles and order of tables and figures, and which run is in which batch."""
    input:
        code=ancient(code("describe_study", "experiments.plan", "experiments.runs", "logs")),
    output:
        description="results/studies/{study}.json",
        batches="results/runs/{study}/batches.json",
    log:
        "logs/plan/{study}.log",
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=100,
    params:
        plan=plan_file,
        digest=plan.description_digest(),
    shell:
        "python {input.code[0]:q} --plan {params.plan:q} --description {output.description:q}"
        " --batches {output.batches:q} --log {log:q}"
