"""textbaselines: the classical baselines of text classification, from raw files to tables.

The study file says what is run: config/config.yaml, or another by --configfile. Each stage has its
rules in workflow/rules/.
"""

import os
import re
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

min_version("9.25")

ROOT = Path(workflow.basedir)
try:
    from textbaselines import provenance, storage, validation
    from textbaselines.errors import UserError
    from textbaselines.experiments.study import make_study
except ModuleNotFoundError as error:
    raise WorkflowError(
        f"{error}: the environment is not active. Run `make`, or `. .venv/bin/activate` first."
    )

# What the command line may set beside a study file: --config mirror=FOLDER, and the like.
OVERRIDES = ("mirror", "tracking", "max_documents")

try:
    if set(config) <= set(OVERRIDES):
        study_file = str(ROOT / "config" / "config.yaml")
        config = {**validation.load_yaml(study_file), **config}
    else:
        study_file = " + ".join(map(str, workflow.configfiles)) or "the command line"
    study = make_study(config, study_file, ROOT, ROOT / "workflow" / "schemas")
except UserError as error:
    raise WorkflowError(str(error))

# Folders searched for raw files, in this order: the config's, the variable's, mirror/ beside us.
mirror = config.get("mirror") or os.environ.get("TEXTBASELINES_MIRROR")
if mirror is None and (ROOT / "mirror").is_dir():
    mirror = str(ROOT / "mirror")
if mirror is not None:
    if not Path(mirror).is_dir():
        raise WorkflowError(f"the mirror is not a folder: {mirror}")
    os.environ["TEXTBASELINES_MIRROR"] = str(Path(mirror).resolve())


wildcard_constraints:
    study=re.escape(study.name),
    dataset="[A-Za-z0-9_-]+",
    file="[^/]+",
    counts="[A-Za-z0-9_-]+",
    vocabulary="[A-Za-z0-9_-]+",
    tokenizer="[A-Za-z0-9_-]+",
    representation="[A-Za-z0-9_-]+",
    method="[A-Za-z0-9_-]+",


include: "workflow/rules/naming.smk"
include: "workflow/rules/fetch.smk"
include: "workflow/rules/read.smk"
include: "workflow/rules/folds.smk"
include: "workflow/rules/tokenise.smk"
include: "workflow/rules/count.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/track.smk"


rule all:
    """Everything the study asks for: tables, figures and, unless switched off, the store."""
    default_target: True
    input:
        tables_of_study(),
        receipt_of_study(),


onsuccess:
    print_summary()
