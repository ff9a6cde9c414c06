"""Weighting: values by hand; idf from training documents alone."""

import math

import numpy as np
import scipy.sparse as sp

from textbaselines.text.weighting import WEIGHTINGS

COUNTS = sp.csr_array(np.array([[2, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=np.int32))


def test_binary_and_count() -> None:
    binary = WEIGHTINGS["binary"]().fit(COUNTS).transform(COUNTS)
    assert binary.toarray().tolist() == [[1, 1, 0], [1, 0, 0], [0, 0, 0]]
    count = WEIGHTINGS["count"]().fit(COUNTS).transform(COUNTS)
    assert count.toarray().tolist() == COUNTS.toarray().tolist()
    assert binary.dtype == count.dtype == np.float64


def test_tfidf_by_hand() -> None:
    weights = WEIGHTINGS["tfidf"]().fit(COUNTS)
    # n = 3, df = 2, 1, 0: idf = ln(4/3) + 1, ln(4/2) + 1.
    first, second = 2 * (math.log(4 / 3) + 1), math.log(2) + 1
    length = math.hypot(first, second)
    np.testing.assert_allclose(
        weights.transform(COUNTS).toarray(),
        [[first / length, second / length, 0], [1, 0, 0], [0, 0, 0]],
        rtol=1e-15,
    )


def test_idf_is_the_training_documents() -> None:
    weights = WEIGHTINGS["tfidf"]().fit(COUNTS)
    other = sp.csr_array(np.array([[1, 1, 1]], dtype=np.int32))
    values = weights.transform(other).toarray()[0]
    # The third feature has df 0 in training: idf = ln 4 + 1.
    ratio = (math.log(4) + 1) / (math.log(4 / 3) + 1)
    assert values[2] / values[0] == np.float64(ratio) or math.isclose(values[2] / values[0], ratio)
