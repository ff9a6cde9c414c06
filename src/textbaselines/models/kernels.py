"""Kernels between documents, from sparse or dense rows."""

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textbaselines.models.matrices import Matrix


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


def squared_norms(X: Matrix) -> NDArray[np.float64]:
    """Return x'x of each row, shape (rows,)."""
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))
