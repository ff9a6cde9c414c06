import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessClassifier as TheirClassifier
from sklearn.gaussian_process import GaussianProcessRegressor as TheirRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from textbaselines.models import GaussianProcessClassifier, GaussianProcessRegressor, kernels
from textbaselines.models.gaussian_process_inference import exact_regression
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
    K = np.array([[1, 0.5], [0.5, 1]])
    posterior = exact_regression(K, np.array([1.0, -1.0]), 0.1)
    np.testing.assert_allclose(posterior.alpha, [5 / 3, -5 / 3])
    mean, variance = posterior.latent(np.array([[0.5], [0.25]]), np.array([1.0]))
    np.testing.assert_allclose(mean, [5 / 12])
    np.testing.assert_allclose(variance, [1 - 175 / 768])
    wanted = multivariate_normal([0, 0], K + 0.1 * np.eye(2)).logpdf([1, -1])
    assert posterior.log_marginal_likelihood == pytest.approx(wanted)


def test_the_noisy_variance_and_the_prior_far_away():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [1.0, 2.0, 2.0, 4.0]
    for options in ({}, {"points": 2, "approximation": "nystroem"}):
        model = GaussianProcessRegressor("rbf", gamma=0.7, variance=2.0, noise=0.1, **options)
        model.fit(X, y)
        latent, noisy = (model.predict_variance(X, noisy=noisy) for noisy in (False, True))
        np.testing.assert_allclose(noisy, latent + 0.1)
        np.testing.assert_allclose(model.predict_variance([[100.0]]), 2.0)
        np.testing.assert_allclose(model.predict_variance([[100.0]], noisy=True), 2.1)
        np.testing.assert_allclose(model.predict([[100.0]]), 2.25)


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
    wanted = theirs.log_marginal_likelihood_value_
    assert ours.log_marginal_likelihood_ == pytest.approx(wanted)


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
    wanted = theirs.log_marginal_likelihood_value_
    assert ours.log_marginal_likelihood_ == pytest.approx(wanted)


def test_hyperparameters_at_the_maximum_that_scikit_learn_finds():
    X, _ = random_texts()
    D = X.toarray()
    target = D[:, 0] - D[:, 1] + 0.3 * np.random.default_rng(1).standard_normal(40)
    kernel = ConstantKernel(1.0, (1e-5, 1e5)) * RBF(1.0, (1e-2, 1e3)) + WhiteKernel(1.0)
    theirs = TheirRegressor(kernel, alpha=0).fit(D, target - target.mean())
    ours = GaussianProcessRegressor("rbf", hyperparameters="marginal_likelihood").fit(X, target)
    assert ours.log_marginal_likelihood_ == pytest.approx(
        theirs.log_marginal_likelihood_value_, abs=1e-2
    )
    assert ours.noise_ == pytest.approx(theirs.kernel_.k2.noise_level, rel=0.05)
    fixed = GaussianProcessRegressor("rbf").fit(X, target)
    assert ours.log_marginal_likelihood_ > fixed.log_marginal_likelihood_ + 1
    label = target > 0
    kernel = ConstantKernel(1.0, (1e-5, 1e5)) * RBF(1.0, (1e-2, 1e3))
    theirs = TheirClassifier(kernel, max_iter_predict=200).fit(D, label)
    ours = GaussianProcessClassifier("rbf", hyperparameters="marginal_likelihood").fit(X, label)
    assert ours.log_marginal_likelihood_ == pytest.approx(
        theirs.log_marginal_likelihood_value_, abs=1e-2
    )
    again = GaussianProcessClassifier("rbf", ours.gamma_, ours.variance_).fit(X, label)
    assert ours.log_marginal_likelihood_ == pytest.approx(again.log_marginal_likelihood_)


@pytest.mark.parametrize("estimator", [GaussianProcessClassifier, GaussianProcessRegressor])
def test_enough_points_make_the_projection_exact(estimator):
    # 40 rows of 10 columns: any 10 independent rows span the linear kernel.
    X, y = random_texts()
    exact = estimator(approximation="exact").fit(X, y)
    projected = estimator(approximation="nystroem", points=20, seed=1).fit(X, y)
    assert projected.points_.shape == (20, 10)
    assert exact.points_.shape == (40, 10)
    for method in ("predict_variance", "decision_function", "predict"):
        if hasattr(exact, method):
            np.testing.assert_allclose(
                getattr(projected, method)(X), getattr(exact, method)(X), atol=1e-6
            )
    assert projected.log_marginal_likelihood_ == pytest.approx(exact.log_marginal_likelihood_)


@pytest.mark.parametrize("estimator", [GaussianProcessClassifier, GaussianProcessRegressor])
def test_more_points_come_closer(estimator):
    X, y = random_texts()
    options = {"kernel": "rbf", "gamma": 0.1}
    exact = estimator(**options, approximation="exact").fit(X, y)
    method = "predict" if estimator is GaussianProcessRegressor else "decision_function"
    errors = []
    for points in (5, 20, 39):
        near = estimator(**options, points=points).fit(X, y)
        errors.append(np.abs(getattr(near, method)(X) - getattr(exact, method)(X)).mean())
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.01


def test_the_projection_by_the_kernel_it_implies():
    X, y = random_texts()
    model = GaussianProcessRegressor("rbf", gamma=0.3, variance=2.0, noise=0.2, points=15)
    model.fit(X, y)
    K, k = (2.0 * rbf_kernel(A, model.points_, 0.3) for A in (model.points_, X))
    approximate = k @ np.linalg.pinv(K, rcond=1e-10, hermitian=True) @ k.T
    inverse = np.linalg.inv(approximate + 0.2 * np.eye(40))
    centred = y - y.mean()
    np.testing.assert_allclose(model.predict(X), y.mean() + approximate @ inverse @ centred)
    variance = 2.0 - np.diag(approximate @ inverse @ approximate)
    np.testing.assert_allclose(model.predict_variance(X), variance, atol=1e-9)
    wanted = multivariate_normal(np.zeros(40), approximate + 0.2 * np.eye(40)).logpdf(centred)
    assert model.log_marginal_likelihood_ == pytest.approx(wanted)


def test_a_subset_is_trained_alone_with_a_share_of_each_class():
    X, _ = random_texts()
    y = np.array(["a"] * 30 + ["b"] * 9 + ["c"])
    D = X.toarray() + np.arange(40)[:, None] / 1000
    model = GaussianProcessClassifier(approximation="subset", points=10).fit(D, y)
    chosen = np.flatnonzero((D[:, None] == model.points_[None]).all(axis=2).any(axis=1))
    assert len(model.points_) == len(chosen)
    assert np.unique(y[chosen], return_counts=True)[1].tolist() == [8, 3, 1]
    alone = GaussianProcessClassifier().fit(D[chosen], y[chosen])
    np.testing.assert_array_equal(alone.decision_function(D), model.decision_function(D))
    turned = clone(model).fit(D, np.array(["z", "y", "x"])[np.searchsorted(["a", "b", "c"], y)])
    np.testing.assert_array_equal(turned.points_, model.points_)
    other = clone(model).set_params(seed=1).fit(D, y)
    assert not np.array_equal(other.points_, model.points_)


@pytest.mark.parametrize("approximation", ["nystroem", "subset"])
def test_the_order_of_rows_does_not_choose_the_points(approximation):
    generator = np.random.default_rng(0)
    X, y = generator.standard_normal((60, 4)), generator.integers(0, 3, 60)
    order = generator.permutation(60)
    for estimator in (GaussianProcessClassifier, GaussianProcessRegressor):
        model = estimator("rbf", approximation=approximation, points=15).fit(X, y)
        shuffled = clone(model).fit(sp.csr_matrix(X[order]), y[order])
        np.testing.assert_allclose(
            *(np.sort(m.points_ @ np.ones(4)) for m in (model, shuffled)), atol=1e-12
        )
        method = "decision_function" if hasattr(model, "decision_function") else "predict"
        np.testing.assert_allclose(
            getattr(shuffled, method)(X), getattr(model, method)(X), atol=1e-6
        )


def test_last_bits_do_not_choose_the_points():
    generator = np.random.default_rng(4)
    X, y = generator.standard_normal((300, 20)), generator.integers(0, 2, 300)
    nudged = X * (1 + 1e-13 * generator.choice([-1, 1], X.shape))
    assert np.all(nudged != X)
    model = GaussianProcessClassifier(approximation="subset", points=40)
    np.testing.assert_allclose(model.fit(nudged, y).points_, clone(model).fit(X, y).points_)


def test_rows_that_differ_in_last_bits_alone_are_told_apart_by_them():
    generator = np.random.default_rng(5)
    X = 1.0 + 1e-9 * generator.random((60, 3))
    y, order = np.arange(60) % 2, generator.permutation(60)
    model = GaussianProcessClassifier(approximation="subset", points=10)
    points = [clone(model).fit(X[rows], y[rows]).points_ for rows in (np.arange(60), order)]
    np.testing.assert_array_equal(*(np.sort(each, axis=0) for each in points))


def test_the_mode_and_the_variance_by_their_equations():
    X, y = random_texts()
    model = GaussianProcessClassifier("rbf", gamma=0.3, variance=2.0, tol=1e-12).fit(X, y)
    K = 2.0 * rbf_kernel(X, X, 0.3)
    (posterior,) = model.posteriors_
    f = K @ posterior.alpha
    np.testing.assert_allclose(posterior.alpha, y - expit(f), atol=1e-6)
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
    monkeypatch.setattr(kernels, "_BLOCK", 120)
    made = [
        classifier.decision_function(X), regressor.predict(X), regressor.predict_variance(X)
    ]  # fmt: skip
    for one, other in zip(made, wanted, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_too_many_documents_are_refused_before_memory_is_taken():
    X = sp.csr_matrix((50_000, 3))
    y = np.arange(50_000) % 2
    with pytest.raises(ValueError, match=r"5 kernel-sized.*50000 documents.*93.1 GiB.*of 4 GiB"):
        GaussianProcessClassifier(approximation="exact").fit(X, y)
    with pytest.raises(ValueError, match=r"5 kernel-sized.*points"):
        GaussianProcessRegressor(approximation="exact").fit(X, y)
    with pytest.raises(
        ValueError, match=r"5 kernel-.* 9000 documents and 3 of 50000 by 9000 .*13.1 GiB"
    ):
        GaussianProcessRegressor(points=9000).fit(X, y)


def test_too_few_steps_are_told():
    X, y = random_texts()
    model = GaussianProcessClassifier(max_iter=1, variance=10.0).fit(X, y)
    assert not model.converged_
    assert model.n_iter_ == 1
