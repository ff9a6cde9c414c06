import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import mutual_info_score

from textbaselines.models import ClassLanguageModel, TranslationLanguageModel
from textbaselines.models.translation_model import (
    frequent_terms,
    mutual_information,
    translation_probabilities,
)

# Terms a and b always occur together, in half of the documents, c in the others.
X = np.array([[3, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 2]])
Y = np.array([0, 1, 0, 1])


def test_translations_by_hand():
    # I(a; a) = I(a; b) = log 2, so a becomes a and b alike; c is with no other term.
    P = translation_probabilities(sp.csr_matrix((X > 0).astype(float)), 5)
    np.testing.assert_allclose(P.toarray(), [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1]])


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_class_models_by_hand(kind):
    # P_t(a | a) = 0.2 + 0.8 / 2 = 0.6 and P_t(b | a) = 0.4: the counts (3, 1, 1) of class 0 become
    # (2.2, 1.8, 1), and (1, 1, 2) of class 1 stay.
    model = TranslationLanguageModel(mixture=0.5, self_translation=0.2).fit(kind(X), Y)
    collection = np.array([4, 2, 3]) / 9
    np.testing.assert_allclose(
        np.exp(model.feature_log_prob_),
        [
            0.5 * np.array([2.2, 1.8, 1]) / 5 + 0.5 * collection,
            0.5 * np.array([1, 1, 2]) / 4 + 0.5 * collection,
        ],
    )
    dirichlet = TranslationLanguageModel("dirichlet", mu=3.0, self_translation=0.2).fit(kind(X), Y)
    np.testing.assert_allclose(
        np.exp(dirichlet.feature_log_prob_[0]), (np.array([2.2, 1.8, 1]) + 3 * collection) / 8
    )


@settings(max_examples=40, deadline=None)
@given(arrays(np.bool_, (12, 2)))
def test_mutual_information_as_scikit_learn(present):
    a, b = present.T
    joint, first, second = (np.array([float(x)]) for x in ((a & b).sum(), a.sum(), b.sum()))
    wanted = max(mutual_info_score(a, b), 0)
    np.testing.assert_allclose(mutual_information(joint, first, second, 12), wanted, atol=1e-12)


def test_translations_are_in_proportion_to_mutual_information():
    generator = np.random.default_rng(0)
    B = (generator.random((50, 8)) < 0.4).astype(float)
    B[:, 1] = np.where(generator.random(50) < 0.8, B[:, 0], B[:, 1])
    P = translation_probabilities(sp.csr_matrix(B), 8).toarray()
    n11 = B.T @ B
    together = n11 * 50 > np.outer(B.sum(axis=0), B.sum(axis=0))
    information = np.array([[mutual_info_score(u, w) for w in B.T] for u in B.T])
    wanted = np.where(together, information, 0)
    np.testing.assert_allclose(P, wanted / wanted.sum(axis=1, keepdims=True), atol=1e-12)
    assert not together.all()
    truncated = translation_probabilities(sp.csr_matrix(B), 1).toarray()
    assert truncated[0, 1] > 0
    assert np.all((truncated > 0).sum(axis=1) <= 2)
    np.testing.assert_allclose(truncated.sum(axis=1), 1)


def test_a_term_of_every_document_stands_for_itself():
    B = sp.csr_matrix(np.array([[1.0, 1], [1, 0], [1, 1]]))
    np.testing.assert_allclose(translation_probabilities(B, 3).toarray(), np.eye(2))


def test_the_border_is_drawn_between_unequal_terms():
    assert frequent_terms(np.array([5, 2, 0, 3, 2]), 3).tolist() == [0, 3]
    assert frequent_terms(np.array([5, 2, 0, 3, 2]), 4).tolist() == [0, 1, 3, 4]
    # a's partners b and c are equal; with one translation neither can be preferred.
    B = sp.csr_matrix(np.array([[1.0, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1]]))
    np.testing.assert_allclose(translation_probabilities(B, 1).toarray(), np.eye(4))
    np.testing.assert_allclose(translation_probabilities(B, 2).toarray()[0], [1 / 3] * 3 + [0])


def test_rare_terms_stand_for_themselves():
    counts = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 1, 0, 1], [0, 0, 0, 3]])
    model = TranslationLanguageModel(max_terms=2, self_translation=0).fit(counts, [0, 1, 0, 1])
    assert model.terms_.tolist() == [0, 1]
    assert model.translation_.shape == (2, 2)


@pytest.mark.parametrize("smoothing", ["jelinek_mercer", "dirichlet", "absolute_discounting"])
@settings(max_examples=25, deadline=None)
@given(
    X=arrays(np.float64, (6, 5), elements=st.sampled_from([0, 0, 0.3, 1, 2, 7])),
    y=st.lists(st.sampled_from("abc"), min_size=6, max_size=6),
    share=st.sampled_from([0.0, 0.3, 1.0]),
)
def test_models_sum_to_one_and_the_seen_is_possible_everywhere(smoothing, X, y, share):
    model = TranslationLanguageModel(smoothing, self_translation=share, neighbours=2).fit(X, y)
    if X.any():
        seen = model.in_vocabulary_
        np.testing.assert_allclose(np.exp(model.feature_log_prob_[:, seen]).sum(axis=1), 1)
    assert np.all(np.isfinite(model.joint_log_likelihood(np.full((1, 5), 1000.0))))
    if share == 1:
        plain = ClassLanguageModel(smoothing).fit(X, y)
        np.testing.assert_array_equal(model.feature_log_prob_, plain.feature_log_prob_)


def test_blocks_of_terms_change_nothing(monkeypatch):
    B = sp.csr_matrix((np.random.default_rng(0).random((30, 11)) < 0.4).astype(float))
    whole = translation_probabilities(B, 3)
    monkeypatch.setattr("textbaselines.models.translation_model._BLOCK", 4)
    np.testing.assert_array_equal(translation_probabilities(B, 3).toarray(), whole.toarray())


def test_class_counts_alone_are_refused():
    with pytest.raises(TypeError, match="call fit, not fit_counts"):
        TranslationLanguageModel().fit_counts(None)
