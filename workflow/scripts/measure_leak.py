"""Measure what repeated texts are worth: see textbaselines.experiments.duplicates."""

import argparse
from pathlib import Path

from textbaselines import storage
from textbaselines.experiments.duplicates import leaks_of_study
from textbaselines.logs import run_script, run_to_end
from textbaselines.reporting.tables import to_csv


def main() -> None:
    """Parse what the rule passes and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True)
    parser.add_argument("--cells", type=Path, required=True)
    parser.add_argument("--selections", type=Path, required=True)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("duplicates", args.log):
        leaks = leaks_of_study(
            args.results,
            storage.read_json(args.study),
            storage.read_parquet(args.cells),
            storage.read_parquet(args.selections),
        )
        storage.write_text(args.output, to_csv(leaks))


if __name__ == "__main__":
    run_to_end(main)
