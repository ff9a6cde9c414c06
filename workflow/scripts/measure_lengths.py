"""Measure accuracy against document length: see textbaselines.experiments.lengths."""

import argparse
from pathlib import Path

from textbaselines import storage
from textbaselines.experiments.lengths import accuracy_of_cells, document_lengths
from textbaselines.experiments.selection import compared_cells
from textbaselines.logs import run_script, run_to_end
from textbaselines.reporting.analysis_figures import length_figure
from textbaselines.reporting.figures import draw_figure
from textbaselines.reporting.tables import to_csv
from textbaselines.text.tokens import read_tokens


def main() -> None:
    """Parse what the rule passes, measure, write and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True)
    parser.add_argument("--cells", type=Path, required=True)
    parser.add_argument("--selections", type=Path, required=True)
    parser.add_argument("--runs", type=Path, required=True, help="the study's run folders")
    parser.add_argument(
        "--tokens", type=Path, nargs="+", required=True, help="of each dataset, in its order"
    )
    parser.add_argument("--stem", type=Path, required=True, help="path without an ending")
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("lengths", args.log) as log:
        study = storage.read_json(args.study)
        cells = compared_cells(storage.read_parquet(args.cells))
        failed = cells["failure"].notna()
        for row in cells[failed].itertuples():
            log.warning("%s, %s: no result, left out: %s", row.dataset, row.row, row.failure)
        lengths = {
            dataset["name"]: document_lengths(read_tokens(tokens))
            for dataset, tokens in zip(study["datasets"], args.tokens, strict=True)
        }
        selections = storage.read_parquet(args.selections)
        table = accuracy_of_cells(args.runs, cells[~failed], selections, lengths)
        storage.write_text(args.stem.with_suffix(".csv"), to_csv(table))
        draw_figure(args.stem, length_figure, table, study)


if __name__ == "__main__":
    run_to_end(main)
