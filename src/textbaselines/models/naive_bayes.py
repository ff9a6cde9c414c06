"""Multinomial and Bernoulli naive Bayes, with weight 0 for features no training document has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from textbaselines.models.classifier import GenerativeClassifier, LinearClassifier
from textbaselines.models.family import MRS, WANG_MANNING, MethodFamily, Rate
from textbaselines.models.log_count_ratio import logs_of_known
from textbaselines.models.matrices import Matrix, class_sums, presence
from textbaselines.models.parameters import Choice, ClassPrior, Number, Parameter


@dataclass(frozen=True)
class ClassCounts:
    """All that naive Bayes learns from a training set.

    ``classes`` has the shape (classes,), ``feature_count`` (classes, features): the sum of each
    class's rows, and ``class_count`` (classes,): its number of documents.
    """

    classes: NDArray[Any]
    feature_count: NDArray[np.float64]
    class_count: NDArray[np.float64]

    @cached_property
    def in_vocabulary(self) -> NDArray[np.bool_]:
        """Which features some training document has, shape (features,)."""
        return np.asarray(self.feature_count.sum(axis=0) > 0)

    @cached_property
    def columns(self) -> NDArray[np.intp]:
        """The columns of the features that some training document has."""
        return np.flatnonzero(self.in_vocabulary)

    @cached_property
    def known(self) -> NDArray[np.float64]:
        """``feature_count`` of :attr:`columns` alone."""
        if len(self.columns) == self.feature_count.shape[1]:
            return self.feature_count
        return self.feature_count[:, self.columns]

    def widened(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values of the known features, shape (classes, known), with 0 for the others."""
        if len(self.columns) == self.feature_count.shape[1]:
            return values
        wide = np.zeros((len(values), self.feature_count.shape[1]))
        wide[:, self.columns] = values
        return wide


def count_classes(X: Matrix, codes: NDArray[np.intp], classes: NDArray[Any]) -> ClassCounts:
    """Return the class counts of rows with the class codes 0 to len(classes) - 1."""
    return ClassCounts(
        classes=classes,
        feature_count=class_sums(X, codes, len(classes)),
        class_count=np.bincount(codes, minlength=len(classes)).astype(np.float64),
    )


class NaiveBayes(LinearClassifier, GenerativeClassifier):
    """What the naive Bayes models share: class counts, the prior and the joint log-likelihood.

    Fitted: ``classes_``, ``class_count_``, ``feature_count_``, ``class_log_prior_`` (classes,),
    ``feature_log_prob_`` (classes, features), ``in_vocabulary_`` (features,), ``coef_``,
    ``intercept_``.
    """

    NON_NEGATIVE: ClassVar[bool] = True

    alpha: float
    class_prior: str | Sequence[float]

    def fit_counts(self, counts: ClassCounts) -> "NaiveBayes":
        """Train from class counts alone, for instance those of all documents less one fold's.

        A class without documents must be left out of the counts.
        """
        self._check_parameters()
        self.n_features_in_ = counts.feature_count.shape[1]
        self._complete(counts)
        return self

    def joint_log_likelihood(self, X: Matrix) -> NDArray[np.float64]:
        """Return log P(class) + log P(row | class), shape (n, classes)."""
        return self._joint(self._new_data(X))

    def log_evidence(self, X: Matrix) -> NDArray[np.float64]:
        """Return log P(row), shape (n,); NaN for a row without a feature that the model knows.

        Unknown features are left out: the model has no probability for them, and a row of them
        alone would have P = 1, the largest of all. :meth:`unknown_counts` says how much of each row
        that is; where documents are compared by log P, a representation with an UNK feature gives
        unknown words a probability.
        """
        X = self._new_data(X)
        evidence = np.asarray(logsumexp(self._joint(X), axis=1))
        evidence[np.asarray(X @ self.in_vocabulary_.astype(np.float64)) == 0] = np.nan
        return evidence

    def unknown_counts(self, X: Matrix) -> NDArray[np.float64]:
        """Return each row's sum over the features that no training document has, shape (n,)."""
        return np.asarray(self._new_data(X) @ (~self.in_vocabulary_).astype(np.float64))

    def _joint(self, X: Matrix) -> NDArray[np.float64]:
        return np.asarray(X @ self._class_weights.T + self._class_offsets)

    def _prepare(self, X: Matrix, y: ArrayLike) -> ClassCounts:
        X, codes = self._training_data(X, y)
        return count_classes(X, codes, self.classes_)

    def _complete(self, prepared: ClassCounts) -> None:
        self.classes_ = prepared.classes
        self._positive_code()
        self.feature_count_ = prepared.feature_count
        self.class_count_ = self.class_frequency_ = prepared.class_count
        self.class_log_prior_ = self._log_prior()
        self.in_vocabulary_ = prepared.in_vocabulary
        weights, offsets = self._class_terms(prepared)
        self._class_weights, self._class_offsets = weights, self.class_log_prior_ + offsets
        if len(self.classes_) == 1:
            self.coef_, self.intercept_ = np.zeros((1, weights.shape[1])), np.zeros(1)
        elif len(self.classes_) == 2:
            self.coef_ = weights[1:] - weights[:1]
            self.intercept_ = self._class_offsets[1:] - self._class_offsets[:1]
        else:
            self.coef_, self.intercept_ = self._class_weights, self._class_offsets

    def _log_prior(self) -> NDArray[np.float64]:
        n_classes = len(self.classes_)
        if isinstance(self.class_prior, str):
            if self.class_prior == "uniform":
                return np.full(n_classes, -np.log(n_classes))
            return np.asarray(np.log(self.class_count_) - np.log(self.class_count_.sum()))
        if len(self.class_prior) != n_classes:
            raise ValueError(
                f"{type(self).__name__}: class_prior has {len(self.class_prior)} probabilities, "
                f"the training set {n_classes} classes: {self.classes_.tolist()}"
            )
        return np.log(np.asarray(self.class_prior, dtype=np.float64))

    def _class_terms(self, counts: ClassCounts) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return each class's feature weights (classes, features) and constant (classes,)."""
        raise NotImplementedError


class MultinomialNB(NaiveBayes):
    """Multinomial naive Bayes (Manning, Raghavan & Schuetze 2008, section 13.2).

    log P(c | x) = log P(c) + sum over f of x_f log P(f | c) + const, with
    P(f | c) = (alpha + count(c, f)) / sum over f' of (alpha + count(c, f')), the sum over the
    features that the training documents have. Other features have weight 0. With two classes
    ``decision_function`` is x.r + log(N+ / N-), the MNB of Wang & Manning (2012), section 2.1.

    X is taken as given: for the paper's binarised MNB it holds 0 and 1.

    Parameters
    ----------
    alpha : float
        Smoothing, at least 0. With 0 a probability of zero is refused at fitting.
    class_prior : {"learned", "uniform"} or sequence
        The share of training documents, equal, or probabilities in the order of ``classes_``.
    positive : label, optional
        The positive class of two: named, it wins a tie of equally frequent classes. Without
        effect for more than two classes.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        "alpha": Number("smoothing, added to every count", low=0),
        "class_prior": ClassPrior("where the class probabilities come from"),
    }
    OWN: ClassVar[frozenset[str]] = frozenset({"alpha", "class_prior"})

    def __init__(
        self,
        alpha: float = 1.0,
        class_prior: str | Sequence[float] = "learned",
        positive: Any = None,
    ) -> None:
        self.alpha = alpha
        self.class_prior = class_prior
        self.positive = positive

    def _class_terms(self, counts: ClassCounts) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        logs = logs_of_known(counts.known, self.alpha, counts.columns)
        self.feature_log_prob_ = counts.widened(logs)
        return self.feature_log_prob_, np.zeros(len(self.classes_))


class BernoulliNB(NaiveBayes):
    """Bernoulli naive Bayes: presence and absence of each feature (MRS 2008, section 13.3).

    With phi = (documents of c that have f + alpha) / (documents of c + 2 alpha),
    log P(c | x) = log P(c) + sum over f of (log phi if x_f > 0 else log(1 - phi)) + const.
    Any value above 0 is a presence. ``feature_count_`` holds document counts, and
    ``feature_log_prob_`` is log phi, ``feature_log_absence_`` log(1 - phi); 0 outside the
    vocabulary.

    Parameters
    ----------
    alpha : float
        Smoothing, at least 0. With 0 a phi of 0 or 1 is refused at fitting.
    class_prior : {"learned", "uniform"} or sequence
        The share of training documents, equal, or probabilities in the order of ``classes_``.
    vocabulary : {"train", "columns"}
        The features that count: those of the training documents (the default: a column that only
        other documents have changes nothing), or every column of X. The second smooths unseen
        columns too, and with unequal classes that alone can decide; Wang & Manning's logs did so.
    positive : label, optional
        The positive class of two: named, it wins a tie of equally frequent classes. Without
        effect for more than two classes.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        "alpha": Number("smoothing, added to presences and to absences", low=0),
        "class_prior": ClassPrior("where the class probabilities come from"),
        "vocabulary": Choice("which columns count", ("train", "columns")),
    }
    OWN: ClassVar[frozenset[str]] = frozenset({"alpha", "class_prior", "vocabulary"})

    def __init__(
        self,
        alpha: float = 1.0,
        class_prior: str | Sequence[float] = "learned",
        vocabulary: str = "train",
        positive: Any = None,
    ) -> None:
        self.alpha = alpha
        self.class_prior = class_prior
        self.vocabulary = vocabulary
        self.positive = positive

    def _prepare(self, X: Matrix, y: ArrayLike) -> ClassCounts:
        X, codes = self._training_data(X, y)
        return count_classes(presence(X), codes, self.classes_)

    def _new_data(self, X: Matrix) -> Matrix:
        return presence(super()._new_data(X))

    def _class_terms(self, counts: ClassCounts) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if self.vocabulary == "train":
            inside, columns = counts.known, counts.columns
        else:
            inside, columns = counts.feature_count, np.arange(counts.feature_count.shape[1])
            self.in_vocabulary_ = np.ones(len(columns), dtype=bool)
        present = inside + self.alpha
        absent = (counts.class_count[:, None] - inside) + self.alpha
        if min(present.min(initial=np.inf), absent.min(initial=np.inf)) <= 0:
            bad = np.argwhere((present <= 0) | (absent <= 0))
            raise ValueError(
                f"alpha = {self.alpha:g} leaves {len(bad)} probabilities of 0 or 1 (first: class "
                f"{self.classes_[bad[0][0]]}, column {columns[bad[0][1]]}), whose "
                "log-odds are infinite: use an alpha above 0"
            )
        log_total = np.log(counts.class_count + 2 * self.alpha)[:, None]
        for logs in (present, absent):
            np.log(logs, out=logs)
            logs -= log_total
        if self.vocabulary == "train":
            present, absent = counts.widened(present), counts.widened(absent)
        self.feature_log_prob_, self.feature_log_absence_ = present, absent
        return (
            self.feature_log_prob_ - self.feature_log_absence_,
            self.feature_log_absence_.sum(axis=1),
        )


FAMILIES = (
    MethodFamily(
        name="mnb",
        title="MNB",
        estimator=MultinomialNB,
        default_fixed={"alpha": 1.0},
        default_grid={"alpha": (0.01, 0.1, 0.5, 1.0, 2.0)},
        needs=frozenset({"non_negative"}),
        cost="one pass over z, then k m logarithms",
        citation=WANG_MANNING,
        rate=Rate("terms", 0.0025),
    ),
    MethodFamily(
        name="bnb",
        title="BNB",
        estimator=BernoulliNB,
        default_fixed={"alpha": 1.0},
        default_grid={"alpha": (0.01, 0.1, 0.5, 1.0, 2.0)},
        needs=frozenset({"non_negative"}),
        cost="one pass over z, then 2 k m logarithms",
        citation=MRS,
        rate=Rate("terms", 0.0035),
    ),
)
