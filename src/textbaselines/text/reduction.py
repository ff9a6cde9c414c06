"""Dense coordinates of few dimensions for methods that cannot take sparse features."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


class SVD:
    """Truncated singular value decomposition of the training documents (LSA).

    X is approximated by U S V' of the given rank; a document x becomes x V (Deerwester et al.
    1990, "Indexing by Latent Semantic Analysis"). Exact to machine precision, by ARPACK; features
    are not centred, so the matrix stays sparse.

    Parameters
    ----------
    rank : int
        Number of coordinates; fewer where documents or features are fewer.
    seed : int
        Of ARPACK's first vector.
    """

    def __init__(self, rank: int, seed: int) -> None:
        self.rank = rank
        self.seed = seed

    def fit(self, features: sp.csr_array) -> "SVD":
        """Learn V from the training documents' features, shape (n_train, m)."""
        # Here, for the many jobs that reduce nothing: it takes 0.1 s.
        from sklearn.decomposition import TruncatedSVD

        rank = max(1, min(self.rank, *(size - 1 for size in features.shape)))
        self._svd = TruncatedSVD(rank, algorithm="arpack", random_state=self.seed).fit(features)
        return self

    @property
    def directions(self) -> NDArray[np.float64]:
        """V transposed, shape (rank, m)."""
        return np.asarray(self._svd.components_)

    def transform(self, features: sp.csr_array) -> NDArray[np.float64]:
        """Return coordinates, shape (n, rank)."""
        return np.asarray(self._svd.transform(features), dtype=np.float64)


REDUCTIONS = {"svd": SVD}


def make_reduction(options: Mapping[str, Any], seed: int) -> SVD:
    """Return the unfitted reduction that ``options`` (``kind`` and its own) describe."""
    own = {key: value for key, value in options.items() if key != "kind"}
    return REDUCTIONS[options["kind"]](**own, seed=seed)
