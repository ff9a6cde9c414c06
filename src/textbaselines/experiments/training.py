"""Train one method's whole grid on one representation of one dataset, over all folds."""

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from logging import Logger
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from textbaselines import storage
from textbaselines.errors import UserError
from textbaselines.experiments import evaluation
from textbaselines.experiments.folds import Division, divisions
from textbaselines.experiments.predictions import (
    predict_classes,
    predict_ratings,
    rating_threshold,
)
from textbaselines.models.registry import METHODS, FittedPoint, fit_grid
from textbaselines.seeds import seed_from
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
    details: dict[str, Any]


@dataclass(frozen=True)
class Results:
    """What a training job found: one table of scores, one of predictions, one of times."""

    scores: pd.DataFrame
    predictions: pd.DataFrame
    timings: pd.DataFrame


def train(
    task: Task,
    counts: Counts,
    vocabularies: Mapping[tuple[int, int], Vocabulary],
    folds: pd.DataFrame,
    corpus: pd.DataFrame,
    threads: int,
    log: Logger,
) -> Results:
    """Fit every grid point on every fold and score it on that fold's test documents.

    Parameters
    ----------
    task : Task
    counts : Counts
        Of all documents of the dataset.
    vocabularies : mapping from (repeat, fold) to Vocabulary
    folds : data frame
        The dataset's fold table.
    corpus : data frame
        Columns id, label and rating. A method for a numeric target is fitted to the ratings, where
        the dataset has them, and predicts the class on whose side its rating lies.
    threads : int
        BLAS threads, at most.
    log : Logger
        Told how far the job is, every few seconds and at the end.

    Raises
    ------
    UserError
        When the files are not of the same corpus.
    """
    by_id = corpus.set_index("id")
    codes = class_codes(by_id["label"], counts.documents, task.classes)
    ratings = None
    if "numeric_target" in METHODS[task.family].needs:
        ratings = by_id["rating"].loc[counts.documents].to_numpy(dtype=np.float64)
    documents = pd.array(counts.documents, dtype="str")
    class_names = pd.array(list(reversed(task.classes)), dtype="str")
    collected = _Collected()
    work = list(divisions(folds, counts.documents))
    began = told = time.monotonic()
    with threadpool_limits(threads):
        for done, division in enumerate(work, start=1):
            key = (division.repeat, division.fold)
            if key not in vocabularies:
                raise UserError(
                    "no vocabulary for a fold",
                    where=f"dataset {task.dataset}, repeat {key[0]}, fold {key[1]}",
                    fix="delete the dataset's vocabularies and run again",
                )
            _train_fold(
                task, counts, vocabularies[key], division, codes, ratings, threads, collected
            )
            now = time.monotonic()
            if done == len(work) or now - told >= SECONDS_BETWEEN_LINES:
                told = now
                log.info(
                    "%d of %d folds, %s each, %.1f s, about %.0f s left",
                    done,
                    len(work),
                    "1 fit" if len(task.points) == 1 else f"{len(task.points)} grid points",
                    now - began,
                    (now - began) / done * (len(work) - done),
                )
    return collected.results(documents, class_names, task.points)


class _Collected:
    """Rows of the result tables as they come."""

    def __init__(self) -> None:
        self.scores: list[dict[str, Any]] = []
        self.timings: list[dict[str, Any]] = []
        self.predictions: list[tuple[str, int, int, NDArray[Any], dict[str, NDArray[Any]]]] = []

    def results(self, documents: Any, class_names: Any, points: list[dict[str, Any]]) -> Results:
        order = {point["point"]: position for position, point in enumerate(points)}
        frames = []
        ordered = sorted(self.predictions, key=lambda item: (order[item[0]], item[1], item[2]))
        for point, repeat, fold, rows, columns in ordered:
            frame = pd.DataFrame(
                {
                    "point": pd.array([point], dtype="str").take(np.zeros(len(rows), dtype=int)),
                    "repeat": np.full(len(rows), repeat, dtype=np.int32),
                    "fold": np.full(len(rows), fold, dtype=np.int32),
                    "id": documents.take(rows),
                    "label": class_names.take(columns["truth"]),
                    "predicted": class_names.take(columns["predicted"]),
                }
            )
            for name, values in columns.items():
                if name not in ("truth", "predicted"):
                    frame[name] = values
            frames.append(frame)
        scores = _in_order(self.scores, order)
        scores["failure"] = scores["failure"].astype("str")
        return Results(
            scores,
            pd.concat(frames, ignore_index=True) if frames else _no_predictions(),
            _in_order(self.timings, order),
        )


def _no_predictions() -> pd.DataFrame:
    return pd.DataFrame(columns=["point", "repeat", "fold", "id", "label", "predicted", "score"])


def _in_order(rows: list[dict[str, Any]], order: Mapping[str, int]) -> pd.DataFrame:
    rows.sort(key=lambda row: (order[row["point"]], row["repeat"], row["fold"]))
    return pd.DataFrame(rows)


def _train_fold(
    task: Task,
    counts: Counts,
    vocabulary: Vocabulary,
    division: Division,
    codes: NDArray[np.int64],
    ratings: NDArray[np.float64] | None,
    threads: int,
    collected: _Collected,
) -> None:
    fold_name = ("repeat", division.repeat, "fold", division.fold)
    features = fold_features(
        counts,
        vocabulary,
        division.training,
        division.test,
        task.weighting,
        task.scope,
        task.reduction,
        seed=seed_from(task.dataset, "reduction", *fold_name),
    )
    truth = codes[division.test]
    rows = np.flatnonzero(division.test)
    points = [point["params"] for point in task.points]
    seed = seed_from(task.dataset, task.family, *fold_name)
    training = division.training
    threshold = math.nan
    fitted: Iterable[tuple[int, FittedPoint]]
    if ratings is None:
        # Classes are numbered so that the positive one has the highest code.
        positive = len(task.classes) - 1
        fitted = fit_grid(
            task.family, features.training, codes[training], points, positive=positive, seed=seed
        )
    elif (reason := no_ratings(ratings, codes[training], len(task.classes))) is not None:
        fitted = [(place, FittedPoint(None, 0.0, False, 0, reason)) for place in range(len(points))]
    else:
        threshold = rating_threshold(ratings[training], codes[training])
        fitted = fit_grid(task.family, features.training, ratings[training], points, seed=seed)
    digest = vocabulary.digest(counts.types)
    for position, result in fitted:
        point = task.points[position]["point"]
        place = {"point": point, "repeat": division.repeat, "fold": division.fold}
        started = time.time()
        clock = time.perf_counter()
        columns, probabilities = None, None
        if result.failure is None and ratings is None:
            columns, probabilities = predict_classes(result.estimator, features.test, task.classes)
        elif result.failure is None:
            columns = predict_ratings(result.estimator, features.test, threshold)
        predict_seconds = time.perf_counter() - clock
        collected.scores.append(
            {
                **place,
                "n_train": int(division.training.sum()),
                "n_test": len(rows),
                "n_features": features.training.shape[1],
                "vocabulary": digest,
                **_score(truth, columns, probabilities, result, len(task.classes)),
                "rmse": (
                    math.nan
                    if ratings is None or columns is None
                    else evaluation.rmse(ratings[division.test], columns["rating"])
                ),
            }
        )
        collected.timings.append(
            {
                **place,
                "fit_seconds": result.fit_seconds,
                "predict_seconds": predict_seconds,
                "started": started - result.fit_seconds,
                "ended": started + predict_seconds,
                "threads": threads,
            }
        )
        if columns is not None:
            collected.predictions.append(
                (point, division.repeat, division.fold, rows, {"truth": truth, **columns})
            )


def no_ratings(
    ratings: NDArray[np.float64], codes: NDArray[np.int64], n_classes: int
) -> str | None:
    """Return why a method cannot be fitted to ratings, or None; codes are of training alone."""
    if np.isnan(ratings).any():
        return "the dataset has no ratings, and the method is fitted to ratings"
    if n_classes != 2 or len(np.unique(codes)) != 2:
        return "a rating's side is one of two classes, and training has not two"
    return None


def _score(
    truth: NDArray[np.int64],
    columns: Mapping[str, Any] | None,
    probabilities: NDArray[np.float64] | None,
    result: FittedPoint,
    n_classes: int,
) -> dict[str, Any]:
    if columns is None:
        return {
            "correct": 0,
            "accuracy": math.nan,
            "macro_f1": math.nan,
            "log_loss": math.nan,
            "converged": False,
            "n_iter": 0,
            "failure": result.failure,
        }
    matrix = evaluation.confusion(truth, columns["predicted"], n_classes)
    correct = int(np.trace(matrix))
    return {
        "correct": correct,
        "accuracy": correct / len(truth),
        "macro_f1": evaluation.macro_f1(matrix),
        "log_loss": (
            math.nan if probabilities is None else evaluation.log_loss(truth, probabilities)
        ),
        "converged": result.converged,
        "n_iter": result.n_iter,
        "failure": None,
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
    """Write a run folder: scores, predictions, timings and, last, run.json.

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
    storage.write_parquet(folder / "timings.parquet", results.timings)
    run = {**vars(task), "positive": task.classes[0], "content_digest": content_digest}
    storage.write_json(folder / "run.json", {**run.pop("details"), **run})
