import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from textbaselines.models import MultinomialNB, SemiSupervisedNB

# Columns: good, bad, fun. One labelled document of each class, one with neither word they have.
X = np.array([[2.0, 0, 0], [0, 2, 0], [1, 0, 1]])
Y = np.array([1, 0, -1])


def few_labels(seed, classes=2, n=60, m=12, lean=1.5):
    """Random counts that lean towards their class, mostly without labels, and the true classes."""
    generator = np.random.default_rng(seed)
    truth = np.arange(n) % classes
    rates = 0.2 + lean * (np.arange(m)[None, :] % classes == truth[:, None])
    counts = sp.csr_matrix(generator.poisson(rates).astype(float))
    return counts, np.where(np.arange(n) < 3 * classes, truth, -1), truth


def test_one_step_by_hand():
    # First model: (good, bad, fun) are 3/5, 1/5, 1/5 in class 1 and 1/5, 3/5, 1/5 in class 0: the
    # third document is of class 1 by 3 to 1. It adds 3/4 and 1/4 of (1, 0, 1).
    model = SemiSupervisedNB(max_iter=1, unlabelled=-1).fit(X, Y)
    np.testing.assert_allclose(model.class_count_, [1.25, 1.75])
    np.testing.assert_allclose(model.feature_count_, [[0.25, 2, 0.25], [2.75, 0, 0.75]])
    np.testing.assert_allclose(
        np.exp(model.feature_log_prob_),
        [np.array([1.25, 3, 1.25]) / 5.5, np.array([3.75, 1, 1.75]) / 6.5],
    )
    np.testing.assert_allclose(np.exp(model.class_log_prior_), [1.25 / 3, 1.75 / 3])
    # The first objective: both labelled documents, the third one, and the prior.
    first = 2 * np.log(0.5 * 0.6**2) + np.log(0.5 * (0.12 + 0.04)) + 2 * np.log(0.6 * 0.2 * 0.2)
    assert model.objective_[0] == pytest.approx(first)
    assert model.n_iter_ == 1
    assert not model.converged_


def test_the_weight_scales_the_unlabelled():
    model = SemiSupervisedNB(max_iter=1, weight=0.4, unlabelled=-1).fit(X, Y)
    np.testing.assert_allclose(model.class_count_, [1.1, 1.3])
    np.testing.assert_allclose(model.feature_count_, [[0.1, 2, 0.1], [2.3, 0, 0.3]])


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([2, 3]),
    st.sampled_from([0.1, 0.5, 1.0]),
    st.sampled_from([0.01, 1.0]),
    st.sampled_from(["learned", "uniform"]),
)
def test_the_objective_never_falls(seed, classes, weight, alpha, class_prior):
    counts, y, _ = few_labels(seed, classes)
    model = SemiSupervisedNB(alpha, class_prior, weight, tol=1e-9, max_iter=60, unlabelled=-1).fit(
        counts, y
    )
    assert np.all(np.diff(model.objective_) >= -1e-9 * np.abs(model.objective_[1:]))
    assert len(model.objective_) == model.n_iter_ + 1
    np.testing.assert_allclose(np.exp(model.feature_log_prob_).sum(axis=1), 1)


def test_at_the_end_the_model_gives_its_own_expected_counts():
    counts, y, _ = few_labels(0, 3)
    model = SemiSupervisedNB(weight=0.3, tol=0, max_iter=5000, unlabelled=-1).fit(counts, y)
    assert model.converged_
    shares = model.predict_proba(counts[y == -1])
    own = np.array([counts[y == c].sum(axis=0) for c in range(3)])[:, 0]
    wanted = own + 0.3 * (counts[y == -1].T @ shares).T
    np.testing.assert_allclose(model.feature_count_, wanted, atol=1e-5)
    np.testing.assert_allclose(model.class_count_, 3 + 0.3 * shares.sum(axis=0), atol=1e-5)


@pytest.mark.parametrize(("weight", "rows"), [(0.0, 60), (1.0, 6)])
def test_without_unlabelled_documents_it_is_multinomial_naive_bayes(weight, rows):
    counts, y, _ = few_labels(0)
    model = SemiSupervisedNB(weight=weight, unlabelled=-1).fit(counts[:rows], y[:rows])
    plain = MultinomialNB().fit(counts[:6], y[:6])
    np.testing.assert_array_equal(model.predict_proba(counts), plain.predict_proba(counts))
    assert model.converged_
    # The one step changes nothing.
    assert model.n_iter_ == 1
    assert model.objective_[0] == model.objective_[1]


def test_unlabelled_documents_help():
    gains = []
    for seed in range(10):
        counts, y, truth = few_labels(seed, n=200, m=30, lean=0.3)
        y[2:] = -1
        rest = y == -1
        plain = MultinomialNB().fit(counts[~rest], y[~rest])
        model = SemiSupervisedNB(unlabelled=-1).fit(counts, y)
        gains.append(
            model.score(counts[rest], truth[rest]) - plain.score(counts[rest], truth[rest])
        )
    assert np.mean(gains) > 0.02


def test_words_of_unlabelled_documents_are_in_the_vocabulary():
    assert SemiSupervisedNB(unlabelled=-1).fit(X, Y).in_vocabulary_.tolist() == [True] * 3
    assert SemiSupervisedNB(weight=0, unlabelled=-1).fit(X, Y).in_vocabulary_.tolist() == [
        True,
        True,
        False,
    ]


def test_labels_that_are_strings():
    counts, y, _ = few_labels(0)
    names = np.array(["neg", "pos", -1], dtype=object)[y]
    plain, named = (
        SemiSupervisedNB(unlabelled=-1).fit(counts, y),
        SemiSupervisedNB(unlabelled=-1).fit(counts, names),
    )
    assert named.classes_.tolist() == ["neg", "pos"]
    np.testing.assert_array_equal(named.coef_, plain.coef_)
    assert SemiSupervisedNB().fit(counts[:6], ["a", "b"] * 3).classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("y", "wanted"),
    [
        (["a", "b", "-1"], "give unlabelled='-1', or y as an array of dtype object"),
        ([-1, -1, -1], "every y is -1"),
        ([-1, 1, 1], "if -1 is the other class, name another mark"),
    ],
)
def test_marks_that_cannot_be_meant_are_refused(y, wanted):
    with pytest.raises(ValueError, match=wanted):
        SemiSupervisedNB(unlabelled=-1).fit(X, y)


def test_the_mark_is_named_and_minus_one_is_a_class_otherwise():
    counts, y, _ = few_labels(0)
    marked = SemiSupervisedNB(unlabelled=-1).fit(counts, y)
    words = np.array(["neg", "pos", ""])[y]
    np.testing.assert_array_equal(
        SemiSupervisedNB(unlabelled="").fit(counts, words).coef_, marked.coef_
    )
    # The sentiments -1, 0 and 1.
    sentiments = np.arange(60) % 3 - 1
    model = SemiSupervisedNB().fit(counts, sentiments)
    assert model.classes_.tolist() == [-1, 0, 1]
    np.testing.assert_array_equal(model.coef_, MultinomialNB().fit(counts, sentiments).coef_)
