"""Predictions, probabilities and ties of every classifier: one rule, and no contradiction."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import is_classifier

from textbaselines import models
from textbaselines.models import LogisticRegression, MultinomialNB
from textbaselines.models.classifier import favoured, tie_order, winners

CLASSIFIERS = sorted(name for name in models.__all__ if is_classifier(getattr(models, name)()))
PROBABILISTIC = [name for name in CLASSIFIERS if hasattr(getattr(models, name), "predict_proba")]
EXTREMES = [0.0, 1e-300, 1e-17, 0.3, 36.0, 37.5, 54.9, 70.4, 745.0, 1e3, 1e6]
SCORES = st.sampled_from([*EXTREMES, *(-one for one in EXTREMES)]) | st.floats(-1e6, 1e6)


def rows(name: str, n: int, seed: int) -> np.ndarray:
    """Return counts, dense and continuous for the methods that take those alone."""
    draw = np.random.default_rng(seed)
    counts = draw.poisson(0.5, (n, 12)).astype(float)
    return counts if getattr(models, name).SPARSE else counts + draw.standard_normal((n, 12))


def fitted(name: str, classes: int, seed: int = 0):
    X = rows(name, 60, seed)
    return getattr(models, name)().fit(X, np.arange(60) % classes)


def test_the_names_are_found() -> None:
    assert {"MultinomialNB", "LogisticRegression", "GaussianProcessClassifier"} < set(PROBABILISTIC)
    assert {"LinearSVM", "NBSVM", "KernelSVM"} < set(CLASSIFIERS) - set(PROBABILISTIC)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("name", PROBABILISTIC)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_the_predicted_class_has_the_largest_probability(name, classes, data) -> None:
    model = fitted(name, classes)
    shape = 4 if classes == 2 else 4 * classes
    drawn = np.array(data.draw(st.lists(SCORES, min_size=shape, max_size=shape)))
    scores = drawn if classes == 2 else drawn.reshape(4, classes)
    order = data.draw(st.none() | st.permutations(range(classes)))
    probabilities = model.probabilities(scores, order)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-13)
    decided = model.decide(scores, order)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], decided)
    # Where scores differ by more than rounding, so do probabilities that are not saturated.
    if classes == 2:
        np.testing.assert_allclose(
            probabilities[:, 1], 1 / (1 + np.exp(-np.clip(scores, -700, 700))), atol=1e-15
        )


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", PROBABILISTIC)
@settings(max_examples=10, deadline=None)
@given(power=st.integers(-6, 6), seed=st.integers(0, 100))
def test_rows_of_any_length(name, classes, power, seed) -> None:
    model = fitted(name, classes)
    X = rows(name, 20, seed) * 10.0**power
    X[:3] = 0
    X[3] = X[4]
    predicted = model.predict(X)
    for values in (model.predict_proba(X), model.predict_log_proba(X)):
        assert not np.isnan(values).any()
        np.testing.assert_array_equal(model.classes_[values.argmax(axis=1)], predicted)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-13)


def test_saturated_scores_by_hand() -> None:
    # The logistic functions of 54.9 and 70.4 are both 1 in float64: each has a half.
    model = fitted("LogisticRegression", 3)
    probabilities = model.probabilities(np.array([[54.9, 70.4, -3.0], [-800.0, -900.0, -801.0]]))
    low = 1 / (1 + np.exp(3.0))
    np.testing.assert_allclose(probabilities[0], np.array([1, 1, low]) / (2 + low))
    assert probabilities[0].argmax() == 1
    weights = np.exp([0.0, -100.0, -1.0])
    np.testing.assert_allclose(probabilities[1], weights / weights.sum())


def test_who_wins_a_tie() -> None:
    assert tie_order(np.array([3, 5, 5, 4]), [3, 2, 1, 0]) == [2, 1, 3, 0]
    assert tie_order(np.array([3, 5, 5, 4]), [0, 1, 2, 3]) == [1, 2, 3, 0]
    ties = np.array([[1.0, 2, 2, 2], [7, 7, 7, 7], [9, 0, 0, 9], [1, 2, 3, 4]])
    assert winners(ties, [2, 1, 3, 0]).tolist() == [2, 2, 3, 3]
    assert winners(ties, [0, 1, 2, 3]).tolist() == [1, 0, 0, 3]
    halves = np.array([0.0, -0.0, 1e-300, -1e-300])
    assert winners(halves, [1, 0]).tolist() == [1, 1, 1, 0]
    assert winners(halves, [0, 1]).tolist() == [0, 0, 1, 0]
    assert winners(halves, [0]).tolist() == [0] * 4
    raised = favoured(np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([1, 1]))
    assert raised.tolist() == [[0.5, np.nextafter(0.5, 1)], [0.25, 0.75]]


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize(
    ("counts", "positive", "wanted"),
    [
        ({"a": 4, "b": 6}, None, "b"),
        ({"a": 6, "b": 4}, None, "a"),
        ({"a": 6, "b": 4}, "b", "a"),
        ({"a": 5, "b": 5}, None, "a"),
        ({"a": 5, "b": 5}, "a", "a"),
        ({"a": 5, "b": 5}, "b", "b"),
        ({"a": 3, "b": 4, "c": 4}, None, "b"),
    ],
)
def test_a_tie_goes_to_the_most_frequent_class(name, counts, positive, wanted) -> None:
    y = np.repeat(list(counts), list(counts.values()))
    estimator = getattr(models, name)(positive=positive)
    model = estimator.fit(rows(name, len(y), 1), y)
    ties = np.zeros(2) if len(counts) == 2 else np.zeros((2, 3))
    assert model.decide(ties).tolist() == [wanted] * 2


@pytest.mark.parametrize("name", ["LinearSVM", "NBSVM", "ComplementNB", "LogisticRegression"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_document_without_known_words_is_of_the_most_frequent_class(name, classes) -> None:
    options = {"bias": None} if name in ("LinearSVM", "LogisticRegression") else {}
    X = sp.csr_array(rows(name, 40, 2))
    y = np.array(["a", "b", "c"])[np.minimum(np.arange(40) % 4, classes - 1)]
    model = getattr(models, name)(**options).fit(X, y)
    empty = sp.csr_array((1, 12))
    assert not model.decision_function(empty).any()
    assert model.predict(empty).tolist() == [{2: "b", 3: "c"}[classes]]


def test_counts_alone_say_which_class_is_frequent() -> None:
    X, y = rows("MultinomialNB", 9, 0), np.array([0, 1, 1] * 3)
    whole = MultinomialNB().fit(X, y)
    parts = MultinomialNB().fit_counts(whole._prepare(X, y))
    assert parts.decide(np.zeros(1)).tolist() == whole.decide(np.zeros(1)).tolist() == [1]


def test_probabilities_of_one_class() -> None:
    model = LogisticRegression().fit(np.eye(3), ["a"] * 3)
    assert model.predict_proba(np.eye(3)).tolist() == [[1.0]] * 3
    assert model.predict(np.eye(3)).tolist() == ["a"] * 3
