"""How a fitted method's output becomes predictions of classes."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textbaselines.models.classifier import tie_order, winners

Columns = dict[str, NDArray[Any]]
"""Predictions of n documents by column: ``predicted`` has class codes, the positive class the
highest."""


def class_order(frequency: NDArray[Any], ties: str) -> list[int]:
    """Return the positions of the classes of a training set in the order in which they win ties.

    Parameters
    ----------
    frequency : array of shape (classes,)
        The number of training documents of each class that has some, in the order of their codes:
        the reverse of that in which the dataset lists them.
    ties : "majority" or "last"
        The class with the most training documents, of equally frequent ones the first listed; or
        always the last listed, of two the negative one.
    """
    codes = range(len(frequency))
    return list(codes) if ties == "last" else tie_order(frequency, codes[::-1])


def predict_classes(
    estimator: Any, scores: NDArray[np.float64], classes: list[str], ties: str = "majority"
) -> tuple[Columns, NDArray[np.float64] | None]:
    """Return the predictions of a classifier, and probabilities, shape (n, K), where it has them.

    Parameters
    ----------
    estimator : fitted classifier
        Its classes are codes, in the reverse order of ``classes``.
    scores : array, shape (n,) or (n, known classes)
        What its ``decision_function`` has for the n documents.
    classes : list of str
        The K classes, the positive one first.
    ties : "majority" or "last"
        Which class wins a tie (:func:`class_order`).

    Returns
    -------
    columns, probabilities
        Two classes: ``score`` and ``probability`` are of the positive one. More: a column for
        each class, NaN for one that the training fold lacks.
    """
    order = class_order(estimator.class_frequency_, ties)
    columns: Columns = {"predicted": estimator.decide(scores, order).astype(np.int64)}
    known = list(estimator.classes_)
    probabilities = None
    if hasattr(estimator, "probabilities"):
        probabilities = np.zeros((len(scores), len(classes)))
        probabilities[:, known] = estimator.probabilities(scores, order)
    if len(classes) == 2:
        columns["score"] = scores
        if probabilities is not None:
            columns["probability"] = probabilities[:, 1]
        return columns, probabilities
    every = np.full((len(scores), len(classes)), math.nan)
    every[:, known] = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    for code, name in enumerate(reversed(classes)):
        columns[f"score_{name}"] = every[:, code]
        if probabilities is not None:
            columns[f"probability_{name}"] = probabilities[:, code]
    return columns, probabilities


def rating_threshold(ratings: NDArray[np.float64], codes: NDArray[np.int64]) -> float:
    """Return the rating between two classes: midway between the nearest ratings on either side.

    Parameters
    ----------
    ratings : array, shape (n,)
        Of the training documents.
    codes : array, shape (n,)
        1 for the positive class, whose ratings are the higher ones, and 0.
    """
    return float((ratings[codes == 1].min() + ratings[codes == 0].max()) / 2)


def predict_ratings(
    ratings: NDArray[np.float64], threshold: float, order: Sequence[int]
) -> Columns:
    """Return predicted ratings, shape (n,), with the class on whose side they lie.

    ``score`` is the rating minus the threshold; the positive class is predicted above zero, the
    first of ``order`` (:func:`class_order`) at zero.
    """
    score = ratings - threshold
    return {"predicted": winners(score, order).astype(np.int64), "score": score, "rating": ratings}
