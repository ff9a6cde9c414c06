"""Summarise run folders into cells: see textbaselines.experiments.evaluation."""

import argparse
from pathlib import Path

from textbaselines import storage
from textbaselines.experiments.evaluation import cell_table, cells_of_runs, run_folders
from textbaselines.experiments.selection import read_run_scores
from textbaselines.logs import run_script, run_to_end


def main() -> None:
    """Parse what the rule passes and summarise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True)
    parser.add_argument("--runs", type=Path, required=True, help="the study's run folders")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--selections", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("summarise", args.log) as log:
        folders = run_folders(args.runs, storage.read_json(args.study))
        cells, selections = cells_of_runs([read_run_scores(folder) for folder in folders])
        storage.write_parquet(args.selections, selections)
        storage.write_parquet(args.output, cell_table(cells))
        log.info("%d cells of %d run folders", len(cells), len(folders))


if __name__ == "__main__":
    run_to_end(main)
