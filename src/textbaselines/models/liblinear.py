"""Linear models by LIBLINEAR, one class against the rest, telling whether they converged."""

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from textbaselines.models.duality import relative_gap
from textbaselines.models.matrices import Matrix, int32_indices


@dataclass(frozen=True)
class BinaryProblems:
    """The rows, with the solver's index type, and which of them are positive in each problem."""

    X: Matrix
    masks: list[NDArray[np.bool_]]


@dataclass(frozen=True)
class LinearSolution:
    """The weights of one solved problem, oriented to the positive rows.

    ``weights`` has the shape (features,); ``intercept`` is 0 without a bias. ``converged`` is
    false when the solver stopped at the limit of iterations. ``gap`` is by what share of itself
    the objective is above its minimum, at most (:func:`textbaselines.models.duality.relative_gap`);
    NaN where nobody asked.
    """

    weights: NDArray[np.float64]
    intercept: float
    n_iter: int
    converged: bool
    gap: float = math.nan


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
) -> LinearSolution:
    """Minimise the penalty + C * sum of losses: 1/2 w'w or, with ``penalty="l1"``, sum |w|.

    The positive rows are always the solver's second class, so naming the classes otherwise does
    not change the order in which it visits documents, nor the result.

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

    Raises
    ------
    ValueError
        When X is too large for the solver's 32-bit indices.
    """
    options = {
        "C": C,
        "dual": dual,
        "tol": tol,
        "max_iter": max_iter,
        "fit_intercept": bias is not None,
        "intercept_scaling": 1.0 if bias is None else bias,
        "random_state": seed,
    }
    if loss == "logistic":
        l1_ratio = 1.0 if penalty == "l1" else 0.0
        solver = LogisticRegression(solver="liblinear", l1_ratio=l1_ratio, **options)
    else:
        solver = LinearSVC(loss=loss, **options)
    # X is checked by the estimator: the library would look through it again.
    with (
        warnings.catch_warnings(),
        config_context(assume_finite=True, skip_parameter_validation=True),
    ):
        warnings.simplefilter("ignore", ConvergenceWarning)
        solver.fit(int32_indices(X), positive.astype(np.int8))
    n_iter = int(np.max(solver.n_iter_))
    weights = solver.coef_[0]
    intercept = 0.0 if bias is None else float(solver.intercept_[0])
    return LinearSolution(
        weights=weights,
        intercept=intercept,
        n_iter=n_iter,
        converged=n_iter < max_iter,
        gap=relative_gap(
            X,
            positive,
            weights,
            C=C,
            loss=loss,
            penalty=penalty,
            bias=0.0 if bias is None else bias,
            bias_weight=0.0 if bias is None else intercept / bias,
        ),
    )
