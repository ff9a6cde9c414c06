import numpy as np
import pytest
import scipy.sparse as sp

from textbaselines.models import matrices
from textbaselines.models.matrices import (
    canonical,
    class_sums,
    coarse,
    int32_indices,
    presence,
    row_keys,
    scale_columns,
)

DENSE = np.array([[2.0, 0.0, 1.0], [0.0, 0.0, 3.0]])


def with_int64(X):
    X = X.copy()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


@pytest.mark.parametrize("kind", [np.array, sp.csr_matrix, sp.csr_array])
def test_presence_scaling_and_sums(kind):
    X = kind(DENSE)
    for made, wanted in [
        (presence(X), [[1, 0, 1], [0, 0, 1]]),
        (scale_columns(X, np.array([2.0, 5.0, -1.0])), [[4, 0, -1], [0, 0, -3]]),
        (class_sums(X, np.array([1, 0]), 2), [[0, 0, 3], [2, 0, 1]]),
    ]:
        np.testing.assert_array_equal(made.toarray() if sp.issparse(made) else made, wanted)
    np.testing.assert_array_equal(X.toarray() if sp.issparse(X) else X, DENSE)


def test_repeated_entries_are_one_count_and_the_given_matrix_stays():
    X = sp.csr_matrix((np.array([1.0, 1.0, 1.0]), np.array([1, 0, 1]), np.array([0, 3])), (1, 2))
    np.testing.assert_array_equal(canonical(X).data, [1, 2])
    assert X.nnz == 3


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
def test_indices_become_32_bit(kind):
    X = with_int64(kind(DENSE))
    narrowed = int32_indices(X)
    assert narrowed.indices.dtype == narrowed.indptr.dtype == np.int32
    np.testing.assert_array_equal(narrowed.toarray(), DENSE)
    assert X.indices.dtype == np.int64


def test_what_32_bits_cannot_count_is_refused_early(monkeypatch):
    monkeypatch.setattr(matrices, "INT32_MAX", 2)
    with pytest.raises(ValueError, match=r"up to 2; X has 3 non-zeros in shape \(2, 3\)"):
        int32_indices(with_int64(sp.csr_matrix(DENSE)))


def test_coarse_entries_are_steps_of_the_largest():
    step = 2.0**-14  # of 5.0, whose power of two is 4
    dense = np.array([[5.0, 0.6 * step, 0.0], [-3 * step - 1e-12, 0.4 * step, -1e-9]])
    wanted = np.array([[5.0, step, 0.0], [-3 * step, 0.0, 0.0]])
    np.testing.assert_array_equal(coarse(dense), wanted)
    np.testing.assert_array_equal(coarse(sp.csr_array(dense)).toarray(), wanted)
    counts = np.array([[2.0**16, 1.0], [3.0, 0.0]])
    np.testing.assert_array_equal(coarse(counts), counts)
    np.testing.assert_array_equal(coarse(np.zeros((2, 2))), np.zeros((2, 2)))


def test_keys_of_rows_are_of_their_content():
    dense = np.array([[1.0, 0, 2], [0, 1, 2], [1, 0, 2], [1, 0, 2.5]])
    keys = row_keys(dense, 7)
    assert keys[0] == keys[2]
    assert len(set(keys.tolist())) == 3
    sparse = sp.csr_matrix(dense)
    wide = sp.csr_matrix((sparse.data, sparse.indices.astype(np.int64), sparse.indptr))
    stored_zero = sp.csr_matrix(([1.0, 0.0, 2.0], [0, 1, 2], [0, 3]), shape=(1, 3))
    np.testing.assert_array_equal(row_keys(sparse, 7), keys)
    np.testing.assert_array_equal(row_keys(wide, 7), keys)
    assert row_keys(stored_zero, 7)[0] == keys[0]
    assert not np.any(row_keys(dense, 8) == keys)
