"""Draw the figure of accuracies: see textbaselines.reporting.figures."""

import argparse
from pathlib import Path

from textbaselines import storage
from textbaselines.experiments.evaluation import INTERVAL
from textbaselines.logs import run_script, run_to_end
from textbaselines.reporting.figures import accuracy_figure, write_figure


def main() -> None:
    """Parse what the rule passes and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=Path, required=True)
    parser.add_argument("--study", type=Path, required=True)
    parser.add_argument("--stem", type=Path, required=True, help="path without an ending")
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("figures", args.log):
        figure, words = accuracy_figure(
            storage.read_parquet(args.cells), storage.read_json(args.study), interval=INTERVAL
        )
        write_figure(args.stem, figure, words)


if __name__ == "__main__":
    run_to_end(main)
