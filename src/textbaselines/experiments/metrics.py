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
    """Return the mean of F1 = 2 TP / (2 TP + FP + FN) over the classes that are true or predicted.

    A class of no document that is predicted for none has no F1 and does not count, as in
    scikit-learn: the test documents of a fold may lack a small class.
    """
    true_positive = np.diag(matrix).astype(np.float64)
    denominator = matrix.sum(axis=0) + matrix.sum(axis=1)
    met = denominator > 0
    return float((2 * true_positive[met] / denominator[met]).mean())


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
