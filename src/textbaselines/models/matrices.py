"""Document-term matrices as the models need them: canonical, 0/1, column-scaled, 32-bit indices."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textbaselines.core.fast_take import gather

# A float64 matrix of shape (documents, features): a numpy array, a CSR matrix or a CSR array.
Matrix: TypeAlias = Any

BLOCK = 1 << 22
"""Entries that are scaled at a time."""

INT32_MAX = np.iinfo(np.int32).max


def canonical(X: Matrix) -> Matrix:
    """Return X with each entry stored once and in column order; the caller's X stays as it is."""
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def presence(X: Matrix) -> Matrix:
    """Return the 0/1 matrix 1{X > 0}; X itself when it already is one."""
    if sp.issparse(X) and np.all(X.data == 1.0):
        return X
    return map_entries(X, lambda values: (values > 0).astype(np.float64))


def map_entries(
    X: Matrix, function: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> Matrix:
    """Return X with ``function``, which must keep 0 at 0, applied to every entry."""
    return _with_data(X, function(X.data)) if sp.issparse(X) else function(X)


def scale_columns(X: Matrix, factors: NDArray[np.float64]) -> Matrix:
    """Return X with column j multiplied by ``factors[j]``; a sparse result shares X's indices."""
    if sp.issparse(X):
        data = np.empty(X.nnz)
        for begin in range(0, X.nnz, BLOCK):  # beside the result no more than a block in memory
            part = slice(begin, begin + BLOCK)
            np.multiply(gather(factors, X.indices[part]), X.data[part], out=data[part])
        return _with_data(X, data)
    return X * factors


def class_sums(X: Matrix, codes: NDArray[np.intp], n_classes: int) -> NDArray[np.float64]:
    """Return the sum of the rows of each class, of shape (classes, features).

    Parameters
    ----------
    codes : array of shape (documents,)
        The class of each row, from 0 to ``n_classes`` - 1.
    """
    # Class by class: scipy's product with all memberships at once takes up to four times as long.
    sums = np.empty((n_classes, X.shape[1]))
    transposed = X.T
    for code in range(n_classes):
        sums[code] = transposed @ (codes == code).astype(np.float64)
    return sums


def products(X: Matrix, weights: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
    """Return X times each set of weights.

    Set by set: on text, stacking the sets for one product costs two to eight times as much as it
    saves, since most of the weights that it copies are of features that no row has.

    Parameters
    ----------
    X : array or CSR matrix of shape (rows, features)
    weights : sequence of arrays of shape (outputs, features)

    Returns
    -------
    list of arrays of shape (rows, outputs)
    """
    return [
        np.asarray(X @ one[0])[:, None] if len(one) == 1 else np.asarray(X @ one.T)
        for one in weights
    ]


def row_keys(X: Matrix, seed: int) -> NDArray[np.uint64]:
    """Return a pseudo-random number for each row, of its content and the seed alone.

    Ordering rows by them is a shuffle that does not depend on the order in which they come. Equal
    rows have equal numbers, sparse or dense.
    """
    rows = X if sp.issparse(X) else sp.csr_matrix(X)
    salt = str(seed).encode()
    keys = np.empty(rows.shape[0], dtype=np.uint64)
    for row in range(rows.shape[0]):
        span = slice(rows.indptr[row], rows.indptr[row + 1])
        values = rows.data[span]
        stored = values != 0
        digest = hashlib.blake2b(salt, digest_size=8)
        digest.update(rows.indices[span][stored].astype("<i8").tobytes())
        digest.update(values[stored].astype("<f8").tobytes())
        keys[row] = int.from_bytes(digest.digest(), "little")
    return keys


def coarse(X: Matrix) -> Matrix:
    """Return X in steps of 2**-16 of its largest entry's power of two.

    What rounding leaves of two results that differ in their last bits, as those of another
    processor do, is nearly always the same. Counts up to 2**16 stay as they are.
    """
    values = X.data if sp.issparse(X) else X
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return X
    step = 2.0 ** (np.frexp(largest)[1] - 17)
    return map_entries(X, lambda entries: np.round(entries / step) * step)


def int32_indices(X: Matrix) -> Matrix:
    """Return a sparse X with 32-bit indices, which LIBLINEAR and LIBSVM need.

    Raises
    ------
    ValueError
        When X has more non-zeros, rows or columns than a 32-bit index can count.
    """
    if not sp.issparse(X) or (X.indices.dtype == np.int32 and X.indptr.dtype == np.int32):
        return X
    largest = max(X.nnz, *X.shape)
    if largest > INT32_MAX:
        raise ValueError(
            f"the solver counts with 32-bit indices, up to {INT32_MAX}; X has {X.nnz} non-zeros "
            f"in shape {X.shape}: drop rare features or train on fewer documents"
        )
    return type(X)(
        (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape, copy=False
    )


def _with_data(X: Matrix, data: NDArray[np.float64]) -> Matrix:
    scaled = type(X)((data, X.indices, X.indptr), shape=X.shape, copy=False)
    scaled.has_canonical_format = True
    return scaled
