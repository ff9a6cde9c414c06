"""Plan: what jobs do, in a file that they look it up in, and what reports need to know of the study.

A command line could not hold a large grid. The plan is written when a run starts, under the
digest of its content, and is no input of a job: the digest of its own part is a job's
parameter, so that a changed grid re-runs its own method and nothing else.
"""

PLAN = plan_path()


rule describe_study:
    """Write the names, titles and order that tables and figures need."""
    input:
        code=code("write_json"),
    output:
        "results/studies/{study}.json",
    log:
        "logs/plan/{study}-description.log",
    localrule: True
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=100,
    params:
        # By a function: a string of a study's own words would be formatted.
        content=lambda wildcards: description_of_study(),
    script:
        "../scripts/write_json.py"
