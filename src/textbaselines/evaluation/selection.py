"""Nested selection: the hyper-parameters, and the representation, that inner folds choose.

In each (repeat, fold) the candidates are compared by their accuracy on the inner folds of its
training documents, all inner folds pooled, and the best one's test documents count (Varma & Simon
2006; Cawley & Talbot 2010). Among equals the first wins: representations in the order of the study
file, then the fixed point where it lies on the grid, then the grid's order. One that failed on any
inner fold ranks last.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from textbaselines.core.errors import UserError
from textbaselines.evaluation.runs import Run, run_of

ACROSS = "selected"
"""In place of a representation: the one that each fold's inner folds choose."""

SELECTION_COLUMNS = (
    "dataset",
    "representation",
    "method",
    "selection",
    "repeat",
    "fold",
    "chosen_representation",
    "point",
    "inner_accuracy",
)


_NEEDED = ("rmse", "train_by_class", "test_by_class", "predicted_by_class", "correct_by_class")


@dataclass(frozen=True)
class RunScores:
    """A run's record, its scores on test documents and those on the inner folds."""

    run: dict[str, Any]
    scores: pd.DataFrame
    inner_scores: pd.DataFrame


def read_run_scores(one: Run) -> RunScores:
    """Read the record and the scores of a run.

    Raises
    ------
    UserError
        When a file is absent or broken, or the scores do not fit the record.
    """
    run, scores = one.record, one.table("scores")
    missing = {point["point"] for point in run["points"]} - set(scores["point"])
    lacking = [name for name in _NEEDED if name not in scores]
    if missing or lacking:
        raise UserError(
            "scores that do not fit the run",
            where=f"{one.path('scores')} ({one.method} on {one.representation})",
            found=f"no scores of point {min(missing)}" if missing else f"no column {lacking[0]!r}",
            fix="delete the batch's folder and train again",
        )
    return RunScores(run, scores, one.table("inner_scores"))


def candidates(points: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the ids of the points that inner folds choose among: the grid, or the only point.

    Parameters
    ----------
    points : sequence of mappings
        A run's points, each with ``point`` and ``origin``.
    """
    grid = [point["point"] for point in points if "grid" in point["origin"]]
    return grid or [point["point"] for point in points]


def inner_accuracies(inner_scores: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy of each point on the pooled inner folds of each (repeat, fold).

    Parameters
    ----------
    inner_scores : data frame
        Columns point, repeat, fold, inner, n_test, correct, failure.

    Returns
    -------
    data frame with columns repeat, fold, point, accuracy
        NaN for a point that failed on any inner fold.
    """
    groups = inner_scores.groupby(["repeat", "fold", "point"], sort=False)
    sums = groups[["correct", "n_test"]].sum()
    accuracy = sums["correct"] / sums["n_test"]
    accuracy[groups["failure"].count() > 0] = np.nan
    return accuracy.rename("accuracy").reset_index()


def ranked(accuracies: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return the rows of the candidates ``names``, with their ``place`` among them."""
    place = {name: number for number, name in enumerate(names)}
    mine = accuracies[accuracies["point"].isin(names)]
    return mine.assign(place=mine["point"].map(place).astype(np.int64))


def choose(accuracies: pd.DataFrame) -> pd.DataFrame:
    """Return the best row of each (repeat, fold), the one of the lowest ``place`` among equals.

    Where every candidate failed (accuracy NaN), the first.
    """
    ordered = accuracies.sort_values(
        ["repeat", "fold", "accuracy", "place"],
        ascending=[True, True, False, True],
        na_position="last",
    )
    return ordered.drop_duplicates(["repeat", "fold"], keep="first").reset_index(drop=True)


def selections_of_runs(runs: Sequence[RunScores]) -> pd.DataFrame:
    """Return what nested selection chose, with the columns :data:`SELECTION_COLUMNS`.

    One row for each (repeat, fold) of each run with inner folds; and, for each method that has
    several representations of a dataset, of the choice among the candidates of them all
    (representation :data:`ACROSS`).

    Parameters
    ----------
    runs : sequence of RunScores
        In the study's order, which decides among equals.
    """
    rows: list[dict[str, Any]] = []
    groups: dict[tuple[str, str], list[tuple[RunScores, pd.DataFrame]]] = {}
    for one in runs:
        run = one.run
        if not has_inner_folds(run):
            continue
        accuracies = _candidates_of(one)
        rows += _chosen(run, run["representation"], accuracies)
        groups.setdefault((run["dataset"], run["method"]), []).append((one, accuracies))
    for members in groups.values():
        if len(members) > 1:
            # Representations rank in the study's order, their grid points within.
            parts, before = [], 0
            for _, accuracies in members:
                parts.append(accuracies.assign(place=accuracies["place"] + before))
                before += int(accuracies["place"].max()) + 1
            rows += _chosen(members[0][0].run, ACROSS, pd.concat(parts, ignore_index=True))
    frame = pd.DataFrame(rows, columns=list(SELECTION_COLUMNS))
    return frame.astype({"repeat": np.int32, "fold": np.int32, "inner_accuracy": np.float64})


def has_inner_folds(run: Mapping[str, Any]) -> bool:
    """Return whether hyper-parameters of a run are chosen by inner folds."""
    return bool(run["protocol"]["inner"])


def _candidates_of(one: RunScores) -> pd.DataFrame:
    """Return the candidates' inner accuracies, ranked.

    A run whose only candidate needs no choice, or whose method could not be tried, has no scores
    on inner folds: its first candidate stands alone.
    """
    names = candidates(one.run["points"])
    accuracies = ranked(inner_accuracies(one.inner_scores), names)
    if accuracies.empty:
        first = one.scores["point"] == names[0]
        accuracies = one.scores.loc[first, ["repeat", "fold", "point"]]
        accuracies = accuracies.assign(accuracy=np.nan, place=0)
    return accuracies.assign(representation=one.run["representation"])


def _chosen(
    run: Mapping[str, Any], representation: str, accuracies: pd.DataFrame
) -> list[dict[str, Any]]:
    return [
        {
            "dataset": run["dataset"],
            "representation": representation,
            "method": run["method"],
            "selection": "nested",
            "repeat": row.repeat,
            "fold": row.fold,
            "chosen_representation": row.representation,
            "point": row.point,
            "inner_accuracy": row.accuracy,
        }
        for row in choose(accuracies).itertuples()
    ]


def compared_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """Return one cell of each dataset, representation and method: the one to compare.

    ``nested`` where there is one, else ``fixed``; never ``oracle``, which has seen the test
    folds. A column ``row`` is added: ``<method>-<representation>``.
    """
    honest = cells[cells["selection"].isin(_COMPARED)]
    order = honest["selection"].map({name: place for place, name in enumerate(_COMPARED)})
    first = honest.assign(order=order).sort_values("order", kind="stable")
    first = first.drop_duplicates(["dataset", "representation", "method"]).sort_index()
    first["row"] = first["method"] + "-" + first["representation"]
    return first.drop(columns="order").reset_index(drop=True)


_COMPARED = ("nested", "fixed")


class CellPoint(NamedTuple):
    """A grid point of one representation that a cell rests on, and where."""

    representation: str
    point: str
    places: pd.DataFrame | None
    """The (repeat, fold) pairs in which it was chosen; None for all."""


def points_of_cell(cell: Mapping[Any, Any], selections: pd.DataFrame) -> list[CellPoint]:
    """Return the points whose predictions make up a cell: one, or those that inner folds chose.

    Parameters
    ----------
    cell : mapping
        A row of the cells.
    selections : data frame
        What nested selection chose in this study.
    """
    if cell["selection"] != "nested":
        return [CellPoint(cell["representation"], cell["point"], None)]
    mine = selections[
        (selections["dataset"] == cell["dataset"])
        & (selections["representation"] == cell["representation"])
        & (selections["method"] == cell["method"])
    ]
    return [
        CellPoint(str(representation), str(point), rows[["repeat", "fold"]])
        for (representation, point), rows in mine.groupby(
            ["chosen_representation", "point"], sort=False
        )
    ]


def cell_predictions(
    runs_folder: Path,
    cell: Mapping[Any, Any],
    selections: pd.DataFrame,
    columns: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Return the predictions behind a cell: repeat, fold, id, label, predicted, score, ...

    Parameters
    ----------
    runs_folder : Path
        The study's folder of runs.
    cell : mapping
        A row of the cells.
    selections : data frame
        What nested selection chose in this study.
    columns : sequence of str, optional
        Which columns, repeat and fold among them; all by default.

    Returns
    -------
    data frame
        In the order of repeats and folds; the columns of predictions.parquet without ``point``.
    """

    def read(representation: str, point: str) -> pd.DataFrame:
        one = run_of(runs_folder, cell["dataset"], representation, cell["method"])
        wanted = None if columns is None else ["point", *columns]
        return one.table("predictions", wanted, point)

    return predictions_of_cell(read, cell, selections)


def predictions_of_cell(
    read: Callable[[str, str], pd.DataFrame], cell: Mapping[Any, Any], selections: pd.DataFrame
) -> pd.DataFrame:
    """Return what :func:`cell_predictions` does, from predictions wherever they are.

    Parameters
    ----------
    read : callable
        Returns the predictions of the cell's method, given a representation and a point.
    cell, selections
        As for :func:`cell_predictions`.
    """
    parts = []
    for representation, point, places in points_of_cell(cell, selections):
        frame = read(representation, point).drop(columns="point")
        if places is not None:
            frame = frame.merge(places, on=["repeat", "fold"])
        parts.append(frame)
    together = pd.concat(parts, ignore_index=True)
    return together.sort_values(["repeat", "fold"], kind="stable").reset_index(drop=True)
