import numpy as np
import pytest
import sklearn.naive_bayes
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from textbaselines.models import ComplementNB, MultinomialNB

# Three classes, three features; counts of the classes: (2, 0, 1), (0, 3, 0), (1, 1, 1).
X = np.array([[2, 0, 1], [0, 3, 0], [1, 1, 1]])
Y = np.array(["a", "b", "c"])
# Of the others, plus 1, over the sums 9, 9 and 9.
COMPLEMENT = np.log(np.array([[2 / 9, 5 / 9, 2 / 9], [4 / 9, 2 / 9, 3 / 9], [3 / 9, 4 / 9, 2 / 9]]))


def test_the_weights_of_the_table_by_hand():
    model = ComplementNB().fit(X, Y)
    np.testing.assert_allclose(model.complement_weights_, COMPLEMENT)
    np.testing.assert_allclose(model.decision_function(X), -X @ COMPLEMENT.T)
    assert model.predict(X).tolist() == ["a", "b", "a"]


def test_normalised_weights_by_hand():
    model = ComplementNB(norm=True).fit(X, Y)
    wanted = COMPLEMENT / np.abs(COMPLEMENT).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.complement_weights_, wanted)
    np.testing.assert_allclose(np.abs(model.complement_weights_).sum(axis=1), 1)


@settings(max_examples=30, deadline=None)
@given(
    arrays(np.int64, (8, 6), elements=st.integers(0, 4)),
    st.lists(st.sampled_from("abc"), min_size=5, max_size=5),
    st.booleans(),
)
def test_as_scikit_learn_on_the_training_vocabulary(X, y, norm):
    y = np.array([*y, "a", "b", "c"])
    seen = X.sum(axis=0) > 0
    if seen.sum() < 2:
        return
    theirs = sklearn.naive_bayes.ComplementNB(norm=norm).fit(X[:, seen], y)
    ours = ComplementNB(norm=norm).fit(X, y)
    wanted = X[:, seen] @ theirs.feature_log_prob_.T
    np.testing.assert_allclose(ours.decision_function(X), wanted, atol=1e-12)


def test_two_classes_without_norm_are_the_multinomial_with_equal_priors():
    y = np.array([0, 1, 1])
    multinomial = MultinomialNB(class_prior="uniform").fit(X, y)
    np.testing.assert_allclose(ComplementNB().fit(X, y).coef_, multinomial.coef_, atol=1e-12)


def test_one_feature_has_no_weight_to_normalise():
    model = ComplementNB(norm=True).fit([[1], [2]], [0, 1])
    assert not model.coef_.any()


def test_alpha_zero_is_refused_where_infinite():
    with pytest.raises(ValueError, match="alpha = 0 leaves"):
        ComplementNB(alpha=0).fit([[1, 0], [0, 1]], [0, 1])
