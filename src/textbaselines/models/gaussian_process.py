"""Gaussian processes with a fixed kernel: exact regression, and classification by Laplace."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.special import expit, log_expit
from sklearn.base import RegressorMixin

from textbaselines.models.classifier import OneAgainstRestProbabilities
from textbaselines.models.estimator import Estimator
from textbaselines.models.kernels import linear_kernel, rbf_kernel, squared_norms
from textbaselines.models.matrices import Matrix
from textbaselines.models.memory import nbytes, refuse_beyond
from textbaselines.models.parameters import Choice, Number, Parameter

# Rows to predict are taken in blocks whose kernel has about this many numbers.
_BLOCK = 2**23

_KERNEL_PARAMETERS: Mapping[str, Parameter] = {
    "kernel": Choice("the kernel", ("linear", "rbf")),
    "gamma": Number("width of the rbf kernel", low=0, low_open=True),
    "variance": Number("factor of the kernel", low=0, low_open=True),
    "max_gib": Number("limit of memory in GiB", low=0, low_open=True),
}


def posterior(
    K: NDArray[np.float64],
    y: NDArray[np.float64],
    noise: float,
    k_star: NDArray[np.float64],
    k_star_star: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return alpha, and the mean and variance of the latent function at new points.

    Rasmussen & Williams (2006), algorithm 2.1: alpha = (K + noise I)^-1 y, mean = k*'alpha,
    variance = k** - k*'(K + noise I)^-1 k*.

    Parameters
    ----------
    K : array of shape (n, n)
        The kernel between the training points.
    y : array of shape (n,)
    noise : float
        The variance of the noise, above 0.
    k_star : array of shape (n, new)
        The kernel between the training points and the new ones.
    k_star_star : array of shape (new,)
        The kernel of each new point with itself.
    """
    factor = _noisy_factor(K, noise)
    alpha = cho_solve(factor, y)
    return alpha, k_star.T @ alpha, _latent_variance(factor, k_star, k_star_star)


def _noisy_factor(K: NDArray[np.float64], noise: float) -> tuple[NDArray[np.float64], bool]:
    noisy = K.copy()
    noisy[np.diag_indices(len(K))] += noise
    factor, lower = cho_factor(noisy, lower=True, overwrite_a=True)
    return np.tril(factor), bool(lower)


def _latent_variance(
    factor: tuple[NDArray[np.float64], bool],
    k_star: NDArray[np.float64],
    k_star_star: NDArray[np.float64],
) -> NDArray[np.float64]:
    v = solve_triangular(factor[0], k_star, lower=True)
    return np.asarray(np.maximum(k_star_star - np.sum(v**2, axis=0), 0))


class _KernelMethod(Estimator):
    """The kernel of the Gaussian processes and the memory it takes."""

    kernel: str
    gamma: float
    variance: float
    max_gib: float

    def _kernel_between(self, A: Matrix, B: Matrix) -> NDArray[np.float64]:
        values = linear_kernel(A, B) if self.kernel == "linear" else rbf_kernel(A, B, self.gamma)
        values *= self.variance
        return values

    def _own_kernel(self, X: Matrix) -> NDArray[np.float64]:
        if self.kernel == "linear":
            return self.variance * squared_norms(X)
        return np.full(X.shape[0], self.variance)

    def _refuse_large(self, n: int, matrices: int) -> None:
        refuse_beyond(
            self.max_gib,
            matrices * nbytes(n, n),
            f"the {matrices} kernel-sized matrices of {n} documents",
            "train on fewer documents",
        )

    def _blocks(self, X: Matrix, n_training: int) -> Iterator[Matrix]:
        rows = max(1, _BLOCK // n_training)
        for start in range(0, X.shape[0], rows):
            yield X[start : start + rows]


@dataclass(frozen=True)
class _Mode:
    """The Laplace approximation of one problem, as prediction needs it.

    ``gradient`` is that of the log-likelihood at the mode, ``root`` W^(1/2), ``factor`` the lower
    Cholesky factor of I + W^(1/2) K W^(1/2).
    """

    gradient: NDArray[np.float64]
    root: NDArray[np.float64]
    factor: NDArray[np.float64]
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class _Modes:
    rows: Matrix
    modes: list[_Mode]


class GaussianProcessClassifier(OneAgainstRestProbabilities, _KernelMethod):
    """Gaussian process classification by the Laplace approximation, one class against the rest.

    Rasmussen & Williams (2006), algorithms 3.1 and 3.2, with the logistic likelihood and a kernel
    whose parameters stand fixed: ``variance`` times x'z or exp(-gamma |x - z|^2). The probability
    is MacKay's approximation, the logistic function of mean / sqrt(1 + pi/8 * variance) of the
    latent function, which is the score. Sparse rows stay sparse, kernels are dense.

    Fitted: ``n_iter_`` (the most Newton steps of any class), ``converged_``.

    Parameters
    ----------
    kernel : {"linear", "rbf"}
    gamma : float
        The width of the rbf kernel.
    variance : float
        The factor of the kernel, above 0.
    tol : float
        Newton's method stops when the log-posterior changes by less.
    max_iter : int
        The limit of its steps.
    max_gib : float
        The limit of memory; beyond it fitting is refused before any is taken.
    positive : label, optional
        The class that a score of zero speaks against; by default ``classes_[1]``. Without effect
        for more than two classes.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        **_KERNEL_PARAMETERS,
        "tol": Number("stopping tolerance", low=0, low_open=True),
        "max_iter": Number("limit of Newton steps", low=1, integer=True),
    }

    def __init__(
        self,
        kernel: str = "linear",
        gamma: float = 0.01,
        variance: float = 1.0,
        tol: float = 1e-8,
        max_iter: int = 100,
        max_gib: float = 4.0,
        positive: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.variance = variance
        self.tol = tol
        self.max_iter = max_iter
        self.max_gib = max_gib
        self.positive = positive

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Return the scores: shape (n,) for up to two classes, otherwise (n, classes)."""
        X = self._new_data(X)
        n_training = self.training_rows_.shape[0]
        parts: list[list[NDArray[np.float64]]] = [[] for _ in self._modes]
        for block in self._blocks(X, n_training):
            k_star = self._kernel_between(self.training_rows_, block)
            own = self._own_kernel(block)
            for mode, part in zip(self._modes, parts, strict=True):
                mean = k_star.T @ mode.gradient
                variance = _latent_variance((mode.factor, True), mode.root[:, None] * k_star, own)
                part.append(mean / np.sqrt(1 + np.pi / 8 * variance))
        scores = self._oriented([np.concatenate(part) for part in parts], width=X.shape[0])
        return scores[0] if len(self.classes_) <= 2 else np.ascontiguousarray(scores.T)

    def _prepare(self, X: Matrix, y: ArrayLike) -> _Modes:
        X, codes = self._training_data(X, y)
        masks = self._one_against_rest(codes)
        # The kernel, two for the work of a Newton step, and one factor for each problem.
        self._refuse_large(X.shape[0], 3 + len(masks))
        if not masks:
            return _Modes(X, [])
        K = self._kernel_between(X, X)
        return _Modes(X, [self._mode(K, mask) for mask in masks])

    def _complete(self, prepared: _Modes) -> None:
        self.training_rows_, self._modes = prepared.rows, prepared.modes
        self.n_iter_ = max((mode.n_iter for mode in prepared.modes), default=0)
        self.converged_ = all(mode.converged for mode in prepared.modes)

    def _mode(self, K: NDArray[np.float64], positive: NDArray[np.bool_]) -> _Mode:
        """Find the mode of the latent function by Newton's method."""
        signs = np.where(positive, 1.0, -1.0)
        f = np.zeros(len(K))
        value = float(np.sum(log_expit(signs * f)))
        converged = False
        n_iter = 0
        while n_iter < self.max_iter and not converged:
            n_iter += 1
            probability, root, factor = self._curvature(K, f)
            b = root**2 * f + (positive - probability)
            inner = solve_triangular(factor, root * (K @ b), lower=True)
            a = b - root * solve_triangular(factor, inner, lower=True, trans=1)
            f = K @ a
            gained = float(-0.5 * a @ f + np.sum(log_expit(signs * f))) - value
            value += gained
            converged = abs(gained) < self.tol
        probability, root, factor = self._curvature(K, f)
        return _Mode(positive - probability, root, factor, n_iter, converged)

    @staticmethod
    def _curvature(
        K: NDArray[np.float64], f: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the probabilities, W^(1/2) and the factor of I + W^(1/2) K W^(1/2) at f."""
        probability = expit(f)
        root = np.sqrt(probability * expit(-f))
        B = root[:, None] * K * root[None, :]
        B[np.diag_indices(len(K))] += 1.0
        return probability, root, np.linalg.cholesky(B)


class GaussianProcessRegressor(RegressorMixin, _KernelMethod):  # type: ignore[misc]
    """Exact Gaussian process regression on ratings (Rasmussen & Williams 2006, algorithm 2.1).

    The prior has the mean of the training ratings and ``variance`` times x'z or
    exp(-gamma |x - z|^2) as its kernel, whose parameters stand fixed. Sparse rows stay sparse,
    kernels are dense.

    Fitted: ``mean_``: the mean rating; ``alpha_`` (documents,).

    Parameters
    ----------
    kernel : {"linear", "rbf"}
    gamma : float
        The width of the rbf kernel.
    variance : float
        The factor of the kernel, above 0.
    noise : float
        The variance of the ratings' noise, above 0.
    max_gib : float
        The limit of memory; beyond it fitting is refused before any is taken.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        **_KERNEL_PARAMETERS,
        "noise": Number("variance of the noise", low=0, low_open=True),
    }

    def __init__(
        self,
        kernel: str = "linear",
        gamma: float = 0.01,
        variance: float = 1.0,
        noise: float = 1.0,
        max_gib: float = 4.0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.variance = variance
        self.noise = noise
        self.max_gib = max_gib

    def predict(self, X: Matrix) -> NDArray[np.float64]:
        """Return the mean of the rating of each row, shape (n,)."""
        X = self._new_data(X)
        blocks = self._blocks(X, len(self.alpha_))
        parts = [self._kernel_between(block, self.training_rows_) @ self.alpha_ for block in blocks]
        return self.mean_ + np.concatenate(parts)

    def predict_variance(self, X: Matrix) -> NDArray[np.float64]:
        """Return the variance of the latent function at each row, without noise, shape (n,)."""
        X = self._new_data(X)
        return np.concatenate(
            [
                _latent_variance(
                    self._factor,
                    self._kernel_between(self.training_rows_, block),
                    self._own_kernel(block),
                )
                for block in self._blocks(X, len(self.alpha_))
            ]
        )

    def _prepare(self, X: Matrix, y: ArrayLike) -> tuple[Matrix, NDArray[np.float64]]:
        X, target = self._fit_data(X, y, numeric=True)
        # The kernel, its factor and the work between them.
        self._refuse_large(X.shape[0], 3)
        return X, np.asarray(target, dtype=np.float64)

    def _complete(self, prepared: tuple[Matrix, NDArray[np.float64]]) -> None:
        self.training_rows_, target = prepared
        self.mean_ = float(target.mean())
        self._factor = _noisy_factor(
            self._kernel_between(self.training_rows_, self.training_rows_), self.noise
        )
        self.alpha_ = cho_solve(self._factor, target - self.mean_)
