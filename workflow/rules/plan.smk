"""Plan: study file -> what every job does, in files that jobs look their names up in.

Output: the plan (each dataset's batches of training tasks, grid points, representations), the
study's description (names, titles and order, for tables and figures), and which run is in which
batch.
"""


rule write_plan:
    """Write what the study's jobs do, and the names, titles and order of tables and figures."""
    input:
        code=ancient(code("write_plan", "experiments.plan", "experiments.runs", "logs")),
    output:
        plan="results/plans/{study}.json",
        description="results/studies/{study}.json",
        batches="results/runs/{study}/batches.json",
    log:
        "logs/plan/{study}.log",
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
    params:
        digest=storage.short_digest([plan.digest(), study.description()]),
        files=study_files(),
        config=storage.canonical_json(dict(workflow.config_settings.config)),
        command=command_of_study(),
        root=os.path.relpath(ROOT),
    shell:
        "python {input.code[0]:q} --configfile {params.files:q} --config {params.config:q}"
        " --command {params.command:q} --root {params.root:q} --plan {output.plan:q}"
        " --description {output.description:q} --batches {output.batches:q} --log {log:q}"
