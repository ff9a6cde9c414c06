"""Analyse errors: see textbaselines.experiments.error_analysis and linear_evidence."""

import argparse
from pathlib import Path

import pandas as pd

from textbaselines import storage
from textbaselines.datasets.corpus import read_corpus
from textbaselines.experiments import error_analysis, linear_evidence
from textbaselines.experiments.folds import read_folds
from textbaselines.experiments.reported_cells import cells_of_methods
from textbaselines.experiments.runs import run_of
from textbaselines.experiments.selection import cell_predictions, compared_cells
from textbaselines.logs import run_script, run_to_end
from textbaselines.reporting.tables import to_csv
from textbaselines.text.counts import read_counts
from textbaselines.text.vocabulary import read_vocabularies

COLUMNS = {
    "hard_documents": error_analysis.HARD_COLUMNS,
    "hardness": error_analysis.HARDNESS_COLUMNS,
    "suspects": error_analysis.SUSPECT_COLUMNS,
    "confusion": error_analysis.CONFUSION_COLUMNS,
    "agreement": error_analysis.AGREEMENT_COLUMNS,
    "confident_errors": linear_evidence.CONFIDENT_COLUMNS,
    "ngrams": linear_evidence.NGRAM_COLUMNS,
}


def main() -> None:
    """Parse what the rule passes, analyse and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True)
    parser.add_argument("--cells", type=Path, required=True)
    parser.add_argument("--selections", type=Path, required=True)
    parser.add_argument("--results", type=Path, required=True, help="the folder of all results")
    parser.add_argument("--output", type=Path, required=True, help="the folder of the tables")
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("errors", args.log) as log:
        study = storage.read_json(args.study)
        name, results = study["name"], args.results
        runs = results / "runs" / name
        cells = compared_cells(storage.read_parquet(args.cells))
        selections = storage.read_parquet(args.selections)
        found: dict[str, list[pd.DataFrame]] = {table: [] for table in COLUMNS}
        for dataset in [one["name"] for one in study["datasets"]]:
            of_dataset = cells[cells["dataset"] == dataset]
            for row in of_dataset[of_dataset["failure"].notna()].itertuples():
                log.warning("%s, %s: no result, left out: %s", dataset, row.row, row.failure)
            mine = of_dataset[of_dataset["failure"].isna()].reset_index(drop=True)
            if mine.empty:
                continue
            corpus = read_corpus(
                results / "corpora" / dataset / "corpus.parquet", ["id", "text", "label", "group"]
            )
            predictions = error_analysis.predictions_of_cells(runs, mine, selections)
            of_methods = predictions[predictions["cell"].isin(cells_of_methods(mine).index)]
            outcomes = error_analysis.documents_by_outcome(of_methods)
            found["hard_documents"].append(error_analysis.hard_documents(outcomes, corpus, dataset))
            found["hardness"].append(error_analysis.hardness(outcomes, dataset))
            found["suspects"].append(error_analysis.suspect_labels(outcomes, corpus, dataset))
            found["confusion"].append(error_analysis.confusion_matrices(predictions, mine))
            found["agreement"].append(error_analysis.agreement(of_methods, mine))
            records = {
                (representation, method): run_of(runs, dataset, representation, method).record
                for of_run, representation, method in study["runs"]
                if of_run == dataset
            }
            best = linear_evidence.explained_cell(mine, records)
            if best is None:
                log.warning("%s: no linear cell to explain", dataset)
                continue
            (names,) = [
                one for one in study["representations"] if one["name"] == best["representation"]
            ]
            place = next(n for n, row in enumerate(mine["row"]) if row == best["row"])
            predicted = predictions[predictions["cell"] == place]
            stored = cell_predictions(runs, best, selections)
            if "score" in stored:
                key = ["repeat", "fold", "id"]
                predicted = predicted.merge(stored[[*key, "score"]], on=key)
            confident, ngrams = linear_evidence.explain_cell(
                best,
                records[best["representation"], best["method"]],
                selections,
                predicted,
                read_counts(results / "counts" / name / dataset / names["counts"] / "matrix.npz"),
                read_vocabularies(
                    results / "vocabularies" / name / dataset / f"{names['vocabulary']}.npz"
                ),
                read_folds(results / "folds" / name / f"{dataset}.parquet"),
                corpus,
            )
            found["confident_errors"].append(confident)
            found["ngrams"].append(ngrams)
            log.info("%s: explained by %s", dataset, best["row"])
        for table, columns in COLUMNS.items():
            frames = [frame for frame in found[table] if not frame.empty]
            together = (
                pd.concat(frames, ignore_index=True)
                if frames
                else pd.DataFrame(columns=list(columns))
            )
            storage.write_text(args.output / f"{table}.csv", to_csv(together))


if __name__ == "__main__":
    run_to_end(main)
