"""Ridge regression by LSQR: on ratings as numbers, and on class membership as +1 and -1."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator, lsqr
from sklearn.base import RegressorMixin

from textbaselines.models.classifier import LinearClassifier
from textbaselines.models.estimator import Estimator
from textbaselines.models.liblinear import LinearSolution
from textbaselines.models.matrices import Matrix
from textbaselines.models.parameters import Choice, Number, Parameter

_PARAMETERS: Mapping[str, Parameter] = {
    "alpha": Number("weight of the penalty", low=0),
    "intercept": Choice("fit an intercept", (True, False)),
    "tol": Number("stopping tolerance", low=0, low_open=True),
    "max_iter": Number("limit of iterations", low=1, integer=True),
}


def solve_ridge(
    X: Matrix,
    target: NDArray[np.float64],
    *,
    alpha: float,
    intercept: bool,
    tol: float,
    max_iter: int,
) -> LinearSolution:
    """Minimise |X w + b - target|^2 + alpha |w|^2 by LSQR (Paige & Saunders 1982).

    The intercept b is not penalised: X is centred, without being made dense. With ``alpha`` 0 and
    many solutions, the one with the least |w|.

    Parameters
    ----------
    X : array or CSR matrix of shape (documents, features)
    target : array of shape (documents,)
    tol : float
        Both of LSQR's relative tolerances (``atol`` and ``btol``).
    """
    n, m = X.shape
    means = np.asarray(X.mean(axis=0)).ravel() if intercept else np.zeros(m)
    target_mean = float(target.mean()) if intercept else 0.0
    centred = LinearOperator(
        (n, m),
        matvec=lambda w: X @ np.ravel(w) - means @ np.ravel(w),
        rmatvec=lambda r: X.T @ np.ravel(r) - means * np.sum(r),
        dtype=np.float64,
    )
    weights, stop, n_iter, *_ = lsqr(
        centred,
        target - target_mean,
        damp=np.sqrt(alpha),
        atol=tol,
        btol=tol,
        conlim=0.0,
        iter_lim=max_iter,
    )
    return LinearSolution(
        weights=weights,
        intercept=target_mean - float(means @ weights),
        n_iter=int(n_iter),
        converged=stop != 7,
    )


class RidgeClassifier(LinearClassifier):
    """Least squares on +1 and -1, with an l2 penalty; one class against the rest.

    Minimises |X w + b - t|^2 + alpha |w|^2, t being +1 for the class's documents and -1 for the
    others (Hastie et al. 2009, sections 3.4.1 and 4.2). The intercept is not penalised.

    Fitted: ``coef_``, ``intercept_``, ``n_iter_``, ``converged_``.

    Parameters
    ----------
    alpha : float
        Weight of the penalty, at least 0.
    intercept : bool
    tol : float
        The relative tolerance of LSQR.
    max_iter : int
        The limit of its iterations.
    positive : label, optional
        The class that a score of zero speaks against; by default ``classes_[1]``. Without effect
        for more than two classes.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = _PARAMETERS

    def __init__(
        self,
        alpha: float = 1.0,
        intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        positive: Any = None,
    ) -> None:
        self.alpha = alpha
        self.intercept = intercept
        self.tol = tol
        self.max_iter = max_iter
        self.positive = positive

    def _prepare(self, X: Matrix, y: ArrayLike) -> list[LinearSolution]:
        X, codes = self._training_data(X, y)
        return [
            solve_ridge(
                X,
                np.where(mask, 1.0, -1.0),
                alpha=self.alpha,
                intercept=self.intercept,
                tol=self.tol,
                max_iter=self.max_iter,
            )
            for mask in self._one_against_rest(codes)
        ]

    def _complete(self, prepared: list[LinearSolution]) -> None:
        self._take_solutions(prepared)


class LinearRegression(RegressorMixin, Estimator):  # type: ignore[misc]
    """Linear regression on ratings, with an optional l2 penalty.

    Minimises |X w + b - y|^2 + alpha |w|^2 (Hastie et al. 2009, section 3.4.1); with ``alpha`` 0
    ordinary least squares, and of many solutions the one with the least |w|. The intercept is not
    penalised.

    Fitted: ``coef_`` (features,), ``intercept_`` (a number), ``n_iter_``, ``converged_``.

    Parameters
    ----------
    alpha : float
        Weight of the penalty, at least 0.
    intercept : bool
    tol : float
        The relative tolerance of LSQR.
    max_iter : int
        The limit of its iterations.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = _PARAMETERS

    def __init__(
        self,
        alpha: float = 1.0,
        intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 10_000,
    ) -> None:
        self.alpha = alpha
        self.intercept = intercept
        self.tol = tol
        self.max_iter = max_iter

    def predict(self, X: Matrix) -> NDArray[np.float64]:
        """Return the predicted number of each row, shape (n,)."""
        return np.asarray(self._new_data(X) @ self.coef_ + self.intercept_)

    def _prepare(self, X: Matrix, y: ArrayLike) -> LinearSolution:
        X, target = self._fit_data(X, y, numeric=True)
        return solve_ridge(
            X,
            np.asarray(target, dtype=np.float64),
            alpha=self.alpha,
            intercept=self.intercept,
            tol=self.tol,
            max_iter=self.max_iter,
        )

    def _complete(self, prepared: LinearSolution) -> None:
        self.coef_, self.intercept_ = prepared.weights, prepared.intercept
        self.n_iter_, self.converged_ = prepared.n_iter, prepared.converged
