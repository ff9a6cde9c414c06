import numpy as np
import pytest
import scipy.sparse as sp

from textbaselines.models import KernelSVM


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
    np.testing.assert_allclose(np.abs(model.machines_[0].dual_coef_), 1 / 8, atol=1e-3)
    assert model.decision_function([[2.0, 3.0]])[0] == pytest.approx(-6, abs=0.01)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf"])
def test_scores_are_sums_of_the_kernel(kernel, classes):
    X, y = random_texts(classes)
    model = KernelSVM(kernel=kernel, degree=3, gamma=0.3).fit(X, y)
    D = X.toarray()
    for code, machine in enumerate(model.machines_):
        support = D[machine.support_]
        products = D @ support.T
        distances = ((D[:, None] - support[None]) ** 2).sum(axis=2)
        values = {
            "linear": products, "polynomial": (products + 1) ** 3, "rbf": np.exp(-0.3 * distances)
        }[kernel]  # fmt: skip
        wanted = values @ machine.dual_coef_.toarray()[0] + machine.intercept_
        scores = model.decision_function(X)
        np.testing.assert_allclose(scores if classes == 2 else scores[:, code], wanted, atol=1e-9)


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
