"""The cluster bootstrap: all documents of one text are drawn together, as one unit.

Documents of identical text are no independent evidence, so groups of them are drawn with
replacement, as many as there are (Davison & Hinkley 1997, section 3.8). The fitted models are taken
as given (Efron & Tibshirani 1993, section 13.3).
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Numbers of a matrix that is multiplied at a time: 16 MB.
_AT_ONCE = 2_000_000


def draws(n_groups: int, seed: int, resamples: int) -> Iterator[NDArray[np.uint8]]:
    """Yield how often each group is drawn, a row for each resample, some resamples at a time."""
    rng = np.random.default_rng(seed)
    for many in _parts(resamples, n_groups):
        times = np.empty((many, n_groups), dtype=np.uint8)
        for row in times:
            row[:] = np.bincount(rng.integers(n_groups, size=n_groups), minlength=n_groups)
        yield times


def draws_of_kinds(
    numbers: NDArray[np.int64], seed: int, resamples: int
) -> Iterator[NDArray[np.int64]]:
    """Yield how often groups of each kind are drawn, a row for each resample.

    Groups that are alike in all that is summed are exchangeable, so the draws of a kind are
    multinomial; ``numbers`` says how many groups are of each kind.
    """
    n_groups = int(numbers.sum())
    rng = np.random.default_rng(seed)
    for many in _parts(resamples, len(numbers)):
        yield rng.multinomial(n_groups, numbers / n_groups, size=many)


def _parts(resamples: int, width: int) -> Iterator[int]:
    at_once = max(1, _AT_ONCE // width)
    for begin in range(0, resamples, at_once):
        yield min(at_once, resamples - begin)


def resampled_sums(sums: Any, drawn: Iterable[NDArray[Any]]) -> Floats:
    """Return the sums of each resample, shape (resamples, k).

    Parameters
    ----------
    sums : array or sparse array of shape (groups or kinds, k)
        Sums of each group, or of a group of each kind. Of whole numbers the result is exact.
    drawn : iterable of arrays
        :func:`draws` or :func:`draws_of_kinds`.
    """
    return np.concatenate([times.astype(np.float64) @ sums for times in drawn])


def sums_of_groups(values: NDArray[Any], groups: NDArray[np.integer[Any]]) -> Floats:
    """Return the column sums of each group 0..G-1, shape (G, k), of values of shape (n, k)."""
    sums = np.zeros((int(groups.max()) + 1, values.shape[1]))
    np.add.at(sums, groups, values)
    return sums


def resampled_accuracies(
    correct: NDArray[np.bool_], groups: NDArray[np.integer[Any]], seed: int, resamples: int
) -> Floats:
    """Return replicates of the accuracies of m classifiers, shape (resamples, m).

    All columns share each draw, so that the difference of two of them is paired; a column is the
    same whatever others there are.

    Parameters
    ----------
    correct : array of bool, shape (n, m)
        Whether each classifier is right about each test document; a document that several repeats
        test has a row for each.
    groups : array of int, shape (n,)
        The group of each row, 0..G-1, every one present.
    """
    sums = sums_of_groups(np.column_stack([correct, np.ones(len(correct))]), groups)
    totals = resampled_sums(sums, draws(len(sums), seed, resamples))
    return totals[:, :-1] / totals[:, -1:]


def accuracy_difference_interval(sums: Floats, seed: int, resamples: int) -> tuple[float, float]:
    """Return the 95 % percentile interval of the difference of two accuracies, in points.

    Parameters
    ----------
    sums : array of shape (groups, 4)
        Of each group: predictions and correct ones of the first accuracy, then of the second.
    """
    kinds, numbers = np.unique(sums, axis=0, return_counts=True)
    totals = resampled_sums(kinds, draws_of_kinds(numbers, seed, resamples))
    n, correct, n_new, correct_new = totals[totals[:, 2] > 0].T
    low, high = np.percentile(100 * (correct / n - correct_new / n_new), [2.5, 97.5])
    return float(low), float(high)


def percentile_interval(replicates: Floats) -> tuple[float, float]:
    """Return the 95 % percentile interval (Efron & Tibshirani 1993, section 13.3)."""
    tail = 100 * (1 - 0.95) / 2
    low, high = np.percentile(replicates, [tail, 100 - tail])
    return float(low), float(high)


def basic_interval(estimate: float, replicates: Floats, least: float) -> tuple[float, float]:
    """Return the basic 95 % interval, cut at ``least``.

    2 * estimate - quantile (Davison & Hinkley 1997, section 5.2): the ECE of a sample is larger
    than that of the population, that of a resample larger still by about as much, and this form
    takes the bias off where the percentile form would double it.
    """
    low, high = np.quantile(replicates, [0.025, 0.975])
    return max(least, 2 * estimate - float(high)), max(least, 2 * estimate - float(low))
