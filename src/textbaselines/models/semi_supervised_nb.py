"""Multinomial naive Bayes that also learns from documents without a label, by EM."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from textbaselines.models.matrices import Matrix, class_sums
from textbaselines.models.naive_bayes import ClassCounts, MultinomialNB
from textbaselines.models.parameters import ClassPrior, Number, Parameter

# The code of a row without a label.
_NONE = -1


class SemiSupervisedNB(MultinomialNB):
    """Multinomial naive Bayes by EM on labelled and unlabelled documents (Nigam et al. 2000).

    EM with weighted unlabelled documents, which the source calls EM-lambda (Machine Learning 39,
    103-134): the model of the labelled documents gives every unlabelled one its class
    probabilities, these count as ``weight`` documents to train the next model, and so on. Each
    step makes the objective no less:

        sum over labelled x of log P(c, x) + weight * sum over unlabelled x of log P(x)
        + alpha * sum over classes and features of log P(f | c).

    The features are those of all training documents, those of unlabelled ones included when
    ``weight`` is above 0. Class shares are not smoothed, as in :class:`MultinomialNB`, which this
    is without unlabelled documents; the source adds one to each class's count.

    Rows whose y is ``unlabelled`` have no label; scikit-learn's mark is -1. Without a mark every
    row has its label, and -1 is a class like any other.

    Fitted: what :class:`MultinomialNB` has, with expected counts in ``feature_count_`` and
    ``class_count_``; ``objective_`` (n_iter + 1,): its value before the first step and after each;
    ``n_iter_``, ``converged_``.

    Parameters
    ----------
    alpha : float
        Smoothing, above 0.
    class_prior : {"learned", "uniform"} or sequence
        The expected share of training documents, equal, or probabilities in the order of
        ``classes_``.
    weight : float
        What an unlabelled document counts, lambda, in [0, 1]. Less than 1 keeps many unlabelled
        documents from drowning few labelled ones.
    tol : float
        EM stops when the objective grows by less than this share of it.
    max_iter : int
        The limit of steps.
    unlabelled : label, optional
        What y has for a document without a label, for instance -1 or ``""``.
    positive : label, optional
        The positive class of two: named, it wins a tie of equally frequent classes. Without
        effect for more than two classes.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        "alpha": Number("smoothing, added to every count", low=0, low_open=True),
        "class_prior": ClassPrior("where the class probabilities come from"),
        "weight": Number("what an unlabelled document counts", low=0, high=1),
        "tol": Number("stopping tolerance", low=0),
        "max_iter": Number("limit of steps", low=1, integer=True),
    }
    OWN: ClassVar[frozenset[str]] = frozenset()

    def __init__(
        self,
        alpha: float = 1.0,
        class_prior: str | Sequence[float] = "learned",
        weight: float = 1.0,
        tol: float = 1e-6,
        max_iter: int = 100,
        unlabelled: Any = None,
        positive: Any = None,
    ) -> None:
        super().__init__(alpha, class_prior, positive)
        self.weight = weight
        self.tol = tol
        self.max_iter = max_iter
        self.unlabelled = unlabelled

    def _prepare(self, X: Matrix, y: ArrayLike) -> ClassCounts:
        X, codes = self._training_data(X, y)
        labelled = codes >= 0
        own = ClassCounts(
            classes=self.classes_,
            feature_count=class_sums(X[labelled], codes[labelled], len(self.classes_)),
            class_count=np.bincount(codes[labelled]).astype(np.float64),
        )
        others = X[~labelled] if self.weight > 0 else X[:0]
        return self._expectation_maximisation(own, others)

    def _training_data(self, X: Matrix, y: ArrayLike) -> tuple[Matrix, NDArray[np.intp]]:
        """Return X and the code of each row's class, -1 for rows without a label."""
        X, labels = self._fit_data(X, y)
        mark = self.unlabelled
        if labels.dtype.kind in "US" and not isinstance(mark, str) and np.any(labels == str(mark)):
            raise ValueError(
                f"{type(self).__name__}: y holds the text {str(mark)!r}, and unlabelled is "
                f"{mark!r}, which is no text: give unlabelled={str(mark)!r}, or y as an array of "
                "dtype object"
            )
        labelled = np.array([mark is None or one != mark for one in labels.tolist()])
        if not labelled.any():
            raise ValueError(
                f"{type(self).__name__}: every y is {mark!r}, the mark of a document without a "
                "label; at least one document of each class needs its label"
            )
        self._check_labels(labels[labelled])
        known = np.array(labels[labelled].tolist())
        codes = np.full(len(labels), _NONE)
        self.classes_, codes[labelled] = np.unique(known, return_inverse=True)
        if len(self.classes_) == 1 and not labelled.all():
            raise ValueError(
                f"{type(self).__name__}: all labelled documents are of class "
                f"{self.classes_[0]!r}, and y = {mark!r} marks a document without a label: if "
                f"{mark!r} is the other class, name another mark"
            )
        self._positive_code()
        return X, codes

    def _expectation_maximisation(self, own: ClassCounts, X: Matrix) -> ClassCounts:
        """Return the expected counts of the last model, given the counts of labelled documents."""
        inside = own.feature_count.sum(axis=0) + np.asarray(X.sum(axis=0)).ravel() > 0
        X, labelled = X[:, inside], own.feature_count[:, inside]
        counts, documents = labelled, own.class_count
        objective: list[float] = []
        while True:
            self.class_count_ = documents
            prior = self._log_prior()
            logs = np.log(counts + self.alpha)
            logs -= np.log((counts + self.alpha).sum(axis=1, keepdims=True))
            joint = X @ logs.T + prior
            evidence = logsumexp(joint, axis=1, keepdims=True)
            objective.append(
                float(
                    np.sum(labelled * logs)
                    + own.class_count @ prior
                    + self.weight * evidence.sum()
                    + self.alpha * logs.sum()
                )
            )
            if len(objective) > 1:
                gained = objective[-1] - objective[-2]
                self.converged_ = gained <= self.tol * abs(objective[-1])
                if self.converged_ or len(objective) > self.max_iter:
                    break
            shares = np.exp(joint - evidence)
            counts = labelled + self.weight * np.asarray((X.T @ shares).T)
            documents = own.class_count + self.weight * shares.sum(axis=0)
        self.n_iter_, self.objective_ = len(objective) - 1, np.array(objective)
        expected = np.zeros_like(own.feature_count)
        expected[:, inside] = counts
        return ClassCounts(own.classes, expected, documents)
