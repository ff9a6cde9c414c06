"""What all classifiers share: the tie rule, orientation, and constant prediction from one class."""

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit, log_softmax, logsumexp
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from textbaselines.models.estimator import Estimator
from textbaselines.models.liblinear import BinaryProblems, LinearSolution, solve_linear
from textbaselines.models.matrices import Matrix, int32_indices, products
from textbaselines.models.refusals import label_fault


def tie_order(frequency: NDArray[Any], listed: Sequence[int]) -> list[int]:
    """Return the codes of the classes in the order in which they win ties, shape (classes,).

    The class with the most training documents comes first, as nothing but the classes' frequencies
    speaks for any of them then; equally frequent ones come as they are listed.

    Parameters
    ----------
    frequency : array of shape (classes,)
        The number of training documents of each code.
    listed : sequence of int
        All the codes.
    """
    return sorted(listed, key=lambda code: -frequency[code])


def winners(scores: NDArray[np.float64], order: Sequence[int]) -> NDArray[np.intp]:
    """Return the code of the class with the largest score of each row, shape (n,).

    Parameters
    ----------
    scores : array of shape (n,) or (n, classes)
        Of two classes the first form: code 1 above 0, code 0 below.
    order : sequence of int
        The codes in the order in which they win ties (:func:`tie_order`).
    """
    if len(order) == 1:
        return np.zeros(len(scores), dtype=np.intp)
    if len(order) == 2:
        return np.where(scores == 0, order[0], scores > 0).astype(np.intp)
    codes = np.asarray(order, dtype=np.intp)
    return np.asarray(codes[np.argmax(scores[:, codes], axis=1)])


def favoured(values: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return probabilities, or their logarithms, whose largest of each row is that of its code.

    Scores that differ may have probabilities that round to the same number, and a tie's are equal:
    the predicted class's is then the next larger number, a unit in the last place above.

    Parameters
    ----------
    values : array of shape (n, classes)
        Changed in place.
    codes : array of shape (n,)
        The predicted classes; no other class's value is larger but by rounding.
    """
    rows = np.flatnonzero(np.argmax(values, axis=1) != codes)
    if len(rows):
        values[rows, codes[rows]] = np.nextafter(values[rows].max(axis=1), np.inf)
    return values


class Classifier(ClassifierMixin, Estimator):  # type: ignore[misc]
    """A classifier with scores.

    With two classes ``decision_function`` has shape (n,) and is oriented to ``classes_[1]``, as
    scikit-learn has it: ``classes_[1]`` is predicted above zero and ``classes_[0]`` below. With
    more classes the shape is (n, classes) and the largest score wins.

    A tie (a score of exactly zero, or equal largest scores) goes to the class with the most
    training documents; of equally frequent ones to the class named by the parameter ``positive``,
    or else to the first of ``classes_``. A document without known features ties wherever there is
    neither bias nor prior.

    Trained on one class, every model predicts it always, with a score of 0.

    Fitted: ``classes_``, and ``class_frequency_`` (classes,): the number of training documents of
    each.
    """

    classes_: NDArray[Any]
    class_frequency_: NDArray[Any]

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Return the scores: shape (n,) for up to two classes, otherwise (n, classes)."""
        return self.outputs_of([self], X)[0]

    def predict(self, X: Matrix) -> NDArray[Any]:
        """Return the predicted class of each row, shape (n,)."""
        return self.decide(self.decision_function(X))

    def decide(
        self, scores: NDArray[np.float64], order: Sequence[int] | None = None
    ) -> NDArray[Any]:
        """Return the class of each row by its scores, of ``decision_function``.

        Parameters
        ----------
        scores : array of shape (n,) or (n, classes)
        order : sequence of int, optional
            The positions in ``classes_`` in the order in which they win ties, where another rule
            is wanted.
        """
        return np.asarray(self.classes_[self._winners(scores, order)])

    def _winners(
        self, scores: NDArray[np.float64], order: Sequence[int] | None
    ) -> NDArray[np.intp]:
        if order is None:
            listed = list(range(len(self.classes_)))
            if len(listed) == 2 and getattr(self, "positive", None) is not None:
                listed.sort(key=lambda code: code != self._positive_code())
            order = tie_order(self.class_frequency_, listed)
        return winners(scores, order)

    def _training_data(self, X: Matrix, y: ArrayLike) -> tuple[Matrix, NDArray[np.intp]]:
        """Check X and y, set what is learnt of the classes, and return X and each row's code."""
        X, labels = self._fit_data(X, y)
        self._check_labels(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self.class_frequency_ = np.bincount(codes, minlength=len(self.classes_))
        self._positive_code()
        return X, codes

    def _check_labels(self, labels: NDArray[Any]) -> None:
        """Raise :class:`ValueError` unless each label names a class."""
        if labels.dtype.kind in "iubUS":  # whole numbers and strings do, always
            return
        fault = label_fault(type(self).__name__, labels)
        if fault is not None:
            raise fault
        if labels.dtype == object:
            labels = np.array(labels.tolist())
            if labels.dtype.kind in "iubUS":
                return
        try:
            check_classification_targets(labels)
        except ValueError as error:
            raise ValueError(
                f"{type(self).__name__}: y holds what names no classes, for instance "
                f"{_no_class(labels)!r}. {str(error).split('. ')[0]}: give strings or integers, or "
                "fit a regression to numbers"
            ) from error

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

    def _one_against_rest(self, codes: NDArray[np.intp]) -> list[NDArray[np.bool_]]:
        """Return the positive rows of each binary problem: none, one, or one for each class."""
        if len(self.classes_) == 1:
            return []
        if len(self.classes_) == 2:
            return [codes == self._positive_code()]
        return [codes == code for code in range(len(self.classes_))]

    def _oriented(
        self, rows: list[NDArray[np.float64]], width: int | None = None
    ) -> NDArray[np.float64]:
        """Stack one row per problem of :meth:`_one_against_rest`, as ``coef_`` has them.

        The problem of two classes is that of the positive one, ``coef_`` is ``classes_[1]``'s;
        for one class there is a row of zeros, as long as ``width`` or the number of features.
        """
        if not rows:
            return np.zeros((1, self.n_features_in_ if width is None else width))
        if len(rows) > 1:
            return np.vstack(rows)
        (row,) = rows
        return -row[np.newaxis] if self._positive_code() == 0 else row[np.newaxis]

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what input the method takes."""
        tags = super().__sklearn_tags__()
        # Its accuracy checks shift Gaussian blobs until nothing is negative: no counts at all.
        tags.classifier_tags.poor_score = self.NON_NEGATIVE
        return tags


def _no_class(labels: NDArray[Any]) -> Any:
    """Return the first label that is no whole number."""
    return next(
        (one for one in labels.tolist() if not (isinstance(one, float) and one.is_integer())), None
    )


class LinearClassifier(Classifier):
    """A classifier with the scores ``X @ coef_.T + intercept_``.

    ``coef_`` has the shape (1, features) for up to two classes, oriented to ``classes_[1]`` (zeros
    for one class), otherwise (classes, features); ``intercept_`` (1,) or (classes,).
    """

    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    n_iter_: int
    converged_: bool
    gap_: float

    @classmethod
    def _outputs_of(cls, group: Sequence[Self], X: Matrix) -> list[NDArray[np.float64]]:
        scores = products(X, [one.coef_ for one in group])
        for one, own in zip(group, scores, strict=True):
            own += one.intercept_
        return [
            own[:, 0] if len(one.classes_) <= 2 else own
            for one, own in zip(group, scores, strict=True)
        ]

    @staticmethod
    def _measure_gaps(solutions: list[LinearSolution]) -> None:
        for solution in solutions:
            _ = solution.gap

    def _take_solutions(self, solutions: list[LinearSolution]) -> None:
        """Set the fitted attributes from the solutions of :meth:`_one_against_rest`'s problems."""
        self.coef_ = self._oriented([solution.weights for solution in solutions])
        self._take_reports(solutions)

    def _take_reports(self, solutions: list[LinearSolution]) -> None:
        """Set the same but ``coef_``."""
        intercepts = [np.array([solution.intercept]) for solution in solutions]
        self.intercept_ = self._oriented(intercepts, width=1)[:, 0]
        self.n_iter_ = max((solution.n_iter for solution in solutions), default=0)
        self.converged_ = all(solution.converged for solution in solutions)
        gaps = [solution.gap for solution in solutions]
        self.gap_ = float(np.max(gaps)) if gaps else math.nan


class LiblinearClassifier(LinearClassifier):
    """A linear classifier that is what LIBLINEAR finds, one class against the rest."""

    C: float
    loss: str
    penalty: str = "l2"
    dual: bool
    tol: float
    max_iter: int
    bias: float | None
    seed: int

    def _prepare(self, X: Matrix, y: ArrayLike) -> BinaryProblems:
        X, codes = self._training_data(X, y)
        return BinaryProblems(int32_indices(X), self._one_against_rest(codes))

    def _solve(self, prepared: BinaryProblems) -> list[LinearSolution]:
        names = ("C", "loss", "penalty", "dual", "tol", "max_iter", "bias", "seed")
        options: dict[str, Any] = {name: getattr(self, name) for name in names}
        return [solve_linear(prepared.X, mask, **options) for mask in prepared.masks]

    def _assess(self, solved: list[LinearSolution]) -> None:
        self._measure_gaps(solved)

    def _complete(self, solved: list[LinearSolution]) -> None:
        self._take_solutions(solved)


class ProbabilisticClassifier(Classifier):
    """A classifier whose scores are log-odds (two classes) or log-weights (more)."""

    def predict_log_proba(self, X: Matrix) -> NDArray[np.float64]:
        """Return the logarithm of :meth:`predict_proba`, finite for documents of any length.

        The predicted class has the largest, here too.
        """
        scores = self.decision_function(X)
        return favoured(self._log_probabilities(scores), self._winners(scores, None))

    def predict_proba(self, X: Matrix) -> NDArray[np.float64]:
        """Return the class probabilities of each row, shape (n, classes), rows sum to one.

        The predicted class has the largest, ties included (:func:`favoured`).
        """
        return self.probabilities(self.decision_function(X))

    def probabilities(
        self, scores: NDArray[np.float64], order: Sequence[int] | None = None
    ) -> NDArray[np.float64]:
        """Return the class probabilities of rows with these scores of ``decision_function``.

        ``order`` as in :meth:`decide`, whose classes have the largest probability.
        """
        return favoured(np.exp(self._log_probabilities(scores)), self._winners(scores, order))

    def _log_probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        if len(self.classes_) == 1:
            return np.zeros((len(scores), 1))
        if len(self.classes_) == 2:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        return np.asarray(log_softmax(self._log_weights(scores), axis=1))

    def _log_weights(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the probabilities of more than two classes are in proportion to, in logs."""
        return scores


class GenerativeClassifier(ProbabilisticClassifier):
    """A classifier that models how documents come about: log P(class) + log P(document | class)."""

    def joint_log_likelihood(self, X: Matrix) -> NDArray[np.float64]:
        """Return log P(class) + log P(row | class), shape (n, classes)."""
        raise NotImplementedError

    def log_evidence(self, X: Matrix) -> NDArray[np.float64]:
        """Return log P(row), shape (n,): the log of the sum over the classes of the joint.

        A document that is unlikely for its length is unlike all training documents. What the
        model leaves out of the joint (features that it does not know, the number of orders of the
        words) is left out here too, so a document with few known words must not be taken for a
        usual one.
        """
        return np.asarray(logsumexp(self.joint_log_likelihood(X), axis=1))


class OneAgainstRestProbabilities(ProbabilisticClassifier):
    """Probabilities from scores that are log-odds of each class against the rest.

    Of more than two classes each has the logistic function of its score, divided by their sum. In
    logarithms, so very low scores keep their ratios; the functions of scores above 37 are all 1 in
    float64, and there only the predicted class stands out (:func:`favoured`).
    """

    def _log_weights(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(log_expit(scores))
