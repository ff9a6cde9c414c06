"""Write the table of costs and the figure of accuracy against cost: see reporting.costs."""

import argparse
from pathlib import Path

from textbaselines import storage
from textbaselines.experiments.costs import costs_of_runs
from textbaselines.experiments.evaluation import run_folders
from textbaselines.logs import run_script, run_to_end
from textbaselines.reporting.cost_front import cost_front, cost_front_figure
from textbaselines.reporting.costs import cost_table
from textbaselines.reporting.figures import draw_figure
from textbaselines.reporting.table_files import write_tables
from textbaselines.reporting.tables import to_csv


def main() -> None:
    """Parse what the rule passes and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True)
    parser.add_argument("--runs", type=Path, required=True, help="the study's run folders")
    parser.add_argument("--benchmarks", type=Path, required=True, help="one file per training job")
    parser.add_argument("--cells", type=Path, required=True)
    parser.add_argument("--stem", type=Path, required=True, help="path without an ending")
    parser.add_argument("--front", type=Path, required=True, help="path without an ending")
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("costs", args.log):
        study = storage.read_json(args.study)
        benchmarks = [args.benchmarks / ("/".join(run) + ".tsv") for run in study["runs"]]
        costs = costs_of_runs(run_folders(args.runs, study), benchmarks)
        tables = [cost_table(costs, study)]
        write_tables(args.stem, tables, study["title"], csv=to_csv(costs))
        front = cost_front(storage.read_parquet(args.cells), costs)
        storage.write_text(args.front.with_suffix(".csv"), to_csv(front))
        draw_figure(args.front, cost_front_figure, front, study)


if __name__ == "__main__":
    run_to_end(main)
