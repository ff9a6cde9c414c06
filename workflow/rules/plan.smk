"""Plan: the study -> two files that jobs read.

The plan says what the jobs of the larger stages do, each under its stage, dataset and name: a
command line could not hold a large grid. A job has the digest of its own part as a parameter, so
that a changed grid re-runs its own method and nothing else; hence `ancient`.
"""


rule write_plan:
    """Write what each counting and training job does."""
    input:
        code=code("write_json"),
    output:
        "results/plans/{study}.json",
    log:
        "logs/plan/{study}.log",
    localrule: True
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=500,
    params:
        content=lambda wildcards: plan_of_study(),
    script:
        "../scripts/write_json.py"


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
