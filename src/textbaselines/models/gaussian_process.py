"""Gaussian process regression and classification, exact or approximate, on sparse or dense rows."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from sklearn.base import RegressorMixin

from textbaselines.models.classifier import OneAgainstRestProbabilities
from textbaselines.models.estimator import Estimator
from textbaselines.models.gaussian_process_inference import (
    Posterior,
    exact_classification,
    exact_regression,
    nystroem_basis,
    projected_classification,
    projected_regression,
)
from textbaselines.models.kernels import (
    blocks_of_rows,
    linear_kernel,
    rbf_kernel,
    scale_gamma,
    squared_norms,
)
from textbaselines.models.matrices import Matrix, row_keys
from textbaselines.models.memory import nbytes, refuse_beyond
from textbaselines.models.parameters import Choice, Number, Parameter

# By how much, in logs, a maximised hyper-parameter may leave the value it starts from.
_REACH = np.log(1e5)

_PARAMETERS: Mapping[str, Parameter] = {
    "kernel": Choice("the kernel", ("linear", "rbf")),
    "gamma": Number("gamma of the rbf kernel", low=0, low_open=True, optional=True),
    "variance": Number("factor of the kernel", low=0, low_open=True),
    "hyperparameters": Choice("how they are chosen", ("fixed", "marginal_likelihood")),
    "approximation": Choice("of many documents", ("nystroem", "subset", "exact")),
    "points": Number("documents above which it approximates", low=2, integer=True),
    "max_gib": Number("limit of memory in GiB", low=0, low_open=True),
}


class GaussianProcess(Estimator):
    """The kernel, its hyper-parameters, the approximation and the memory of both methods.

    Fitted: ``points_`` (points, features): the rows that new ones are compared with; ``variance_``
    and ``gamma_``: the kernel's hyper-parameters; ``log_marginal_likelihood_``: the sum over the
    problems.
    """

    kernel: str
    gamma: float | None
    variance: float
    hyperparameters: str
    approximation: str
    points: int
    max_gib: float
    seed: int

    # The positive hyper-parameters besides the kernel's.
    _OTHERS: ClassVar[tuple[str, ...]] = ()

    def _exact(self, K: NDArray[np.float64], target: NDArray[Any]) -> Posterior:
        raise NotImplementedError

    def _projected(
        self, F: NDArray[np.float64], basis: NDArray[np.float64], target: NDArray[Any]
    ) -> Posterior:
        raise NotImplementedError

    def _posteriors(
        self, X: Matrix, targets: Sequence[NDArray[Any]], codes: NDArray[np.intp]
    ) -> list[Posterior]:
        """Return the posterior of each target (one for each problem), setting what is fitted."""
        chosen = self._chosen_rows(X, codes)
        projects = self.approximation == "nystroem" and len(chosen) < X.shape[0]
        self._refuse_large(X.shape[0] if projects else len(chosen), len(chosen), len(targets))
        self.points_ = X[chosen]
        self.variance_ = float(self.variance)
        self.gamma_ = scale_gamma(X) if self.gamma is None else float(self.gamma)
        if not targets:
            self.log_marginal_likelihood_ = 0.0
            return []
        if self.hyperparameters == "marginal_likelihood":
            self._maximise([target[chosen] for target in targets])
        K = self._kernel_between(self.points_, self.points_)
        if projects:
            basis = nystroem_basis(K)
            F = self._kernel_between(X, self.points_) @ basis
            posteriors = [self._projected(F, basis, target) for target in targets]
        else:
            posteriors = [self._exact(K, target[chosen]) for target in targets]
        self.log_marginal_likelihood_ = sum(
            posterior.log_marginal_likelihood for posterior in posteriors
        )
        return posteriors

    def _chosen_rows(self, X: Matrix, codes: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the sorted numbers of the points: all rows, or of each code its share, rounded up.

        Neither what the codes are nor the order of the rows matters: only their content and the
        seed.
        """
        n = len(codes)
        if self.approximation == "exact" or n <= self.points:
            return np.arange(n)
        shuffled = np.argsort(row_keys(X, self.seed), kind="stable")
        parts = []
        for code in np.unique(codes):
            own = shuffled[codes[shuffled] == code]
            parts.append(own[: -(-self.points * len(own) // n)])
        return np.sort(np.concatenate(parts))

    def _maximise(self, targets: Sequence[NDArray[Any]]) -> None:
        """Set the hyper-parameters to a maximum of the points' exact marginal likelihood."""
        names = ("variance", *(("gamma",) if self.kernel == "rbf" else ()), *self._OTHERS)
        start = np.log([getattr(self, f"{name}_") for name in names])

        def loss(logs: NDArray[np.float64]) -> float:
            for name, value in zip(names, np.exp(logs), strict=True):
                setattr(self, f"{name}_", float(value))
            K = self._kernel_between(self.points_, self.points_)
            return -sum(self._exact(K, target).log_marginal_likelihood for target in targets)

        found = minimize(
            loss,
            start,
            method="L-BFGS-B",
            bounds=[(value - _REACH, value + _REACH) for value in start],
            # The mode is found up to a tolerance, so steps for the gradient must not be tiny.
            options={"eps": 1e-4, "ftol": 1e-7, "maxiter": 50},
        )
        loss(found.x)

    def _latents(
        self, X: Matrix, posteriors: Sequence[Posterior]
    ) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Return the mean and variance at each row, each of shape (n,), for every posterior."""
        parts: list[list[Any]] = [[] for _ in posteriors]
        for block in blocks_of_rows(X, self.points_.shape[0]):
            k_star = self._kernel_between(self.points_, block)
            own = self._own_kernel(block)
            for posterior, part in zip(posteriors, parts, strict=True):
                part.append(posterior.latent(k_star, own))
        return [
            (np.concatenate([mean for mean, _ in part]), np.concatenate([v for _, v in part]))
            for part in parts
        ]

    def _kernel_between(self, A: Matrix, B: Matrix) -> NDArray[np.float64]:
        values = linear_kernel(A, B) if self.kernel == "linear" else rbf_kernel(A, B, self.gamma_)
        values *= self.variance_
        return values

    def _own_kernel(self, X: Matrix) -> NDArray[np.float64]:
        if self.kernel == "linear":
            return self.variance_ * squared_norms(X)
        return np.full(X.shape[0], self.variance_)

    def _refuse_large(self, n: int, points: int, problems: int) -> None:
        # The kernel, two for the work of a step, and one factor for each problem; beside them, for
        # projected rows, their kernel, features and scaled features.
        size = (3 + problems) * nbytes(points, points)
        what = f"{3 + problems} kernel-sized matrices of {points} documents"
        if n > points:
            size += 3 * nbytes(n, points)
            what += f" and 3 of {n} by {points}"
        refuse_beyond(
            self.max_gib,
            size,
            f"the {what}",
            "use fewer points, an approximation ('nystroem' or 'subset') or fewer documents",
        )


class GaussianProcessClassifier(OneAgainstRestProbabilities, GaussianProcess):
    """Gaussian process classification by the Laplace approximation, one class against the rest.

    Rasmussen & Williams (2006), algorithms 3.1 and 3.2, with the logistic likelihood and the kernel
    ``variance`` times x'z or exp(-gamma |x - z|^2). The probability is MacKay's approximation, the
    logistic function of mean / sqrt(1 + pi/8 * variance) of the latent function, which is the
    score. Sparse rows stay sparse, kernels are dense.

    Exact with up to ``points`` documents. Beyond them ``approximation`` says what is done:
    ``"nystroem"`` takes ``points`` random documents, of each class its share, and projects all
    others on them (section 8.3.3); ``"subset"`` trains on these alone; ``"exact"`` stays exact.

    Fitted: ``points_``, ``variance_``, ``gamma_``, ``log_marginal_likelihood_`` (the sum over the
    problems: one for two classes, otherwise one for each), ``n_iter_`` (the most Newton steps of
    any), ``converged_``.

    Parameters
    ----------
    kernel : {"linear", "rbf"}
    gamma : float, optional
        Of the rbf kernel, above 0; None for 1 over the mean squared distance of the training rows
        from their mean.
    variance : float
        The factor of the kernel, above 0.
    hyperparameters : {"fixed", "marginal_likelihood"}
        Whether ``variance`` and ``gamma`` stand, or are where a search for the maximum of the
        points' exact marginal likelihood starts; all problems have the same.
    approximation : {"nystroem", "subset", "exact"}
    points : int
        The number of documents up to which it is exact, and of the points beyond.
    tol : float
        Newton's method stops when the log-posterior changes by less.
    max_iter : int
        The limit of its steps.
    max_gib : float
        The limit of memory; beyond it fitting is refused before any is taken.
    positive : label, optional
        The class that a score of zero speaks against; by default ``classes_[1]``. Without effect
        for more than two classes.
    seed : int
        Of the choice of points.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        **_PARAMETERS,
        "tol": Number("stopping tolerance", low=0, low_open=True),
        "max_iter": Number("limit of Newton steps", low=1, integer=True),
    }

    def __init__(
        self,
        kernel: str = "linear",
        gamma: float | None = None,
        variance: float = 1.0,
        hyperparameters: str = "fixed",
        approximation: str = "nystroem",
        points: int = 1000,
        tol: float = 1e-8,
        max_iter: int = 100,
        max_gib: float = 4.0,
        positive: Any = None,
        seed: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.variance = variance
        self.hyperparameters = hyperparameters
        self.approximation = approximation
        self.points = points
        self.tol = tol
        self.max_iter = max_iter
        self.max_gib = max_gib
        self.positive = positive
        self.seed = seed

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Return the scores: shape (n,) for up to two classes, otherwise (n, classes)."""
        X = self._new_data(X)
        rows = [
            mean / np.sqrt(1 + np.pi / 8 * variance)
            for mean, variance in self._latents(X, self.posteriors_)
        ]
        scores = self._oriented(rows, width=X.shape[0])
        return scores[0] if len(self.classes_) <= 2 else np.ascontiguousarray(scores.T)

    def _prepare(self, X: Matrix, y: ArrayLike) -> list[Posterior]:
        X, codes = self._training_data(X, y)
        return self._posteriors(X, self._one_against_rest(codes), codes)

    def _complete(self, prepared: list[Posterior]) -> None:
        self.posteriors_ = prepared
        self.n_iter_ = max((posterior.n_iter for posterior in prepared), default=0)
        self.converged_ = all(posterior.converged for posterior in prepared)

    def _exact(self, K: NDArray[np.float64], target: NDArray[Any]) -> Posterior:
        return exact_classification(K, target, self.tol, self.max_iter)

    def _projected(
        self, F: NDArray[np.float64], basis: NDArray[np.float64], target: NDArray[Any]
    ) -> Posterior:
        return projected_classification(F, basis, target, self.tol, self.max_iter)


class GaussianProcessRegressor(RegressorMixin, GaussianProcess):  # type: ignore[misc]
    """Gaussian process regression on ratings (Rasmussen & Williams 2006, algorithm 2.1).

    The prior has the mean of the training ratings and ``variance`` times x'z or
    exp(-gamma |x - z|^2) as its kernel. Sparse rows stay sparse, kernels are dense.

    Exact with up to ``points`` documents. Beyond them ``approximation`` says what is done:
    ``"nystroem"`` takes ``points`` random documents and projects all others on them (section
    8.3.3); ``"subset"`` trains on these alone; ``"exact"`` stays exact.

    Fitted: ``mean_``: the mean rating; ``points_``, ``variance_``, ``gamma_``, ``noise_``,
    ``log_marginal_likelihood_``.

    Parameters
    ----------
    kernel : {"linear", "rbf"}
    gamma : float, optional
        Of the rbf kernel, above 0; None for 1 over the mean squared distance of the training rows
        from their mean.
    variance : float
        The factor of the kernel, above 0.
    noise : float
        The variance of the ratings' noise, above 0.
    hyperparameters : {"fixed", "marginal_likelihood"}
        Whether ``variance``, ``gamma`` and ``noise`` stand, or are where a search for the maximum
        of the points' exact marginal likelihood starts.
    approximation : {"nystroem", "subset", "exact"}
    points : int
        The number of documents up to which it is exact, and of the points beyond.
    max_gib : float
        The limit of memory; beyond it fitting is refused before any is taken.
    seed : int
        Of the choice of points.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        **_PARAMETERS,
        "noise": Number("variance of the noise", low=0, low_open=True),
    }
    _OTHERS: ClassVar[tuple[str, ...]] = ("noise",)

    def __init__(
        self,
        kernel: str = "linear",
        gamma: float | None = None,
        variance: float = 1.0,
        noise: float = 1.0,
        hyperparameters: str = "fixed",
        approximation: str = "nystroem",
        points: int = 1000,
        max_gib: float = 4.0,
        seed: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.variance = variance
        self.noise = noise
        self.hyperparameters = hyperparameters
        self.approximation = approximation
        self.points = points
        self.max_gib = max_gib
        self.seed = seed

    def predict(self, X: Matrix) -> NDArray[np.float64]:
        """Return the mean of the rating of each row, shape (n,)."""
        ((mean, _),) = self._latents(self._new_data(X), [self.posterior_])
        return self.mean_ + mean

    def predict_variance(self, X: Matrix, *, noisy: bool = False) -> NDArray[np.float64]:
        """Return the variance of the latent function at each row, shape (n,).

        With ``noisy`` that of a rating: the noise's variance is added.
        """
        ((_, variance),) = self._latents(self._new_data(X), [self.posterior_])
        return variance + self.noise_ if noisy else variance

    def _prepare(self, X: Matrix, y: ArrayLike) -> Posterior:
        X, target = self._fit_data(X, y, numeric=True)
        target = np.asarray(target, dtype=np.float64)
        self.mean_, self.noise_ = float(target.mean()), float(self.noise)
        (posterior,) = self._posteriors(
            X, [target - self.mean_], np.zeros(len(target), dtype=np.intp)
        )
        return posterior

    def _complete(self, prepared: Posterior) -> None:
        self.posterior_ = prepared

    def _exact(self, K: NDArray[np.float64], target: NDArray[Any]) -> Posterior:
        return exact_regression(K, target, self.noise_)

    def _projected(
        self, F: NDArray[np.float64], basis: NDArray[np.float64], target: NDArray[Any]
    ) -> Posterior:
        return projected_regression(F, basis, target, self.noise_)
