"""How far a linear model is from its optimum at most: the gap to a feasible point of the dual."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, expit

from textbaselines.models.matrices import Matrix


def relative_gap(
    X: Matrix,
    positive: NDArray[np.bool_],
    weights: NDArray[np.float64],
    *,
    C: float,
    loss: str,
    penalty: str = "l2",
    bias: float = 0.0,
    bias_weight: float = 0.0,
    scale: NDArray[np.float64] | None = None,
) -> float:
    """Return (P - D) / P: P the objective at the weights, D the dual's at a feasible point.

    The objective is the penalty + C * sum over rows of l(m), with m = y (x'w + bias * bias_weight)
    and l = max(0, 1 - m)^2 or log(1 + exp(-m)). The point of the dual is a = -C l'(m), which is
    the optimum's when w is (Fenchel's inequality; Boyd & Vandenberghe 2004, section 5.5.1). For
    the squared hinge it is the best multiple of it,

        D = max over t of t sum a - t^2/2 (|X' a y|^2 + sum a^2 / 2C) = (sum a)^2 / 2 q,

    q the bracket; for the l1 penalty it is shrunk until max |X' a y| <= 1. The minimum lies
    between D and P, so the number is never too small; far from the optimum it may be much too
    large. It costs two products with X.

    Parameters
    ----------
    X : array or CSR matrix of shape (documents, features), float64
    positive : boolean array of shape (documents,)
    weights : array of shape (features,)
    loss : {"squared_hinge", "hinge", "logistic"}
        NaN for the hinge, whose margins do not tell the dual's values of the rows on the margin:
        no cheap point is of use.
    penalty : {"l2", "l1"}
        1/2 w'w or sum |w|, the bias's weight included.
    scale : array of shape (features,), optional
        What the columns of X are multiplied by to be the solver's.
    """
    if loss == "hinge":
        return math.nan
    signs = np.where(positive, 1.0, -1.0)
    # The weights' size first: one pass along them brings them into the processor's cache, where the
    # product looks for them in no order.
    if penalty == "l1":
        size = np.abs(weights).sum() + abs(bias_weight)
    else:
        size = 0.5 * (weights @ weights + bias_weight**2)
    own = weights if scale is None else scale * weights
    margins = signs * (X @ own + bias * bias_weight)
    if loss == "squared_hinge":
        slack = np.maximum(0.0, 1.0 - margins)
        primal = size + C * (slack @ slack)
        a = 2 * C * slack
    else:
        primal = size + C * np.logaddexp(0.0, -margins).sum()
        a = C * expit(-margins)
    signed = a * signs
    columns, bias_column = X.T @ signed, bias * signed.sum()
    if scale is not None:
        columns *= scale
    length = columns @ columns + bias_column**2
    if loss == "squared_hinge":
        quadratic = length + a @ a / (2 * C)
        dual = a.sum() ** 2 / (2 * quadratic) if quadratic > 0 else 0.0
    elif penalty == "l1":
        largest = max(np.abs(columns).max(initial=0.0), abs(bias_column))
        shares = a / (C * max(1.0, largest))
        dual = C * (entr(shares) + entr(1.0 - shares)).sum()
    else:
        shares = a / C
        dual = C * (entr(shares) + entr(1.0 - shares)).sum() - 0.5 * length
    return float((primal - dual) / primal)
