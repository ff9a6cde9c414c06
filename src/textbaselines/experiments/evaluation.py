"""Scores of predictions, and the cells that the tables show."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from statsmodels.stats.proportion import proportion_confint

from textbaselines.storage import canonical_json

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
    "rmse",
    "converged",
    "failure",
)

INTERVAL = "Wilson, 95 %, for the number of test documents of one draw"
"""The interval of a cell, in words for captions."""


def confusion(
    truth: NDArray[np.integer[Any]], predicted: NDArray[np.integer[Any]], n_classes: int
) -> NDArray[np.int64]:
    """Return the confusion matrix, shape (K, K): rows are true classes, columns predicted ones."""
    cells = truth.astype(np.int64) * n_classes + predicted
    return np.bincount(cells, minlength=n_classes**2).reshape(n_classes, n_classes)


def macro_f1(matrix: NDArray[np.int64]) -> float:
    """Return the mean over classes of F1 = 2 TP / (2 TP + FP + FN); 0 for a class never met."""
    true_positive = np.diag(matrix).astype(np.float64)
    denominator = matrix.sum(axis=0) + matrix.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        f1 = np.where(denominator > 0, 2 * true_positive / denominator, 0.0)
    return float(f1.mean())


def log_loss(truth: NDArray[np.integer[Any]], probabilities: NDArray[np.float64]) -> float:
    """Return the mean of -ln P(true class), in nats, P at least 2**-52 as in scikit-learn.

    Parameters
    ----------
    truth : int array, shape (n,)
        Class codes 0..K-1.
    probabilities : float array, shape (n, K)
    """
    chosen = probabilities[np.arange(len(truth)), truth]
    return float(-np.log(np.maximum(chosen, np.finfo(np.float64).eps)).mean())


def rmse(truth: NDArray[np.float64], predicted: NDArray[np.float64]) -> float:
    """Return the root of the mean squared error of ratings, both of shape (n,)."""
    return float(np.sqrt(np.mean((truth - predicted) ** 2)))


def summarise_point(scores: pd.DataFrame) -> dict[str, Any]:
    """Summarise one grid point's folds into the numbers of a cell.

    A draw is one repeat: its accuracy pools the documents of its folds. The cell shows the mean
    over draws and their standard deviation (n - 1 in the denominator). The interval is Wilson's
    95 % interval for the mean accuracy on one draw's number of documents: it speaks of the sample
    of documents, not of the draws of the folds.

    Parameters
    ----------
    scores : data frame
        Rows of one point: repeat, fold, n_test, correct, macro_f1, rmse,
        converged, failure.
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
            "macro_f1": math.nan,
            "rmse": math.nan,
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
    low, high = proportion_confint(accuracy * documents, documents, alpha=0.05, method="wilson")
    return {
        "accuracy": accuracy,
        "sd": float(accuracies.std(ddof=1)) if len(accuracies) > 1 else math.nan,
        "draws": len(accuracies),
        "folds": int(scores["fold"].nunique()),
        "documents": documents,
        "low": float(low),
        "high": float(high),
        "macro_f1": float(scores["macro_f1"].mean()),
        "rmse": float(scores["rmse"].mean()),
        "converged": bool(scores["converged"].to_numpy().all()),
        "failure": None,
    }


def cells_of_run(run: Mapping[str, Any], scores: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the cells of one run folder: ``fixed`` and, where there is a grid, ``oracle``.

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


def run_folders(folder: Path, study: Mapping[str, Any]) -> list[Path]:
    """Return the run folders of a study, in its order.

    Parameters
    ----------
    folder : Path
        The folder with one folder per dataset.
    study : mapping
        The study's description, with ``runs``: dataset, representation and method of each.
    """
    return [folder.joinpath(*run) for run in study["runs"]]


def cell_table(cells: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return cells as a data frame with the columns :data:`CELL_COLUMNS`."""
    return pd.DataFrame(list(cells), columns=list(CELL_COLUMNS))
