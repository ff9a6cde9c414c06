import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from textbaselines.models.log_count_ratio import log_count_ratio, log_feature_probabilities

LOG2, LOG3 = np.log(2), np.log(3)
# Columns: bad, boring, fun, good, movie, and one that no document has.
REVIEWS = np.array(
    [
        [0, 0, 0, 1, 1, 0],  # good movie  +
        [0, 0, 1, 1, 0, 0],  # good fun    +
        [1, 0, 0, 0, 1, 0],  # bad movie   -
        [1, 1, 0, 0, 0, 0],  # bad boring  -
    ],
    dtype=float,
)
POSITIVE = np.array([True, True, False, False])


@pytest.mark.parametrize("kind", [np.array, sp.csr_matrix, sp.csr_array])
def test_four_reviews_by_hand(kind):
    r = log_count_ratio(kind(REVIEWS), POSITIVE, 1.0)
    np.testing.assert_allclose(r, [-LOG3, -LOG2, LOG2, LOG3, 0, 0], atol=1e-15)


def test_class_totals_differ():
    # p = (2, 1) + 1, q = (0, 1) + 1: (3/5) / (1/3) and (2/5) / (2/3), where log(p / (1 - p)),
    # or dividing by the feature's total, gives something else.
    r = log_count_ratio(np.array([[1.0, 1], [1, 0], [0, 1]]), np.array([True, True, False]), 1.0)
    np.testing.assert_allclose(np.exp(r), [9 / 5, 3 / 5])


def test_alpha_zero_is_exact_where_finite():
    X = np.array([[1.0, 3, 0], [1, 1, 0]])
    r = log_count_ratio(X, np.array([True, False]), 0.0)
    np.testing.assert_allclose(np.exp(r), [(1 / 4) / (1 / 2), (3 / 4) / (1 / 2), 1])


def test_alpha_zero_is_refused_where_infinite():
    with pytest.raises(ValueError, match=r"alpha = 0 leaves 4 .*class 0, column 2"):
        log_count_ratio(REVIEWS, POSITIVE, 0.0)


def test_the_smallest_alpha_stays_finite():
    assert np.all(np.isfinite(log_count_ratio(REVIEWS, POSITIVE, 5e-324)))


def test_nothing_seen_is_all_zero():
    assert not log_count_ratio(np.zeros((2, 3)), np.array([True, False]), 1.0).any()


@given(arrays(np.float64, (3, 5), elements=st.integers(0, 9)), st.floats(1e-9, 100))
def test_probabilities_sum_to_one_over_the_seen_and_are_zero_elsewhere(counts, alpha):
    logs = log_feature_probabilities(counts, alpha)
    seen = counts.sum(axis=0) > 0
    assert not logs[:, ~seen].any()
    if seen.any():
        np.testing.assert_allclose(np.exp(logs[:, seen]).sum(axis=1), 1)
