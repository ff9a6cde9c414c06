"""Posteriors of Gaussian processes: exact or projected on a few points; Gaussian or logistic noise.

All four have the form that the Laplace approximation has (Rasmussen & Williams 2006, section 3.4):
W is the curvature of the negative log-likelihood, 1/noise for regression.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, solve_triangular
from scipy.special import expit, log_expit

# Eigenvalues of the points' kernel below this share of the largest are taken for zero.
_NEGLIGIBLE = 1e-10


class Posterior(Protocol):
    """What is known of the latent function of one problem after training."""

    @property
    def log_marginal_likelihood(self) -> float:
        """log P(targets), for the logistic likelihood in the Laplace approximation."""

    @property
    def n_iter(self) -> int:
        """Newton steps; 0 for regression."""

    @property
    def converged(self) -> bool:
        """Whether they stopped before their limit."""

    def latent(
        self, inputs: NDArray[np.float64], own: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the mean and variance of the latent function at new rows, each of shape (new,).

        Parameters
        ----------
        inputs : array of shape (points, new) or (rank, new)
            The kernel between the points and the new rows, or their features.
        own : array of shape (new,)
            The kernel of each new row with itself.
        """


@dataclass(frozen=True)
class ExactPosterior:
    """From the kernel of all rows.

    ``alpha`` has the shape (rows,): the mean is k*'alpha. ``root`` is W^(1/2), ``factor`` the lower
    Cholesky factor of I + W^(1/2) K W^(1/2).
    """

    alpha: NDArray[np.float64]
    root: NDArray[np.float64]
    factor: NDArray[np.float64]
    log_marginal_likelihood: float
    n_iter: int = 0
    converged: bool = True

    def latent(
        self, inputs: NDArray[np.float64], own: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the mean and variance at new rows; see :class:`Posterior`."""
        v = solve_triangular(self.factor, self.root[:, None] * inputs, lower=True)
        return inputs.T @ self.alpha, np.maximum(own - np.sum(v**2, axis=0), 0)


@dataclass(frozen=True)
class ProjectedPosterior:
    """From the features F = K(rows, points) B, whose products are the Nystroem kernel.

    The projected process (Rasmussen & Williams 2006, section 8.3.3): the mean is that of a linear
    model of F with ``weights`` (rank,), the variance also has what the points cannot explain of a
    new row. ``factor`` is the lower Cholesky factor of I + F'WF.
    """

    weights: NDArray[np.float64]
    factor: NDArray[np.float64]
    log_marginal_likelihood: float
    n_iter: int = 0
    converged: bool = True

    def latent(
        self, inputs: NDArray[np.float64], own: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the mean and variance at new rows; see :class:`Posterior`."""
        v = solve_triangular(self.factor, inputs, lower=True)
        unexplained = np.maximum(own - np.sum(inputs**2, axis=0), 0)
        return inputs.T @ self.weights, unexplained + np.sum(v**2, axis=0)


def nystroem_basis(K: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return B of shape (points, rank) with K B B'K = K, up to the negligible eigenvalues of K.

    Then k(x, points) B are features whose inner products approximate the kernel, and equal it
    between the points (Williams & Seeger 2001).
    """
    values, vectors = np.linalg.eigh(K)
    kept = values > _NEGLIGIBLE * max(values[-1], 0.0)
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def exact_regression(
    K: NDArray[np.float64], y: NDArray[np.float64], noise: float
) -> ExactPosterior:
    """Return the posterior of regression with Gaussian noise (algorithm 2.1).

    Parameters
    ----------
    K : array of shape (n, n)
    y : array of shape (n,)
    noise : float
        The variance of the noise, above 0.
    """
    root = np.full(len(K), 1 / np.sqrt(noise))
    factor = _factor_of_b(K, root)
    alpha = cho_solve((factor, True), y) / noise
    evidence = -0.5 * y @ alpha - _half_log_determinant(factor, len(y), noise)
    return ExactPosterior(alpha, root, factor, float(evidence))


@dataclass(frozen=True)
class NormalEquations:
    """What regression takes of features F of shape (n, rank) and targets y, whatever the noise.

    ``gram`` is F'F, ``products`` F'y and ``square`` y'y.
    """

    gram: NDArray[np.float64]
    products: NDArray[np.float64]
    square: float
    n: int

    @classmethod
    def of(cls, F: NDArray[np.float64], y: NDArray[np.float64]) -> "NormalEquations":
        """Work them out."""
        return cls(F.T @ F, F.T @ y, float(y @ y), len(y))

    def scaled(self, variance: float) -> "NormalEquations":
        """Return those of sqrt(variance) F."""
        return NormalEquations(
            variance * self.gram, np.sqrt(variance) * self.products, self.square, self.n
        )


def projected_regression(equations: NormalEquations, noise: float) -> ProjectedPosterior:
    """Return the posterior of regression with Gaussian noise on features."""
    A = equations.gram / noise
    A[np.diag_indices(len(A))] += 1.0
    factor = np.asarray(np.linalg.cholesky(A))
    weights = cho_solve((factor, True), equations.products) / noise
    evidence = -0.5 * (equations.square - weights @ equations.products) / noise
    evidence -= _half_log_determinant(factor, equations.n, noise)
    return ProjectedPosterior(weights, factor, float(evidence))


def exact_classification(
    K: NDArray[np.float64], positive: NDArray[np.bool_], tol: float, max_iter: int
) -> ExactPosterior:
    """Return the Laplace approximation with the logistic likelihood (algorithms 3.1 and 3.2).

    Parameters
    ----------
    K : array of shape (n, n)
    positive : boolean array of shape (n,)
    tol : float
        Newton's method stops when the log-posterior changes by less.
    max_iter : int
        The limit of its steps.
    """
    signs = np.where(positive, 1.0, -1.0)
    f, value, converged, n_iter = np.zeros(len(K)), -len(K) * np.log(2), False, 0
    while n_iter < max_iter and not converged:
        n_iter += 1
        probability, root = _curvature(f)
        factor = _factor_of_b(K, root)
        b = root**2 * f + (positive - probability)
        a = b - root * cho_solve((factor, True), root * (K @ b))
        f = K @ a
        gained = float(-0.5 * a @ f + np.sum(log_expit(signs * f))) - value
        value += gained
        converged = abs(gained) < tol
    probability, root = _curvature(f)
    factor = _factor_of_b(K, root)
    evidence = value - np.log(factor.diagonal()).sum()
    return ExactPosterior(positive - probability, root, factor, float(evidence), n_iter, converged)


def projected_classification(
    F: NDArray[np.float64],
    positive: NDArray[np.bool_],
    tol: float,
    max_iter: int,
) -> ProjectedPosterior:
    """Return the Laplace approximation on the features F of shape (n, rank)."""
    signs = np.where(positive, 1.0, -1.0)
    w, f = np.zeros(F.shape[1]), np.zeros(len(F))
    value, converged, n_iter = -len(F) * np.log(2), False, 0
    while n_iter < max_iter and not converged:
        n_iter += 1
        probability, root = _curvature(f)
        factor = _factor_of_a(F, root)
        w = w + cho_solve((factor, True), F.T @ (positive - probability) - w)
        f = F @ w
        gained = float(-0.5 * w @ w + np.sum(log_expit(signs * f))) - value
        value += gained
        converged = abs(gained) < tol
    factor = _factor_of_a(F, _curvature(f)[1])
    evidence = value - np.log(factor.diagonal()).sum()
    return ProjectedPosterior(w, factor, float(evidence), n_iter, converged)


def _curvature(f: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the probabilities and W^(1/2) of the logistic likelihood at f."""
    probability = expit(f)
    return probability, np.sqrt(probability * expit(-f))


def _factor_of_b(K: NDArray[np.float64], root: NDArray[np.float64]) -> NDArray[np.float64]:
    B = root[:, None] * K * root[None, :]
    B[np.diag_indices(len(K))] += 1.0
    return np.asarray(np.linalg.cholesky(B))


def _factor_of_a(F: NDArray[np.float64], root: NDArray[np.float64]) -> NDArray[np.float64]:
    scaled = root[:, None] * F
    A = scaled.T @ scaled
    A[np.diag_indices(len(A))] += 1.0
    return np.asarray(np.linalg.cholesky(A))


def _half_log_determinant(factor: NDArray[np.float64], n: int, noise: float) -> float:
    """Return log of the square root of |2 pi (kernel + noise I)|, the factor that of it / noise."""
    return float(np.log(factor.diagonal()).sum() + 0.5 * n * np.log(2 * np.pi * noise))
