"""Measure how far probabilities are calibrated: see textbaselines.analysis.calibration."""

from logging import Logger

import pandas as pd

from textbaselines.analysis.calibration import CalibratedRuns, calibrate_cells
from textbaselines.analysis.lengths import document_lengths
from textbaselines.core import storage
from textbaselines.core.csv_tables import to_csv
from textbaselines.core.result_paths import StudyFolder
from textbaselines.core.scripts import run
from textbaselines.datasets.corpus import read_corpus
from textbaselines.evaluation.selection import compared_cells
from textbaselines.text.tokens import read_tokens


def main(log: Logger, study: StudyFolder) -> None:
    """Measure the probabilities of every cell, as the method gives them and calibrated."""
    described = storage.read_json(study.description)
    cells = compared_cells(storage.read_parquet(study.cells))
    runs = CalibratedRuns(study.runs, storage.read_parquet(study.selections))
    parts = []
    for dataset in (one["name"] for one in described["datasets"]):
        tokens = read_tokens(study.tokens(dataset, described["measured_tokens"][dataset]))
        corpus = read_corpus(study.results.corpus(dataset), ["id", "label", "group"])
        of_dataset = cells[cells["dataset"] == dataset]
        parts.append(calibrate_cells(of_dataset, runs, corpus, document_lengths(tokens)))
    names = "calibration", "reliability", "calibration_by_length"
    for name, tables in zip(names, zip(*parts, strict=True), strict=True):
        storage.write_text(study.analysis(name), to_csv(pd.concat(tables, ignore_index=True)))
    measured = pd.concat([calibration for calibration, *_ in parts])["ece"].notna()
    log.info("%d measured, %d not (column reason)", measured.sum(), (~measured).sum())


if __name__ == "__main__":
    run(main)
