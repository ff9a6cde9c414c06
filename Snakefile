"""textbaselines: the classical baselines of text classification, from raw files to tables.

The study file says what is run: config/config.yaml, or another by --configfile. Each stage has its
rules in workflow/rules/.
"""

import functools
import os
import re
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

min_version("9.25")

ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT / "src"))
try:
    from textbaselines import provenance, storage
    from textbaselines.environment import export_allocator, export_library, export_mirror
    from textbaselines.errors import UserError
    from textbaselines.experiments.counting_jobs import counting_jobs, counting_of
    from textbaselines.experiments.plan_file import part_of
    from textbaselines.experiments.receipts import RUN_FILES
    from textbaselines.experiments.study import read_study
    from textbaselines.experiments.training_jobs import grouped_tasks, task_of, training_jobs
except ModuleNotFoundError as error:
    raise WorkflowError(
        f"{error}: the environment is not active. Run `make`, or `. .venv/bin/activate` first."
    )

if (cores := workflow.resource_settings.cores) is not None and cores < 1:
    # Snakemake itself would wait for ever.
    raise WorkflowError(f"No job can run on {cores} cores: give --cores a positive number, or all.")

try:
    # Read anew by our own loader, which refuses duplicate keys and names lines.
    study = read_study(
        workflow.configfiles or [ROOT / "config" / "config.yaml"],
        dict(workflow.config_settings.config),
        ROOT,
        Path("results", "raw"),
    )
    export_library(ROOT / "src")
    export_allocator()
    export_mirror(study.config["mirror"], ROOT)
except UserError as error:
    raise WorkflowError(str(error))


report: "workflow/report/workflow.rst"


# Snakemake formats this path, so that braces in the checkout's own are doubled.
ENVIRONMENT = str(ROOT / "workflow" / "envs" / "run.yml").replace("{", "{{").replace("}", "}}")


wildcard_constraints:
    study=re.escape(study.name),
    dataset="[A-Za-z0-9_-]+",
    file="[^/]+",
    reduced="[A-Za-z0-9_-]+",
    tokenizer="[A-Za-z0-9_-]+",
    representation="[A-Za-z0-9_-]+",
    method="[A-Za-z0-9_-]+",


include: "workflow/rules/naming.smk"
include: "workflow/rules/plan.smk"
include: "workflow/rules/fetch.smk"
include: "workflow/rules/read.smk"
include: "workflow/rules/folds.smk"
include: "workflow/rules/tokenise.smk"
include: "workflow/rules/count.smk"
include: "workflow/rules/reduce.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/search.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/compare.smk"
include: "workflow/rules/analyse.smk"
include: "workflow/rules/duplicates.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/paper.smk"
include: "workflow/rules/models.smk"
include: "workflow/rules/track.smk"


rule all:
    """Everything the study asks for: tables, analyses, models and, unless switched off, the store."""
    default_target: True
    input:
        runs_of_study(),  # by themselves: a deleted one is not missed by tables that are there
        tables_of_study(),
        analyses_of_study(),
        models_of_study(),
        receipt_of_study(),
        registry_of_study(),


onstart:
    write_plan()
    for note in study.notes():
        print(f"note: {note}", file=sys.stderr)
    # By default no more than 100 jobs start in a second, and to keep to that Snakemake looks at the
    # inputs of every ready job once a second. Where jobs run on this machine its cores are limit
    # enough; the profile has no word for "no limit".
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None


onsuccess:
    print_summary()
