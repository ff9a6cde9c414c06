"""Summarise runs into cells: see textbaselines.experiments.evaluation."""

import argparse
from pathlib import Path

from textbaselines import storage
from textbaselines.experiments.evaluation import cell_table, cells_of_runs
from textbaselines.experiments.runs import runs_of_study
from textbaselines.experiments.selection import read_run_scores
from textbaselines.logs import run_script, run_to_end


def main() -> None:
    """Parse what the rule passes and summarise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True)
    parser.add_argument("--runs", type=Path, required=True, help="the study's folder of runs")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--selections", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("summarise", args.log) as log:
        runs = runs_of_study(args.runs, storage.read_json(args.study))
        cells, selections = cells_of_runs([read_run_scores(run) for run in runs])
        storage.write_parquet(args.selections, selections)
        storage.write_parquet(args.output, cell_table(cells))
        log.info("%d cells of %d runs", len(cells), len(runs))


if __name__ == "__main__":
    run_to_end(main)
