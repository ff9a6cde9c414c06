"""textbaselines: the classical baselines of text classification, from raw files to tables.

The study file says what is run: config/config.yaml, or another by --configfile; a workflow that
uses this one as a module gives its config. Each stage has its rules in workflow/rules/. What they
take is in inputs.smk, where files lie in src/textbaselines/core/result_paths.py.
"""

import os
import re
import shlex
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

min_version("9.25")

# The folder of this Snakefile, also where another workflow uses it as a module.
ROOT = Path(str(workflow.current_basedir))
if not ROOT.is_dir():
    raise WorkflowError(
        f"textbaselines runs from a folder, not from {ROOT}: clone it, give its path."
    )
sys.path.insert(0, str(ROOT / "src"))
try:
    from textbaselines.core import provenance, snakemake_access, storage
    from textbaselines.core.environment import export_allocator, export_library, export_mirror
    from textbaselines.core.errors import UserError
    from textbaselines.study.batches import plan_of
    from textbaselines.study.definition import make_study, read_study
    from textbaselines.core.result_paths import (
        BATCH_FILES,
        CALIBRATION,
        FORMS,
        PAPER_TABLES,
        RECORDS,
        SIGNIFICANCE,
        TABLES,
        Results,
    )
except ModuleNotFoundError as error:
    raise WorkflowError(
        f"{error}: the environment is not active. Run `make`, or `. .venv/bin/activate` first."
    )

IS_MODULE = snakemake_access.is_module(workflow)

if (cores := snakemake_access.cores(workflow)) is not None and cores < 1:
    # Snakemake itself would wait for ever.
    raise WorkflowError(f"No job can run on {cores} cores: give --cores a positive number, or all.")


include: "workflow/rules/study.smk"


report: "workflow/report/workflow.rst"


# For --sdm conda. Snakemake formats this path, so that braces in the checkout's own are doubled.
ENVIRONMENT = str(ROOT / "workflow" / "envs" / "run.yml").replace("{", "{{").replace("}", "}}")


wildcard_constraints:
    study=re.escape(study.name),
    dataset="[A-Za-z0-9_-]+",
    file="[^/]+",
    tokenizer="[A-Za-z0-9_-]+",
    representation="[A-Za-z0-9_-]+",
    method="[A-Za-z0-9_-]+",
    batch="[A-Za-z0-9_-]+",
    reduction="[a-z0-9_-]+",
    lowest="[0-9]+",
    highest="[0-9]+",
    policy="[a-z]+",
    min_count="[0-9]+",


include: "workflow/rules/inputs.smk"
include: "workflow/rules/plan.smk"
include: "workflow/rules/fetch.smk"
include: "workflow/rules/read.smk"
include: "workflow/rules/folds.smk"
include: "workflow/rules/tokenise.smk"
include: "workflow/rules/count.smk"
include: "workflow/rules/reduce.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/models.smk"
include: "workflow/rules/track.smk"


rule all:
    """Everything the study asks for: tables, report, models and, unless switched off, the store."""
    default_target: True
    input:
        runs_of_study(BATCH_FILES),  # tables that are there would not bring back a deleted one
        tables_of_study(),
        here.report,
        models_of_study(),
        receipts_of_study() if study.config["tracking"] == "mlflow" else [],


onstart:
    plan.write(results.folder)
    for note in study.notes():
        print(f"note: {note}", file=sys.stderr)
    snakemake_access.start_jobs_at_once(workflow)


onsuccess:
    from textbaselines.reporting.tables.terminal_summary import print_summary

    print_summary(results.folder, plan.content["description"])
