"""Measures of predictions: confusion matrix, macro F1, log-loss and the error of ratings."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def confusion(
    truth: NDArray[np.integer[Any]], predicted: NDArray[np.integer[Any]], n_classes: int
) -> NDArray[np.int64]:
    """Return the confusion matrix, shape (K, K): rows are true classes, columns predicted ones."""
    cells = truth.astype(np.int64) * n_classes + predicted
    return np.bincount(cells, minlength=n_classes**2).reshape(n_classes, n_classes)


def macro_f1(matrix: NDArray[np.int64]) -> float:
    """Return the mean over classes of F1 = 2 TP / (2 TP + FP + FN); 0 for a class never met."""
    true_positive = np.diag(matrix).astype(np.float64)
    denominator = matrix.sum(axis=0) + matrix.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        f1 = np.where(denominator > 0, 2 * true_positive / denominator, 0.0)
    return float(f1.mean())


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
