import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from textbaselines.models import ClassLanguageModel

SMOOTHINGS = ["jelinek_mercer", "dirichlet", "absolute_discounting"]
# Counts of the classes: (3, 1, 0, 0) and (1, 0, 1, 0); of the collection: (4, 1, 1, 0) of 6.
X = np.array([[2, 1, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]])
Y = np.array([0, 0, 1])
COLLECTION = np.array([4, 1, 1]) / 6


@pytest.mark.parametrize(
    ("params", "wanted"),
    [
        (
            {"smoothing": "jelinek_mercer", "mixture": 0.4},
            [0.6 * np.array([3, 1, 0]) / 4, 0.6 * np.array([1, 0, 1]) / 2] + 0.4 * COLLECTION,
        ),
        (
            {"smoothing": "dirichlet", "mu": 3.0},
            [(np.array([3, 1, 0]) + 3 * COLLECTION) / 7, ([1, 0, 1] + 3 * COLLECTION) / 5],
        ),
        (
            {"smoothing": "absolute_discounting", "delta": 0.5},
            [
                (np.array([2.5, 0.5, 0]) + 0.5 * 2 * COLLECTION) / 4,
                ([0.5, 0, 0.5] + 0.5 * 2 * COLLECTION) / 2,
            ],
        ),
    ],
)
def test_three_smoothings_by_hand(params, wanted):
    model = ClassLanguageModel(**params).fit(X, Y)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[:, :3]), wanted)
    prior = np.log([2 / 3, 1 / 3])
    np.testing.assert_allclose(
        model.joint_log_likelihood([[1, 2, 0, 9]]), [np.log(wanted) @ [1, 2, 0] + prior]
    )


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@settings(max_examples=25, deadline=None)
@given(
    X=arrays(np.float64, (6, 5), elements=st.sampled_from([0, 0, 0.3, 1, 2, 7])),
    y=st.lists(st.sampled_from("abc"), min_size=6, max_size=6),
)
def test_models_sum_to_one_and_the_seen_is_possible_everywhere(smoothing, X, y):
    model = ClassLanguageModel(smoothing=smoothing).fit(X, y)
    if not X.any():
        return
    seen = model.in_vocabulary_
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[:, seen]).sum(axis=1), 1)
    assert np.all(np.isfinite(model.joint_log_likelihood(np.full((1, 5), 1000.0))))


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@settings(max_examples=25, deadline=None)
@given(X=arrays(np.int64, (6, 5), elements=st.integers(0, 4)))
def test_divergence_ranks_as_the_likelihood_with_equal_priors(smoothing, X):
    model = ClassLanguageModel(smoothing=smoothing, class_prior="uniform").fit(X, list("aabbcc"))
    divergence, joint = model.negative_divergence(X), model.joint_log_likelihood(X)
    lengths = X.sum(axis=1)
    known = lengths > 0
    assert np.isnan(divergence[~known]).all()
    assert np.all(divergence[known] <= 1e-12)
    np.testing.assert_allclose(
        ((divergence - divergence[:, :1]) * lengths[:, None])[known],
        (joint - joint[:, :1])[known],
        atol=1e-9,
    )


def test_divergence_by_hand():
    model = ClassLanguageModel(mixture=0.4).fit(X, Y)
    q = np.exp(model.feature_log_prob_[:, :2])
    p = np.array([3 / 4, 1 / 4])
    wanted = -(p * np.log(p / q)).sum(axis=1)
    np.testing.assert_allclose(model.negative_divergence([[3, 1, 0, 5]]), [wanted])
    assert np.isnan(model.negative_divergence([[0, 0, 0, 5]])).all()
