"""Measures of predictions: by hand and against scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as theirs

from textbaselines.evaluation import metrics

pairs = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=30)


@given(pairs)
def test_confusion_and_macro_f1_equal_scikit_learn(rows: list[tuple[int, int]]) -> None:
    truth, predicted = np.array(rows).T
    matrix = metrics.confusion(truth, predicted, 3)
    np.testing.assert_array_equal(
        matrix, theirs.confusion_matrix(truth, predicted, labels=[0, 1, 2])
    )
    # By default it averages over the classes that occur in either.
    f1 = theirs.f1_score(truth, predicted, average="macro")
    counts = metrics.class_counts(matrix)
    assert metrics.macro_f1(counts) == pytest.approx(f1, abs=1e-12)


def test_log_loss_equals_scikit_learn_and_is_finite() -> None:
    truth = np.array([0, 1, 1])
    probabilities = np.array([[0.8, 0.2], [0.5, 0.5], [1.0, 0.0]])
    ours = metrics.log_loss(truth, probabilities)
    assert ours == pytest.approx(theirs.log_loss(truth, probabilities), rel=1e-9)
    assert ours == pytest.approx((-math.log(0.8) - math.log(0.5) + 52 * math.log(2)) / 3)


def test_rmse_by_hand() -> None:
    # errors 0, 3, -4: (9 + 16) / 3
    value = metrics.rmse(np.array([1.0, 2.0, 3.0]), np.array([1.0, -1.0, 7.0]))
    assert value == pytest.approx(math.sqrt(25 / 3))
