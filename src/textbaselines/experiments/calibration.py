"""Are probabilities what they say? Reliability, Brier score, log-loss and calibration error.

Before: a method's own probabilities. After: Platt's sigmoid and isotonic regression, fitted in each
(repeat, fold) to the scores of the inner folds' validation documents and applied to the scores of
that fold's test documents. The inner folds' models are trained on fewer documents than the one
whose scores are mapped, as in scikit-learn's ``CalibratedClassifierCV(ensemble=False)``; no label
of a test document is used.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss

from textbaselines.experiments.lengths import parts_of_predictions, wilson
from textbaselines.experiments.metrics import log_loss
from textbaselines.experiments.reported_cells import KEY
from textbaselines.experiments.runs import Run, run_of
from textbaselines.experiments.selection import points_of_cell
from textbaselines.seeds import seed_from

CALIBRATIONS = ("own", "platt", "isotonic")
"""``own``: the method's probabilities; the others map its scores to probabilities."""

N_BINS = 15
RESAMPLES = 1000

# Numbers of a matrix that is multiplied at a time: 16 MB.
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
    :func:`textbaselines.experiments.metrics.log_loss`).
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


def overconfidence(probabilities: Floats, positive: Bools) -> Floats:
    """Return each prediction's confidence minus 1 where it is right, minus 0 where it is wrong.

    The confidence is the probability of the predicted class; the positive one is predicted above
    one half. The mean is how far the method thinks itself better than it is.
    """
    predicted = probabilities > 0.5
    return np.asarray(np.maximum(probabilities, 1 - probabilities) - (predicted == positive))


def resampled_sums(values: Floats, groups: NDArray[np.int64], seed: int) -> Floats:
    """Return column sums over resamples of whole groups, shape (RESAMPLES, k).

    Documents of identical text are no independent witnesses, so whole groups are drawn, with
    replacement, as many as there are (the cluster bootstrap: Davison & Hinkley 1997, section 3.8).

    Parameters
    ----------
    values : array, shape (n, k)
    groups : int array, shape (n,)
        Codes 0..G - 1.
    seed : int
        With the same seed and number of groups the same groups are drawn.
    """
    n_groups = int(groups.max()) + 1
    sums = np.zeros((n_groups, values.shape[1]))
    np.add.at(sums, groups, values)
    times = _times_drawn(n_groups, seed)
    at_once = max(1, _AT_ONCE // n_groups)
    return np.concatenate(
        [
            times[begin : begin + at_once].astype(np.float64) @ sums
            for begin in range(0, RESAMPLES, at_once)
        ]
    )


@lru_cache(maxsize=1)
def _times_drawn(n_groups: int, seed: int) -> NDArray[np.uint8]:
    """Return how often each group is drawn in each resample, shape (RESAMPLES, n_groups)."""
    rng = np.random.default_rng(seed)
    times = np.zeros((RESAMPLES, n_groups), dtype=np.uint8)
    for row in times:
        row[:] = np.bincount(rng.integers(n_groups, size=n_groups), minlength=n_groups)
    return times


def basic_interval(estimate: float, resampled: Floats, least: float) -> tuple[float, float]:
    """Return the basic 95 % bootstrap interval, cut at ``least``.

    2 * estimate - quantile (Davison & Hinkley 1997, section 5.2): the ECE of a sample is larger
    than that of the population, that of a resample larger still by about as much, and this form
    takes the bias off where the percentile form would double it.
    """
    low, high = np.quantile(resampled, [0.025, 0.975])
    return max(least, 2 * estimate - float(high)), max(least, 2 * estimate - float(low))


class CalibratedRuns:
    """The test predictions of a study's cells with their probabilities, own and calibrated.

    Parameters
    ----------
    runs_folder : path
        The study's folder of runs.
    selections : data frame
        What nested selection chose.
    """

    def __init__(self, runs_folder: str | Path, selections: pd.DataFrame) -> None:
        self._folder = Path(runs_folder)
        self._selections = selections
        # A run's chosen points stand in its own cell and in that across representations.
        self._of_point = lru_cache(maxsize=64)(self._read_point)

    def predictions(self, cell: Mapping[Any, Any]) -> pd.DataFrame:
        """Return the test predictions of a cell of a dataset with two classes.

        Returns
        -------
        data frame with columns repeat, fold, id, positive, own, platt, isotonic
            Ordered by repeat and fold. Probabilities are of the positive class; NaN where the
            method has none, or no score on inner folds.
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
        The length part of each document (:func:`textbaselines.experiments.lengths.length_parts`).
    seed : int
        Of the bootstrap.

    Returns
    -------
    calibration, reliability, by_length : lists of rows
        With the columns of the tables from ``calibration`` on.
    """
    positive = predictions["positive"].to_numpy(dtype=bool)
    codes = pd.factorize(predictions["id"].map(groups), sort=True)[0].astype(np.int64)
    joined = predictions[["id"]].join(parts, on="id")
    calibration, reliability, by_length = [], [], []
    for name in CALIBRATIONS:
        probabilities = predictions[name].to_numpy(dtype=np.float64)
        row: dict[str, Any] = {"calibration": name, "predictions": len(predictions)}
        if np.isnan(probabilities).any():
            reason = (
                "the method has no probabilities"
                if name == "own"
                else "no predictions on inner folds"
            )
            calibration.append({**row, "reason": reason})
            continue
        bins = equal_mass_bins(probabilities)
        over = overconfidence(probabilities, positive)
        part = joined["part"].to_numpy() - 1
        n_parts = int(part.max()) + 1
        resampled = resampled_sums(
            np.hstack(
                [
                    _one_hot(bins, N_BINS, probabilities - positive),
                    _one_hot(part, n_parts, over),
                    _one_hot(part, n_parts, np.ones(len(over))),
                ]
            ),
            codes,
            seed,
        )
        gaps, overs, sizes = np.split(resampled, [N_BINS, N_BINS + n_parts], axis=1)
        error = calibration_error(probabilities, positive, bins)
        low, high = basic_interval(error, np.abs(gaps).sum(axis=1) / sizes.sum(axis=1), 0.0)
        confidence = np.maximum(probabilities, 1 - probabilities)
        calibration.append(
            {
                **row,
                "accuracy": float(((probabilities > 0.5) == positive).mean()),
                "brier": float(brier_score_loss(positive, probabilities)),
                "log_loss": log_loss(
                    positive.astype(np.int64), np.column_stack([1 - probabilities, probabilities])
                ),
                "ece": error,
                "ece_low": low,
                "ece_high": high,
                "mean_confidence": float(confidence.mean()),
                "overconfidence": float(over.mean()),
                "reason": "",
            }
        )
        reliability += [
            {"calibration": name, **rows} for rows in reliability_curve(probabilities, positive)
        ]
        for place, (_, rows) in enumerate(joined.groupby("part", sort=True)):
            inside = rows.index.to_numpy()
            met = sizes[:, place] > 0
            drawn = overs[met, place] / sizes[met, place]
            bounds = basic_interval(float(over[inside].mean()), drawn, -1.0)
            chosen, truth = probabilities[inside], positive[inside]
            by_length.append(
                {
                    "calibration": name,
                    "part": place + 1,
                    "tokens_from": int(rows["tokens_from"].iloc[0]),
                    "tokens_to": int(rows["tokens_to"].iloc[0]),
                    "predictions": len(inside),
                    "accuracy": float(((chosen > 0.5) == truth).mean()),
                    "mean_confidence": float(confidence[inside].mean()),
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
    runs : CalibratedRuns
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
    tables: tuple[list[dict[str, Any]], ...] = ([], [], [])
    for cell in cells.to_dict("records"):
        named = {name: cell[name] for name in KEY}
        reason = cell["failure"] if isinstance(cell["failure"], str) else ""
        if not reason and corpus["label"].nunique() != 2:
            reason = "more than two classes"
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
