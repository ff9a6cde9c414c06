"""Describe a study for tables and figures: see textbaselines.study.plan."""

from logging import Logger
from pathlib import Path

from textbaselines.core import storage
from textbaselines.core.scripts import run
from textbaselines.evaluation.runs import write_index
from textbaselines.study.plan import Plan


def main(log: Logger, plan: Path, description: Path, batches: Path) -> None:
    """Write names, titles and order, and which run is in which batch."""
    read = Plan.read(plan)
    storage.write_text(description, storage.canonical_json(read.content["description"]) + "\n")
    write_index(batches, {name: read.batches(name) for name in read.content["datasets"]})


if __name__ == "__main__":
    run(main)
