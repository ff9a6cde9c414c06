"""Train methods' whole grids on one dataset's counts, over all folds.

Where hyper-parameters are to be chosen, the grid is fitted on the inner folds of each fold too.
Tasks that are trained together share each fold's features.
"""

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from logging import Logger
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import config_context
from threadpoolctl import threadpool_limits

from textbaselines.core import storage
from textbaselines.core.errors import UserError
from textbaselines.core.peak_memory import peak_mebibytes, reset_peak
from textbaselines.models.registry import METHODS, FittedPoint, fit_grid
from textbaselines.study.folds import OUTER, Division, divisions
from textbaselines.study.tasks import Task
from textbaselines.text.counts import Counts
from textbaselines.text.features import fold_counts
from textbaselines.text.vocabulary import Vocabulary, VocabularyDigests
from textbaselines.training.empty_features import refuse_empty
from textbaselines.training.predictions import (
    Columns,
    class_order,
    predict_classes,
    predict_ratings,
    rating_threshold,
)
from textbaselines.training.reductions import Reductions, division_seed
from textbaselines.training.result_tables import Collected, Fit, Results

SECONDS_BETWEEN_LINES = 10
"""How often a job says how far it is."""


@dataclass(frozen=True)
class Trained:
    """What came of a task, and what it took.

    ``seconds`` has an equal share of what tasks that are trained together have in common;
    ``peak_mebibytes`` is of the process while it was at this task's largest fits.
    """

    task: Task
    results: Results
    seconds: float
    peak_mebibytes: float


@dataclass
class _Training:
    """A task at work."""

    task: Task
    collected: Collected
    codes: NDArray[np.int64]
    ratings: NDArray[np.float64] | None
    seconds: float = 0.0
    peak: float = 0.0


def train(
    tasks: Sequence[Task],
    counts: Counts,
    vocabularies: Mapping[tuple[int, int, int], Vocabulary],
    folds: pd.DataFrame,
    inner_folds: pd.DataFrame,
    corpus: pd.DataFrame,
    threads: int,
    log: Logger,
    reduced: Reductions | None = None,
) -> Iterator[Trained]:
    """Fit every grid point of every task on every fold and score it on that fold's test documents.

    What a task gives does not depend on the others. One whose grid fails as a whole ends there;
    the others are trained and yielded before its error is raised.

    Parameters
    ----------
    tasks : sequence of Task
        All of one dataset, on the same counts and vocabularies.
    folds, inner_folds : data frames
        The dataset's tables of folds and of inner folds.
    corpus : data frame
        Columns id, label and rating. A method for a numeric target is fitted to the ratings, where
        the dataset has them, and predicts the class on whose side its rating lies.
    log : Logger
        Told how far the job is, every few seconds and at the end.
    reduced : Reductions, optional
        The coordinates of the tasks' reduction; without them they are worked out here.

    Raises
    ------
    UserError
        When the files are not of the same corpus, no training document of a division has a
        feature, or every point of a grid failed.
    """
    by_id = corpus.set_index("id")
    ids = pd.array(counts.documents, dtype="str")
    running = []
    codes_of: dict[tuple[str, ...], NDArray[np.int64]] = {}
    for task in tasks:
        classes = tuple(task.classes)
        if classes not in codes_of:
            codes_of[classes] = class_codes(by_id["label"], counts.documents, task.classes)
        ratings = None
        if "numeric_target" in METHODS[task.family].needs:
            ratings = by_id["rating"].loc[counts.documents].to_numpy(dtype=np.float64)
        running.append(_Training(task, Collected(task, ids), codes_of[classes], ratings))
    inner = inner_folds if any(task.chooses for task in tasks) else None
    work = list(divisions(folds, counts.documents, inner))
    progress = _Progress(tasks, work, log)
    digests = VocabularyDigests(counts.types)
    failed: list[UserError] = []
    # The features are counts and what is made of them: scikit-learn need not look for infinity.
    with threadpool_limits(threads), config_context(assume_finite=True):
        for done, division in enumerate(work, start=1):
            if division.key not in vocabularies:
                raise UserError(
                    "no vocabulary for a fold",
                    where=f"dataset {tasks[0].dataset}, repeat {division.repeat}, fold "
                    f"{division.fold}, inner fold {division.inner}",
                    fix="delete the dataset's vocabularies and run again",
                )
            vocabulary = vocabularies[division.key]
            digest = digests.of(vocabulary) if division.inner == OUTER else ""
            mine = [one for one in running if division.inner == OUTER or one.task.chooses]
            for features, sharing in _features(mine, counts, vocabulary, division, reduced):
                while sharing:
                    one = sharing.pop(0)
                    _fit_division(one, features, division, digest, threads)
            if done == len(work) or work[done].inner == OUTER:
                for one in list(running):
                    try:
                        one.collected.end_fold(division)
                    except UserError as error:
                        failed.append(error)
                        running.remove(one)
                if not running:
                    break
            progress.tell(done)
    for one in running:
        one.collected.tell_failures(log)
        started = time.perf_counter()
        results = one.collected.results()
        one.seconds += time.perf_counter() - started
        yield Trained(one.task, results, one.seconds, one.peak)
    for other in failed[1:]:
        log.error("%s", other)
    if failed:
        raise failed[0]


def _features(
    running: Sequence[_Training],
    counts: Counts,
    vocabulary: Vocabulary,
    division: Division,
    reduced: Reductions | None,
) -> Iterator[tuple[tuple[Any, Any], list[_Training]]]:
    """Yield features of a division's training and test documents, with the tasks that take them."""
    shared: dict[str, dict[str, list[_Training]]] = {}
    for one in running:
        weighted = storage.canonical_json([one.task.weighting, one.task.reduction])
        shared.setdefault(one.task.scope, {}).setdefault(weighted, []).append(one)
    for scope, groups in shared.items():
        started = time.perf_counter()
        mapped = None
        if reduced is None:
            mapped = fold_counts(counts, vocabulary, division.training, division.test, scope)
            task = next(iter(groups.values()))[0].task
            refuse_empty(mapped.training, division, task.dataset, task.representation, task.details)
        _share(time.perf_counter() - started, [one for group in groups.values() for one in group])
        for place, group in enumerate(groups.values(), start=1):
            started = time.perf_counter()
            task = group[0].task
            if mapped is None:
                assert reduced is not None
                features = reduced.of(division)
            else:
                seed = division_seed(task.dataset, "reduction", division)
                weights = mapped.weigh(task.weighting, task.reduction, seed)
                features = weights.training, weights.test
                del weights
            if place == len(groups):
                mapped = None
            _share(time.perf_counter() - started, group)
            yield features, group
            del features


def _share(seconds: float, tasks: Sequence[_Training]) -> None:
    for one in tasks:
        one.seconds += seconds / len(tasks)


def _fit_division(
    one: _Training, features: tuple[Any, Any], division: Division, digest: str, threads: int
) -> None:
    """Fit a task's grid on one division; the memory is that of outer folds, the largest."""
    outer = division.inner == OUTER
    started = time.perf_counter()
    if outer:
        reset_peak()
    for fit in _fits(one.task, features, division, one.codes, one.ratings):
        one.collected.add(division, fit, digest, threads)
    if outer:
        one.peak = max(one.peak, peak_mebibytes())
    one.seconds += time.perf_counter() - started


def _fits(
    task: Task,
    features: tuple[Any, Any],
    division: Division,
    codes: NDArray[np.int64],
    ratings: NDArray[np.float64] | None,
) -> Iterator[Fit]:
    """Fit every grid point on one division and predict its test documents."""
    training_features, test_features = features
    points = [point["params"] for point in task.points]
    seed = division_seed(task.dataset, task.family, division)
    training = division.training
    train_by_class = np.bincount(codes[training], minlength=len(task.classes))
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
            columns, probabilities = predict_classes(
                result.estimator, result.outputs, task.classes, task.ties
            )
        elif result.outputs is not None:
            order = class_order(np.bincount(codes[training], minlength=2), task.ties)
            columns = predict_ratings(result.outputs, threshold, order)
        if columns is not None and _lacks_scores(columns):
            result, columns = replace(result, failure="a score is not a number"), None
        yield Fit(
            point=task.points[position]["point"],
            fitted=result,
            columns=columns,
            probabilities=probabilities,
            truth=codes[division.test],
            ratings=None if ratings is None else ratings[division.test],
            train_by_class=train_by_class,
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

    def __init__(self, tasks: Sequence[Task], work: Sequence[Division], log: Logger) -> None:
        every = sum(len(task.points) for task in tasks)
        choosing = sum(len(task.points) for task in tasks if task.chooses)
        self._points, self._log = every, log
        # How many fits are done after so many divisions.
        fits = [every if division.inner == OUTER else choosing for division in work]
        self._fits = np.cumsum(fits).tolist()
        self._began = self._told = time.monotonic()

    def tell(self, done: int) -> None:
        """Say how far the job is after so many divisions, if it is time."""
        now = time.monotonic()
        if done < len(self._fits) and now - self._told < SECONDS_BETWEEN_LINES:
            return
        self._told = now
        fits, every = self._fits[done - 1], self._fits[-1]
        rate = fits / max(now - self._began, 1e-9)
        self._log.info(
            "%d of %d fits (%d grid points), %.1f a second, %.1f s, about %.0f s left",
            fits,
            every,
            self._points,
            rate,
            now - self._began,
            (every - fits) / rate,
        )


def no_ratings(
    ratings: NDArray[np.float64], codes: NDArray[np.int64], n_classes: int
) -> str | None:
    """Return why a method cannot be fitted to ratings, or None; codes are of training alone."""
    if np.isnan(ratings).any():
        return "the dataset has no ratings, and the method is fitted to ratings"
    if np.isinf(ratings).any():
        return "a rating is infinite"
    if n_classes != 2 or len(np.unique(codes)) != 2:
        return "a rating's side is one of two classes, and training has not two"
    return None


def class_codes(labels: pd.Series, documents: list[str], classes: list[str]) -> NDArray[np.int64]:
    """Return the code of each document's class, the positive class the highest.

    ``labels``: by document id; ``classes``: the positive class first. Raises :class:`UserError`
    when a document is not in the corpus, or its label is none of the classes.
    """
    rows = labels.index.get_indexer(pd.Index(documents))
    missing = np.flatnonzero(rows < 0)
    if len(missing):
        raise UserError(
            "a counted document is not in the corpus",
            found=f"{len(missing)} such documents, for instance {documents[missing[0]]!r}",
            fix="delete the dataset's tokens and counts and run again",
        )
    mine = labels.array.take(rows)
    codes = pd.Index(classes[::-1], dtype=mine.dtype).get_indexer(pd.Index(mine))
    odd = np.flatnonzero(codes < 0)
    if len(odd):
        raise UserError(
            "a label that is none of the dataset's classes",
            where=f"document {documents[odd[0]]}",
            found=repr(mine[odd[0]]),
            expected=", ".join(classes),
        )
    return np.asarray(codes, dtype=np.int64)


def write_results(folder: str | Path, results: Results, task: Task, content_digest: str) -> None:
    """Write a run folder: scores, predictions, those on inner folds, timings and, last, run.json.

    ``content_digest``: the corpus's, so that a result says which documents it is about.
    """
    folder = Path(folder)
    storage.write_parquet(folder / "scores.parquet", results.scores)
    storage.write_parquet(folder / "predictions.parquet", results.predictions)
    storage.write_parquet(folder / "inner_scores.parquet", results.inner_scores)
    storage.write_parquet(folder / "inner_predictions.parquet", results.inner_predictions)
    storage.write_parquet(folder / "timings.parquet", results.timings)
    run = {**vars(task), "positive": task.classes[0], "content_digest": content_digest}
    storage.write_json(folder / "run.json", {**run.pop("details"), **run})
