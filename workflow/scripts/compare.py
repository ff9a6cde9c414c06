"""Compare rows on shared test documents: see textbaselines.significance.pairs, across_datasets."""

from logging import Logger

import pandas as pd

from textbaselines.core import storage
from textbaselines.core.csv_tables import to_csv
from textbaselines.core.result_paths import StudyFolder
from textbaselines.core.scripts import run
from textbaselines.datasets.corpus import read_corpus
from textbaselines.evaluation.selection import compared_cells
from textbaselines.evaluation.twins import twins_everywhere
from textbaselines.significance.across_datasets import compare_across
from textbaselines.significance.pairs import compare_dataset
from textbaselines.significance.verdicts import judge_contrasts
from textbaselines.study.contrasts import Contrast


def main(log: Logger, study: StudyFolder) -> None:
    """Write every pair of rows, the contrasts of the study and the ranks over datasets."""
    described = storage.read_json(study.description)
    datasets = [dataset["name"] for dataset in described["datasets"]]
    cells = compared_cells(storage.read_parquet(study.cells))
    selections = storage.read_parquet(study.selections)
    compared = []
    for dataset in datasets:
        groups = read_corpus(study.results.corpus(dataset), ["id", "group"]).set_index("id")[
            "group"
        ]
        of_dataset = cells[cells["dataset"] == dataset]
        compared.append(compare_dataset(study.runs, of_dataset, selections, groups))
    pairs = pd.concat(compared, ignore_index=True)
    wanted = [Contrast(a, b) for a, b in described["contrasts"]]
    declared = described["contrasts_declared"]
    contrasts = judge_contrasts(pairs, wanted, datasets, declared=declared)
    accuracy = cells.pivot(index="dataset", columns="row", values="accuracy")
    accuracy = accuracy.reindex(index=datasets, columns=cells["row"].unique())
    twins = twins_everywhere(pairs)
    across = compare_across(accuracy, wanted, described["name"], declared=declared, twins=twins)
    tables = {
        "pairs": pairs,
        "contrasts": contrasts,
        "ranks": across.ranks,
        "omnibus": across.omnibus,
        "nemenyi": across.nemenyi,
        "across": across.contrasts,
    }
    for name, table in tables.items():
        storage.write_text(study.significance(name), to_csv(table))
    log.info("%d pairs on %d datasets, %d contrasts", len(pairs), len(datasets), len(contrasts))


if __name__ == "__main__":
    run(main)
