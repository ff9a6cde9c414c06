"""Classes as smoothed unigram language models, documents as queries."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from textbaselines.models.family import MethodFamily, Rate
from textbaselines.models.matrices import Matrix, map_entries
from textbaselines.models.naive_bayes import ClassCounts, NaiveBayes
from textbaselines.models.parameters import Choice, ClassPrior, Number, Parameter


class ClassLanguageModel(NaiveBayes):
    """Query likelihood of a document under each class (Zhai & Lafferty 2004, section 3).

    The score of class c is log P(c) + sum over f of x_f log P(f | c), P smoothed with the
    collection's P(f) = count(f) / total count; n_c is the class's total count:

    - ``"jelinek_mercer"``: (1 - mixture) count(c, f) / n_c + mixture P(f)
    - ``"dirichlet"``: (count(c, f) + mu P(f)) / (n_c + mu)
    - ``"absolute_discounting"``: (max(count(c, f) - delta, 0) + removed(c) P(f)) / n_c, with
      removed(c) the sum over f of min(count(c, f), delta): delta times the number of different
      features, for counts

    Each sums to one over the training vocabulary, and a feature that the collection has is
    possible in every class. Features that no training document has weigh 0. A class of empty
    documents has the collection's model.

    Parameters
    ----------
    smoothing : {"jelinek_mercer", "dirichlet", "absolute_discounting"}
    mixture : float
        The collection's share in Jelinek-Mercer smoothing, in (0, 1].
    mu : float
        Pseudo-counts of Dirichlet smoothing, above 0.
    delta : float
        What absolute discounting takes from each count, in (0, 1].
    class_prior : {"learned", "uniform"} or sequence
        The share of training documents, equal, or probabilities in the order of ``classes_``.
    positive : label, optional
        The positive class of two: named, it wins a tie of equally frequent classes. Without
        effect for more than two classes.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        "smoothing": Choice(
            "how the collection smooths", ("jelinek_mercer", "dirichlet", "absolute_discounting")
        ),
        "mixture": Number("the collection's share", low=0, high=1, low_open=True),
        "mu": Number("pseudo-counts", low=0, low_open=True),
        "delta": Number("discount of each count", low=0, high=1, low_open=True),
        "class_prior": ClassPrior("where the class probabilities come from"),
    }
    OWN: ClassVar[frozenset[str]] = frozenset(PARAMETERS)

    def __init__(
        self,
        smoothing: str = "jelinek_mercer",
        mixture: float = 0.7,
        mu: float = 2000.0,
        delta: float = 0.7,
        class_prior: str | Sequence[float] = "learned",
        positive: Any = None,
    ) -> None:
        self.smoothing = smoothing
        self.mixture = mixture
        self.mu = mu
        self.delta = delta
        self.class_prior = class_prior
        self.positive = positive

    def negative_divergence(self, X: Matrix) -> NDArray[np.float64]:
        """Return -KL(document's model || class's model), shape (n, classes).

        For each document it ranks the classes as the likelihood with equal priors does (Lafferty
        & Zhai 2001): it is that log-likelihood over the length, plus the document's entropy. A
        document without known features has no model of its own: NaN.
        """
        X = self._new_data(X)
        known = X[:, self.in_vocabulary_]
        lengths = np.asarray(known.sum(axis=1)).ravel()
        likelihood = np.asarray(known @ self.feature_log_prob_[:, self.in_vocabulary_].T)
        logs = map_entries(known, lambda counts: xlogy(counts, counts))
        negentropy = np.asarray(logs.sum(axis=1)).ravel()
        safe = np.where(lengths > 0, lengths, np.nan)
        divergence = (negentropy[:, None] - likelihood) / safe[:, None] - np.log(safe)[:, None]
        return np.asarray(-divergence)

    def _modelled_counts(self, counts: ClassCounts) -> NDArray[np.float64]:
        """Return what the smoothing takes for the known features' counts, (classes, known)."""
        return counts.known

    def _class_terms(self, counts: ClassCounts) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        collection = counts.known.sum(axis=0)
        collection /= max(collection.sum(), np.finfo(float).tiny)
        modelled = self._modelled_counts(counts)
        totals = modelled.sum(axis=1, keepdims=True)
        if self.smoothing == "dirichlet":
            probabilities = (modelled + self.mu * collection) / (totals + self.mu)
        else:
            own_total = np.where(totals > 0, totals, 1.0)
            if self.smoothing == "jelinek_mercer":
                own, share = (1 - self.mixture) * modelled / own_total, self.mixture
            else:
                own = np.maximum(modelled - self.delta, 0) / own_total
                removed = np.minimum(modelled, self.delta).sum(axis=1, keepdims=True)
                share = removed / own_total
            probabilities = own + np.where(totals > 0, share, 1.0) * collection
        np.log(probabilities, out=probabilities)
        self.feature_log_prob_ = counts.widened(probabilities)
        return self.feature_log_prob_, np.zeros(len(self.classes_))


FAMILIES = (
    MethodFamily(
        name="lm",
        title="LM",
        estimator=ClassLanguageModel,
        default_fixed={"smoothing": "jelinek_mercer", "mixture": 0.7},
        default_grid={"mixture": (0.1, 0.3, 0.5, 0.7, 0.9)},
        needs=frozenset({"non_negative"}),
        cost="one pass over z, then k m logarithms",
        citation="Zhai, C. and Lafferty, J. (2004). A Study of Smoothing Methods for Language "
        "Models Applied to Information Retrieval. ACM TOIS 22(2), 179-214.",
        rate=Rate("terms", 0.0021),
    ),
)
