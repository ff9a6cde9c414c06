import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.gaussian_process import GaussianProcessClassifier as TheirClassifier
from sklearn.gaussian_process import GaussianProcessRegressor as TheirRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from textbaselines.models import (
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    gaussian_process,
)
from textbaselines.models.gaussian_process import posterior
from textbaselines.models.kernels import linear_kernel, rbf_kernel


def random_texts(classes=2):
    generator = np.random.default_rng(0)
    X = sp.csr_matrix((generator.random((40, 10)) < 0.3).astype(float))
    return X, generator.integers(0, classes, 40)


def test_kernels_by_hand():
    A, B = np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([[3.0, 0.0]])
    for kind in (np.array, sp.csr_matrix, sp.csr_array):
        np.testing.assert_allclose(linear_kernel(kind(A), kind(B)), [[3], [0]])
        wanted = np.exp([[-0.5 * 8], [-0.5 * 10]])
        np.testing.assert_allclose(rbf_kernel(kind(A), kind(B), 0.5), wanted)


def test_rounding_puts_no_equal_rows_beyond_one():
    A = 1e7 * np.random.default_rng(0).standard_normal((30, 7))
    assert rbf_kernel(A, A, 0.5).max() == 1


def test_regression_by_hand():
    alpha, mean, variance = posterior(
        np.array([[1, 0.5], [0.5, 1]]), np.array([1.0, -1.0]), 0.1,
        np.array([[0.5], [0.25]]), np.array([1.0]),
    )  # fmt: skip
    np.testing.assert_allclose(alpha, [5 / 3, -5 / 3])
    np.testing.assert_allclose(mean, [5 / 12])
    np.testing.assert_allclose(variance, [1 - 175 / 768])


def test_regression_as_scikit_learn():
    X, y = random_texts()
    D, target = X.toarray(), y + 3.0
    kernel = ConstantKernel(2.0, "fixed") * RBF(np.sqrt(1 / 0.6), "fixed")
    theirs = TheirRegressor(kernel, alpha=0.2).fit(D[:30], target[:30] - target[:30].mean())
    mean, deviation = theirs.predict(D, return_std=True)
    ours = GaussianProcessRegressor("rbf", gamma=0.3, variance=2.0, noise=0.2)
    ours.fit(X[:30], target[:30])
    np.testing.assert_allclose(ours.predict(X), mean + target[:30].mean())
    np.testing.assert_allclose(ours.predict_variance(X), deviation**2)


def test_the_linear_kernel_is_ridge_regression():
    X, y = random_texts()
    ours = GaussianProcessRegressor(variance=0.5, noise=2.0).fit(X, y)
    w = np.linalg.solve(X.T @ X + 4.0 * np.eye(10), X.T @ (y - y.mean()))
    np.testing.assert_allclose(ours.predict(X), X @ w + y.mean())


def test_classification_as_scikit_learn():
    X, y = random_texts()
    D = X.toarray()
    kernel = ConstantKernel(2.0, "fixed") * RBF(np.sqrt(1 / 0.6), "fixed")
    theirs = TheirClassifier(kernel, optimizer=None, max_iter_predict=200).fit(D[:30], y[:30])
    ours = GaussianProcessClassifier("rbf", gamma=0.3, variance=2.0).fit(X[:30], y[:30])
    assert ours.converged_
    # Theirs averages the logistic function by another approximation.
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(D), atol=0.01)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(D))


def test_the_mode_and_the_variance_by_their_equations():
    X, y = random_texts()
    model = GaussianProcessClassifier("rbf", gamma=0.3, variance=2.0, tol=1e-12).fit(X, y)
    K = 2.0 * rbf_kernel(X, X, 0.3)
    (mode,) = model._modes
    f = K @ mode.gradient
    np.testing.assert_allclose(mode.gradient, y - expit(f), atol=1e-6)
    W = expit(f) * expit(-f)
    variance = np.diag(K - K @ np.linalg.inv(K + np.diag(1 / W)) @ K)
    wanted = f / np.sqrt(1 + np.pi / 8 * variance)
    np.testing.assert_allclose(model.decision_function(X), wanted, atol=1e-6)


def test_of_many_classes_each_against_the_rest():
    X, y = random_texts(classes=3)
    model = GaussianProcessClassifier().fit(X, y)
    for label in range(3):
        binary = GaussianProcessClassifier(positive=True).fit(X, y == label)
        np.testing.assert_allclose(
            model.decision_function(X)[:, label], binary.decision_function(X)
        )
    np.testing.assert_array_equal(np.argmax(model.predict_proba(X), axis=1), model.predict(X))


def test_a_huge_kernel_stays_finite():
    X, y = random_texts()
    model = GaussianProcessClassifier(variance=1e8).fit(X, y)
    assert np.all(np.isfinite(model.predict_proba(X)))


def test_blocks_of_rows_change_nothing(monkeypatch):
    X, y = random_texts()
    classifier = GaussianProcessClassifier().fit(X, y)
    regressor = GaussianProcessRegressor().fit(X, y)
    wanted = [
        classifier.decision_function(X), regressor.predict(X), regressor.predict_variance(X)
    ]  # fmt: skip
    monkeypatch.setattr(gaussian_process, "_BLOCK", 120)
    made = [
        classifier.decision_function(X), regressor.predict(X), regressor.predict_variance(X)
    ]  # fmt: skip
    for one, other in zip(made, wanted, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_too_many_documents_are_refused_before_memory_is_taken():
    X = sp.csr_matrix((50_000, 3))
    y = np.arange(50_000) % 2
    with pytest.raises(ValueError, match=r"4 kernel-sized.*50000 documents.*74.5 GiB.*of 4 GiB"):
        GaussianProcessClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"3 kernel-sized.*55.9 GiB"):
        GaussianProcessRegressor().fit(X, y)


def test_too_few_steps_are_told():
    X, y = random_texts()
    model = GaussianProcessClassifier(max_iter=1, variance=10.0).fit(X, y)
    assert not model.converged_
    assert model.n_iter_ == 1
