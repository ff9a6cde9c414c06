"""Write the comparisons of all datasets with grouped folds as one table."""

import argparse
from pathlib import Path

import pandas as pd

from textbaselines import storage
from textbaselines.experiments.grouped_runs import GROUPED_COLUMNS
from textbaselines.logs import run_script, run_to_end
from textbaselines.reporting.tables import to_csv


def main() -> None:
    """Parse what the rule passes and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compared", type=Path, nargs="+", required=True, help="by dataset")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("grouped", args.log):
        tables = [storage.read_parquet(path) for path in args.compared]
        tables = [table for table in tables if len(table)]
        whole = pd.concat(tables) if tables else pd.DataFrame(columns=list(GROUPED_COLUMNS))
        storage.write_text(args.output, to_csv(whole))


if __name__ == "__main__":
    run_to_end(main)
