"""Test rows of the tables against each other: see textbaselines.experiments.pairs."""

import argparse
from pathlib import Path

import pandas as pd

from textbaselines import storage
from textbaselines.datasets.corpus import read_corpus
from textbaselines.experiments.across_datasets import compare_across
from textbaselines.experiments.contrasts import Contrast
from textbaselines.experiments.pairs import compare_dataset
from textbaselines.experiments.selection import compared_cells
from textbaselines.experiments.twins import twins_everywhere
from textbaselines.experiments.verdicts import judge_contrasts
from textbaselines.logs import run_script, run_to_end
from textbaselines.reporting.tables import to_csv


def main() -> None:
    """Parse what the rule passes and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True)
    parser.add_argument("--cells", type=Path, required=True)
    parser.add_argument("--selections", type=Path, required=True)
    parser.add_argument("--runs", type=Path, required=True, help="the study's folder of runs")
    parser.add_argument("--corpora", type=Path, required=True, help="the folders of corpora")
    parser.add_argument("--output", type=Path, required=True, help="the folder of the tables")
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("compare", args.log) as log:
        study = storage.read_json(args.study)
        datasets = [dataset["name"] for dataset in study["datasets"]]
        cells = compared_cells(storage.read_parquet(args.cells))
        selections = storage.read_parquet(args.selections)
        pairs = pd.concat(
            [
                compare_dataset(
                    args.runs,
                    cells[cells["dataset"] == dataset],
                    selections,
                    read_corpus(
                        args.corpora / dataset / "corpus.parquet", ["id", "group"]
                    ).set_index("id")["group"],
                )
                for dataset in datasets
            ],
            ignore_index=True,
        )
        wanted = [Contrast(a, b) for a, b in study["contrasts"]]
        declared = study["contrasts_declared"]
        contrasts = judge_contrasts(pairs, wanted, datasets, declared=declared)
        accuracy = cells.pivot(index="dataset", columns="row", values="accuracy")
        accuracy = accuracy.reindex(index=datasets, columns=cells["row"].unique())
        across = compare_across(
            accuracy, wanted, study["name"], declared=declared, twins=twins_everywhere(pairs)
        )
        tables = {
            "pairs": pairs,
            "contrasts": contrasts,
            "ranks": across.ranks,
            "omnibus": across.omnibus,
            "nemenyi": across.nemenyi,
            "across": across.contrasts,
        }
        for name, table in tables.items():
            storage.write_text(args.output / f"{name}.csv", to_csv(table))
        log.info("%d pairs on %d datasets, %d contrasts", len(pairs), len(datasets), len(contrasts))


if __name__ == "__main__":
    run_to_end(main)
