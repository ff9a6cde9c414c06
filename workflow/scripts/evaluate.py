"""Summarise runs into cells: see textbaselines.evaluation.cells."""

from logging import Logger

import pandas as pd

from textbaselines.core import storage
from textbaselines.core.result_paths import StudyFolder
from textbaselines.core.scripts import run
from textbaselines.datasets.corpus import read_corpus
from textbaselines.evaluation.cells import cell_table, cells_of_runs
from textbaselines.evaluation.runs import runs_of_study
from textbaselines.evaluation.selection import read_run_scores
from textbaselines.significance.macro_f1_intervals import macro_f1_intervals
from textbaselines.study.folds import read_folds, standing_in_training, train_test_overlap


def main(log: Logger, study: StudyFolder) -> None:
    """Write the cells, what inner folds chose, and the train-test overlap of each dataset."""
    described = storage.read_json(study.description)
    runs = [read_run_scores(one) for one in runs_of_study(study.runs, described)]
    cells, selections = cells_of_runs(runs)
    tested = {}
    for name in (entry["name"] for entry in described["datasets"]):
        corpus = read_corpus(study.results.corpus(name), ["id", "label", "group"]).set_index("id")
        tested[name] = standing_in_training(read_folds(study.folds(name)), corpus["group"])
        tested[name]["label"] = tested[name]["id"].map(corpus["label"])
    cells = macro_f1_intervals(cells, runs, selections, study.runs, tested)
    overlap = [{"dataset": name, **train_test_overlap(one)} for name, one in tested.items()]
    storage.write_parquet(study.overlap, pd.DataFrame(overlap))
    storage.write_parquet(study.selections, selections)
    storage.write_parquet(study.cells, cell_table(cells))
    log.info("%d cells of %d runs", len(cells), len(runs))


if __name__ == "__main__":
    run(main)
