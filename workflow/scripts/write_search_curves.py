"""Write and draw the curves of the search: see textbaselines.experiments.search_curves."""

import argparse
from pathlib import Path

from textbaselines import storage
from textbaselines.experiments.evaluation import run_folders
from textbaselines.experiments.search_curves import search_curves
from textbaselines.logs import run_script, run_to_end
from textbaselines.reporting.figures import draw_figure
from textbaselines.reporting.search_figure import search_figure
from textbaselines.reporting.tables import to_csv


def main() -> None:
    """Parse what the rule passes, write and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True)
    parser.add_argument("--runs", type=Path, required=True, help="the study's run folders")
    parser.add_argument("--stem", type=Path, required=True, help="path without an ending")
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("search curves", args.log):
        study = storage.read_json(args.study)
        curves = search_curves(run_folders(args.runs, study))
        storage.write_text(args.stem.with_suffix(".csv"), to_csv(curves))
        draw_figure(args.stem, search_figure, curves, study)


if __name__ == "__main__":
    run_to_end(main)
