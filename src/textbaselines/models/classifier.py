"""What all classifiers share: checked input, the tie rule, constant prediction from one class."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit, log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from textbaselines.models.liblinear import LinearSolution
from textbaselines.models.matrices import Matrix, canonical
from textbaselines.models.parameters import Parameter, parameter_fault


class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn classifier whose fit has a part that grid points may share.

    ``fit`` is ``_complete(_prepare(X, y))``: what ``_prepare`` returns depends on every parameter
    but those in :attr:`OWN`, so points of a grid that differ in these alone are completed from one
    preparation (:func:`textbaselines.models.registry.fit_grid`).

    Scores and ties: with two classes ``decision_function`` has shape (n,) and is oriented to
    ``classes_[1]``, as scikit-learn has it; the class named by the parameter ``positive`` (by
    default ``classes_[1]``) is predicted only when its score is above zero, so a tie is negative.
    With more classes the shape is (n, classes), the largest score wins, the first of equals.

    Trained on one class, every model predicts it always, with a score of 0.
    """

    # The range of each parameter that a study may set.
    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {}
    # Parameters that only ``_complete`` looks at.
    OWN: ClassVar[frozenset[str]] = frozenset()
    # Whether negative values of X are refused.
    NON_NEGATIVE: ClassVar[bool] = False

    classes_: NDArray[Any]
    n_features_in_: int

    def fit(self, X: Matrix, y: ArrayLike) -> Self:
        """Train on X of shape (documents, features) and the class of each document.

        Raises
        ------
        ValueError
            When a parameter is out of its range, or X or y cannot be used (NaN, infinity, a
            negative value where the method forbids it, lengths that differ).
        """
        self._check_parameters()
        self._complete(self._prepare(X, y))
        return self

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Return the scores: shape (n,) for up to two classes, otherwise (n, classes)."""
        raise NotImplementedError

    def predict(self, X: Matrix) -> NDArray[Any]:
        """Return the predicted class of each row, shape (n,)."""
        scores = self.decision_function(X)
        return np.asarray(self.classes_[self._predicted_codes(scores)])

    @staticmethod
    def combination_fault(params: Mapping[str, Any]) -> str | None:
        """Return why parameters that are each allowed do not go together, or None."""
        return None

    def _prepare(self, X: Matrix, y: ArrayLike) -> Any:
        raise NotImplementedError

    def _complete(self, prepared: Any) -> None:
        raise NotImplementedError

    def _check_parameters(self) -> None:
        params = self.get_params(deep=False)
        fault = parameter_fault(self.PARAMETERS, params)
        if fault is not None:
            name, value, allowed = fault
            raise ValueError(f"{type(self).__name__}: {name} must be {allowed}, got {value!r}")
        reason = self.combination_fault(params)
        if reason is not None:
            raise ValueError(f"{type(self).__name__}: {reason}")

    def _training_data(self, X: Matrix, y: ArrayLike) -> tuple[Matrix, NDArray[np.intp]]:
        """Check X and y, set ``classes_``, and return X and the code of each row's class."""
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr" if self.__sklearn_tags__().input_tags.sparse else False,
            dtype=np.float64,
            order="C",
        )
        if self.NON_NEGATIVE:
            check_non_negative(X, type(self).__name__)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._positive_code()
        return canonical(X), codes

    def _new_data(self, X: Matrix) -> Matrix:
        check_is_fitted(self)
        X = validate_data(
            self,
            X,
            reset=False,
            accept_sparse="csr" if self.__sklearn_tags__().input_tags.sparse else False,
            dtype=np.float64,
            order="C",
        )
        if self.NON_NEGATIVE:
            check_non_negative(X, type(self).__name__)
        return canonical(X)

    def _positive_code(self) -> int:
        """Return 0 or 1: which of two classes is the positive one (1 when there are not two)."""
        positive = getattr(self, "positive", None)
        if positive is None or len(self.classes_) != 2:
            return 1
        found = np.flatnonzero(self.classes_ == positive)
        if len(found) == 0:
            raise ValueError(
                f"{type(self).__name__}: positive must be one of the classes "
                f"{self.classes_.tolist()}, got {positive!r}"
            )
        return int(found[0])

    def _predicted_codes(self, scores: NDArray[np.float64]) -> NDArray[np.intp]:
        if len(self.classes_) == 1:
            return np.zeros(len(scores), dtype=np.intp)
        if len(self.classes_) > 2:
            return np.asarray(np.argmax(scores, axis=1))
        if self._positive_code() == 1:
            return (scores > 0).astype(np.intp)
        return (scores >= 0).astype(np.intp)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what input the method takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.NON_NEGATIVE
        # Its accuracy checks shift Gaussian blobs until nothing is negative: no counts at all.
        tags.classifier_tags.poor_score = self.NON_NEGATIVE
        return tags


class LinearClassifier(Classifier):
    """A classifier with the scores ``X @ coef_.T + intercept_``.

    ``coef_`` has the shape (1, features) for up to two classes, oriented to ``classes_[1]`` (zeros
    for one class), otherwise (classes, features); ``intercept_`` (1,) or (classes,).
    """

    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    n_iter_: int
    converged_: bool

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Return the scores: shape (n,) for up to two classes, otherwise (n, classes)."""
        X = self._new_data(X)
        if len(self.classes_) <= 2:
            return np.asarray(X @ self.coef_[0] + self.intercept_[0])
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def _one_against_rest(self, codes: NDArray[np.intp]) -> list[NDArray[np.bool_]]:
        """Return the positive rows of each binary problem: none, one, or one for each class."""
        if len(self.classes_) == 1:
            return []
        if len(self.classes_) == 2:
            return [codes == self._positive_code()]
        return [codes == code for code in range(len(self.classes_))]

    def _oriented(self, rows: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Stack one row per problem of :meth:`_one_against_rest` in the shape of ``coef_``.

        The problem of two classes is that of the positive one, ``coef_`` is ``classes_[1]``'s.
        """
        if not rows:
            return np.zeros((1, self.n_features_in_))
        if len(rows) == 1 and self._positive_code() == 0:
            return -np.vstack(rows)
        return np.vstack(rows)

    def _take_solutions(self, solutions: list[LinearSolution]) -> None:
        """Set the fitted attributes from the solutions of :meth:`_one_against_rest`'s problems."""
        self.coef_ = self._oriented([solution.weights for solution in solutions])
        intercepts = [np.array([solution.intercept]) for solution in solutions]
        self.intercept_ = self._oriented(intercepts)[:, 0]
        self.n_iter_ = max((solution.n_iter for solution in solutions), default=0)
        self.converged_ = all(solution.converged for solution in solutions)


class LogLinearClassifier(LinearClassifier):
    """A linear classifier whose scores are log-odds (two classes) or log-weights (more)."""

    def predict_log_proba(self, X: Matrix) -> NDArray[np.float64]:
        """Return the logarithm of :meth:`predict_proba`, finite for documents of any length."""
        scores = self.decision_function(X)
        if len(self.classes_) == 1:
            return np.zeros((len(scores), 1))
        if len(self.classes_) == 2:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        return np.asarray(log_softmax(scores, axis=1))

    def predict_proba(self, X: Matrix) -> NDArray[np.float64]:
        """Return the class probabilities of each row, shape (n, classes), rows sum to one."""
        return np.exp(self.predict_log_proba(X))
