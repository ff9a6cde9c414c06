"""Gaussian class models: naive Bayes, and discriminant analysis with full covariances."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular

from textbaselines.models.classifier import GenerativeClassifier
from textbaselines.models.family import ESL, MethodFamily, Rate
from textbaselines.models.matrices import Matrix
from textbaselines.models.parameters import Choice, Number, Parameter


@dataclass(frozen=True)
class _Moments:
    """Classes, the logs of their shares, their means and, of two or more, their spreads."""

    classes: NDArray[Any]
    log_prior: NDArray[np.float64]
    means: NDArray[np.float64]
    spreads: Any


@dataclass(frozen=True)
class _Scatter:
    """The products of centred rows, summed, shape (columns, columns), and the mean of squares."""

    products: NDArray[np.float64]
    mean_variance: float
    rows: int
    name: str

    @classmethod
    def of(cls, centred: NDArray[np.float64], name: str) -> "_Scatter":
        return cls(centred.T @ centred, float(np.mean(centred**2)), len(centred), name)


class GaussianClassifier(GenerativeClassifier):
    """Classes as Gaussians: log P(c) + log N(x; mean, covariance), for dense input.

    Fitted: ``classes_``, ``class_log_prior_`` (classes,): the share of training documents,
    ``means_`` (classes, features).
    """

    SPARSE: ClassVar[bool] = False

    def joint_log_likelihood(self, X: Matrix) -> NDArray[np.float64]:
        """Return log P(class) + log P(row | class), shape (n, classes).

        Raises
        ------
        ValueError
            When the model was trained on one class, of which it learns no density.
        """
        X = self._new_data(X)
        if len(self.classes_) == 1:
            raise ValueError(
                f"{type(self).__name__} was trained on one class, "
                f"{str(self.classes_[0])!r}, and has no densities: train on two or more"
            )
        return self._joint(X)

    @classmethod
    def _outputs_of(cls, group: Sequence[Self], X: Matrix) -> list[NDArray[np.float64]]:
        if len(group[0].classes_) == 1:
            return [np.zeros(X.shape[0]) for _ in group]
        joints = [one._joint(X) for one in group]
        if len(group[0].classes_) == 2:
            return [np.asarray(joint[:, 1] - joint[:, 0]) for joint in joints]
        return joints

    def _joint(self, X: Matrix) -> NDArray[np.float64]:
        columns = [self._log_density(X, code) for code in range(len(self.classes_))]
        return np.asarray(np.column_stack(columns) + self.class_log_prior_)

    def _prepare(self, X: Matrix, y: ArrayLike) -> _Moments:
        X, codes = self._training_data(X, y)
        count = np.bincount(codes, minlength=len(self.classes_))
        means = np.array([X[codes == c].mean(axis=0) for c in range(len(self.classes_))])
        prior = np.log(count) - np.log(count.sum())
        spreads = self._spreads(X, codes, means) if len(self.classes_) > 1 else None
        return _Moments(self.classes_, prior, means, spreads)

    def _complete(self, prepared: _Moments) -> None:
        self.classes_ = prepared.classes
        self.class_log_prior_, self.means_ = prepared.log_prior, prepared.means
        self._smooth(prepared.spreads)

    def _spreads(
        self, X: NDArray[np.float64], codes: NDArray[np.intp], means: NDArray[np.float64]
    ) -> Any:
        """Return the variances or covariances, before they are smoothed."""
        raise NotImplementedError

    def _smooth(self, spreads: Any) -> None:
        """Set what the densities are worked out from; ``spreads`` is None for one class."""
        raise NotImplementedError

    def _log_density(self, X: NDArray[np.float64], code: int) -> NDArray[np.float64]:
        raise NotImplementedError


class GaussianNB(GaussianClassifier):
    """Gaussian naive Bayes: every column normal given the class, independent of the others.

    The variances are maximum-likelihood (divided by n), plus ``var_smoothing`` times the largest
    variance of any column, as in scikit-learn.

    Parameters
    ----------
    var_smoothing : float
        At least 0; with 0 a column that is constant within a class is refused at fitting.
    positive : label, optional
        The positive class of two: named, it wins a tie of equally frequent classes. Without
        effect for more than two classes.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        "var_smoothing": Number("share of the largest variance added to all", low=0),
    }
    OWN: ClassVar[frozenset[str]] = frozenset({"var_smoothing"})

    def __init__(self, var_smoothing: float = 1e-9, positive: Any = None) -> None:
        self.var_smoothing = var_smoothing
        self.positive = positive

    def _spreads(
        self, X: NDArray[np.float64], codes: NDArray[np.intp], means: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], float]:
        variances = [X[codes == c].var(axis=0) for c in range(len(self.classes_))]
        return np.array(variances), float(X.var(axis=0).max())

    def _smooth(self, spreads: tuple[NDArray[np.float64], float] | None) -> None:
        if spreads is None:
            self.variances_ = np.zeros((0, self.means_.shape[1]))
            return
        variances, largest = spreads
        variances = variances + self.var_smoothing * largest
        if not np.all(variances > 0):
            code, column = np.argwhere(variances <= 0)[0]
            raise ValueError(
                f"column {column} is constant in class {str(self.classes_[code])!r}: use a "
                "var_smoothing above 0 or drop the column"
            )
        self.variances_ = variances

    def _log_density(self, X: NDArray[np.float64], code: int) -> NDArray[np.float64]:
        variance = self.variances_[code]
        squares = (X - self.means_[code]) ** 2 / variance
        return np.asarray(-0.5 * (squares + np.log(2 * np.pi * variance)).sum(axis=1))


class GaussianDiscriminantAnalysis(GaussianClassifier):
    """Gaussian discriminant analysis, linear or quadratic (Hastie et al. 2009, section 4.3).

    ``covariance="shared"``: one covariance, the mean over all rows of (x - own class's mean)
    squared, which makes the scores linear in x. ``"per_class"``: one for each class. Both are
    maximum-likelihood. With ``shrinkage`` s the covariance is (1 - s) S + s * (trace S / m) I.

    Parameters
    ----------
    covariance : {"shared", "per_class"}
    shrinkage : float
        In [0, 1]. With 0 a singular covariance (as when there are more columns than rows) is
        refused at fitting.
    positive : label, optional
        The positive class of two: named, it wins a tie of equally frequent classes. Without
        effect for more than two classes.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        "covariance": Choice("which classes share a covariance", ("shared", "per_class")),
        "shrinkage": Number("share of the mean variance", low=0, high=1),
    }
    OWN: ClassVar[frozenset[str]] = frozenset({"shrinkage"})

    def __init__(
        self, covariance: str = "shared", shrinkage: float = 0.1, positive: Any = None
    ) -> None:
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.positive = positive

    def _spreads(
        self, X: NDArray[np.float64], codes: NDArray[np.intp], means: NDArray[np.float64]
    ) -> list[_Scatter]:
        centred = X - means[codes]
        if self.covariance == "shared":
            return [_Scatter.of(centred, "all classes")]
        return [
            _Scatter.of(centred[codes == code], repr(str(label)))
            for code, label in enumerate(self.classes_)
        ]

    def _smooth(self, spreads: list[_Scatter] | None) -> None:
        m = self.means_.shape[1]
        self.factors_ = np.array([self._factor(one) for one in spreads or ()]).reshape(-1, m, m)

    def _factor(self, scatter: _Scatter) -> NDArray[np.float64]:
        """Return the lower Cholesky factor of the shrunken covariance."""
        n, m = scatter.rows, len(scatter.products)
        covariance = (1 - self.shrinkage) * scatter.products / n
        covariance[np.diag_indices(m)] += self.shrinkage * scatter.mean_variance
        try:
            factor = np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError:
            factor = np.zeros((m, m))
        # Rounding can let a singular matrix pass the factorisation: its pivots are then noise.
        smallest, largest = factor.diagonal().min(), factor.diagonal().max()
        if smallest <= largest * np.sqrt(10 * max(n, m) * np.finfo(float).eps):
            raise ValueError(
                f"the covariance of {scatter.name} ({n} rows, {m} columns) is singular: use a "
                f"shrinkage above {self.shrinkage:g} or fewer columns"
            )
        return np.asarray(factor)

    def _log_density(self, X: NDArray[np.float64], code: int) -> NDArray[np.float64]:
        factor = self.factors_[code if self.covariance == "per_class" else 0]
        whitened = solve_triangular(factor, (X - self.means_[code]).T, lower=True)
        log_determinant = 2 * np.log(factor.diagonal()).sum()
        return np.asarray(
            -0.5 * (np.sum(whitened**2, axis=0) + log_determinant + X.shape[1] * np.log(2 * np.pi))
        )


FAMILIES = (
    MethodFamily(
        name="gnb",
        title="GaussNB",
        estimator=GaussianNB,
        default_fixed={"var_smoothing": 1e-9},
        default_grid={"var_smoothing": (1e-9, 1e-6, 1e-3, 1e-1)},
        needs=frozenset({"dense"}),
        cost="two passes over the n m values",
        citation=ESL,
        rate=Rate("documents", 0.72),
        stored=("class_log_prior_", "means_", "variances_"),
        by_feature=frozenset({"means_"}),
    ),
    MethodFamily(
        name="gda",
        title="GDA",
        estimator=GaussianDiscriminantAnalysis,
        default_fixed={"covariance": "shared", "shrinkage": 0.1},
        default_grid={
            "covariance": ("shared", "per_class"),
            "shrinkage": (0.01, 0.1, 0.5, 1.0),
        },
        needs=frozenset({"dense"}),
        cost="n m^2 products, and m^3 for each covariance",
        citation=ESL,
        rate=Rate("documents", 0.76),
        stored=("class_log_prior_", "means_", "factors_"),
        by_feature=frozenset({"means_"}),
    ),
)
