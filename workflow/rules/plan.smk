"""Plan: what jobs do, in a file that they look it up in, and what reports need to know of the study.

A command line could not hold a large grid. The plan is named by the digest of its content and is
no input of a job, for Snakemake does not compare the parameters of jobs behind one that must run:
the digest of its own part is a job's parameter. So a changed grid trains again only the batches
that hold its method. The plan lies beside the results, on a file system that jobs share.
"""


rule describe_study:
    """Write the names, titles and order of tables and figures, and which run is in which batch."""
    input:
        code=code("describe_study"),
    output:
        description=of_study.description,
        batches=of_study.batches,
    log:
        of_study.log("plan", "describe_study"),
    localrule: True
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=100,
    params:
        plan=plan_file,
        digest=plan.description_digest(),  # not in the command: its change runs the job again
    shell:
        "python {input.code[0]:q} --plan {params.plan:q} --description {output.description:q}"
        " --batches {output.batches:q} --log {log:q}"
