"""What a count becomes: presence, the count itself, or tf-idf fitted on the training documents."""

from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfTransformer


class Weighting(Protocol):
    """Fitted on the training documents' counts, applied to any documents' counts."""

    def fit(self, counts: sp.csr_array) -> "Weighting":
        """Learn from the training documents' counts, shape (n_train, m)."""

    def transform(self, counts: sp.csr_array) -> sp.csr_array:
        """Return weights in float64, shape (n, m)."""


class Binary:
    """1 where the n-gram stands in the document (Wang & Manning 2012, section 2.1)."""

    def fit(self, counts: sp.csr_array) -> "Binary":
        """Learn nothing."""
        return self

    def transform(self, counts: sp.csr_array) -> sp.csr_array:
        """Return 1.0 for each stored count."""
        present = sp.csr_array(
            (np.ones(counts.nnz), counts.indices, counts.indptr), shape=counts.shape
        )
        present.has_canonical_format = counts.has_canonical_format
        return present


class Count:
    """The number of occurrences."""

    def fit(self, counts: sp.csr_array) -> "Count":
        """Learn nothing."""
        return self

    def transform(self, counts: sp.csr_array) -> sp.csr_array:
        """Return the counts as float64."""
        return counts.astype(np.float64)


class TfIdf:
    """tf * idf with idf = ln((1 + n) / (1 + df)) + 1, each document scaled to Euclidean length 1.

    n is the number of training documents and df that of those with the n-gram: scikit-learn's
    smooth idf (user guide, section 6.2.3.4). A document without features stays zero.
    """

    def __init__(self) -> None:
        self._transformer = TfidfTransformer(norm="l2", use_idf=True, smooth_idf=True)

    @classmethod
    def with_idf(cls, idf: NDArray[np.float64]) -> "TfIdf":
        """Return one that was fitted before and has this idf, shape (m,)."""
        weighting = cls()
        weighting._transformer.idf_ = idf
        weighting._transformer.n_features_in_ = len(idf)
        return weighting

    @property
    def idf(self) -> NDArray[np.float64]:
        """The learnt idf of each feature, shape (m,)."""
        return np.asarray(self._transformer.idf_)

    def fit(self, counts: sp.csr_array) -> "TfIdf":
        """Learn idf from the training documents."""
        self._transformer.fit(counts)
        return self

    def transform(self, counts: sp.csr_array) -> sp.csr_array:
        """Return tf-idf weights."""
        return sp.csr_array(self._transformer.transform(counts.astype(np.float64)))


WEIGHTINGS: dict[str, type[Binary] | type[Count] | type[TfIdf]] = {
    "binary": Binary,
    "count": Count,
    "tfidf": TfIdf,
}
