"""Kernels between documents, from sparse or dense rows."""

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textbaselines.models.matrices import Matrix

# Rows to predict are taken in blocks whose kernel has about this many numbers.
_BLOCK = 2**23


def blocks_of_rows(X: Matrix, width: int) -> Iterator[Matrix]:
    """Yield X in runs of rows whose kernel with ``width`` others is of bounded size."""
    rows = max(1, _BLOCK // max(1, width))
    for start in range(0, X.shape[0], rows):
        yield X[start : start + rows]


def linear_kernel(A: Matrix, B: Matrix) -> NDArray[np.float64]:
    """Return the inner products of the rows, dense, of shape (rows of A, rows of B)."""
    products = A @ B.T
    return np.asarray(products.toarray() if sp.issparse(products) else products)


def rbf_kernel(A: Matrix, B: Matrix, gamma: float) -> NDArray[np.float64]:
    """Return exp(-gamma |a - b|^2) for the rows, of shape (rows of A, rows of B)."""
    distances = linear_kernel(A, B)
    distances *= -2
    distances += squared_norms(A)[:, None]
    distances += squared_norms(B)[None, :]
    np.maximum(distances, 0, out=distances)
    distances *= -gamma
    return np.asarray(np.exp(distances, out=distances))


def gram_matrix(
    X: Matrix, kernel: Callable[[Matrix, Matrix], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return the kernel of the rows among themselves, (rows, rows), worked out block by block."""
    n = X.shape[0]
    gram = np.empty((n, n))
    start = 0
    for block in blocks_of_rows(X, n):
        gram[start : start + block.shape[0]] = kernel(block, X)
        start += block.shape[0]
    return gram


def scale_gamma(X: Matrix) -> float:
    """Return 1 over the mean squared distance of the rows from their mean; 1 for equal rows.

    Two rows at the typical distance have exp(-2) as their rbf kernel then, whatever the scale of X.
    """
    means = np.asarray(X.mean(axis=0)).ravel()
    spread = float(squared_norms(X).mean() - means @ means)
    # Equal rows leave rounding noise.
    if spread <= 1e-12 * float(squared_norms(X).max(initial=0.0)):
        return 1.0
    return 1.0 / spread


def polynomial_kernel(A: Matrix, B: Matrix, degree: int) -> NDArray[np.float64]:
    """Return (a'b + 1)^degree for the rows, of shape (rows of A, rows of B)."""
    products = linear_kernel(A, B)
    products += 1
    return np.asarray(np.power(products, degree, out=products))


def squared_norms(X: Matrix) -> NDArray[np.float64]:
    """Return x'x of each row, shape (rows,)."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))
