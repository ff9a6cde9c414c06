"""Train one method's whole grid on one representation of one dataset, over all folds.

Where hyper-parameters are to be chosen, the grid is fitted on the inner folds of each fold too.
"""

import math
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from logging import Logger
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from textbaselines import storage
from textbaselines.errors import UserError
from textbaselines.experiments import metrics
from textbaselines.experiments.folds import OUTER, Division, divisions
from textbaselines.experiments.predictions import (
    Columns,
    predict_classes,
    predict_ratings,
    rating_threshold,
)
from textbaselines.experiments.reductions import Reductions, division_seed
from textbaselines.experiments.selection import candidates, choose, inner_accuracies, ranked
from textbaselines.models.registry import METHODS, FittedPoint, fit_grid
from textbaselines.text.counts import Counts
from textbaselines.text.features import fold_features
from textbaselines.text.vocabulary import Vocabulary

SECONDS_BETWEEN_LINES = 10
"""How often a job says how far it is."""


@dataclass(frozen=True)
class Task:
    """One training job.

    Attributes
    ----------
    dataset, representation, method, family : str
    classes : list of str
        The positive class first.
    weighting, scope : str
    reduction : dict or None
        Of the representation.
    points : list of dict
        Each with ``point`` (its id), ``params`` and ``origin``.
    chooses : bool
        Whether the inner folds are to be trained on: there is something to choose.
    details : dict
        What the record of the run says besides: protocol, tokenizer, n-gram range, UNK policy.
    """

    dataset: str
    representation: str
    method: str
    family: str
    classes: list[str]
    weighting: str
    scope: str
    reduction: dict[str, Any] | None
    points: list[dict[str, Any]]
    chooses: bool
    details: dict[str, Any]


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


def train(
    task: Task,
    counts: Counts,
    vocabularies: Mapping[tuple[int, int, int], Vocabulary],
    folds: pd.DataFrame,
    inner_folds: pd.DataFrame,
    corpus: pd.DataFrame,
    threads: int,
    log: Logger,
    reduced: Reductions | None = None,
) -> Results:
    """Fit every grid point on every fold and score it on that fold's test documents.

    Parameters
    ----------
    task : Task
    counts : Counts
        Of all documents of the dataset.
    vocabularies : mapping from (repeat, fold, inner fold) to Vocabulary
    folds, inner_folds : data frames
        The dataset's tables of folds and of inner folds.
    corpus : data frame
        Columns id, label and rating. A method for a numeric target is fitted to the ratings, where
        the dataset has them, and predicts the class on whose side its rating lies.
    threads : int
        BLAS threads, at most.
    log : Logger
        Told how far the job is, every few seconds and at the end.
    reduced : Reductions, optional
        Under a reduction, its coordinates; without them they are worked out here.

    Raises
    ------
    UserError
        When the files are not of the same corpus, or every point of a grid failed.
    """
    by_id = corpus.set_index("id")
    codes = class_codes(by_id["label"], counts.documents, task.classes)
    ratings = None
    if "numeric_target" in METHODS[task.family].needs:
        ratings = by_id["rating"].loc[counts.documents].to_numpy(dtype=np.float64)
    collected = _Collected(task, pd.array(counts.documents, dtype="str"))
    inner = inner_folds if task.chooses else None
    work = list(divisions(folds, counts.documents, inner))
    progress = _Progress(len(work), len(task.points), log)
    with threadpool_limits(threads):
        for done, division in enumerate(work, start=1):
            if division.key not in vocabularies:
                raise UserError(
                    "no vocabulary for a fold",
                    where=f"dataset {task.dataset}, repeat {division.repeat}, fold "
                    f"{division.fold}, inner fold {division.inner}",
                    fix="delete the dataset's vocabularies and run again",
                )
            vocabulary = vocabularies[division.key]
            features = _features(task, counts, vocabulary, division, reduced)
            fits = _fits(task, features, division, codes, ratings)
            digest = vocabulary.digest(counts.types) if division.inner == OUTER else ""
            for fit in fits:
                collected.add(division, fit, digest, threads)
            if done == len(work) or work[done].inner == OUTER:
                collected.end_fold(division)
            progress.tell(done)
    collected.tell_failures(log)
    return collected.results()


@dataclass(frozen=True)
class _Fit:
    """One grid point on one division: what was fitted and what it predicts."""

    point: str
    fitted: FittedPoint
    columns: Columns | None
    probabilities: NDArray[np.float64] | None
    truth: NDArray[np.int64]
    ratings: NDArray[np.float64] | None
    n_features: int
    started: float
    predict_seconds: float


def _features(
    task: Task,
    counts: Counts,
    vocabulary: Vocabulary,
    division: Division,
    reduced: Reductions | None,
) -> tuple[Any, Any]:
    """Return the features of a division's training and of its test documents."""
    if reduced is not None:
        return reduced.of(division)
    features = fold_features(
        counts,
        vocabulary,
        division.training,
        division.test,
        task.weighting,
        task.scope,
        task.reduction,
        seed=division_seed(task.dataset, "reduction", division),
    )
    return features.training, features.test


def _fits(
    task: Task,
    features: tuple[Any, Any],
    division: Division,
    codes: NDArray[np.int64],
    ratings: NDArray[np.float64] | None,
) -> Iterator[_Fit]:
    """Fit every grid point on one division and predict its test documents."""
    training_features, test_features = features
    points = [point["params"] for point in task.points]
    seed = division_seed(task.dataset, task.family, division)
    training = division.training
    threshold = math.nan
    fitted: Iterable[tuple[int, FittedPoint]]
    if ratings is None:
        # Classes are numbered so that the positive one has the highest code.
        positive = len(task.classes) - 1
        fitted = fit_grid(
            task.family,
            training_features,
            codes[training],
            points,
            positive=positive,
            seed=seed,
            X_test=test_features,
        )
    elif (reason := no_ratings(ratings, codes[training], len(task.classes))) is not None:
        fitted = [(place, FittedPoint(None, 0.0, False, 0, reason)) for place in range(len(points))]
    else:
        threshold = rating_threshold(ratings[training], codes[training])
        fitted = fit_grid(
            task.family,
            training_features,
            ratings[training],
            points,
            seed=seed,
            X_test=test_features,
        )
    for position, result in fitted:
        started = time.time()
        clock = time.perf_counter()
        columns, probabilities = None, None
        if result.outputs is not None and ratings is None:
            columns, probabilities = predict_classes(result.estimator, result.outputs, task.classes)
        elif result.outputs is not None:
            columns = predict_ratings(result.outputs, threshold)
        if columns is not None and _lacks_scores(columns):
            result, columns = replace(result, failure="a score is not a number"), None
        yield _Fit(
            point=task.points[position]["point"],
            fitted=result,
            columns=columns,
            probabilities=probabilities,
            truth=codes[division.test],
            ratings=None if ratings is None else ratings[division.test],
            n_features=training_features.shape[1],
            started=started - result.fit_seconds,
            predict_seconds=result.predict_seconds + time.perf_counter() - clock,
        )


def _lacks_scores(columns: Columns) -> bool:
    """Return whether a document has no score at all; one class of many may lack its own."""
    scores = [values for name, values in columns.items() if name.startswith("score")]
    return bool(np.isnan(np.column_stack(scores)).all(axis=1).any())


class _Progress:
    """Tells every few seconds how many fits are done, how fast, and how long the rest takes."""

    def __init__(self, divisions: int, points: int, log: Logger) -> None:
        self._divisions, self._points, self._log = divisions, points, log
        self._began = self._told = time.monotonic()

    def tell(self, done: int) -> None:
        """Say how far the job is after so many divisions, if it is time."""
        now = time.monotonic()
        if done < self._divisions and now - self._told < SECONDS_BETWEEN_LINES:
            return
        self._told = now
        fits, rate = done * self._points, done * self._points / max(now - self._began, 1e-9)
        self._log.info(
            "%d of %d fits (%d grid points), %.1f a second, %.1f s, about %.0f s left",
            fits,
            self._divisions * self._points,
            self._points,
            rate,
            now - self._began,
            (self._divisions * self._points - fits) / rate,
        )


class _Collected:
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

    def add(self, division: Division, fit: _Fit, vocabulary: str, threads: int) -> None:
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
        for point in self._task.points:
            rows = [*self._scores, *self._inner_scores]
            mine = [row["failure"] for row in rows if row["point"] == point["point"]]
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


def no_ratings(
    ratings: NDArray[np.float64], codes: NDArray[np.int64], n_classes: int
) -> str | None:
    """Return why a method cannot be fitted to ratings, or None; codes are of training alone."""
    if np.isnan(ratings).any():
        return "the dataset has no ratings, and the method is fitted to ratings"
    if n_classes != 2 or len(np.unique(codes)) != 2:
        return "a rating's side is one of two classes, and training has not two"
    return None


def _score(fit: _Fit, n_classes: int) -> dict[str, Any]:
    if fit.columns is None:
        return {
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
    matrix = metrics.confusion(truth, fit.columns["predicted"], n_classes)
    correct = int(np.trace(matrix))
    return {
        "correct": correct,
        "accuracy": correct / len(truth),
        "macro_f1": metrics.macro_f1(matrix),
        "log_loss": (math.nan if probabilities is None else metrics.log_loss(truth, probabilities)),
        "converged": fit.fitted.converged,
        "n_iter": fit.fitted.n_iter,
        "gap": fit.fitted.gap,
        "failure": None,
        "rmse": (
            math.nan if fit.ratings is None else metrics.rmse(fit.ratings, fit.columns["rating"])
        ),
    }


def class_codes(labels: pd.Series, documents: list[str], classes: list[str]) -> NDArray[np.int64]:
    """Return the code of each document's class, the positive class the highest.

    Parameters
    ----------
    labels : series
        By document id.
    documents : list of str
        The n document ids.
    classes : list of str
        The positive class first.

    Raises
    ------
    UserError
        When a document is not in the corpus, or its label is none of the classes.
    """
    missing = pd.Index(documents).difference(labels.index)
    if len(missing):
        raise UserError(
            "a counted document is not in the corpus",
            found=f"{len(missing)} such documents, for instance {missing[0]!r}",
            fix="delete the dataset's tokens and counts and run again",
        )
    code_of = {name: code for code, name in enumerate(reversed(classes))}
    codes = labels.loc[documents].map(code_of)
    if codes.isna().any():
        odd = codes.index[codes.isna()][0]
        raise UserError(
            "a label that is none of the dataset's classes",
            where=f"document {odd}",
            found=repr(labels[odd]),
            expected=", ".join(classes),
        )
    return np.asarray(codes, dtype=np.int64)


def write_results(folder: str | Path, results: Results, task: Task, content_digest: str) -> None:
    """Write a run folder: scores, predictions, those on inner folds, timings and, last, run.json.

    Parameters
    ----------
    folder : path
    results : Results
    task : Task
    content_digest : str
        The corpus's, so that a result says which documents it is about.
    """
    folder = Path(folder)
    storage.write_parquet(folder / "scores.parquet", results.scores)
    storage.write_parquet(folder / "predictions.parquet", results.predictions)
    storage.write_parquet(folder / "inner_scores.parquet", results.inner_scores)
    storage.write_parquet(folder / "inner_predictions.parquet", results.inner_predictions)
    storage.write_parquet(folder / "timings.parquet", results.timings)
    run = {**vars(task), "positive": task.classes[0], "content_digest": content_digest}
    storage.write_json(folder / "run.json", {**run.pop("details"), **run})
