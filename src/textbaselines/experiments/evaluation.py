"""The cells that the tables show: scores of grid points summarised, under every selection."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from textbaselines.experiments.selection import ACROSS, RunScores, selections_of_runs
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
    """Return the cells of all selections of some runs, and what nested selection chose."""
    selections = selections_of_runs(runs)
    cells = [cell for one in runs for cell in cells_of_run(one.run, one.scores)]
    return [*cells, *nested_cells(runs, selections)], selections


def cell_table(cells: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return cells as a data frame with the columns :data:`CELL_COLUMNS`."""
    return pd.DataFrame(list(cells), columns=list(CELL_COLUMNS))
