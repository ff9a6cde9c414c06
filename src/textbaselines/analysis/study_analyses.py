"""The analyses of a whole study: what is behind the numbers of its tables, as tables by name."""

from collections.abc import Mapping
from logging import Logger
from typing import Any

import pandas as pd

from textbaselines.analysis import error_analysis, linear_evidence
from textbaselines.analysis.duplicates import leaks_of_study
from textbaselines.analysis.grouped_runs import (
    GROUPED_COLUMNS,
    compare_with_grouped,
    has_repeats,
)
from textbaselines.analysis.learning_curves import crossing_table, curve_table
from textbaselines.analysis.lengths import accuracy_of_cells, document_lengths
from textbaselines.analysis.search_curves import search_curves
from textbaselines.core import storage
from textbaselines.core.result_paths import StudyFolder
from textbaselines.datasets.corpus import read_corpus
from textbaselines.evaluation.reported_cells import cells_of_methods
from textbaselines.evaluation.runs import Run, run_of, runs_of_study
from textbaselines.evaluation.selection import cell_predictions, compared_cells
from textbaselines.study.folds import read_folds
from textbaselines.study.plan import Plan
from textbaselines.text.counts import read_counts
from textbaselines.text.tokens import read_tokens
from textbaselines.text.vocabulary import read_vocabularies

Tables = dict[str, pd.DataFrame]

_ERRORS = {
    "hard_documents": error_analysis.HARD_COLUMNS,
    "hardness": error_analysis.HARDNESS_COLUMNS,
    "suspects": error_analysis.SUSPECT_COLUMNS,
    "confusion": error_analysis.CONFUSION_COLUMNS,
    "agreement": error_analysis.AGREEMENT_COLUMNS,
    "confident_errors": linear_evidence.CONFIDENT_COLUMNS,
    "ngrams": linear_evidence.NGRAM_COLUMNS,
}


class StudyAnalyses:
    """A finished study's description, cells and selections, and the analyses of them."""

    def __init__(self, folder: StudyFolder, log: Logger) -> None:
        self._folder, self._log = folder, log
        self._study = storage.read_json(folder.description)
        self._datasets = [one["name"] for one in self._study["datasets"]]
        self._all_cells = storage.read_parquet(folder.cells)
        cells = compared_cells(self._all_cells)
        failed = cells["failure"].notna()
        for row in cells[failed].itertuples():
            log.warning("%s, %s: no result, left out: %s", row.dataset, row.row, row.failure)
        self._cells = cells[~failed]
        self._selections = storage.read_parquet(folder.selections)

    def lengths(self) -> Tables:
        """Return accuracy by document length."""
        lengths = {
            name: document_lengths(read_tokens(self._folder.tokens(name, tokenizer)))
            for name, tokenizer in self._study["measured_tokens"].items()
        }
        table = accuracy_of_cells(self._folder.runs, self._cells, self._selections, lengths)
        return {"accuracy_by_length": table}

    def overlap(self) -> Tables:
        """Return accuracy on test documents that stand in training beside that on new ones."""
        results = self._folder.results.folder
        table = leaks_of_study(results, self._study, self._all_cells, self._selections)
        return {"train_test_overlap": table}

    def grouped(self, plan: Plan) -> Tables:
        """Return accuracy on plain folds beside that on grouped ones, for datasets with repeats."""
        tables = []
        for dataset in self._datasets:
            corpus = read_corpus(self._folder.results.corpus(dataset), ["id", "group"])
            if not has_repeats(corpus, read_folds(self._folder.folds(dataset))):
                self._log.info("%s: no test document's text stands in training", dataset)
                continue
            names = plan.grouped_runs(dataset)
            plain = [run_of(self._folder.runs, dataset, *name) for name in names]
            grouped = [
                Run(self._folder.grouped_runs / dataset / run.batch.name, *name)
                for run, name in zip(plain, names, strict=True)
            ]
            groups = corpus.set_index("id")["group"]
            tables.append(compare_with_grouped(plain, grouped, groups, self._folder.runs))
        return {"grouped": _together(tables, GROUPED_COLUMNS)}

    def search(self) -> Tables:
        """Return the expected best inner accuracy against the number of grid points tried."""
        return {"search": search_curves(runs_of_study(self._folder.runs, self._study))}

    def learning_curves(self) -> Tables:
        """Return accuracy against the number of training documents, and where curves cross."""
        families = {method["name"]: method["family"] for method in self._study["methods"]}
        curves, crossings = [], []
        for dataset, representation in self._study["curve_runs"]:
            scores = storage.read_parquet(self._folder.learning_curve(dataset, representation))
            curves.append(curve_table(dataset, representation, scores, families))
            crossings.append(crossing_table(dataset, representation, scores, families))
        return {
            "learning_curves": pd.concat(curves, ignore_index=True),
            "crossings": pd.concat(crossings, ignore_index=True),
        }

    def errors(self) -> Tables:
        """Return what methods get wrong, the n-grams behind it, and how far methods agree."""
        found: dict[str, list[pd.DataFrame]] = {table: [] for table in _ERRORS}
        for dataset in self._datasets:
            mine = self._cells[self._cells["dataset"] == dataset].reset_index(drop=True)
            if mine.empty:
                continue
            for name, table in self._errors_of(dataset, mine).items():
                found[name].append(table)
        return {name: _together(tables, _ERRORS[name]) for name, tables in found.items()}

    def _errors_of(self, dataset: str, cells: pd.DataFrame) -> Tables:
        columns = ["id", "text", "label", "group"]
        corpus = read_corpus(self._folder.results.corpus(dataset), columns)
        predictions = error_analysis.predictions_of_cells(
            self._folder.runs, cells, self._selections
        )
        of_methods = predictions[predictions["cell"].isin(cells_of_methods(cells).index)]
        outcomes = error_analysis.documents_by_outcome(of_methods)
        found = {
            "hard_documents": error_analysis.hard_documents(outcomes, corpus, dataset),
            "hardness": error_analysis.hardness(outcomes, dataset),
            "suspects": error_analysis.suspect_labels(outcomes, corpus, dataset),
            "confusion": error_analysis.confusion_matrices(predictions, cells),
            "agreement": error_analysis.agreement(of_methods, cells),
        }
        records = {
            (representation, method): run_of(
                self._folder.runs, dataset, representation, method
            ).record
            for of_run, representation, method in self._study["runs"]
            if of_run == dataset
        }
        best = linear_evidence.explained_cell(cells, records)
        if best is None:
            self._log.warning("%s: no linear cell to explain", dataset)
            return found
        self._log.info("%s: explained by %s", dataset, best["row"])
        return found | self._evidence(best, records, cells, predictions, corpus)

    def _evidence(
        self,
        best: Mapping[str, Any],
        records: Mapping[tuple[str, str], dict[str, Any]],
        cells: pd.DataFrame,
        predictions: pd.DataFrame,
        corpus: pd.DataFrame,
    ) -> Tables:
        """Return the strongest n-grams of a linear cell, and those behind its confident errors."""
        dataset = best["dataset"]
        (names,) = [
            one for one in self._study["representations"] if one["name"] == best["representation"]
        ]
        place = next(n for n, row in enumerate(cells["row"]) if row == best["row"])
        predicted = predictions[predictions["cell"] == place]
        stored = cell_predictions(self._folder.runs, best, self._selections)
        if "score" in stored:
            key = ["repeat", "fold", "id"]
            predicted = predicted.merge(stored[[*key, "score"]], on=key)
        confident, ngrams = linear_evidence.explain_cell(
            best,
            records[best["representation"], best["method"]],
            self._selections,
            predicted,
            read_counts(self._folder.counts(dataset, names["counts"])),
            read_vocabularies(self._folder.vocabularies(dataset, names["vocabulary"])),
            read_folds(self._folder.folds(dataset)),
            corpus,
        )
        return {"confident_errors": confident, "ngrams": ngrams}


def _together(tables: list[pd.DataFrame], columns: tuple[str, ...]) -> pd.DataFrame:
    """Return tables one below the other; without any rows, the columns alone."""
    some = [table for table in tables if not table.empty]
    return pd.concat(some, ignore_index=True) if some else pd.DataFrame(columns=list(columns))
