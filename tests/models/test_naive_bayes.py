import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from textbaselines.models import (
    BernoulliNB,
    ClassLanguageModel,
    MultinomialNB,
    TranslationLanguageModel,
)
from textbaselines.models.naive_bayes import ClassCounts

# Columns: bad, boring, fun, good, movie.
REVIEWS = np.array([[0, 0, 0, 1, 1], [0, 0, 1, 1, 0], [1, 0, 0, 0, 1], [1, 1, 0, 0, 0]])
SIGNS = np.array(["+", "+", "-", "-"])
GOOD_MOVIE = REVIEWS[:1]

# IIR, table 13.1; columns: Beijing, Chinese, Japan, Macao, Shanghai, Tokyo.
CHINA = np.array([[1, 2, 0, 0, 0, 0], [0, 2, 0, 0, 1, 0], [0, 1, 0, 1, 0, 0], [0, 1, 1, 0, 0, 1]])
IN_CHINA = np.array(["yes", "yes", "yes", "no"])
CHINA_TEST = np.array([[0, 3, 1, 0, 0, 1]])

count_matrices = arrays(np.int64, (8, 6), elements=st.integers(0, 4))
labels = st.lists(st.sampled_from("abc"), min_size=8, max_size=8)


def test_four_reviews_by_hand():
    model = MultinomialNB().fit(REVIEWS, SIGNS)
    assert model.classes_.tolist() == ["+", "-"]
    np.testing.assert_allclose(
        np.exp(model.feature_log_prob_), np.array([[1, 1, 2, 3, 2], [3, 2, 1, 1, 2]]) / 9
    )
    np.testing.assert_allclose(np.exp(model.feature_log_prob_).sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(model.joint_log_likelihood(GOOD_MOVIE)), [[1 / 27, 1 / 81]])
    np.testing.assert_allclose(model.predict_proba(GOOD_MOVIE), [[0.75, 0.25]])
    np.testing.assert_allclose(model.decision_function(GOOD_MOVIE), [-np.log(3)])


def test_china_by_the_multinomial_and_by_bernoulli_differ():
    multinomial = MultinomialNB().fit(CHINA, IN_CHINA)
    no, yes = np.exp(multinomial.joint_log_likelihood(CHINA_TEST))[0]
    np.testing.assert_allclose(yes, 3 / 4 * (3 / 7) ** 3 / 14**2)
    np.testing.assert_allclose(no, 1 / 4 * (2 / 9) ** 5)
    assert multinomial.predict(CHINA_TEST).tolist() == ["yes"]
    bernoulli = BernoulliNB().fit(CHINA, IN_CHINA)
    no, yes = np.exp(bernoulli.joint_log_likelihood(CHINA_TEST))[0]
    np.testing.assert_allclose(yes, 3 / 4 * 4 / 5 * (1 / 5) ** 2 * (1 - 2 / 5) ** 3)
    np.testing.assert_allclose(no, 1 / 4 * (2 / 3) ** 3 * (1 - 1 / 3) ** 3)
    assert bernoulli.predict(CHINA_TEST).tolist() == ["no"]


def test_words_of_two_documents_by_hand():
    # "w1 w2 w1" and "w2 w1"; only the other class has w3.
    X, y = np.array([[2, 1, 0], [1, 1, 0], [0, 0, 1]]), ["a", "a", "b"]
    add_one = MultinomialNB(alpha=1).fit(X, y)
    np.testing.assert_allclose(np.exp(add_one.feature_log_prob_[0]), [4 / 8, 3 / 8, 1 / 8])
    shares = MultinomialNB(alpha=0).fit(X[:, :2][:2], y[:2])
    np.testing.assert_allclose(np.exp(shares.feature_log_prob_[0]), [3 / 5, 2 / 5])
    # The share of w3 would be 0, whose logarithm is infinite.
    with pytest.raises(ValueError, match="alpha = 0 leaves"):
        MultinomialNB(alpha=0).fit(X, y)


def test_two_class_scores_are_log_count_ratio_and_prior():
    model = MultinomialNB().fit(CHINA, IN_CHINA)
    r = model.feature_log_prob_[1] - model.feature_log_prob_[0]
    np.testing.assert_allclose(model.decision_function(CHINA), CHINA @ r + np.log(3 / 1))


def test_a_long_document_has_finite_probabilities():
    document = sp.csr_matrix(np.array([[40_000, 0, 0, 50_000, 10_000]]))
    for signs in (SIGNS, np.array(["+", "0", "-", "-"])):
        model = MultinomialNB().fit(REVIEWS, signs)
        logs = model.predict_log_proba(document)
        assert np.all(np.isfinite(logs))
        np.testing.assert_allclose(model.predict_proba(document).sum(), 1)


@pytest.mark.parametrize(("label", "wanted"), [("+", "+"), ("-", "-"), (None, "+")])
def test_a_tie_of_equally_frequent_classes_goes_to_the_positive_one(label, wanted):
    # Without a name for it to the first of classes_.
    model = MultinomialNB(positive=label).fit(REVIEWS, SIGNS)
    ties = np.array([[0, 0, 0, 0, 0], [1, 0, 0, 1, 0], [0, 0, 0, 0, 5]])
    assert model.decision_function(ties).tolist() == [0, 0, 0]
    assert set(model.predict(ties)) == {wanted}


def test_a_positive_class_that_is_none_is_refused():
    with pytest.raises(ValueError, match=r"positive must be one of .*'\+'.*got 'pos'"):
        MultinomialNB(positive="pos").fit(REVIEWS, SIGNS)


@pytest.mark.parametrize("signs", [SIGNS, np.array(["a", "b", "c", "c"])])
def test_features_outside_the_training_vocabulary_change_nothing(signs):
    # Two documents of one fold's training set, features 5 and 6 unseen.
    wide = np.hstack([REVIEWS, np.zeros((4, 2), dtype=int)])
    test = np.array([[1, 0, 0, 1, 2], [0, 1, 0, 0, 0]])
    wide_test = np.hstack([test, [[3, 9], [1, 0]]])
    for estimator in (MultinomialNB(), BernoulliNB()):
        narrow_logs = estimator.fit(REVIEWS, signs).joint_log_likelihood(test)
        wide_logs = estimator.fit(wide, signs).joint_log_likelihood(wide_test)
        np.testing.assert_array_equal(narrow_logs, wide_logs)
        assert estimator.in_vocabulary_.tolist() == [True] * 5 + [False] * 2


def test_bernoulli_over_all_columns_weighs_the_unseen():
    X, y = np.array([[1, 0], [1, 0], [1, 0]]), np.array([0, 0, 1])
    model = BernoulliNB(vocabulary="columns").fit(X, y)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), [[3 / 4, 1 / 4], [2 / 3, 1 / 3]])


@settings(max_examples=30, deadline=None)
@given(count_matrices, labels, st.floats(0.01, 10))
def test_as_scikit_learn_on_the_training_vocabulary(X, y, alpha):
    y = np.array(y)
    seen = X.sum(axis=0) > 0
    if not seen.any():
        return
    theirs = sklearn.naive_bayes.MultinomialNB(alpha=alpha).fit(X[:, seen], y)
    ours = MultinomialNB(alpha=alpha).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X[:, seen]), atol=1e-12)
    theirs = sklearn.naive_bayes.BernoulliNB(alpha=alpha).fit(X[:, seen], y)
    ours = BernoulliNB(alpha=alpha).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X[:, seen]), atol=1e-12)
    theirs = sklearn.naive_bayes.BernoulliNB(alpha=alpha).fit(X, y)
    ours = BernoulliNB(alpha=alpha, vocabulary="columns").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(count_matrices, labels)
def test_the_predicted_class_has_the_largest_probability(X, y):
    for estimator in (MultinomialNB(), BernoulliNB()):
        model = estimator.fit(X, y)
        probabilities = model.predict_proba(X)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        predicted = np.searchsorted(model.classes_, model.predict(X))
        largest = probabilities.max(axis=1)
        np.testing.assert_array_equal(probabilities[np.arange(len(X)), predicted], largest)
        joint = model.joint_log_likelihood(X)
        np.testing.assert_allclose(
            probabilities, np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
        )


@pytest.mark.parametrize("estimator", [MultinomialNB(alpha=0), BernoulliNB(alpha=0)])
def test_alpha_zero_is_exact_or_refused(estimator):
    with pytest.raises(ValueError, match="alpha = 0 leaves"):
        estimator.fit(REVIEWS, SIGNS)
    X = np.array([[1, 0], [0, 1], [1, 0], [1, 0], [0, 1]])
    model = estimator.fit(X, [0, 0, 1, 1, 1])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), [[1 / 2, 1 / 2], [2 / 3, 1 / 3]])


def test_priors():
    assert MultinomialNB().fit(CHINA, IN_CHINA).intercept_ == pytest.approx(np.log(3))
    assert MultinomialNB(class_prior="uniform").fit(CHINA, IN_CHINA).intercept_ == 0
    given_prior = MultinomialNB(class_prior=[0.2, 0.8]).fit(CHINA, IN_CHINA)
    assert given_prior.intercept_ == pytest.approx(np.log(4))
    np.testing.assert_allclose(given_prior.predict_proba(np.zeros((1, 6))), [[0.2, 0.8]])
    with pytest.raises(ValueError, match="class_prior has 3 probabilities, the training set 2"):
        MultinomialNB(class_prior=[0.2, 0.3, 0.5]).fit(CHINA, IN_CHINA)
    with pytest.raises(ValueError, match="class_prior must be 'learned', 'uniform'"):
        MultinomialNB(class_prior=[0.2, 0.3]).fit(CHINA, IN_CHINA)


def test_bernoulli_counts_documents_not_tokens():
    repeated = sp.csr_matrix(
        (np.ones(5), np.array([0, 0, 1, 1, 0]), np.array([0, 3, 4, 5])), shape=(3, 2)
    )
    model = BernoulliNB().fit(repeated, [0, 0, 1])
    np.testing.assert_array_equal(model.feature_count_, [[1, 2], [1, 0]])


def test_counts_of_all_documents_less_a_fold_train_as_the_rest():
    y = np.array(["+", "-", "-", "-"])
    whole, fold = MultinomialNB().fit(REVIEWS, y), [3]
    held_out = np.zeros_like(whole.feature_count_)
    held_out[1] = REVIEWS[fold].sum(axis=0)
    counts = ClassCounts(
        whole.classes_, whole.feature_count_ - held_out, whole.class_count_ - [0, 1]
    )
    by_counts, by_rows = MultinomialNB().fit_counts(counts), MultinomialNB().fit(REVIEWS[:3], y[:3])
    np.testing.assert_array_equal(by_counts.coef_, by_rows.coef_)
    np.testing.assert_array_equal(by_counts.predict(REVIEWS), by_rows.predict(REVIEWS))


def test_the_probability_of_a_document_is_the_sum_over_the_classes():
    model = MultinomialNB().fit(REVIEWS, SIGNS)
    np.testing.assert_allclose(np.exp(model.log_evidence(GOOD_MOVIE)), [1 / 27 + 1 / 81])
    one_class = MultinomialNB().fit(REVIEWS[:2], SIGNS[:2])
    np.testing.assert_allclose(np.exp(one_class.log_evidence(GOOD_MOVIE)), [3 / 7 * 2 / 7])
    # Of all documents of two words, and of all sets of words.
    pairs = np.array([np.eye(5)[a] + np.eye(5)[b] for a in range(5) for b in range(5)])
    assert np.exp(model.log_evidence(pairs)).sum() == pytest.approx(1)
    sets = np.array(list(np.ndindex(2, 2, 2, 2, 2)))
    bernoulli = BernoulliNB().fit(REVIEWS, SIGNS)
    empty = np.exp(bernoulli.joint_log_likelihood(sets[:1])).sum()
    assert np.exp(bernoulli.log_evidence(sets[1:])).sum() + empty == pytest.approx(1)


@pytest.mark.parametrize(
    "model",
    [MultinomialNB(), BernoulliNB(), ClassLanguageModel(), TranslationLanguageModel()],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_document_of_unknown_words_has_no_evidence_and_is_never_the_most_usual(model, form):
    X = np.column_stack([REVIEWS, np.zeros((len(REVIEWS), 2))])
    model.fit(form(X), SIGNS)
    rows = form(np.array([[0, 0, 0, 0, 0, 3, 4], [0] * 7, [1, 0, 0, 1, 0, 5, 0]], dtype=float))
    evidence = model.log_evidence(rows)
    assert np.isnan(evidence).tolist() == [True, True, False]
    wanted = [2, 0, 1] if isinstance(model, BernoulliNB) else [7, 0, 5]
    assert model.unknown_counts(rows).tolist() == wanted
    if isinstance(model, ClassLanguageModel):
        divergence = model.negative_divergence(rows)
        assert np.isnan(divergence).all(axis=1).tolist() == [True, True, False]


def test_an_atypical_document_has_less_evidence():
    model = MultinomialNB().fit(REVIEWS, SIGNS)
    usual, mixed = model.log_evidence([[0, 0, 0, 1, 1], [0, 1, 1, 0, 0]])
    assert mixed < usual
    long = sp.csr_matrix(np.array([[40_000, 0, 0, 50_000, 10_000]]))
    assert np.isfinite(model.log_evidence(long)).all()
