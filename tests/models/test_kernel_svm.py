import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC

from textbaselines.models import KernelSVM
from textbaselines.models.kernels import scale_gamma


def random_texts(classes=2):
    generator = np.random.default_rng(0)
    X = sp.csr_matrix((generator.random((50, 20)) < 0.3).astype(float))
    return X, generator.integers(0, classes, 50)


def test_two_points_by_hand():
    # The widest margin between 0 and 2 is at 1: f(x) = x - 1.
    model = KernelSVM(C=10).fit([[0.0], [2.0]], ["a", "b"])
    np.testing.assert_allclose(model.decision_function([[0.0], [1.5]]), [-1, 0.5], atol=1e-3)


def test_the_polynomial_separates_what_a_line_cannot():
    X, y = np.array([[-1.0, -1], [1, 1], [-1, 1], [1, -1]]), [0, 0, 1, 1]
    # With (x'z + 1)^2 the product x1 x2 is a feature with weight sqrt(2) * w: alpha = 1/8 each.
    model = KernelSVM(C=100, kernel="polynomial", degree=2).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), [-1, -1, 1, 1], atol=1e-3)
    np.testing.assert_allclose(model.dual_coef_, [[-1 / 8, -1 / 8, 1 / 8, 1 / 8]], atol=1e-3)
    np.testing.assert_allclose(model.margin_, np.sqrt(2), atol=1e-3)  # |w| = 1/sqrt(2)
    assert model.decision_function([[2.0, 3.0]])[0] == pytest.approx(-6, abs=0.01)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf"])
def test_scores_are_those_of_libsvm(kernel, classes):
    X, y = random_texts(classes)
    model = KernelSVM(kernel=kernel, degree=3, gamma=0.3).fit(X, y)
    theirs = SVC(
        kernel="poly" if kernel == "polynomial" else kernel, degree=3, coef0=1,
        gamma=1 if kernel == "polynomial" else 0.3,
    )  # fmt: skip
    scores = model.decision_function(X)
    for code in range(classes) if classes == 3 else [1]:
        wanted = theirs.fit(X, y == code).decision_function(X)
        np.testing.assert_allclose(scores if classes == 2 else scores[:, code], wanted, atol=1e-9)


@pytest.mark.parametrize("positive", ["a", "b"])
def test_the_dual_solution_meets_its_conditions(positive):
    X, codes = random_texts()
    y = np.array(["a", "b"])[codes]
    model = KernelSVM(C=0.3, tol=1e-8, positive=positive).fit(X, y)
    signs = 2 * codes - 1
    alpha = signs[model.support_] * model.dual_coef_[0]
    assert np.all((alpha > 0) & (alpha <= 0.3))
    assert model.dual_coef_.sum() == pytest.approx(0, abs=1e-9)
    np.testing.assert_array_equal(model.support_vectors_.toarray(), X[model.support_].toarray())
    w = model.dual_coef_[0] @ model.support_vectors_.toarray()
    np.testing.assert_allclose(model.decision_function(X), X @ w + model.intercept_, atol=1e-9)
    np.testing.assert_allclose(model.margin_, 1 / np.linalg.norm(w))
    free = model.support_[alpha < 0.3 * (1 - 1e-6)]
    assert len(free) > 1
    np.testing.assert_allclose(signs[free] - X[free] @ w, model.intercept_[0], atol=1e-6)
    others = np.setdiff1d(np.arange(50), model.support_)
    assert np.all(signs[others] * model.decision_function(X[others]) >= 1 - 1e-6)


def test_a_large_cost_gives_the_hard_margin():
    # The nearest points of two sets either side of x1 = 1 are at distance 2.
    X = np.array([[0.0, 0], [-1, 3], [-2, -1], [2, 0], [3, 2], [4, -5]])
    y = [0, 0, 0, 1, 1, 1]
    soft, hard = (KernelSVM(C=C, tol=1e-8).fit(X, y) for C in (0.01, 1e6))
    np.testing.assert_allclose(hard.margin_, 1, atol=1e-4)
    assert hard.support_.tolist() == [0, 3]
    np.testing.assert_allclose(hard.decision_function([[1.0, 7.0]]), 0, atol=1e-4)
    assert soft.margin_ > 1.5


def test_the_default_gamma_by_hand():
    # The distances from the mean (1, 0) are 1, 1, 2 and 2.
    X = np.array([[0.0, 0], [2, 0], [1, 2], [1, -2]])
    for rows in (X, sp.csr_matrix(X)):
        model = KernelSVM(kernel="rbf").fit(rows, [0, 1, 0, 1])
        assert model.gamma_ == pytest.approx(1 / 2.5)
    assert scale_gamma(np.full((3, 2), 0.1)) == 1
    assert scale_gamma(np.zeros((3, 2))) == 1
    assert KernelSVM(kernel="rbf", gamma=0.5).fit(X, [0, 1, 0, 1]).gamma_ == 0.5


def test_a_larger_cost_means_no_more_violations():
    X, codes = random_texts()
    signs = 2 * codes - 1
    losses = []
    for C in (0.01, 0.1, 1.0, 10.0):
        scores = KernelSVM(C=C, tol=1e-8).fit(X, codes).decision_function(X)
        losses.append(np.maximum(0, 1 - signs * scores).sum())
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]


def test_equal_points_of_both_classes_have_no_boundary():
    model = KernelSVM().fit([[1.0], [1.0]], [0, 1])
    assert model.margin_.tolist() == [np.inf]
    one_class = KernelSVM().fit([[1.0], [2.0]], [0, 0])
    assert one_class.margin_.tolist() == [np.inf]
    assert len(one_class.support_) == 0


def test_blocks_of_rows_change_nothing(monkeypatch):
    X, y = random_texts(3)
    model = KernelSVM(kernel="rbf").fit(X, y)
    scores, margin = model.decision_function(X), model.margin_
    monkeypatch.setattr("textbaselines.models.kernels._BLOCK", 100)
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-12)
    np.testing.assert_allclose(model.margin_, margin)


def test_trained_on_dense_rows_it_takes_sparse_ones():
    X, y = random_texts(3)
    dense, sparse = KernelSVM().fit(X.toarray(), y), KernelSVM().fit(X, y)
    np.testing.assert_allclose(
        dense.decision_function(X), sparse.decision_function(X.toarray()), atol=1e-9
    )


def test_the_positive_class_moves_with_its_name():
    X, y = random_texts()
    plain, swapped = KernelSVM(positive=1).fit(X, y), KernelSVM(positive=0).fit(X, 1 - y)
    np.testing.assert_array_equal(swapped.decision_function(X), -plain.decision_function(X))


def test_a_stalled_fit_tells_so(recwarn):
    X, y = random_texts()
    model = KernelSVM(C=100, max_iter=3).fit(X, y)
    assert not model.converged_
    assert model.n_iter_ == 3
    assert not recwarn.list
    assert KernelSVM().fit(X, y).converged_
