"""Describe a study for tables and figures: see textbaselines.experiments.plan."""

from logging import Logger
from pathlib import Path

from textbaselines import storage
from textbaselines.experiments.plan import Plan
from textbaselines.experiments.runs import write_index
from textbaselines.scripts import run


def main(log: Logger, plan: Path, description: Path, batches: Path) -> None:
    """Write names, titles and order, and which run is in which batch."""
    read = Plan.read(plan)
    storage.write_text(description, storage.canonical_json(read.content["description"]) + "\n")
    write_index(batches, {name: read.batches(name) for name in read.content["datasets"]})


if __name__ == "__main__":
    run(main)
