"""Measures of predictions: counts by class, macro-F1, log-loss and the error of ratings."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class ClassCounts(NamedTuple):
    """What predictions amount to for each class: arrays of shape (..., K), in one order.

    They add up: those of several folds together are the sums of those of each.
    """

    test: NDArray[np.int64]
    """Test documents of each class."""
    predicted: NDArray[np.int64]
    """Test documents for which each class is predicted."""
    correct: NDArray[np.int64]
    """Test documents of each class for which it is predicted."""


def confusion(
    truth: NDArray[np.integer[Any]], predicted: NDArray[np.integer[Any]], n_classes: int
) -> NDArray[np.int64]:
    """Return the confusion matrix, shape (K, K): rows are true classes, columns predicted ones."""
    cells = truth.astype(np.int64) * n_classes + predicted
    return np.bincount(cells, minlength=n_classes**2).reshape(n_classes, n_classes)


def class_counts(matrix: NDArray[np.int64]) -> ClassCounts:
    """Return the counts by class of a confusion matrix, each of shape (K,)."""
    return ClassCounts(matrix.sum(axis=1), matrix.sum(axis=0), np.diag(matrix))


def f1_by_class(counts: ClassCounts) -> NDArray[np.float64]:
    """Return F1 = 2 TP / (2 TP + FP + FN) of each class, shape (..., K).

    NaN for a class that no document has and none is predicted to have.
    """
    either = np.asarray(counts.test + counts.predicted, dtype=np.float64)
    f1 = np.full(either.shape, np.nan)
    np.divide(2.0 * counts.correct, either, out=f1, where=either > 0)
    return f1


def macro_f1(counts: ClassCounts) -> NDArray[np.float64]:
    """Return the mean of F1 over the classes, shape (...).

    As scikit-learn's ``f1_score(average="macro")`` does by default, it averages over the classes
    that occur among the true or the predicted ones. NaN where there is no prediction.
    """
    f1 = f1_by_class(counts)
    there = ~np.isnan(f1)
    sums, numbers = np.where(there, f1, 0.0).sum(axis=-1), there.sum(axis=-1)
    mean = np.full(np.shape(sums), np.nan)
    np.divide(sums, numbers, out=mean, where=numbers > 0)
    return mean


def log_loss(truth: NDArray[np.integer[Any]], probabilities: NDArray[np.float64]) -> float:
    """Return the mean of -ln P(true class), in nats, P at least 2**-52 as in scikit-learn.

    Parameters
    ----------
    truth : int array, shape (n,)
        Class codes 0..K-1.
    probabilities : float array, shape (n, K)
    """
    chosen = probabilities[np.arange(len(truth)), truth]
    return float(-np.log(np.maximum(chosen, np.finfo(np.float64).eps)).mean())


def rmse(truth: NDArray[np.float64], predicted: NDArray[np.float64]) -> float:
    """Return the root of the mean squared error of ratings, both of shape (n,)."""
    return float(np.sqrt(np.mean((truth - predicted) ** 2)))


def pooled_rmse(errors: ArrayLike, sizes: ArrayLike) -> float:
    """Return the root mean squared error of several parts together, from that of each.

    Parameters
    ----------
    errors : floats, shape (parts,)
    sizes : ints, shape (parts,)
        The documents of each part.
    """
    squares = np.square(np.asarray(errors, dtype=np.float64))
    return float(np.sqrt(np.average(squares, weights=np.asarray(sizes, dtype=np.float64))))
