"""Class language models whose words may be translated to words that they occur with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from textbaselines.models.family import MethodFamily, Rate
from textbaselines.models.language_model import ClassLanguageModel
from textbaselines.models.matrices import Matrix, presence
from textbaselines.models.naive_bayes import ClassCounts, count_classes
from textbaselines.models.parameters import Number, Parameter

# Terms whose co-occurrences are counted at a time.
_BLOCK = 500


@dataclass(frozen=True)
class TranslatedCounts(ClassCounts):
    """Class counts, and what the terms are translated to; see :func:`translation_probabilities`."""

    terms: NDArray[np.intp]
    translation: sp.csr_matrix


def frequent_terms(document_frequency: NDArray[np.float64], limit: int) -> NDArray[np.intp]:
    """Return the columns, sorted, of the most frequent terms: at most ``limit`` of them.

    Terms that occur in equally many documents are all taken or all left, so the order of the
    columns does not matter.
    """
    occurring = np.sort(document_frequency[document_frequency > 0])[::-1]
    if len(occurring) <= limit:
        return np.flatnonzero(document_frequency > 0)
    return np.flatnonzero(document_frequency > occurring[limit])


def mutual_information(
    joint: NDArray[np.float64], first: NDArray[np.float64], second: NDArray[np.float64], n: int
) -> NDArray[np.float64]:
    """Return the mutual information of two terms' presence in a document, in nats.

    Parameters
    ----------
    joint, first, second : arrays that broadcast
        The numbers of documents with both terms, with the first and with the second.
    n : int
        The number of documents.
    """
    total = np.zeros(np.broadcast(joint, first, second).shape)
    for count, own, other in (
        (joint, first, second),
        (first - joint, first, n - second),
        (second - joint, n - first, second),
        (n - first - second + joint, n - first, n - second),
    ):
        expected = own * other
        ratio = np.divide(count * n, expected, out=np.zeros_like(total), where=expected > 0)
        total += xlogy(count, ratio)
    return np.asarray(np.maximum(total / n, 0))


def translation_probabilities(B: sp.csr_matrix, neighbours: int) -> sp.csr_matrix:
    """Return P(w | u) in row u and column w, in proportion to the terms' mutual information.

    Karimzadehgan & Zhai (2010), I(w; u) / sum over w' of I(w'; u), over the term u itself and at
    most ``neighbours`` others with the largest I that occur together with u more often than by
    chance. (I alone is as large for terms that avoid each other.) Others with equal I are all taken
    or all left. A term that every document has is translated to itself alone.

    Parameters
    ----------
    B : CSR matrix of shape (documents, terms)
        Of 0 and 1; every column has a 1.
    """
    n, size = B.shape
    frequency = np.asarray(B.sum(axis=0)).ravel()
    columns = B.tocsc()
    rows, targets, shares = [], [], []
    for start in range(0, size, _BLOCK):
        together = sp.csr_matrix(columns[:, start : start + _BLOCK].T @ B)
        for offset in range(together.shape[0]):
            u = start + offset
            span = slice(together.indptr[offset], together.indptr[offset + 1])
            others, joint = together.indices[span], together.data[span]
            # Co-occurrence above what independence gives; the term itself is seen to below.
            above = (joint * n > frequency[u] * frequency[others]) & (others != u)
            others, joint = others[above], joint[above]
            information = mutual_information(joint, frequency[u], frequency[others], n)
            if len(others) > neighbours:
                largest = np.sort(information)[::-1]
                kept = information > largest[neighbours]
                others, information = others[kept], information[kept]
            own = mutual_information(frequency[u], frequency[u], frequency[u], n)
            weights = np.append(information, own)
            total = weights.sum()
            rows.append(np.full(len(weights), u))
            targets.append(np.append(others, u))
            shares.append(weights / total if total > 0 else np.append(0 * information, 1.0))
    if not rows:
        return sp.csr_matrix((0, 0))
    place = (np.concatenate(rows), np.concatenate(targets))
    return sp.csr_matrix((np.concatenate(shares), place), shape=(size, size))


class TranslationLanguageModel(ClassLanguageModel):
    """Query likelihood with a translation model (Karimzadehgan & Zhai 2010).

    As :class:`ClassLanguageModel`, save that a class speaks of its terms through others: its
    counts are

        count'(c, w) = sum over u of count(c, u) P_t(w | u),

    P_t(u | u) = self_translation + (1 - self_translation) P(u | u) and else P_t(w | u) =
    (1 - self_translation) P(w | u), P from the mutual information of the training documents' terms
    (:func:`translation_probabilities`). The collection's model is not translated. Each class's
    model sums to one over the training vocabulary.

    Only the ``max_terms`` terms in most training documents translate, and are translated to;
    others stand for themselves.

    Fitted: what :class:`ClassLanguageModel` has, with ``terms_`` (terms,): the columns that
    translate, and ``translation_`` (terms, terms): the sparse P(w | u), rows summing to one.

    Parameters
    ----------
    smoothing, mixture, mu, delta, class_prior, positive
        As in :class:`ClassLanguageModel`.
    self_translation : float
        In [0, 1]; 1 translates nothing.
    neighbours : int
        The limit of other terms that a term is translated to.
    max_terms : int
        The limit of terms that translate.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        **ClassLanguageModel.PARAMETERS,
        "self_translation": Number("share of terms that stand for themselves", low=0, high=1),
        "neighbours": Number("limit of translations of a term", low=1, integer=True),
        "max_terms": Number("limit of terms that translate", low=1, integer=True),
    }
    OWN: ClassVar[frozenset[str]] = ClassLanguageModel.OWN | {"self_translation"}

    def __init__(
        self,
        smoothing: str = "jelinek_mercer",
        mixture: float = 0.7,
        mu: float = 2000.0,
        delta: float = 0.7,
        class_prior: str | Sequence[float] = "learned",
        self_translation: float = 0.5,
        neighbours: int = 10,
        max_terms: int = 5000,
        positive: Any = None,
    ) -> None:
        super().__init__(smoothing, mixture, mu, delta, class_prior, positive)
        self.self_translation = self_translation
        self.neighbours = neighbours
        self.max_terms = max_terms

    def fit_counts(self, counts: ClassCounts) -> NoReturn:
        """Raise :class:`TypeError`: class counts do not tell which terms occur together."""
        raise TypeError(f"{type(self).__name__} learns from documents: call fit, not fit_counts")

    def _prepare(self, X: Matrix, y: ArrayLike) -> TranslatedCounts:
        X, codes = self._training_data(X, y)
        counts = count_classes(X, codes, self.classes_)
        B = presence(sp.csr_matrix(X))
        terms = frequent_terms(np.asarray(B.sum(axis=0)).ravel(), self.max_terms)
        return TranslatedCounts(
            counts.classes,
            counts.feature_count,
            counts.class_count,
            terms,
            translation_probabilities(B[:, terms], self.neighbours),
        )

    def _complete(self, prepared: ClassCounts) -> None:
        assert isinstance(prepared, TranslatedCounts)
        self.terms_, self.translation_ = prepared.terms, prepared.translation
        super()._complete(prepared)

    def _modelled_counts(self, counts: ClassCounts) -> NDArray[np.float64]:
        # Terms that translate are frequent, so all of them are known.
        places = np.searchsorted(counts.columns, self.terms_)
        modelled = counts.known.copy()
        own = modelled[:, places]
        translated = np.asarray((self.translation_.T @ own.T).T)
        modelled[:, places] = self.self_translation * own + (1 - self.self_translation) * translated
        return modelled


FAMILIES = (
    MethodFamily(
        name="tlm",
        title="TLM",
        estimator=TranslationLanguageModel,
        default_fixed={"smoothing": "jelinek_mercer", "mixture": 0.7, "self_translation": 0.5},
        default_grid={"mixture": (0.3, 0.5, 0.7), "self_translation": (0.1, 0.5, 0.9)},
        needs=frozenset({"non_negative"}),
        cost="the squared numbers of frequent terms of each document, once for the grid; then "
        "as lm",
        citation="Karimzadehgan, M. and Zhai, C. (2010). Estimation of Statistical Translation "
        "Models Based on Mutual Information for Ad Hoc Information Retrieval. SIGIR, 323-330.",
        rate=Rate("terms", 1.25),
    ),
)
