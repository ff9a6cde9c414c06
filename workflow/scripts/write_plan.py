"""Write the plan of a study: see textbaselines.experiments.plan."""

import argparse
import json
from pathlib import Path

from textbaselines import storage
from textbaselines.experiments.plan import Plan
from textbaselines.experiments.runs import write_index
from textbaselines.experiments.study import read_study
from textbaselines.logs import run_script, run_to_end


def main() -> None:
    """Parse what the rule passes, read the study as the workflow did, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--configfile", type=Path, nargs="+", required=True)
    parser.add_argument("--config", type=json.loads, required=True, help="what replaces the files'")
    parser.add_argument("--command", required=True, help="the command that runs the study")
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--plan", type=Path, required=True)
    parser.add_argument("--description", type=Path, required=True)
    parser.add_argument("--batches", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("plan", args.log) as log:
        schemas = args.root / "workflow" / "schemas"
        study = read_study(args.configfile, args.config, args.root, schemas)
        plan = Plan.of(study)
        plan.write(args.plan)
        described = {**study.description(), "command": args.command}
        storage.write_text(args.description, storage.canonical_json(described) + "\n")
        batches = {dataset: plan.batches(dataset) for dataset in study.datasets}
        write_index(args.batches, batches)
        log.info("%d tasks in %d batches", len(study.runs()), sum(map(len, batches.values())))


if __name__ == "__main__":
    run_to_end(main)
