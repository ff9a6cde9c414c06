"""Linear models by LIBLINEAR, one class against the rest, telling whether they converged."""

import functools
import math
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

# Of scikit-learn the compiled solver alone: LinearSVC and LogisticRegression look through the rows
# and the labels again, which an estimator has checked once, and at a loose tolerance that is a
# tenth of a fit. The lock pins the version; a test compares the two.
from sklearn.svm import _liblinear

from textbaselines.models.duality import relative_gap
from textbaselines.models.matrices import Matrix, int32_indices, scale_columns

_SOLVERS = {
    ("squared_hinge", "l2", True): 1,
    ("squared_hinge", "l2", False): 2,
    ("hinge", "l2", True): 3,
    ("logistic", "l2", True): 7,
    ("logistic", "l2", False): 0,
    ("logistic", "l1", False): 6,
}
"""LIBLINEAR's ``-s``, by loss, penalty and whether the dual is solved."""

# LIBLINEAR has one random generator for the process. A call seeds it, releases the interpreter's
# lock and draws until it is done: without turns, threads would draw from each other's sequence.
_TURN = threading.Lock()
if hasattr(os, "register_at_fork"):
    # A child process inherits the lock as it is: nobody would open one that is closed.
    os.register_at_fork(
        before=_TURN.acquire, after_in_parent=_TURN.release, after_in_child=_TURN.release
    )


@dataclass(frozen=True)
class BinaryProblems:
    """The rows, with the solver's index type, and which of them are positive in each problem."""

    X: Matrix
    masks: list[NDArray[np.bool_]]


@dataclass(frozen=True)
class LinearSolution:
    """The weights of one solved problem, oriented to the positive rows.

    ``weights`` has the shape (features,); ``intercept`` is 0 without a bias. ``converged`` is
    false when the solver stopped at the limit of iterations. ``measure``, which holds the rows,
    returns the gap.
    """

    weights: NDArray[np.float64]
    intercept: float
    n_iter: int
    converged: bool
    measure: Callable[[], float] | None = None

    @functools.cached_property
    def gap(self) -> float:
        """By what share of itself the objective is above its minimum, at most.

        It is :func:`textbaselines.models.duality.relative_gap`, worked out when first asked for:
        that of many solutions in a row takes half the time, since the solver, which makes a copy
        of the rows, drives them out of the processor's cache. NaN where nothing measures it.
        """
        return math.nan if self.measure is None else self.measure()


def solve_linear(
    X: Matrix,
    positive: NDArray[np.bool_],
    *,
    C: float,
    loss: str,
    penalty: str = "l2",
    dual: bool,
    tol: float,
    max_iter: int,
    bias: float | None,
    seed: int,
    scale: NDArray[np.float64] | None = None,
) -> LinearSolution:
    """Minimise the penalty + C * sum of losses: 1/2 w'w or, with ``penalty="l1"``, sum |w|.

    The positive rows are always the solver's second class, so naming the classes otherwise does
    not change the order in which it visits documents, nor the result.

    Threads take turns, since the solver's random generator is the process's: the result is that of
    a single thread. Processes run at the same time. scikit-learn's own LIBLINEAR estimators take no
    turn.

    Parameters
    ----------
    X : array or CSR matrix of shape (documents, features), float64
    positive : boolean array of shape (documents,)
        Which rows are positive; both kinds must occur.
    loss : {"squared_hinge", "hinge", "logistic"}
        LIBLINEAR ``-s 1`` (dual) or ``-s 2``, ``-s 3``, and ``-s 7`` (dual), ``-s 0`` or, with the
        l1 penalty, ``-s 6``.
    bias : float or None
        The value of a constant feature (LIBLINEAR ``-B``), whose weight is penalised like any
        other; None for no bias.
    scale : array of shape (features,), optional
        What the columns of X are multiplied by first; the weights are those of the products.

    Raises
    ------
    ValueError
        When X is too large for the solver's 32-bit indices.
    """
    X = int32_indices(X)
    _liblinear.set_verbosity_wrap(0)  # as it is loaded, it tells every fit
    rows = X if scale is None else scale_columns(X, scale)
    solver_seed = _solver_seed(seed)
    with _TURN:
        found, iterations = _liblinear.train_wrap(
            rows,
            positive.astype(np.float64),
            issparse(X),
            _SOLVERS[loss, penalty, dual],
            tol,
            -1.0 if bias is None else float(bias),
            C,
            np.ones(2),
            max_iter,
            solver_seed,
            0.1,
            np.ones(X.shape[0]),
        )
    n_iter = int(np.max(iterations))
    weights = found[0] if bias is None else found[0, :-1]
    intercept = 0.0 if bias is None else float(bias * found[0, -1])
    return LinearSolution(
        weights=weights,
        intercept=intercept,
        n_iter=n_iter,
        converged=n_iter < max_iter,
        measure=functools.partial(
            relative_gap,
            X,
            positive,
            weights,
            C=C,
            loss=loss,
            penalty=penalty,
            bias=0.0 if bias is None else bias,
            bias_weight=0.0 if bias is None else intercept / bias,
            scale=scale,
        ),
    )


@functools.lru_cache(maxsize=16)  # of a fold's whole grid the same, and slow to work out
def _solver_seed(seed: int) -> int:
    """Return what scikit-learn's estimators make of a seed."""
    return int(np.random.RandomState(seed).randint(np.iinfo(np.int32).max))
