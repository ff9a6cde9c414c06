"""The tables of a training task's results, from its fits as they come."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from logging import Logger
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textbaselines.core import storage
from textbaselines.core.errors import UserError
from textbaselines.evaluation import metrics
from textbaselines.evaluation.selection import candidates, choose, inner_accuracies, ranked
from textbaselines.models.registry import FittedPoint
from textbaselines.study.folds import OUTER, Division
from textbaselines.study.tasks import Task
from textbaselines.training.predictions import Columns


@dataclass(frozen=True)
class Results:
    """What a training job found.

    Attributes
    ----------
    scores, predictions : data frames
        Of every grid point on the test documents of every (repeat, fold).
    inner_scores : data frame
        Of every grid point on every inner fold; without rows where there is nothing to choose.
    inner_predictions : data frame
        On the inner folds, of the fixed point and of the one that they chose.
    timings : data frame
        ``inner_fit_seconds`` is the sum over the inner folds.
    """

    scores: pd.DataFrame
    predictions: pd.DataFrame
    inner_scores: pd.DataFrame
    inner_predictions: pd.DataFrame
    timings: pd.DataFrame


@dataclass(frozen=True)
class Fit:
    """One grid point on one division: what was fitted and what it predicts."""

    point: str
    fitted: FittedPoint
    columns: Columns | None
    probabilities: NDArray[np.float64] | None
    truth: NDArray[np.int64]
    ratings: NDArray[np.float64] | None
    train_by_class: NDArray[np.int64]
    """Training documents of each class code, shape (K,)."""
    n_features: int
    started: float
    predict_seconds: float


class Collected:
    """Rows of the result tables as they come."""

    def __init__(self, task: Task, documents: Any) -> None:
        self._task = task
        self._documents = documents
        self._class_names = pd.array(list(reversed(task.classes)), dtype="str")
        self._order = {point["point"]: place for place, point in enumerate(task.points)}
        self._scores: list[dict[str, Any]] = []
        self._timings: list[dict[str, Any]] = []
        self._inner_scores: list[dict[str, Any]] = []
        self._predictions: list[tuple[dict[str, Any], NDArray[Any], Columns]] = []
        self._inner_predictions: list[tuple[dict[str, Any], NDArray[Any], Columns]] = []
        # Of the fold at hand: which of them are kept shows when its inner folds are done.
        self._of_fold: list[tuple[dict[str, Any], NDArray[Any], Columns]] = []
        self._scores_of_fold: list[dict[str, Any]] = []
        self._inner_seconds: dict[str, float] = {}

    def add(self, division: Division, fit: Fit, vocabulary: str, threads: int) -> None:
        """Take one fit of a division."""
        place = {"point": fit.point, "repeat": division.repeat, "fold": division.fold}
        rows = np.flatnonzero(division.test)
        scores = _score(fit, len(self._task.classes))
        if division.inner != OUTER:
            place["inner"] = division.inner
            wanted = ("correct", "accuracy", "converged", "failure")
            said = {name: scores[name] for name in wanted}
            self._scores_of_fold.append({**place, "n_test": len(rows), **said})
            seconds = self._inner_seconds.get(fit.point, 0.0)
            self._inner_seconds[fit.point] = seconds + fit.fitted.fit_seconds
            if fit.columns is not None:
                self._of_fold.append((place, rows, {"truth": fit.truth, **fit.columns}))
            return
        self._scores.append(
            {
                **place,
                "n_train": int(division.training.sum()),
                "n_test": len(rows),
                "n_features": fit.n_features,
                "vocabulary": vocabulary,
                **scores,
            }
        )
        self._timings.append(
            {
                **place,
                "fit_seconds": fit.fitted.fit_seconds,
                "predict_seconds": fit.predict_seconds,
                "started": fit.started,
                "ended": fit.started + fit.fitted.fit_seconds + fit.predict_seconds,
                "threads": threads,
            }
        )
        if fit.columns is not None:
            self._predictions.append((place, rows, {"truth": fit.truth, **fit.columns}))

    def end_fold(self, division: Division) -> None:
        """Choose by the inner folds of a fold that is done, and keep the chosen predictions.

        Raises
        ------
        UserError
            When every point of a grid failed on them.
        """
        for row in self._timings[-len(self._order) :]:
            row["inner_fit_seconds"] = self._inner_seconds.get(row["point"], 0.0)
        if self._scores_of_fold:
            names = candidates(self._task.points)
            scores = pd.DataFrame(self._scores_of_fold)
            best = choose(ranked(inner_accuracies(scores), names)).iloc[0]
            if len(names) > 1 and math.isnan(best["accuracy"]):
                self._refuse(scores, division)
            kept = {best["point"], *(p["point"] for p in self._task.points if _is_fixed(p))}
            self._inner_predictions += [one for one in self._of_fold if one[0]["point"] in kept]
            self._inner_scores += self._scores_of_fold
        self._of_fold, self._scores_of_fold, self._inner_seconds = [], [], {}

    def _refuse(self, scores: pd.DataFrame, division: Division) -> None:
        raise UserError(
            "every grid point failed",
            where=f"dataset {self._task.dataset}, representation {self._task.representation}, "
            f"method {self._task.method}, repeat {division.repeat}, fold {division.fold}",
            found="; ".join(dict.fromkeys(scores["failure"].dropna())),
            fix="give the method other values, or restrict it to representations it can use",
        )

    def tell_failures(self, log: Logger) -> None:
        """Say which grid points failed, on how many divisions, and why."""
        failures: dict[str, list[str | None]] = {}
        for row in itertools.chain(self._scores, self._inner_scores):
            failures.setdefault(row["point"], []).append(row["failure"])
        for point in self._task.points:
            mine = failures.get(point["point"], [])
            reasons = [reason for reason in mine if reason is not None]
            if reasons:
                log.warning(
                    "%s failed on %d of %d divisions: %s",
                    storage.canonical_json(point["params"]),
                    len(reasons),
                    len(mine),
                    reasons[0],
                )

    def results(self) -> Results:
        """Return the tables, ordered by grid point, repeat and fold."""
        scores = _in_order(self._scores, self._order)
        scores["failure"] = scores["failure"].astype("str")
        inner_scores = _in_order(self._inner_scores, self._order)
        if inner_scores.empty:
            inner_scores = _no_inner_scores()
        inner_scores["failure"] = inner_scores["failure"].astype("str")
        return Results(
            scores,
            self._table(self._predictions),
            inner_scores,
            self._table(self._inner_predictions, inner=True),
            _in_order(self._timings, self._order),
        )

    def _table(
        self, found: list[tuple[dict[str, Any], NDArray[Any], Columns]], inner: bool = False
    ) -> pd.DataFrame:
        numbers = ["repeat", "fold", *(["inner"] if inner else [])]
        if not found:
            names = ["point", *numbers, "id", "label", "predicted", "score"]
            return pd.DataFrame(columns=names)
        found = sorted(
            found, key=lambda one: (self._order[one[0]["point"]], *(one[0][n] for n in numbers))
        )
        lengths = [len(rows) for _, rows, _ in found]
        rows = np.concatenate([rows for _, rows, _ in found])
        points = pd.array([place["point"] for place, _, _ in found], dtype="str")
        columns: dict[str, Any] = {"point": points.take(np.repeat(np.arange(len(found)), lengths))}
        for name in numbers:
            values = np.array([place[name] for place, _, _ in found], dtype=np.int32)
            columns[name] = np.repeat(values, lengths)
        columns["id"] = self._documents.take(rows)
        for name, codes in (("label", "truth"), ("predicted", "predicted")):
            every = np.concatenate([predicted[codes] for _, _, predicted in found])
            columns[name] = self._class_names.take(every)
        for name in found[0][2]:
            if name not in ("truth", "predicted"):
                columns[name] = np.concatenate([predicted[name] for _, _, predicted in found])
        return pd.DataFrame(columns)


def _is_fixed(point: Mapping[str, Any]) -> bool:
    return "fixed" in point["origin"]


def _no_inner_scores() -> pd.DataFrame:
    numbers = ("repeat", "fold", "inner", "n_test", "correct")
    return pd.DataFrame(
        {
            "point": pd.array([], dtype="str"),
            **{name: np.zeros(0, dtype=np.int64) for name in numbers},
            "accuracy": np.zeros(0),
            "converged": np.zeros(0, dtype=bool),
            "failure": pd.array([], dtype="str"),
        }
    )


def _in_order(rows: list[dict[str, Any]], order: Mapping[str, int]) -> pd.DataFrame:
    rows.sort(
        key=lambda row: (order[row["point"]], row["repeat"], row["fold"], row.get("inner", OUTER))
    )
    return pd.DataFrame(rows)


def _score(fit: Fit, n_classes: int) -> dict[str, Any]:
    if fit.columns is None:
        nothing = np.zeros(n_classes, dtype=np.int64)
        tested = np.bincount(fit.truth, minlength=n_classes)
        return {
            **_by_class(fit, metrics.ClassCounts(tested, nothing, nothing)),
            "correct": 0,
            "accuracy": math.nan,
            "macro_f1": math.nan,
            "log_loss": math.nan,
            "converged": False,
            "n_iter": 0,
            "gap": math.nan,
            "failure": fit.fitted.failure,
            "rmse": math.nan,
        }
    truth, probabilities = fit.truth, fit.probabilities
    counts = metrics.class_counts(metrics.confusion(truth, fit.columns["predicted"], n_classes))
    correct = int(counts.correct.sum())
    return {
        **_by_class(fit, counts),
        "correct": correct,
        "accuracy": correct / len(truth),
        "macro_f1": float(metrics.macro_f1(counts)),
        "log_loss": (math.nan if probabilities is None else metrics.log_loss(truth, probabilities)),
        "converged": fit.fitted.converged,
        "n_iter": fit.fitted.n_iter,
        "gap": fit.fitted.gap,
        "failure": None,
        "rmse": (
            math.nan if fit.ratings is None else metrics.rmse(fit.ratings, fit.columns["rating"])
        ),
    }


def _by_class(fit: Fit, counts: metrics.ClassCounts) -> dict[str, NDArray[np.int64]]:
    """Return the counts by class, in the order of the dataset's classes: the highest code first."""
    return {
        "train_by_class": fit.train_by_class[::-1],
        "test_by_class": counts.test[::-1],
        "predicted_by_class": counts.predicted[::-1],
        "correct_by_class": counts.correct[::-1],
    }
