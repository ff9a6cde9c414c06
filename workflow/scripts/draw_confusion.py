"""Draw confusion matrices as heat maps: see textbaselines.reporting.confusion_figure."""

import argparse
from pathlib import Path

from textbaselines import storage
from textbaselines.csv_tables import read_csv
from textbaselines.logs import run_script, run_to_end
from textbaselines.reporting.confusion_figure import confusion_figure
from textbaselines.reporting.figures import draw_figure


def main() -> None:
    """Parse what the rule passes and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True)
    parser.add_argument("--confusion", type=Path, required=True, help="the matrices")
    parser.add_argument("--stem", type=Path, required=True, help="path without an ending")
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("confusion", args.log):
        confusion, study = read_csv(args.confusion), storage.read_json(args.study)
        draw_figure(args.stem, confusion_figure, confusion, study)


if __name__ == "__main__":
    run_to_end(main)
