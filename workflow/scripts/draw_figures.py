"""Draw the figure of accuracies: see textbaselines.reporting.figures."""

import argparse
from pathlib import Path

from textbaselines import storage
from textbaselines.experiments.evaluation import INTERVAL
from textbaselines.logs import run_script, run_to_end
from textbaselines.reporting.figures import accuracy_figure, draw_figure


def main() -> None:
    """Parse what the rule passes and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=Path, required=True)
    parser.add_argument("--study", type=Path, required=True)
    parser.add_argument("--stem", type=Path, required=True, help="path without an ending")
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("figures", args.log):
        cells, study = storage.read_parquet(args.cells), storage.read_json(args.study)
        draw_figure(args.stem, accuracy_figure, cells, study, interval=INTERVAL)


if __name__ == "__main__":
    run_to_end(main)
