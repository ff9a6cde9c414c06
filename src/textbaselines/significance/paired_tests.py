"""Is a difference real? Paired tests for folds drawn again and again, and for one split."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

LEVEL = 0.05
"""The level of every test: what is called significant has an adjusted p-value below it."""


@dataclass(frozen=True)
class Difference:
    """A paired difference of accuracies, a - b, in fractions.

    Attributes
    ----------
    mean, error : float
        The difference and its standard error.
    df : float
        Degrees of freedom of t; infinite for the normal distribution.
    p : float
        Two-sided p-value of no difference, by ``test``.
    test : str
        The test behind ``p``.
    pairs : int
        How many pairs: differences per fold, or documents of the one split.
    """

    mean: float
    error: float
    df: float
    p: float
    test: str
    pairs: int

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval of the difference."""
        reach = float(stats.t.ppf((1 + confidence) / 2, self.df)) * self.error
        return self.mean - reach, self.mean + reach

    def p_greater(self, bound: float) -> float:
        """Return the one-sided p-value against "the difference is at most ``bound``"."""
        gap = self.mean - bound
        if self.error == 0:
            return 0.0 if gap > 0 else 1.0
        return float(stats.t.sf(gap / self.error, self.df))

    def p_less(self, bound: float) -> float:
        """Return the one-sided p-value against "the difference is at least ``bound``"."""
        return Difference(-self.mean, self.error, self.df, self.p, "", self.pairs).p_greater(-bound)


def corrected_resampled_t(
    differences: ArrayLike, train_sizes: ArrayLike, test_sizes: ArrayLike
) -> Difference:
    """Return the corrected resampled t-test of Nadeau & Bengio (2003).

    Training sets of different folds overlap, so the differences are no independent draws; the
    variance is widened by the ratio of test to training documents::

        t = mean(d) / sqrt((1/k + n_test/n_train) var(d)),  df = k - 1

    Without any variance the p-value is 1 for no difference and 0 for a constant one.

    Parameters
    ----------
    differences : array of shape (k,)
        Accuracy of a minus accuracy of b on the same test fold, for each repeat and fold.
    train_sizes, test_sizes : array of shape (k,)
        Documents that trained and that were tested; their means give the ratio.

    Raises
    ------
    ValueError
        For fewer than two differences, or one that is not finite.
    """
    d = np.asarray(differences, dtype=np.float64)
    k = len(d)
    if k < 2:
        raise ValueError(f"a resampled t-test needs two differences or more, got {k}")
    if not np.isfinite(d).all():
        raise ValueError("a difference is not finite")
    ratio = float(np.mean(np.asarray(test_sizes)) / np.mean(np.asarray(train_sizes)))
    mean = float(d.mean())
    # Equal differences have a variance of rounding errors only: that is none.
    variance = 0.0 if np.ptp(d) < 1e-12 else float(d.var(ddof=1))
    error = math.sqrt((1 / k + ratio) * variance)
    if error > 0:
        p = 2 * float(stats.t.sf(abs(mean) / error, k - 1))
    else:
        p = 1.0 if abs(mean) < 1e-12 else 0.0
    return Difference(mean, error, k - 1, p, "corrected resampled t", k)


def decisive_test(
    differences: ArrayLike,
    train_sizes: ArrayLike,
    test_sizes: ArrayLike,
    documents: Callable[[], tuple[ArrayLike, ArrayLike]],
) -> Difference:
    """Return the one test by which a comparison is judged, chosen by the protocol alone.

    With two or more folds: the corrected resampled t-test over repeats and folds, which alone
    allows for training sets that overlap. With one fold (an official split, a single half):
    McNemar's exact test on its documents.

    ``documents``: gives the two arrays of :func:`exact_mcnemar`; called for one fold only.
    """
    if len(np.asarray(differences)) > 1:
        return corrected_resampled_t(differences, train_sizes, test_sizes)
    return exact_mcnemar(*documents())


def exact_mcnemar(correct_a: ArrayLike, correct_b: ArrayLike) -> Difference:
    """Return the exact McNemar test of two classifiers on the same test documents.

    The p-value is that of the two-sided sign test on the documents that just one of the two gets
    right (McNemar 1947; exact: binomial with probability 1/2), never above 1. The error is that
    of the difference of two paired proportions (Fleiss 1981, on matched pairs)::

        sqrt((only_a + only_b) - (only_a - only_b)^2 / n) / n

    Parameters
    ----------
    correct_a, correct_b : array of bool, shape (n,)
        Whether a, and whether b, is right about each document.

    Raises
    ------
    ValueError
        When the two are not of the same documents, or there are none.
    """
    a = np.asarray(correct_a, dtype=bool)
    b = np.asarray(correct_b, dtype=bool)
    if a.shape != b.shape or len(a) == 0:
        raise ValueError(f"McNemar's test pairs documents: got {len(a)} and {len(b)}")
    table = paired_table(a, b)
    only_a, only_b = int(table[0, 1]), int(table[1, 0])
    n = len(a)
    error = math.sqrt((only_a + only_b) - (only_a - only_b) ** 2 / n) / n
    p = float(mcnemar(table, exact=True).pvalue)
    return Difference((only_a - only_b) / n, error, math.inf, p, "exact McNemar", n)


def paired_table(correct_a: NDArray[np.bool_], correct_b: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the 2 x 2 counts: rows a right, a wrong; columns b right, b wrong."""
    a, b = correct_a, correct_b
    counts = [[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]]
    return np.array(counts, dtype=np.int64)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted for being tested together (Holm 1979), in the same order."""
    if not p_values:
        return []
    return [float(p) for p in multipletests(p_values, method="holm")[1]]
