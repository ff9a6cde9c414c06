"""Describe a study for tables and figures: see textbaselines.experiments.plan."""

import argparse
from pathlib import Path

from textbaselines import storage
from textbaselines.experiments.plan import Plan
from textbaselines.experiments.runs import write_index
from textbaselines.logs import run_script, run_to_end


def main() -> None:
    """Parse what the rule passes and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", type=Path, required=True)
    parser.add_argument("--description", type=Path, required=True)
    parser.add_argument("--batches", type=Path, required=True, help="which run is in which batch")
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("describe", args.log):
        plan = Plan.read(args.plan)
        text = storage.canonical_json(plan.content["description"])
        storage.write_text(args.description, text + "\n")
        write_index(args.batches, {name: plan.batches(name) for name in plan.content["datasets"]})


if __name__ == "__main__":
    run_to_end(main)
