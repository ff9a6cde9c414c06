"""Measure the calibration of probabilities: see textbaselines.experiments.calibration."""

import argparse
from pathlib import Path

import pandas as pd

from textbaselines import storage
from textbaselines.datasets.corpus import read_corpus
from textbaselines.experiments.calibration import CalibratedRuns, calibrate_cells
from textbaselines.experiments.lengths import document_lengths
from textbaselines.experiments.selection import compared_cells
from textbaselines.logs import run_script, run_to_end
from textbaselines.reporting.analysis_figures import overconfidence_figure, reliability_figure
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
    parser.add_argument("--corpora", type=Path, required=True, help="the folders of corpora")
    parser.add_argument(
        "--tokens", type=Path, nargs="+", required=True, help="of each dataset, in its order"
    )
    parser.add_argument("--output", type=Path, required=True, help="the folder of the tables")
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("calibration", args.log) as log:
        study = storage.read_json(args.study)
        cells = compared_cells(storage.read_parquet(args.cells))
        runs = CalibratedRuns(args.runs, storage.read_parquet(args.selections))
        parts = [
            calibrate_cells(
                cells[cells["dataset"] == dataset["name"]],
                runs,
                read_corpus(
                    args.corpora / dataset["name"] / "corpus.parquet", ["id", "label", "group"]
                ),
                document_lengths(read_tokens(tokens)),
            )
            for dataset, tokens in zip(study["datasets"], args.tokens, strict=True)
        ]
        calibration, reliability, by_length = (
            pd.concat(tables, ignore_index=True) for tables in zip(*parts, strict=True)
        )
        for name, table in (
            ("calibration", calibration),
            ("reliability", reliability),
            ("by_length", by_length),
        ):
            storage.write_text(args.output / f"{name}.csv", to_csv(table))
        stem = args.output / "reliability"
        draw_figure(stem, reliability_figure, reliability, calibration, study)
        draw_figure(args.output / "by_length", overconfidence_figure, by_length, study)
        measured = calibration["ece"].notna()
        log.info("%d measured, %d not (column reason)", measured.sum(), (~measured).sum())


if __name__ == "__main__":
    run_to_end(main)
