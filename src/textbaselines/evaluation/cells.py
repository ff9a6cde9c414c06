"""The cells that the tables show: scores of grid points summarised, under every selection."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textbaselines.core.storage import canonical_json
from textbaselines.evaluation.metrics import ClassCounts, macro_f1, pooled_rmse
from textbaselines.evaluation.selection import ACROSS, RunScores, selections_of_runs

CELL_COLUMNS = (
    "dataset",
    "representation",
    "method",
    "selection",
    "point",
    "params",
    "accuracy",
    "sd",
    "draws",
    "folds",
    "documents",
    "low",
    "high",
    "macro_f1",
    "macro_f1_low",
    "macro_f1_high",
    "rmse",
    "above_majority",
    "converged",
    "failure",
)

INTERVAL = "Wilson, 95 %, for the number of test documents of one repeat"
"""The interval of an accuracy, in words for captions."""

MACRO_F1_RESAMPLES = 2_000
MACRO_F1_INTERVAL = (
    f"percentile bootstrap, 95 %, {MACRO_F1_RESAMPLES:,} resamples of groups of identical text, "
    "the models as given"
)
"""The interval of macro-F1, in words for captions."""

MAJORITY = "majority"
"""Method and selection of the baseline that predicts the most frequent class of training."""

_Z = 1.959963984540054  # of a standard normal distribution, 2.5 % lie above it


def summarise_accuracy(scores: pd.DataFrame) -> dict[str, Any]:
    """Summarise one grid point's folds into an accuracy with its interval.

    A draw is one repeat: its accuracy pools the documents of its folds. The result is the mean
    over draws and their standard deviation (n - 1 in the denominator). The interval is Wilson's
    95 % interval for the mean accuracy on one draw's number of documents: it speaks of the sample
    of documents, not of the draws of the folds.

    ``scores``: rows of one point: repeat, fold, n_test, correct, converged, failure.
    """
    failures = scores["failure"].dropna()
    if len(failures):
        return {
            "accuracy": math.nan,
            "sd": math.nan,
            "draws": int(scores["repeat"].nunique()),
            "folds": int(scores["fold"].nunique()),
            "documents": 0,
            "low": math.nan,
            "high": math.nan,
            "converged": False,
            "failure": str(failures.iloc[0]),
        }
    # In numpy: a study may have tens of thousands of points.
    _, draws = np.unique(scores["repeat"].to_numpy(), return_inverse=True)
    correct = np.bincount(draws, weights=scores["correct"].to_numpy(dtype=np.float64))
    tested = np.bincount(draws, weights=scores["n_test"].to_numpy(dtype=np.float64))
    accuracies = correct / tested
    documents = int(tested[0])
    accuracy = float(accuracies.mean())
    # Here, for the many jobs that need no interval: this import takes a second.
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(accuracy * documents, documents, alpha=0.05, method="wilson")
    return {
        "accuracy": accuracy,
        "sd": float(accuracies.std(ddof=1)) if len(accuracies) > 1 else math.nan,
        "draws": len(accuracies),
        "folds": int(scores["fold"].nunique()),
        "documents": documents,
        "low": float(low),
        "high": float(high),
        "converged": bool(scores["converged"].to_numpy().all()),
        "failure": None,
    }


def summarise_point(scores: pd.DataFrame) -> dict[str, Any]:
    """Summarise one grid point's folds into the numbers of a cell.

    Accuracy as :func:`summarise_accuracy` has it. Measures that are not linear in the documents
    (macro-F1, the root mean squared error of ratings) pool the out-of-fold predictions of each
    draw in the same way, and the cell has their mean over draws; a mean over folds would be
    another number, and for small classes a much lower one (Forman & Scholz 2010, "Apples-to-apples
    in cross-validation studies").

    ``scores``: rows of one point: repeat, fold, n_test, correct, rmse, converged, failure, and the
    counts by class: train_by_class, test_by_class, predicted_by_class, correct_by_class.
    """
    summary = summarise_accuracy(scores)
    if summary["failure"] is not None:
        return {**summary, "macro_f1": math.nan, "rmse": math.nan, "above_majority": False}
    _, draws = np.unique(scores["repeat"].to_numpy(), return_inverse=True)
    train, test, predicted, correct = (
        np.stack(scores[f"{name}_by_class"].to_list()).astype(np.int64) for name in _BY_CLASS
    )
    pooled = ClassCounts(*(_sums(one, draws) for one in (test, predicted, correct)))
    sizes = scores["n_test"].to_numpy(dtype=np.float64)
    errors = scores["rmse"].to_numpy(dtype=np.float64)
    by_draw = [
        pooled_rmse(errors[draws == draw], sizes[draws == draw]) for draw in np.unique(draws)
    ]
    return {
        **summary,
        "macro_f1": float(macro_f1(pooled).mean()),
        "rmse": float(np.mean(by_draw)),
        "above_majority": _is_above_majority(train, test, correct, summary["draws"]),
    }


_BY_CLASS = ("train", "test", "predicted", "correct")


def _sums(rows: NDArray[np.int64], draws: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the sums of rows, shape (n, K), over each draw: shape (draws, K)."""
    sums = np.zeros((int(draws.max()) + 1, rows.shape[1]), dtype=np.int64)
    np.add.at(sums, draws, rows)
    return sums


def _is_above_majority(
    train: NDArray[np.int64], test: NDArray[np.int64], correct: NDArray[np.int64], draws: int
) -> bool:
    """Return whether the accuracy is above that of the majority class, with 95 % confidence.

    The two are compared on the same documents: b of one repeat (the mean over repeats) are right
    here alone, c with the majority class alone. Tango's (1998) score interval of the difference of
    paired proportions, as Wilson's is that of one proportion, lies above 0 where
    ``b - c > 1.96 sqrt(b + c)``.

    Parameters
    ----------
    train, test, correct : int arrays, shape (folds, K)
    """
    rows, majority = np.arange(len(train)), train.argmax(axis=1)
    right = correct[rows, majority]
    here_alone = float((correct.sum(axis=1) - right).sum()) / draws
    majority_alone = float((test[rows, majority] - right).sum()) / draws
    return here_alone - majority_alone > _Z * math.sqrt(here_alone + majority_alone)


def majority_cells(runs: Sequence[RunScores]) -> list[dict[str, Any]]:
    """Return the cells of the majority class, one for each dataset: the floor of every table.

    In each fold the class with the most training documents is predicted for every test document;
    of several with as many, the first in the order of the dataset's classes. The folds are those
    of the dataset's runs, and the cell is summarised like any other. ``params`` names the class.
    """
    cells = {}
    for one in runs:
        run = one.run
        if run["dataset"] in cells:
            continue
        scores = one.scores[one.scores["point"] == run["points"][0]["point"]]
        predicted = majority_scores(scores)
        chosen = [
            ({"class": run["classes"][int(np.argmax(counts))]}, 1)
            for counts in scores["train_by_class"]
        ]
        cells[run["dataset"]] = {
            "dataset": run["dataset"],
            "representation": "",
            "method": MAJORITY,
            "selection": MAJORITY,
            "point": "",
            "params": canonical_json(_summary(chosen)),
            **summarise_point(predicted),
        }
    return list(cells.values())


def majority_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of predicting the majority class of training, on the same folds.

    ``scores``: rows of any one point, as for :func:`summarise_point`.
    """
    test = np.stack(scores["test_by_class"].to_list()).astype(np.int64)
    rows = np.arange(len(test))
    majority = np.stack(scores["train_by_class"].to_list()).argmax(axis=1)
    predicted, correct = np.zeros_like(test), np.zeros_like(test)
    predicted[rows, majority] = test.sum(axis=1)
    correct[rows, majority] = test[rows, majority]
    return scores.assign(
        correct=correct.sum(axis=1),
        predicted_by_class=list(predicted),
        correct_by_class=list(correct),
        rmse=math.nan,
        converged=True,
        failure=None,
    )


def shows_macro_f1(scores: pd.DataFrame) -> bool:
    """Return whether accuracy alone would mislead: more than two classes, or one above 70 %.

    Parameters
    ----------
    scores : data frame
        Rows of any one point, as for :func:`summarise_point`. The share is that of the largest
        class among the training and test documents of a fold.
    """
    first = scores.iloc[0]
    counts = np.asarray(first["train_by_class"]) + np.asarray(first["test_by_class"])
    return len(counts) > 2 or bool(counts.max() > _SKEWED * counts.sum())


_SKEWED = 0.7


def cells_of_run(run: Mapping[str, Any], scores: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the cells of one run: ``fixed`` and, where there is a grid, ``oracle``.

    ``oracle`` is the grid point with the best accuracy on the test folds themselves (the first in
    the order of the grid when several are equal): it only shows the optimism of tuning on what
    one reports.
    """
    by_point = dict(iter(scores.groupby("point")))
    summaries = {
        point["point"]: {
            "point": point["point"],
            "params": canonical_json(point["params"]),
            **summarise_point(by_point[point["point"]]),
        }
        for point in run["points"]
    }
    shared = {key: run[key] for key in ("dataset", "representation", "method")}
    cells = [
        {**shared, "selection": "fixed", **summaries[point["point"]]}
        for point in run["points"]
        if "fixed" in point["origin"]
    ]
    grid = [summaries[point["point"]] for point in run["points"] if "grid" in point["origin"]]
    if grid:
        best = max(grid, key=lambda cell: -1.0 if cell["failure"] else cell["accuracy"])
        cells.append({**shared, "selection": "oracle", **best})
    return cells


def nested_cells(runs: Sequence[RunScores], selections: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the cells of selection ``nested``: the test scores of what each fold chose.

    ``point`` is the point that all folds chose, or empty. ``params`` holds each hyper-parameter's
    value, or where folds differ the list of the values chosen, the most frequent first.
    """
    by_name = {
        (one.run["dataset"], one.run["representation"], one.run["method"]): one for one in runs
    }
    cells = []
    for key, rows in selections.groupby(["dataset", "representation", "method"], sort=False):
        dataset, representation, method = key
        parts, params = [], []
        for (chosen, point), mine in rows.groupby(["chosen_representation", "point"], sort=False):
            one = by_name[dataset, chosen, method]
            scores = one.scores[one.scores["point"] == point]
            parts.append(scores.merge(mine[["repeat", "fold"]], on=["repeat", "fold"]))
            values = next(p["params"] for p in one.run["points"] if p["point"] == point)
            if representation == ACROSS:
                values = {**values, "representation": chosen}
            params.append((values, len(mine)))
        points = rows["point"].unique()
        cells.append(
            {
                "dataset": dataset,
                "representation": representation,
                "method": method,
                "selection": "nested",
                "point": points[0] if len(points) == 1 else "",
                "params": canonical_json(_summary(params)),
                **summarise_point(pd.concat(parts, ignore_index=True)),
            }
        )
    return cells


def _summary(chosen: Sequence[tuple[Mapping[str, Any], int]]) -> dict[str, Any]:
    names = list(dict.fromkeys(name for params, _ in chosen for name in params))
    summary: dict[str, Any] = {}
    for name in names:
        counts: dict[str, int] = {}
        values: dict[str, Any] = {}
        for params, folds in chosen:
            text = canonical_json(params.get(name))
            counts[text] = counts.get(text, 0) + folds
            values[text] = params.get(name)
        ordered = sorted(counts, key=lambda text: -counts[text])
        summary[name] = values[ordered[0]] if len(ordered) == 1 else [values[t] for t in ordered]
    return summary


def cells_of_runs(runs: Sequence[RunScores]) -> tuple[list[dict[str, Any]], pd.DataFrame]:
    """Return the cells of some runs, and what nested selection chose.

    First those of the majority class, then those of all selections.
    """
    selections = selections_of_runs(runs)
    cells = [cell for one in runs for cell in cells_of_run(one.run, one.scores)]
    return [*majority_cells(runs), *cells, *nested_cells(runs, selections)], selections


def cell_table(cells: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return cells as a data frame with the columns :data:`CELL_COLUMNS`."""
    return pd.DataFrame(list(cells), columns=list(CELL_COLUMNS))
