import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm

from textbaselines.models import NBSVM
from textbaselines.models.nbsvm import interpolated

LOG2, LOG3 = np.log(2), np.log(3)
# Columns: bad, boring, fun, good, movie, and one that no document has.
REVIEWS = np.array(
    [[0, 0, 0, 1, 1, 0], [0, 0, 1, 1, 0, 0], [1, 0, 0, 0, 1, 0], [1, 1, 0, 0, 0, 0]], dtype=float
)
SIGNS = np.array([1, 1, -1, -1])
R = np.array([-LOG3, -LOG2, LOG2, LOG3, 0, 0])
# The positive reviews have (log 3, 0) and (log 3, log 2) for (good, fun), the negative ones minus
# that for (bad, boring): two equal problems, each the least of
# 1/2 (a^2 + b^2) + (1 - a log 3)^2 + (1 - a log 3 - b log 2)^2, both losses above zero.
A, B = np.linalg.solve(
    [[1 + 4 * LOG3**2, 2 * LOG3 * LOG2], [2 * LOG3 * LOG2, 1 + 2 * LOG2**2]], [4 * LOG3, 2 * LOG2]
)
W = np.array([A, B, B, A, 0, 0])


def random_texts(classes=2, seed=0):
    generator = np.random.default_rng(seed)
    X = sp.csr_matrix((generator.random((80, 60)) < 0.15).astype(float))
    return X, generator.integers(0, classes, 80)


def test_both_losses_of_the_example_are_above_zero():
    assert 0 < A * LOG3 < 1
    assert 0 < A * LOG3 + B * LOG2 < 1


@pytest.mark.parametrize("beta", [0.0, 0.25, 1.0])
def test_four_reviews_by_hand(beta):
    model = NBSVM(beta=beta, tol=1e-12).fit(REVIEWS, SIGNS)
    np.testing.assert_allclose(model.log_count_ratio_, [R], atol=1e-15)
    mean = (2 * A + 2 * B) / 6
    wanted = R * ((1 - beta) * mean + beta * W)
    np.testing.assert_allclose(model.coef_, [wanted], atol=1e-9)
    np.testing.assert_allclose(model.decision_function(REVIEWS), REVIEWS @ wanted, atol=1e-9)
    assert model.predict(REVIEWS).tolist() == SIGNS.tolist()


def test_the_mean_is_over_all_columns_and_of_absolute_values():
    np.testing.assert_allclose(
        interpolated(np.array([3.0, -1.0, 0.0, 0.0]), 1.0, 0.25), [1.5, 0.5, 0.75, 0.75]
    )


def test_beta_one_is_the_svm_on_scaled_rows():
    X, y = random_texts()
    model = NBSVM(beta=1).fit(X, y)
    scaled = X.multiply(model.log_count_ratio_[0]).tocsr()
    solver = sklearn.svm.LinearSVC(C=1, tol=0.1, fit_intercept=False, dual=True, random_state=0)
    weights = solver.fit(scaled, y).coef_[0]
    np.testing.assert_allclose(model.coef_[0], model.log_count_ratio_[0] * weights, atol=1e-12)


def test_beta_zero_follows_naive_bayes_without_a_prior():
    X, y = random_texts()
    model = NBSVM(beta=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), X @ model.log_count_ratio_[0] > 0)


@pytest.mark.parametrize("names", [[0, 1], [-1, 1], ["neg", "pos"], [False, True]])
def test_labels_of_any_kind_give_the_same_model(names):
    X, y = random_texts()
    plain, other = NBSVM().fit(X, y), NBSVM().fit(X, np.array(names)[y])
    np.testing.assert_array_equal(other.coef_, plain.coef_)
    np.testing.assert_array_equal(other.predict(X), np.array(names)[plain.predict(X)])
    assert 10 < plain.predict(X).sum() < 70


def test_the_positive_class_moves_with_its_name():
    X, y = random_texts()
    plain, swapped = NBSVM(positive=1).fit(X, y), NBSVM(positive=0).fit(X, 1 - y)
    np.testing.assert_array_equal(swapped.coef_, -plain.coef_)
    np.testing.assert_array_equal(swapped.log_count_ratio_, -plain.log_count_ratio_)
    np.testing.assert_array_equal(swapped.predict(X), 1 - plain.predict(X))


def test_the_added_mean_is_one_sided():
    # Had w been oriented to the other class, beta = 0 would turn every sign.
    X, y = random_texts()
    for positive in (0, 1):
        model = NBSVM(beta=0, positive=positive).fit(X, y)
        assert np.mean(model.predict(X) == y) > 0.7


def test_each_of_many_classes_is_the_binary_model():
    X, y = random_texts(classes=3)
    model = NBSVM().fit(X, y)
    for label in range(3):
        binary = NBSVM(positive=True).fit(X, y == label)
        np.testing.assert_array_equal(model.coef_[label], binary.coef_[0])
    np.testing.assert_array_equal(model.predict(X), np.argmax(X @ model.coef_.T, axis=1))


def test_rows_without_any_evidence_are_solved():
    # Both classes alike: r is zero, and so is all that the solver sees.
    X, y = np.array([[1.0, 1.0], [1.0, 1.0]]), [0, 1]
    for loss in ("squared_hinge", "hinge"):
        model = NBSVM(loss=loss).fit(X, y)
        assert not model.coef_.any()
        assert model.predict(X).tolist() == [0, 0]


def test_weighted_values_are_summed_as_they_are():
    X, y = np.array([[0.5, 0.0, 2.0], [0.0, 1.5, 1.0]]), [1, 0]
    model = NBSVM(beta=0).fit(X, y)
    p, q = np.array([1.5, 1.0, 3.0]), np.array([1.0, 2.5, 2.0])
    np.testing.assert_allclose(
        model.log_count_ratio_, [np.log(p / p.sum()) - np.log(q / q.sum())], atol=1e-15
    )


@pytest.mark.parametrize("tol", [0.1, 1e-8])
def test_the_logistic_loss_tells_whether_it_converged(tol):
    X, y = random_texts()
    assert NBSVM(loss="logistic", tol=tol, max_iter=10**5).fit(X, y).converged_
    stopped = NBSVM(loss="logistic", C=1000, tol=1e-12, max_iter=1).fit(X, y)
    assert not stopped.converged_


def test_the_outputs_of_a_grid_are_the_products_with_the_folded_weights():
    X, y = sp.csr_array(np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 1, 0.0]])), [1, 1, 0, 0]
    for labels in (y, [0, 1, 2, 2]):
        group = [NBSVM(beta=beta).fit(X, labels) for beta in (0.0, 0.25, 1.0)]
        for one, scores in zip(group, NBSVM.outputs_of(group, X), strict=True):
            by_hand = X.toarray() @ one.coef_.T
            assert scores == pytest.approx(by_hand[:, 0] if labels is y else by_hand, abs=1e-12)


def test_the_folded_weights_follow_a_second_fit():
    X, y = np.array([[1, 0], [0, 1.0]]), [0, 1]
    model = NBSVM().fit(X, y)
    before = model.coef_.copy()
    assert model.fit(X, [1, 0]).coef_.tolist() == (-before).tolist()
