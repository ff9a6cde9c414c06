"""Gaussian class models: naive Bayes, and discriminant analysis with full covariances."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from sklearn.utils.validation import check_is_fitted

from textbaselines.models.classifier import GenerativeClassifier
from textbaselines.models.matrices import Matrix
from textbaselines.models.parameters import Choice, Number, Parameter


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
        columns = [self._log_density(X, code) for code in range(len(self.classes_))]
        return np.asarray(np.column_stack(columns) + self.class_log_prior_)

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Return log-odds, shape (n,), for up to two classes, otherwise the joint logs."""
        check_is_fitted(self)
        if len(self.classes_) == 1:
            return np.zeros(self._new_data(X).shape[0])
        joint = self.joint_log_likelihood(X)
        return np.asarray(joint[:, 1] - joint[:, 0]) if len(self.classes_) == 2 else joint

    def _prepare(self, X: Matrix, y: ArrayLike) -> tuple[Any, Matrix, NDArray[np.intp]]:
        X, codes = self._training_data(X, y)
        return self.classes_, X, codes

    def _complete(self, prepared: tuple[Any, Matrix, NDArray[np.intp]]) -> None:
        self.classes_, X, codes = prepared
        count = np.bincount(codes, minlength=len(self.classes_))
        self.class_log_prior_ = np.log(count) - np.log(count.sum())
        self.means_ = np.array([X[codes == c].mean(axis=0) for c in range(len(self.classes_))])
        self._spread(X, codes)

    def _spread(self, X: NDArray[np.float64], codes: NDArray[np.intp]) -> None:
        """Learn the variances or covariances."""
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
        The class that a score of zero speaks against; by default ``classes_[1]``. Without effect
        for more than two classes.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        "var_smoothing": Number("share of the largest variance added to all", low=0),
    }
    OWN: ClassVar[frozenset[str]] = frozenset({"var_smoothing"})

    def __init__(self, var_smoothing: float = 1e-9, positive: Any = None) -> None:
        self.var_smoothing = var_smoothing
        self.positive = positive

    def _spread(self, X: NDArray[np.float64], codes: NDArray[np.intp]) -> None:
        if len(self.classes_) == 1:
            self.variances_ = np.zeros((0, X.shape[1]))
            return
        variances = np.array([X[codes == c].var(axis=0) for c in range(len(self.classes_))])
        variances += self.var_smoothing * X.var(axis=0).max()
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
        The class that a score of zero speaks against; by default ``classes_[1]``. Without effect
        for more than two classes.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        "covariance": Choice("which classes share a covariance", ("shared", "per_class")),
        "shrinkage": Number("share of the mean variance", low=0, high=1),
    }
    OWN: ClassVar[frozenset[str]] = frozenset({"covariance", "shrinkage"})

    def __init__(
        self, covariance: str = "shared", shrinkage: float = 0.1, positive: Any = None
    ) -> None:
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.positive = positive

    def _spread(self, X: NDArray[np.float64], codes: NDArray[np.intp]) -> None:
        if len(self.classes_) == 1:
            self.factors_ = np.zeros((0, X.shape[1], X.shape[1]))
            return
        centred = X - self.means_[codes]
        if self.covariance == "shared":
            groups = [("all classes", centred)]
        else:
            groups = [(repr(str(c)), centred[codes == k]) for k, c in enumerate(self.classes_)]
        self.factors_ = np.array([self._factor(rows, name) for name, rows in groups])

    def _factor(self, centred: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        """Return the lower Cholesky factor of the shrunken covariance."""
        n, m = centred.shape
        covariance = (1 - self.shrinkage) * (centred.T @ centred) / n
        mean_variance = np.mean(centred**2)
        covariance[np.diag_indices(m)] += self.shrinkage * mean_variance
        try:
            factor = np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError:
            factor = np.zeros((m, m))
        # Rounding can let a singular matrix pass the factorisation: its pivots are then noise.
        smallest, largest = factor.diagonal().min(), factor.diagonal().max()
        if smallest <= largest * np.sqrt(10 * max(n, m) * np.finfo(float).eps):
            raise ValueError(
                f"the covariance of {name} ({n} rows, {m} columns) is singular: use a shrinkage "
                f"above {self.shrinkage:g} or fewer columns"
            )
        return np.asarray(factor)

    def _log_density(self, X: NDArray[np.float64], code: int) -> NDArray[np.float64]:
        factor = self.factors_[code if self.covariance == "per_class" else 0]
        whitened = solve_triangular(factor, (X - self.means_[code]).T, lower=True)
        log_determinant = 2 * np.log(factor.diagonal()).sum()
        return np.asarray(
            -0.5 * (np.sum(whitened**2, axis=0) + log_determinant + X.shape[1] * np.log(2 * np.pi))
        )
