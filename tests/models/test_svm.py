import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from textbaselines.models import LinearSVM


def random_texts(n=60, m=80, classes=2, seed=0):
    generator = np.random.default_rng(seed)
    X = sp.csr_matrix((generator.random((n, m)) < 0.15).astype(float))
    return X, generator.integers(0, classes, n)


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_one_feature_by_hand(C):
    # 1/2 w^2 + 2 C (1 - w)^2 is least at w = 4C / (1 + 4C); with the hinge at min(1, 2C).
    X, y = np.array([[1.0], [-1.0]]), [1, 0]
    squared = LinearSVM(C=C, tol=1e-10).fit(X, y)
    assert squared.coef_[0, 0] == pytest.approx(4 * C / (1 + 4 * C))
    hinge = LinearSVM(C=C, loss="hinge", tol=1e-10).fit(X, y)
    assert hinge.coef_[0, 0] == pytest.approx(min(1, 2 * C))
    assert hinge.objective(X, y)[0] == pytest.approx(
        0.5 * min(1, 2 * C) ** 2 + 2 * C * (1 - min(1, 2 * C))
    )


@pytest.mark.parametrize("bias", [None, 2.0])
@pytest.mark.parametrize("dual", [True, False])
def test_as_liblinear_through_scikit_learn(bias, dual):
    X, y = random_texts()
    theirs = sklearn.svm.LinearSVC(
        C=0.1, dual=dual, tol=0.1, fit_intercept=bias is not None,
        intercept_scaling=bias or 1, random_state=7,
    ).fit(X, y)  # fmt: skip
    ours = LinearSVM(dual=dual, bias=bias, seed=7).fit(X, y)
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    np.testing.assert_array_equal(ours.intercept_, np.zeros(1) + theirs.intercept_)
    assert ours.n_iter_ == theirs.n_iter_


def test_each_of_many_classes_against_the_rest():
    X, y = random_texts(classes=3)
    ours = LinearSVM(tol=1e-8).fit(X, y)
    theirs = sklearn.svm.LinearSVC(C=0.1, tol=1e-8, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_no_bias_by_default():
    X, y = random_texts()
    model = LinearSVM().fit(X, y)
    assert model.intercept_ == 0
    assert model.decision_function(sp.csr_matrix((1, 80))).tolist() == [0.0]


def test_a_large_bias_feature_gives_the_free_intercept_of_unbalanced_classes():
    generator = np.random.default_rng(1)
    X = 0.01 * generator.standard_normal((200, 2))
    y = (np.arange(200) < 10).astype(int)
    signs = 2.0 * y - 1

    def free(parameters):
        slack = np.maximum(0, 1 - signs * (X @ parameters[:2] + parameters[2]))
        return 0.5 * parameters[:2] @ parameters[:2] + 0.1 * slack @ slack

    wanted = minimize(free, np.zeros(3), tol=1e-12).x[2]
    fitted = LinearSVM(bias=100.0, tol=1e-8, max_iter=100_000).fit(X, y)
    assert wanted < -0.85
    assert fitted.intercept_[0] == pytest.approx(wanted, abs=1e-3)


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["hinge", "squared_hinge"]),
    st.sampled_from([None, 1.0]),
    st.sampled_from([2, 3]),
)
def test_the_gap_bounds_the_distance_to_the_optimum(seed, loss, bias, classes):
    X, y = random_texts(n=30, m=20, classes=classes, seed=seed)
    rough = LinearSVM(C=1, loss=loss, bias=bias, max_iter=2).fit(X, y)
    exact = LinearSVM(C=1, loss=loss, bias=bias, tol=1e-9, max_iter=10**6).fit(X, y)
    above = rough.objective(X, y) - exact.objective(X, y)
    assert np.all(rough.duality_gap(X, y) >= above - 1e-7)
    assert np.all(exact.duality_gap(X, y) < 1e-3)
    assert np.all(exact.duality_gap(X, y) > -1e-9)


def test_a_stalled_fit_tells_so(recwarn):
    X, y = random_texts(n=200, m=20)
    stalled = LinearSVM(C=1000, loss="hinge", tol=1e-6, max_iter=5).fit(X, y)
    assert not stalled.converged_
    assert stalled.n_iter_ == 5
    assert stalled.duality_gap(X, y)[0] > 100
    assert not recwarn.list
    assert LinearSVM().fit(X, y).converged_


def test_labels_of_any_kind_give_the_same_model():
    X, y = random_texts()
    plain = LinearSVM().fit(X, y)
    for names in ([-1, 1], ["neg", "pos"], [False, True], [3, 7]):
        other = LinearSVM().fit(X, np.array(names)[y])
        np.testing.assert_array_equal(other.coef_, plain.coef_)
        np.testing.assert_array_equal(other.predict(X), np.array(names)[plain.predict(X)])


def test_the_positive_class_moves_with_its_name():
    X, y = random_texts()
    plain = LinearSVM(positive=1).fit(X, y)
    swapped = LinearSVM(positive=0).fit(X, 1 - y)
    np.testing.assert_array_equal(swapped.coef_, -plain.coef_)
    np.testing.assert_array_equal(swapped.predict(X), 1 - plain.predict(X))


def test_hinge_in_the_primal_is_refused():
    X, y = random_texts()
    with pytest.raises(ValueError, match="loss 'hinge' is solved in the dual alone"):
        LinearSVM(loss="hinge", dual=False).fit(X, y)


def test_64_bit_indices_are_narrowed():
    X, y = random_texts()
    wide = X.copy()
    wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    np.testing.assert_array_equal(LinearSVM().fit(wide, y).coef_, LinearSVM().fit(X, y).coef_)


def test_margins_and_losses_of_given_weights_by_hand():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), [1, 0]
    model = LinearSVM(loss="hinge", C=1.0).fit(X, y)
    model.coef_ = np.array([[1.0, -1.0]])
    np.testing.assert_allclose(model.decision_function([[0.8, 0.3], [2.0, 1.0]]), [0.5, 1.0])
    # 1/2 w'w is 1; the margins 0.5 and 1 cost 0.5 and nothing, squared 0.25 and nothing.
    np.testing.assert_allclose(model.objective([[0.8, 0.3]], [1]), [1.5])
    np.testing.assert_allclose(model.objective([[2.0, 1.0]], [1]), [1.0])
    model.loss = "squared_hinge"
    np.testing.assert_allclose(model.objective([[0.8, 0.3]], [1]), [1.25])


@pytest.mark.parametrize("bias", [None, 1.0])
def test_primal_and_dual_have_one_solution(bias):
    X, y = random_texts()
    primal, dual = (
        LinearSVM(C=1, dual=dual, bias=bias, tol=1e-10, max_iter=10**5).fit(X, y)
        for dual in (False, True)
    )
    np.testing.assert_allclose(primal.coef_, dual.coef_, atol=1e-5)
    np.testing.assert_allclose(primal.intercept_, dual.intercept_, atol=1e-5)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_larger_cost_means_no_more_violations(loss):
    X, y = random_texts(m=20)
    signs, losses = 2 * y - 1, []
    for C in (0.001, 0.01, 0.1, 1.0):
        model = LinearSVM(C=C, loss=loss, tol=1e-9, max_iter=10**6).fit(X, y)
        slack = np.maximum(0, 1 - signs * model.decision_function(X))
        losses.append(np.sum(slack if loss == "hinge" else slack**2))
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.9 * losses[0]
