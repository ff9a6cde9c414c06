"""Are probabilities what they say? Reliability, Brier score, log-loss and calibration error.

Before: a method's own probabilities. After: Platt's sigmoid and isotonic regression, fitted in each
(repeat, fold) to the scores of the inner folds' validation documents and applied to the scores of
that fold's test documents. The inner folds' models are trained on fewer documents than the one
whose scores are mapped, as in scikit-learn's ``CalibratedClassifierCV(ensemble=False)``; no label
of a test document is used.

With two classes all of it is about the probability of the positive class. With more it is about the
confidence, the probability of the most probable class, and whether that class is right (top-label
calibration: Guo et al. 2017, section 2). The score of a class is then its margin, its score minus
the highest score of another class; it is mapped for each class against the rest, and the
probabilities of a document are divided by their sum (Zadrozny & Elkan 2002, section 5).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, softmax
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss

from textbaselines.analysis.lengths import parts_of_predictions, wilson
from textbaselines.core.seeds import seed_from
from textbaselines.evaluation.metrics import log_loss
from textbaselines.evaluation.reported_cells import KEY
from textbaselines.evaluation.runs import Run, run_of
from textbaselines.evaluation.selection import points_of_cell
from textbaselines.significance.bootstrap import (
    basic_interval,
    draws,
    resampled_sums,
    sums_of_groups,
)

CALIBRATIONS = ("own", "platt", "isotonic")
"""``own``: the method's probabilities; the others map its scores to probabilities."""

N_BINS = 15
RESAMPLES = 1000

# Numbers of a matrix that is worked on at a time: 16 MB.
_AT_ONCE = 2_000_000

_CELL = (*KEY, "calibration")
CALIBRATION_COLUMNS = (
    *_CELL,
    "predictions",
    "accuracy",
    "brier",
    "log_loss",
    "ece",
    "ece_low",
    "ece_high",
    "mean_confidence",
    "overconfidence",
    "reason",
    "n_classes",
)
RELIABILITY_COLUMNS = (
    *_CELL,
    "bin",
    "predictions",
    "mean_probability",
    "share_positive",
    "low",
    "high",
)
BY_LENGTH_COLUMNS = (
    *_CELL,
    "part",
    "tokens_from",
    "tokens_to",
    "predictions",
    "accuracy",
    "mean_confidence",
    "overconfidence",
    "overconfidence_low",
    "overconfidence_high",
    "ece",
)

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Calibrator = Callable[[Floats], Floats]
"""Scores of shape (n,) to probabilities of the positive class, shape (n,)."""


def fit_platt(scores: Floats, positive: Bools) -> Calibrator:
    """Fit Platt's sigmoid P = 1 / (1 + exp(A score + B)) (Platt 1999, section 2.2).

    The targets are his: (N+ + 1) / (N+ + 2) for a positive, 1 / (N- + 2) for a negative document,
    so that the maximum of the likelihood is finite even where the scores separate the classes.

    Parameters
    ----------
    scores : array, shape (n,)
    positive : bool array, shape (n,)
    """
    scale = float(np.abs(scores).max(initial=0.0))
    if np.ptp(scores) <= 1e-12 * scale:
        # All scores are equal (or there is but one): a constant is all that can be said.
        constant = float(_platt_targets(positive).mean())
        return lambda new: np.full(len(new), constant)
    slope, intercept = _fit_sigmoid(scores, positive, intercept=True)
    return lambda new: np.asarray(expit(slope * new + intercept), dtype=np.float64)


def fit_slope(scores: Floats, positive: Bools) -> float:
    """Return A of P = 1 / (1 + exp(-A score)): Platt's sigmoid through one half at a score of 0.

    So the more probable class is always the one that the score speaks for. The targets are those of
    :func:`fit_platt`, the likelihood is maximised over A alone; A is not above 0 where scores say
    nothing of the class, or the contrary.

    Parameters
    ----------
    scores : array, shape (n,)
    positive : bool array, shape (n,)
    """
    if not np.any(scores):
        return 0.0
    return _fit_sigmoid(scores, positive, intercept=False)[0]


def fit_inverse_temperature(scores: Floats, codes: NDArray[np.int64]) -> float:
    """Return a >= 0 of P = softmax(a scores): one over the temperature of Guo et al. (2017, 4.2).

    The cross-entropy with smoothed targets is minimised, which is convex in a. The targets are
    Platt's for K classes: with N_k documents of class k, (N_k + 1) / (N_k + K) for the true class
    and 1 / (N_k + K) for each other one; so the minimum is finite even where the largest score is
    always that of the true class. For two classes with scores (0, s) this is :func:`fit_slope`,
    less values below 0: these become 0, which says nothing of any class.

    Parameters
    ----------
    scores : array, shape (n, K)
        NaN for a class without one; that class then has no share of the document's target.
    codes : int array, shape (n,)
        The true classes 0..K-1; their scores are numbers.
    """
    known = ~np.isnan(scores)
    width = known.sum(axis=1)
    frequency = np.bincount(codes, minlength=scores.shape[1])[codes]
    other = 1 / (frequency + width)
    targets = np.where(known, other[:, np.newaxis], 0.0)
    targets[np.arange(len(codes)), codes] += frequency * other
    centred = scores - np.nanmax(scores, axis=1, keepdims=True, initial=-np.inf)
    scale = float(-np.nanmin(centred, initial=0.0))
    if scale == 0:
        return 0.0
    at_once = max(1, _AT_ONCE // scores.shape[1])
    parts = [slice(begin, begin + at_once) for begin in range(0, len(codes), at_once)]
    centred = np.where(known, centred / scale, 0.0)

    def gradient(a: float) -> float:
        """Return the derivative of the cross-entropy by a, of scores divided by their scale."""
        return sum(
            float(
                np.sum(
                    (
                        softmax(np.where(known[part], a * centred[part], -np.inf), axis=1)
                        - targets[part]
                    )
                    * centred[part]
                )
            )
            for part in parts
        )

    if gradient(0.0) >= 0:
        return 0.0
    high = 1.0
    while gradient(high) < 0:
        high *= 2
    return float(brentq(gradient, 0.0, high, xtol=1e-12, rtol=1e-12)) / scale


def confidence_error(probabilities: Floats, codes: NDArray[np.int64]) -> float:
    """Return the expected calibration error of K classes in bins of equal mass.

    Of two classes that of the probability of class 1 (:func:`calibration_error`); of more that of
    the largest probability, against whether its class is the true one (Guo et al. 2017, section 2).

    Parameters
    ----------
    probabilities : array, shape (n, K)
    codes : int array, shape (n,)
    """
    if probabilities.shape[1] == 2:
        values, right = probabilities[:, 1], codes == 1
    else:
        values, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == codes
    return calibration_error(values, right, equal_mass_bins(values))


def _platt_targets(positive: Bools) -> Floats:
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    return np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))


def _fit_sigmoid(scores: Floats, positive: Bools, *, intercept: bool) -> tuple[float, float]:
    """Return slope and intercept (0 without one) of the likeliest sigmoid for Platt's targets."""
    scale = float(np.abs(scores).max())
    target = _platt_targets(positive)
    # A target t is the document once as positive with weight t, once as negative with 1 - t.
    column = scores[:, np.newaxis] / scale
    model = LogisticRegression(
        C=np.inf, fit_intercept=intercept, solver="newton-cholesky", tol=1e-10, max_iter=1000
    )
    model.fit(
        np.vstack([column, column]),
        np.repeat([1, 0], len(scores)),
        sample_weight=np.concatenate([target, 1 - target]),
    )
    # Without an intercept scikit-learn gives a float or an array of one, by the solver.
    return float(model.coef_[0, 0]) / scale, float(np.ravel(model.intercept_)[0])


def fit_isotonic(scores: Floats, positive: Bools) -> Calibrator:
    """Fit the non-decreasing function of the score that is nearest to the labels in squares.

    Zadrozny & Elkan (2002); linear between fitted scores, constant beyond the outermost. At its
    ends it may say 0 and 1, for which one error costs the log-loss 36 nats (see
    :func:`textbaselines.evaluation.metrics.log_loss`).
    """
    model = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    model.fit(scores, positive.astype(np.float64))
    return lambda new: np.asarray(model.predict(new), dtype=np.float64)


def equal_mass_bins(probabilities: Floats, n_bins: int = N_BINS) -> NDArray[np.int64]:
    """Return the bin 0..n_bins - 1 of each probability: between quantiles, equal ones together.

    As scikit-learn's ``calibration_curve(strategy="quantile")``. Where many probabilities are
    equal some bins stay empty.
    """
    edges = np.quantile(probabilities, np.linspace(0, 1, n_bins + 1))
    return np.searchsorted(edges[1:-1], probabilities).astype(np.int64)


def calibration_error(probabilities: Floats, positive: Bools, bins: NDArray[np.int64]) -> float:
    """Return the expected calibration error (Naeini et al. 2015), with the bins given.

    ECE = sum over bins of (n_b / n) |mean probability - share of positives|.
    """
    gaps = np.bincount(bins, weights=probabilities - positive)
    return float(np.abs(gaps).sum() / len(bins))


@lru_cache(maxsize=1)
def _draws(n_groups: int, seed: int) -> Sequence[NDArray[np.uint8]]:
    return list(draws(n_groups, seed, RESAMPLES))


def margins(scores: Floats) -> Floats:
    """Return the score of each class minus the highest score of another class, shape (n, K).

    Parameters
    ----------
    scores : array, shape (n, K), K at least 2
        NaN for a class that the training documents lack, whose margin is NaN, too.
    """
    known = np.where(np.isnan(scores), -np.inf, scores)
    rows = np.arange(len(scores))
    best = known.argmax(axis=1)
    second = known.copy()
    second[rows, best] = -np.inf
    rivals = np.repeat(known.max(axis=1)[:, None], scores.shape[1], axis=1)
    rivals[rows, best] = second.max(axis=1)
    found: Floats = scores - rivals
    return found


def against_the_rest(
    fit: Callable[[Floats, Bools], Calibrator],
    known: Floats,
    truth: NDArray[np.integer[Any]],
    scores: Floats,
) -> Floats:
    """Return calibrated probabilities of K classes, each mapped against the rest, with sum 1.

    Parameters
    ----------
    fit : callable
        :func:`fit_platt` or :func:`fit_isotonic`.
    known, scores : arrays, shapes (m, K) and (n, K)
        Scores of the documents to learn from, and of those to map; NaN where a class was unknown.
    truth : int array, shape (m,)
        Class codes of the former.

    Returns
    -------
    array, shape (n, K)
        0 for a class without any score; all equal where every mapped value is 0.
    """
    learnt, new = margins(known), margins(scores)
    probabilities = np.zeros(scores.shape)
    for code in range(scores.shape[1]):
        here, there = np.isfinite(learnt[:, code]), np.isfinite(new[:, code])
        if here.any() and there.any():
            mapped = fit(learnt[here, code], truth[here] == code)
            probabilities[there, code] = mapped(new[there, code])
    total = probabilities.sum(axis=1, keepdims=True)
    equal = np.full_like(probabilities, 1 / scores.shape[1])
    np.divide(probabilities, total, out=equal, where=total > 0)
    return equal


def top_label(probabilities: Floats, truth: NDArray[np.integer[Any]]) -> dict[str, NDArray[Any]]:
    """Return what is measured of each document's probabilities of K classes.

    Parameters
    ----------
    probabilities : array, shape (n, K)
    truth : int array, shape (n,)
        Class codes.

    Returns
    -------
    dict of arrays, shape (n,)
        ``""``: the confidence, the highest probability; ``_right``: whether its class is the true
        one; ``_brier``: the sum over classes of (p - y)^2, from 0 to 2 (Brier 1950); ``_loss``:
        -ln P(true class), P at least 2**-52.
    """
    rows = np.arange(len(truth))
    chosen = probabilities[rows, truth]
    squares = np.square(probabilities).sum(axis=1) - 2 * chosen + 1
    return {
        "": probabilities.max(axis=1),
        "_right": probabilities.argmax(axis=1) == truth,
        "_brier": squares,
        "_loss": -np.log(np.maximum(chosen, np.finfo(np.float64).eps)),
    }


class CalibratedRuns:
    """The test predictions of a study's cells with their probabilities, own and calibrated."""

    def __init__(self, runs_folder: str | Path, selections: pd.DataFrame) -> None:
        self._folder = Path(runs_folder)
        self._selections = selections
        # A run's chosen points stand in its own cell and in that across representations.
        self._of_point = lru_cache(maxsize=64)(self._read_point)

    def predictions(self, cell: Mapping[Any, Any]) -> pd.DataFrame:
        """Return the test predictions of a cell with their probabilities.

        Returns
        -------
        data frame with columns repeat, fold, id, own, platt, isotonic, and others
            Ordered by repeat and fold; NaN where the method has no probabilities, or no score on
            inner folds. Two classes: ``positive``, and probabilities of the positive class. More:
            confidences, and for each calibration the columns of :func:`top_label`, such as
            ``own_right``.
        """
        parts = []
        for representation, point, places in points_of_cell(cell, self._selections):
            part = self._of_point(cell["dataset"], representation, cell["method"], point)
            parts.append(part if places is None else part.merge(places, on=["repeat", "fold"]))
        together = pd.concat(parts, ignore_index=True)
        return together.sort_values(["repeat", "fold"], kind="stable", ignore_index=True)

    def _read_point(
        self, dataset: str, representation: str, method: str, point: str
    ) -> pd.DataFrame:
        run = run_of(self._folder, dataset, representation, method)
        if "score" not in run.columns("predictions"):
            return _read_classes(run, point)
        positive = run.record["positive"]
        test = _read_predictions(run, "predictions", point, positive)
        inner = _read_predictions(run, "inner_predictions", point, positive)
        validated = dict(iter(inner.groupby(["repeat", "fold"])))
        parts = []
        for place, rows in test.groupby(["repeat", "fold"], sort=True):
            scores = rows["score"].to_numpy(dtype=np.float64)
            probabilities: dict[str, Any] = {"platt": np.nan, "isotonic": np.nan}
            if place in validated:
                known = validated[place]
                learnt = known["score"].to_numpy(dtype=np.float64), known["positive"].to_numpy()
                probabilities = {
                    "platt": fit_platt(*learnt)(scores),
                    "isotonic": fit_isotonic(*learnt)(scores),
                }
            parts.append(rows.assign(**probabilities))
        return pd.concat(parts, ignore_index=True).drop(columns="score")


def _read_predictions(run: Run, table: str, point: str, positive: str) -> pd.DataFrame:
    frame = run.table(table, point=point)
    own = frame.get("probability", np.nan)
    wanted = frame[["repeat", "fold", "id", "score"]]
    return wanted.assign(positive=frame["label"] == positive, own=own)


def _read_classes(run: Run, point: str) -> pd.DataFrame:
    """Return the test predictions of a point of a run with more than two classes."""
    classes = run.record["classes"]

    def values(frame: pd.DataFrame, kind: str) -> Floats:
        columns = [f"{kind}_{name}" for name in classes]
        return frame[columns].to_numpy(dtype=np.float64)

    code = {name: place for place, name in enumerate(classes)}
    test, inner = (run.table(name, point=point) for name in ("predictions", "inner_predictions"))
    validated = dict(iter(inner.groupby(["repeat", "fold"])))
    parts = []
    for place, rows in test.groupby(["repeat", "fold"], sort=True):
        truth = rows["label"].map(code).to_numpy(dtype=np.int64)
        found: dict[str, Floats] = {}
        if f"probability_{classes[0]}" in rows:
            found["own"] = values(rows, "probability")
        if place in validated:
            known = validated[place]
            learnt = known["label"].map(code).to_numpy(dtype=np.int64)
            for name, fit in (("platt", fit_platt), ("isotonic", fit_isotonic)):
                found[name] = against_the_rest(
                    fit, values(known, "score"), learnt, values(rows, "score")
                )
        measured = {
            f"{name}{end}": column
            for name, probabilities in found.items()
            for end, column in top_label(probabilities, truth).items()
        }
        parts.append(rows[["repeat", "fold", "id"]].assign(**measured))
    return pd.concat(parts, ignore_index=True).reindex(
        columns=["repeat", "fold", "id"]
        + [f"{name}{end}" for name in CALIBRATIONS for end in ("", "_right", "_brier", "_loss")]
    )


class _Said(NamedTuple):
    """What some predictions say with a probability, whether it happened, and how good that is."""

    probabilities: Floats
    happened: Bools
    confidence: Floats
    right: Bools
    brier: float
    log_loss: float


def _said(predictions: pd.DataFrame, name: str) -> _Said | None:
    """Return what the probabilities of one calibration say; None where there are none."""
    probabilities = predictions[name].to_numpy(dtype=np.float64)
    if np.isnan(probabilities).any():
        return None
    if "positive" not in predictions:
        right = predictions[f"{name}_right"].to_numpy(dtype=bool)
        brier, loss = (float(predictions[f"{name}_{end}"].mean()) for end in ("brier", "loss"))
        return _Said(probabilities, right, probabilities, right, brier, loss)
    positive = predictions["positive"].to_numpy(dtype=bool)
    return _Said(
        probabilities,
        positive,
        np.maximum(probabilities, 1 - probabilities),
        (probabilities > 0.5) == positive,
        float(brier_score_loss(positive, probabilities)),
        log_loss(positive.astype(np.int64), np.column_stack([1 - probabilities, probabilities])),
    )


def measure(
    predictions: pd.DataFrame, groups: pd.Series, parts: pd.DataFrame, seed: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Measure the probabilities of one cell.

    Parameters
    ----------
    predictions : data frame
        What :meth:`CalibratedRuns.predictions` returned.
    groups : series
        The group of identical text of each document, by its id.
    parts : data frame
        The length part of each document (:func:`textbaselines.analysis.lengths.length_parts`).

    Returns
    -------
    calibration, reliability, by_length : lists of rows
        With the columns of the tables from ``calibration`` on.
    """
    codes = pd.factorize(predictions["id"].map(groups), sort=True)[0].astype(np.int64)
    joined = predictions[["id"]].join(parts, on="id")
    calibration, reliability, by_length = [], [], []
    for name in CALIBRATIONS:
        row: dict[str, Any] = {"calibration": name, "predictions": len(predictions)}
        said = _said(predictions, name)
        if said is None:
            reason = (
                "the method has no probabilities"
                if name == "own"
                else "no predictions on inner folds"
            )
            calibration.append({**row, "reason": reason})
            continue
        probabilities, happened = said.probabilities, said.happened
        bins = equal_mass_bins(probabilities)
        over = np.asarray(said.confidence - said.right)
        part = joined["part"].to_numpy() - 1
        n_parts = int(part.max()) + 1
        values = [
            _one_hot(bins, N_BINS, probabilities - happened),
            _one_hot(part, n_parts, over),
            _one_hot(part, n_parts, np.ones(len(over))),
        ]
        sums = sums_of_groups(np.hstack(values), codes)
        resampled = resampled_sums(sums, _draws(len(sums), seed))
        gaps, overs, sizes = np.split(resampled, [N_BINS, N_BINS + n_parts], axis=1)
        error = calibration_error(probabilities, happened, bins)
        low, high = basic_interval(error, np.abs(gaps).sum(axis=1) / sizes.sum(axis=1), 0.0)
        calibration.append(
            {
                **row,
                "accuracy": float(said.right.mean()),
                "brier": said.brier,
                "log_loss": said.log_loss,
                "ece": error,
                "ece_low": low,
                "ece_high": high,
                "mean_confidence": float(said.confidence.mean()),
                "overconfidence": float(over.mean()),
                "reason": "",
            }
        )
        reliability += [
            {"calibration": name, **rows} for rows in reliability_curve(probabilities, happened)
        ]
        for place, (_, rows) in enumerate(joined.groupby("part", sort=True)):
            inside = rows.index.to_numpy()
            met = sizes[:, place] > 0
            drawn = overs[met, place] / sizes[met, place]
            bounds = basic_interval(float(over[inside].mean()), drawn, -1.0)
            chosen, truth = probabilities[inside], happened[inside]
            by_length.append(
                {
                    "calibration": name,
                    "part": place + 1,
                    "tokens_from": int(rows["tokens_from"].iloc[0]),
                    "tokens_to": int(rows["tokens_to"].iloc[0]),
                    "predictions": len(inside),
                    "accuracy": float(said.right[inside].mean()),
                    "mean_confidence": float(said.confidence[inside].mean()),
                    "overconfidence": float(over[inside].mean()),
                    "overconfidence_low": bounds[0],
                    "overconfidence_high": bounds[1],
                    "ece": calibration_error(chosen, truth, equal_mass_bins(chosen)),
                }
            )
    return calibration, reliability, by_length


def reliability_curve(probabilities: Floats, positive: Bools) -> list[dict[str, Any]]:
    """Return the reliability diagram's points (DeGroot & Fienberg 1983), one row for each bin.

    Columns bin (from 1), predictions, mean_probability, share_positive, and Wilson's 95 % interval
    of that share, low and high; empty bins are left out.
    """
    bins = equal_mass_bins(probabilities)
    sizes = np.bincount(bins, minlength=N_BINS)
    filled = np.flatnonzero(sizes)
    n = sizes[filled]
    means = np.bincount(bins, weights=probabilities)[filled] / n
    shares = np.bincount(bins, weights=positive)[filled] / n
    low, high = wilson(shares, n.astype(np.float64))
    return [
        {
            "bin": int(filled[k]) + 1,
            "predictions": int(n[k]),
            "mean_probability": float(means[k]),
            "share_positive": float(shares[k]),
            "low": float(low[k]),
            "high": float(high[k]),
        }
        for k in range(len(filled))
    ]


def calibrate_cells(
    cells: pd.DataFrame, runs: CalibratedRuns, corpus: pd.DataFrame, lengths: pd.Series
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Measure the probabilities of some cells of one dataset.

    Parameters
    ----------
    cells : data frame
        Rows of the study's cells.
    corpus : data frame
        The dataset's, columns id, label, group.
    lengths : series
        Tokens of each document, by its id.

    Returns
    -------
    calibration, reliability, by_length : data frames
        With the columns :data:`CALIBRATION_COLUMNS`, :data:`RELIABILITY_COLUMNS` and
        :data:`BY_LENGTH_COLUMNS`. A cell that cannot be measured has a row with the ``reason`` in
        the first alone.
    """
    groups = corpus.set_index("id")["group"]
    classes = corpus["label"].nunique()
    tables: tuple[list[dict[str, Any]], ...] = ([], [], [])
    for cell in cells.to_dict("records"):
        named = {name: cell[name] for name in KEY} | {"n_classes": classes}
        reason = cell["failure"] if isinstance(cell["failure"], str) else ""
        if reason:
            tables[0].extend(
                {**named, "calibration": name, "predictions": 0, "reason": reason}
                for name in CALIBRATIONS
            )
            continue
        predictions = runs.predictions({str(name): value for name, value in cell.items()})
        parts = parts_of_predictions(predictions, lengths)
        # All cells of a dataset are measured on the same resamples.
        seed = seed_from(cell["dataset"], "calibration", "bootstrap")
        measured = measure(predictions, groups, parts, seed)
        for table, rows in zip(tables, measured, strict=True):
            table.extend({**named, **row} for row in rows)
    columns = (CALIBRATION_COLUMNS, RELIABILITY_COLUMNS, BY_LENGTH_COLUMNS)
    calibration, reliability, by_length = (
        pd.DataFrame(rows, columns=list(names)) for rows, names in zip(tables, columns, strict=True)
    )
    return calibration, reliability, by_length


def _one_hot(column: NDArray[np.int64], width: int, values: Floats) -> Floats:
    """Return an array of shape (n, width) with each value in its row's column, 0 elsewhere."""
    table = np.zeros((len(column), width))
    table[np.arange(len(column)), column] = values
    return table
