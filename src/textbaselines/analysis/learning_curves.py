"""Learning curves: accuracy against the number of training documents, paired over methods.

Of each fold's training documents nested parts are taken, every class in its proportion; all methods
are trained on the same ones, with fixed hyper-parameters, and tested on the fold's test documents.
The vocabulary and the rest of the representation are fitted on the part alone.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from logging import Logger
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from textbaselines.core.seeds import seed_from
from textbaselines.evaluation.cells import summarise_accuracy
from textbaselines.models.classifier import GenerativeClassifier
from textbaselines.models.registry import METHODS, fit_grid
from textbaselines.study.folds import Division, divisions
from textbaselines.text.counts import Counts
from textbaselines.text.features import FoldFeatures, fold_counts
from textbaselines.text.tokens import Tokens
from textbaselines.text.vocabulary import fit_vocabulary
from textbaselines.training.empty_features import NO_FEATURES, lacks_features
from textbaselines.training.predictions import predict_classes
from textbaselines.training.reductions import division_seed
from textbaselines.training.train import class_codes

RESAMPLES = 2000

SCORE_COLUMNS = (
    "method",
    "fraction",
    "repeat",
    "fold",
    "n_train",
    "n_test",
    "n_features",
    "correct",
    "converged",
    "failure",
)
CURVE_COLUMNS = (
    "dataset",
    "representation",
    "method",
    "generative",
    "fraction",
    "training_documents",
    "accuracy",
    "low",
    "high",
    "sd",
    "folds",
    "documents",
    "converged",
    "failure",
)
CROSSING_COLUMNS = (
    "dataset",
    "representation",
    "generative",
    "discriminative",
    "ahead_at_least",
    "ahead_at_most",
    "sign_changes",
    "crossing",
    "low",
    "high",
    "share_crossing",
    "verdict",
)


@dataclass(frozen=True)
class CurveTask:
    """What one job trains.

    Attributes
    ----------
    dataset, representation : str
    classes : list of str
        The positive class first.
    weighting, scope : str
    reduction : dict or None
    policy, min_count : str, int
        The UNK policy.
    methods : list of dict
        Each with ``name``, ``family`` and ``params``.
    fractions : list of float
        Of the training documents, ascending.
    ties : "majority" or "last"
        Which class wins a tie (:func:`textbaselines.training.predictions.class_order`).
    """

    dataset: str
    representation: str
    classes: list[str]
    weighting: str
    scope: str
    reduction: dict[str, Any] | None
    policy: str
    min_count: int
    methods: list[dict[str, Any]]
    fractions: list[float]
    ties: str = "majority"


def nested_parts(
    codes: NDArray[np.int64], fractions: Sequence[float], seed: int
) -> list[NDArray[np.bool_]]:
    """Return a part of the documents for each fraction; every part contains the smaller ones.

    Parameters
    ----------
    codes : int array, shape (n,)
        The class of each document. A part has the fraction of each class, rounded, and at least
        one document of it.
    fractions : sequence of float
        Above 0, at most 1.
    seed : int
        Of the order in which documents come in.

    Returns
    -------
    list of bool arrays, shape (n,)
    """
    order = np.random.default_rng(seed).permutation(len(codes))
    rank = np.zeros(len(codes), dtype=np.int64)
    rank[order] = pd.Series(codes[order]).groupby(codes[order]).cumcount().to_numpy()
    size = np.bincount(codes)[codes]
    return [rank < np.maximum(1, np.floor(fraction * size + 0.5)) for fraction in fractions]


def train_curves(
    task: CurveTask,
    counts: Counts,
    tokens: Tokens,
    folds: pd.DataFrame,
    corpus: pd.DataFrame,
    threads: int,
    log: Logger,
) -> pd.DataFrame:
    """Train every method on every part of every fold's training documents.

    With the fraction 1 a fit is the one of the method's fixed point in its training job.

    ``corpus``: columns id, label. Returns a data frame with the columns :data:`SCORE_COLUMNS`.
    """
    codes = class_codes(corpus.set_index("id")["label"], counts.documents, task.classes)
    rows = []
    with threadpool_limits(threads):
        for division in divisions(folds, counts.documents):
            training = np.flatnonzero(division.training)
            seed = division_seed(task.dataset, "learning curve", division)
            for fraction, part in zip(
                task.fractions,
                nested_parts(codes[training], task.fractions, seed),
                strict=True,
            ):
                chosen = np.zeros(len(codes), dtype=bool)
                chosen[training[part]] = True
                vocabulary = fit_vocabulary(tokens, chosen, task.policy, task.min_count)
                mapped = fold_counts(counts, vocabulary, chosen, division.test, task.scope)
                features = None
                if not lacks_features(mapped.training):
                    seed_of = division_seed(task.dataset, "reduction", division)
                    features = mapped.weigh(task.weighting, task.reduction, seed_of)
                shared = {
                    "fraction": fraction,
                    "repeat": division.repeat,
                    "fold": division.fold,
                    "n_train": int(chosen.sum()),
                    "n_test": int(division.test.sum()),
                    "n_features": 0 if features is None else features.training.shape[1],
                }
                for method in task.methods:
                    score = _score(task, method, features, codes, chosen, division)
                    rows.append({"method": method["name"], **shared, **score})
            log.info("repeat %d, fold %d done", division.repeat, division.fold)
    frame = pd.DataFrame(rows, columns=list(SCORE_COLUMNS))
    return frame.astype({"failure": "str"})


def _score(
    task: CurveTask,
    method: Mapping[str, Any],
    features: FoldFeatures | None,
    codes: NDArray[np.int64],
    training: NDArray[np.bool_],
    division: Division,
) -> dict[str, Any]:
    if features is None:
        return {"correct": 0, "converged": False, "failure": NO_FEATURES}
    ((_, fitted),) = fit_grid(
        method["family"],
        features.training,
        codes[training],
        [method["params"]],
        positive=len(task.classes) - 1,
        seed=division_seed(task.dataset, method["family"], division),
    )
    if fitted.failure is not None:
        return {"correct": 0, "converged": False, "failure": fitted.failure}
    estimator = fitted.estimator
    scores = estimator.decision_function(features.test)
    columns, _ = predict_classes(estimator, scores, task.classes, task.ties)
    correct = int((columns["predicted"] == codes[division.test]).sum())
    return {"correct": correct, "converged": fitted.converged, "failure": None}


def curve_table(
    dataset: str, representation: str, scores: pd.DataFrame, families: Mapping[str, str]
) -> pd.DataFrame:
    """Return a row for each method and fraction, its accuracy summarised as that of a cell.

    ``scores``: what :func:`train_curves` returned; ``families``: the family of each method.

    Returns
    -------
    data frame with the columns :data:`CURVE_COLUMNS`
        ``training_documents``: the mean over repeats and folds.
    """
    rows = []
    for (method, fraction), mine in scores.groupby(["method", "fraction"], sort=False):
        summary = summarise_accuracy(mine)
        wanted = ("accuracy", "low", "high", "sd", "folds", "documents", "converged", "failure")
        rows.append(
            {
                "dataset": dataset,
                "representation": representation,
                "method": method,
                "generative": is_generative(families[str(method)]),
                "fraction": fraction,
                "training_documents": float(mine["n_train"].mean()),
                **{name: summary[name] for name in wanted},
            }
        )
    return pd.DataFrame(rows, columns=list(CURVE_COLUMNS))


def is_generative(family: str) -> bool:
    """Return whether a method models how documents come about; all others are discriminative."""
    return issubclass(METHODS[family].estimator, GenerativeClassifier)


def crossing_table(
    dataset: str, representation: str, scores: pd.DataFrame, families: Mapping[str, str]
) -> pd.DataFrame:
    """Return where each discriminative method overtakes each generative one.

    Ng & Jordan (2002): a discriminative method is better in the end, but a generative one reaches
    its own limit with fewer documents, so that with few of them it may be ahead.

    Returns
    -------
    data frame with the columns :data:`CROSSING_COLUMNS`
        ``crossing``: the training documents at which the mean difference over folds last changes
        its sign, interpolated in the logarithm of the size; NaN without a change. ``low`` and
        ``high``: the middle 95 % of the crossings of resampled folds; ``share_crossing`` of the
        resamples have one. Folds share training documents, so the interval is too narrow, and with
        fewer than two folds there is none.
    """
    names = list(dict.fromkeys(scores["method"]))
    generative = [name for name in names if is_generative(families[name])]
    others = [name for name in names if name not in generative]
    accuracy = scores.assign(accuracy=scores["correct"] / scores["n_test"])
    accuracy.loc[accuracy["failure"].notna(), "accuracy"] = np.nan
    by_fold = accuracy.pivot(
        index=["repeat", "fold"], columns=["method", "fraction"], values="accuracy"
    )
    sizes = scores.groupby("fraction")["n_train"].mean()
    x = np.log(sizes.to_numpy(dtype=np.float64))
    rows = []
    for a, b in itertools.product(generative, others):
        difference = (by_fold[a] - by_fold[b])[sizes.index].to_numpy(dtype=np.float64)
        rows.append(
            {
                "dataset": dataset,
                "representation": representation,
                "generative": a,
                "discriminative": b,
                **_crossing(x, difference, a, b, seed_from(dataset, "crossing")),
            }
        )
    return pd.DataFrame(rows, columns=list(CROSSING_COLUMNS))


def _crossing(
    x: NDArray[np.float64], difference: NDArray[np.float64], a: str, b: str, seed: int
) -> dict[str, Any]:
    """Return the columns from ``ahead_at_least`` on, for differences a - b of shape (folds, k)."""
    found: dict[str, Any] = dict.fromkeys(CROSSING_COLUMNS[4:], math.nan)
    if np.isnan(difference).any():
        return {**found, "verdict": "a fit failed"}
    mean = difference.mean(axis=0)
    at, changes = last_crossing(x, mean)
    first, last = (a if gap > 0 else b if gap < 0 else "equal" for gap in mean[[0, -1]])
    found |= {"ahead_at_least": first, "ahead_at_most": last, "sign_changes": changes}
    folds = len(difference)
    if folds > 1:
        rng = np.random.default_rng(seed)
        drawn = rng.integers(folds, size=(RESAMPLES, folds))
        places = np.array([last_crossing(x, difference[rows].mean(axis=0))[0] for rows in drawn])
        places = places[~np.isnan(places)]
        found["share_crossing"] = len(places) / RESAMPLES
        if not math.isnan(at):
            low, high = np.quantile(np.exp(places), [0.025, 0.975])
            found |= {"low": float(low), "high": float(high)}
    # Without a crossing all differences that are not zero have one sign.
    ahead = [a if gap > 0 else b for gap in mean if gap != 0]
    if not ahead:
        return {**found, "verdict": "no crossing: equal at every size"}
    if math.isnan(at):
        where = "at every size" if len(ahead) == len(mean) else "wherever they differ"
        return {**found, "verdict": f"no crossing: {ahead[0]} ahead {where}"}
    size = math.exp(at)
    return {
        **found,
        "crossing": size,
        "verdict": f"{ahead[-1]} ahead from {size:,.0f} documents on",
    }


def last_crossing(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, int]:
    """Return where a polyline last changes its sign, NaN if nowhere, and how often it does.

    Points on zero have no sign: a line that touches zero and turns back has not crossed it.
    """
    kept = np.flatnonzero(y != 0)
    changes = np.flatnonzero(np.sign(y[kept[1:]]) != np.sign(y[kept[:-1]]))
    if len(changes) == 0:
        return math.nan, 0
    i, j = kept[changes[-1]], kept[changes[-1] + 1]
    if j > i + 1:
        # It lies on zero in between: the middle of what it lies on.
        return float((x[i + 1] + x[j - 1]) / 2), len(changes)
    return float(x[i] + (x[j] - x[i]) * y[i] / (y[i] - y[j])), len(changes)
