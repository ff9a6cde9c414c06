"""Gaussian process regression and classification, exact or approximate, on sparse or dense rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from sklearn.base import RegressorMixin

from textbaselines.models.classifier import OneAgainstRestProbabilities
from textbaselines.models.estimator import Estimator
from textbaselines.models.family import GPML, MethodFamily, Rate
from textbaselines.models.gaussian_process_inference import (
    NormalEquations,
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
from textbaselines.models.matrices import Matrix, coarse, row_keys
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


@dataclass(frozen=True)
class _Kernel:
    """The kernel at variance 1.

    ``chosen`` are the numbers of the points among the training rows. ``values`` is the points'
    kernel, shape (points, points), and ``basis`` None; or, where all rows are projected on the
    points, ``values`` are their features, (rows, rank), and ``basis`` of shape (points, rank) what
    makes features of a kernel with the points.
    """

    chosen: NDArray[np.intp]
    values: NDArray[np.float64]
    basis: NDArray[np.float64] | None


class GaussianProcess(Estimator):
    """The kernel, its hyper-parameters, the approximation and the memory of both methods.

    Fitted: ``points_`` (points, features): the rows that new ones are compared with; ``basis_``
    (points, rank): what makes features of a kernel with them, None where it is exact;
    ``variance_`` and ``gamma_``: the kernel's hyper-parameters; ``log_marginal_likelihood_``: the
    sum over the problems.
    """

    kernel: str
    gamma: float | None
    variance: float
    hyperparameters: str
    approximation: str
    points: int
    max_gib: float
    seed: int

    OWN: ClassVar[frozenset[str]] = frozenset({"variance", "noise", "tol", "max_iter"})
    # The positive hyper-parameters besides the kernel's.
    _OTHERS: ClassVar[tuple[str, ...]] = ()

    def _exact(self, K: NDArray[np.float64], target: NDArray[Any]) -> Posterior:
        raise NotImplementedError

    def _preparation(self) -> dict[str, Any]:
        maximises = self.hyperparameters == "marginal_likelihood"
        params: dict[str, Any] = (
            self.get_params(deep=False) if maximises else super()._preparation()
        )
        if self.kernel != "rbf":
            del params["gamma"]
        return params

    def _take_hyperparameters(self) -> None:
        """Set the fitted ones that are given, save ``gamma_``."""
        for name in ("variance", *self._OTHERS):
            setattr(self, f"{name}_", float(getattr(self, name)))

    def _kernel(
        self, X: Matrix, targets: Sequence[NDArray[Any]], codes: NDArray[np.intp]
    ) -> _Kernel | None:
        """Return the kernel of the rows, None without a target, and set what is fitted of it."""
        chosen = self._chosen_rows(X, codes)
        projects = self.approximation == "nystroem" and len(chosen) < X.shape[0]
        self._refuse_large(X.shape[0] if projects else len(chosen), len(chosen), len(targets))
        self.points_, self.basis_ = X[chosen], None
        self.gamma_ = scale_gamma(X) if self.gamma is None else float(self.gamma)
        self._take_hyperparameters()
        if not targets:
            return None
        if self.hyperparameters == "marginal_likelihood":
            self._maximise([target[chosen] for target in targets])
        K = self._kernel_between(self.points_, self.points_)
        if not projects:
            return _Kernel(chosen, K, None)
        self.basis_ = nystroem_basis(K)
        return _Kernel(chosen, self._kernel_between(X, self.points_) @ self.basis_, self.basis_)

    def _take_posteriors(self, posteriors: Sequence[Posterior]) -> None:
        self.log_marginal_likelihood_ = sum(
            posterior.log_marginal_likelihood for posterior in posteriors
        )

    def _chosen_rows(self, X: Matrix, codes: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the sorted numbers of the points: all rows, or of each code its share, rounded up.

        Neither what the codes are nor the order of the rows matters: only their content and the
        seed. Coordinates of an SVD differ in their last bits between processors, so rows are told
        apart by them only where they are otherwise equal.
        """
        n = len(codes)
        if self.approximation == "exact" or n <= self.points:
            return np.arange(n)
        shuffled = np.lexsort((row_keys(X, self.seed), row_keys(coarse(X), self.seed)))
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
            K = self.variance_ * self._kernel_between(self.points_, self.points_)
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

    @classmethod
    def _latents(
        cls, group: Sequence[Self], X: Matrix, posteriors: Sequence[Sequence[Posterior]]
    ) -> list[list[tuple[NDArray[np.float64], NDArray[np.float64]]]]:
        """Return the mean and variance at each row, each of shape (n,), for every posterior.

        Each of the group has its sequence of posteriors; their kernels differ by the variance.
        """
        lead = group[0]
        parts: list[list[list[Any]]] = [[[] for _ in own] for own in posteriors]
        for block in blocks_of_rows(X, lead.points_.shape[0]):
            inputs = lead._kernel_between(lead.points_, block)
            if lead.basis_ is not None:
                inputs = lead.basis_.T @ inputs
            own = squared_norms(block) if lead.kernel == "linear" else np.ones(block.shape[0])
            for one, ones_posteriors, ones_parts in zip(group, posteriors, parts, strict=True):
                factor = one.variance_ if lead.basis_ is None else np.sqrt(one.variance_)
                scaled = factor * inputs
                for posterior, part in zip(ones_posteriors, ones_parts, strict=True):
                    part.append(posterior.latent(scaled, one.variance_ * own))
        return [
            [
                (np.concatenate([mean for mean, _ in part]), np.concatenate([v for _, v in part]))
                for part in ones_parts
            ]
            for ones_parts in parts
        ]

    def _kernel_between(self, A: Matrix, B: Matrix) -> NDArray[np.float64]:
        """Return the kernel at variance 1."""
        return linear_kernel(A, B) if self.kernel == "linear" else rbf_kernel(A, B, self.gamma_)

    def _refuse_large(self, n: int, points: int, problems: int) -> None:
        # The kernel at variance 1 and its own, two for the work of a step, and one factor for each
        # problem; beside them, for projected rows, their kernel or scaled features, their features
        # at variance 1 and at its own.
        size = (4 + problems) * nbytes(points, points)
        what = f"{4 + problems} kernel-sized matrices of {points} documents"
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
        The positive class of two: named, it wins a tie of equally frequent classes. Without
        effect for more than two classes.
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

    @classmethod
    def _outputs_of(cls, group: Sequence[Self], X: Matrix) -> list[NDArray[np.float64]]:
        results = []
        latents = cls._latents(group, X, [one.posteriors_ for one in group])
        for one, own in zip(group, latents, strict=True):
            rows = [mean / np.sqrt(1 + np.pi / 8 * variance) for mean, variance in own]
            scores = one._oriented(rows, width=X.shape[0])
            results.append(scores[0] if len(one.classes_) <= 2 else np.ascontiguousarray(scores.T))
        return results

    def _prepare(self, X: Matrix, y: ArrayLike) -> tuple[_Kernel | None, list[NDArray[np.bool_]]]:
        X, codes = self._training_data(X, y)
        targets = self._one_against_rest(codes)
        return self._kernel(X, targets, codes), targets

    def _complete(self, prepared: tuple[_Kernel | None, list[NDArray[np.bool_]]]) -> None:
        kernel, targets = prepared
        if self.hyperparameters == "fixed":
            self._take_hyperparameters()
        self.posteriors_: list[Posterior] = []
        if kernel is not None and kernel.basis is None:
            K = self.variance_ * kernel.values
            self.posteriors_ = [self._exact(K, target[kernel.chosen]) for target in targets]
        elif kernel is not None:
            F = np.sqrt(self.variance_) * kernel.values
            self.posteriors_ = [
                projected_classification(F, target, self.tol, self.max_iter) for target in targets
            ]
        self._take_posteriors(self.posteriors_)
        self.n_iter_ = max((posterior.n_iter for posterior in self.posteriors_), default=0)
        self.converged_ = all(posterior.converged for posterior in self.posteriors_)

    def _exact(self, K: NDArray[np.float64], target: NDArray[Any]) -> Posterior:
        return exact_classification(K, target, self.tol, self.max_iter)


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
        return self.outputs_of([self], X)[0]

    def predict_variance(self, X: Matrix, *, noisy: bool = False) -> NDArray[np.float64]:
        """Return the variance of the latent function at each row, shape (n,).

        With ``noisy`` that of a rating: the noise's variance is added.
        """
        (((_, variance),),) = self._latents([self], self._new_data(X), [[self.posterior_]])
        return variance + self.noise_ if noisy else variance

    @classmethod
    def _outputs_of(cls, group: Sequence[Self], X: Matrix) -> list[NDArray[np.float64]]:
        latents = cls._latents(group, X, [[one.posterior_] for one in group])
        return [one.mean_ + mean for one, ((mean, _),) in zip(group, latents, strict=True)]

    def _prepare(
        self, X: Matrix, y: ArrayLike
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | NormalEquations:
        X, target = self._fit_data(X, y, numeric=True)
        target = np.asarray(target, dtype=np.float64)
        self.mean_ = float(target.mean())
        centred = target - self.mean_
        kernel = self._kernel(X, [centred], np.zeros(len(target), dtype=np.intp))
        assert kernel is not None
        if kernel.basis is None:
            return kernel.values, centred[kernel.chosen]
        return NormalEquations.of(kernel.values, centred)

    def _complete(
        self, prepared: tuple[NDArray[np.float64], NDArray[np.float64]] | NormalEquations
    ) -> None:
        if self.hyperparameters == "fixed":
            self._take_hyperparameters()
        self.posterior_: Posterior
        if isinstance(prepared, NormalEquations):
            self.posterior_ = projected_regression(prepared.scaled(self.variance_), self.noise_)
        else:
            K, target = prepared
            self.posterior_ = self._exact(self.variance_ * K, target)
        self._take_posteriors([self.posterior_])

    def _exact(self, K: NDArray[np.float64], target: NDArray[Any]) -> Posterior:
        return exact_regression(K, target, self.noise_)


FAMILIES = (
    MethodFamily(
        name="gp",
        title="GP",
        estimator=GaussianProcessClassifier,
        default_fixed={"kernel": "linear", "variance": 1.0},
        default_grid={"kernel": ("linear", "rbf"), "variance": (0.1, 1.0, 10.0)},
        needs=frozenset(),
        cost="p z for the kernel with p points, then k problems (one for two classes) of n p^2 "
        "per Newton step; memory 24 n p bytes and 8 (4 + k) p^2; exact with p = n",
        citation=GPML,
        rate=Rate("points", 240.0),
        stored=("points_", "variance_", "gamma_"),
        by_feature=frozenset({"points_"}),
    ),
    MethodFamily(
        name="gpr",
        title="GP regression",
        estimator=GaussianProcessRegressor,
        default_fixed={"kernel": "linear", "variance": 1.0, "noise": 1.0},
        default_grid={"variance": (0.01, 0.1, 1.0), "noise": (0.1, 1.0, 10.0)},
        needs=frozenset({"numeric_target"}),
        cost="p z for the kernel with p points, then n p^2; memory 24 n p bytes and 40 p^2; "
        "exact with p = n",
        citation=GPML,
        rate=Rate("points", 240.0),
        stored=("points_", "variance_", "gamma_", "mean_", "noise_"),
        by_feature=frozenset({"points_"}),
    ),
)
