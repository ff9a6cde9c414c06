"""Summarise runs into cells: see textbaselines.experiments.evaluation."""

import argparse
from pathlib import Path

import pandas as pd

from textbaselines import storage
from textbaselines.datasets.corpus import read_corpus
from textbaselines.experiments.evaluation import cell_table, cells_of_runs
from textbaselines.experiments.folds import read_folds, standing_in_training, train_test_overlap
from textbaselines.experiments.macro_f1_intervals import macro_f1_intervals
from textbaselines.experiments.runs import runs_of_study
from textbaselines.experiments.selection import read_run_scores
from textbaselines.logs import run_script, run_to_end


def main() -> None:
    """Parse what the rule passes and summarise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True)
    parser.add_argument("--runs", type=Path, required=True, help="the study's run folders")
    parser.add_argument("--corpora", type=Path, required=True, help="the folder of corpora")
    parser.add_argument("--folds", type=Path, required=True, help="the study's folder of folds")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--selections", type=Path, required=True)
    parser.add_argument("--overlap", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("summarise", args.log) as log:
        study = storage.read_json(args.study)
        runs = [read_run_scores(run) for run in runs_of_study(args.runs, study)]
        cells, selections = cells_of_runs(runs)
        tested = {}
        for name in (entry["name"] for entry in study["datasets"]):
            columns = ["id", "label", "group"]
            corpus = read_corpus(args.corpora / name / "corpus.parquet", columns).set_index("id")
            folds = read_folds(args.folds / f"{name}.parquet")
            tested[name] = standing_in_training(folds, corpus["group"])
            tested[name]["label"] = tested[name]["id"].map(corpus["label"])
        cells = macro_f1_intervals(cells, runs, selections, args.runs, tested)
        overlap = [{"dataset": name, **train_test_overlap(one)} for name, one in tested.items()]
        storage.write_parquet(args.overlap, pd.DataFrame(overlap))
        storage.write_parquet(args.selections, selections)
        storage.write_parquet(args.output, cell_table(cells))
        log.info("%d cells of %d runs", len(cells), len(runs))


if __name__ == "__main__":
    run_to_end(main)
