"""Store the final model of a cell: see textbaselines.export.final_models."""

from logging import Logger
from pathlib import Path

from textbaselines.core import storage
from textbaselines.core.result_paths import StudyFolder
from textbaselines.core.scripts import run
from textbaselines.datasets.corpus import read_corpus
from textbaselines.evaluation.runs import run_of
from textbaselines.export.final_models import (
    best_cell,
    calibration_table,
    fixed_cell,
    store_final_model,
)
from textbaselines.study.folds import read_folds
from textbaselines.text.counts import read_counts
from textbaselines.text.tokens import read_tokens


def main(
    log: Logger,
    study: StudyFolder,
    dataset: str,
    model: Path,
    representation: str | None = None,
    method: str | None = None,
) -> None:
    """Train a method's fixed point on all documents; without a method, the best one's."""
    described = storage.read_json(study.description)
    cells = storage.read_parquet(study.cells)
    if representation is None or method is None:
        cell, choice = best_cell(cells, dataset), {"rule": "best"}
    else:
        cell = fixed_cell(cells, dataset, representation, method)
        choice = {"rule": "named"}
    features = {one["name"]: one for one in described["representations"]}[cell["representation"]]
    trained = run_of(study.runs, dataset, cell["representation"], cell["method"])
    record = trained.record
    failure = store_final_model(
        model.parent,
        record,
        cell,
        choice,
        read_tokens(study.tokens(dataset, features["tokenizer"])),
        read_counts(study.counts(dataset, features["counts"])),
        read_folds(study.folds(dataset)),
        read_corpus(study.results.corpus(dataset), columns=["id", "label", "rating"]),
        trained.table(calibration_table(record)),
    )
    name = f"{cell['method']}-{cell['representation']}"
    if failure is None:
        log.info("%s, accuracy %.4f", name, cell["accuracy"])
    else:
        log.warning("%s has no model: %s", name, failure)


if __name__ == "__main__":
    run(main)
