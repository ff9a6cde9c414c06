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
        rank = max(1, min(self.rank, *(size - 1 for size in features.shape)))
        self._directions = _right_singular_vectors(features, rank, self.seed)
        return self

    @property
    def directions(self) -> NDArray[np.float64]:
        """V transposed, shape (rank, m)."""
        return self._directions

    def transform(self, features: sp.csr_array) -> NDArray[np.float64]:
        """Return coordinates, shape (n, rank)."""
        return np.asarray(features @ self._directions.T)


def _right_singular_vectors(X: sp.csr_array, rank: int, seed: int) -> NDArray[np.float64]:
    """Return the first right singular vectors as rows, each with its largest entry above 0.

    As scikit-learn's ``TruncatedSVD`` has them by ARPACK, to the bit, from the eigenvectors of
    X X' or X'X, whichever is smaller. But ARPACK's generator is seeded as well: where few rows
    differ it draws new vectors on its way, and ``scipy.sparse.linalg.svds`` leaves those to chance.
    """
    # Here, for the many jobs that reduce nothing: it takes 0.1 s.
    from scipy.linalg import svd
    from scipy.sparse.linalg import LinearOperator, aslinearoperator, eigsh
    from sklearn.utils.extmath import svd_flip

    if min(X.shape) < 2:
        raise ValueError(
            f"an SVD needs two documents and two features at least, got a matrix of {X.shape}"
        )
    tall = X.shape[0] >= X.shape[1]
    A = aslinearoperator(X) if tall else aslinearoperator(X).H
    size = A.shape[1]
    gram = LinearOperator(
        (size, size),
        matvec=lambda v: A.rmatvec(A.matvec(v)),
        matmat=lambda V: A.rmatmat(A.matmat(V)),
        dtype=np.float64,
    )
    first = np.random.RandomState(seed).uniform(-1, 1, size)
    _, vectors = eigsh(gram, k=rank, v0=first, rng=np.random.default_rng(seed))
    vectors, _ = np.linalg.qr(vectors)
    left, _, right = svd(A.matmat(vectors), full_matrices=False)
    right = right @ vectors.T
    if not tall:
        left, right = right.T, left.T
    _, right = svd_flip(left, right, u_based_decision=False)
    return np.asarray(right)


REDUCTIONS = {"svd": SVD}


def make_reduction(options: Mapping[str, Any], seed: int) -> SVD:
    """Return the unfitted reduction that ``options`` (``kind`` and its own) describe."""
    own = {key: value for key, value in options.items() if key != "kind"}
    return REDUCTIONS[options["kind"]](**own, seed=seed)
