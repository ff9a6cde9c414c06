import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from sklearn.datasets import load_diabetes

from textbaselines.models import LinearRegression, RidgeClassifier
from textbaselines.models.registry import fit_grid, make_estimator
from textbaselines.models.ridge import ClosedForm


def random_texts(classes=2):
    generator = np.random.default_rng(0)
    X = sp.csr_matrix((generator.random((60, 20)) < 0.3).astype(float))
    return X, generator.integers(0, classes, 60)


def test_one_feature_by_hand():
    # Centred: x = (-1, 0, 1), y = (-1, -1, 2): w = 3 / (2 + alpha).
    X, y = np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 1.0, 4.0])
    for alpha, slope in [(0, 1.5), (1, 1.0)]:
        model = LinearRegression(alpha=alpha).fit(X, y)
        assert model.coef_[0] == pytest.approx(slope)
        np.testing.assert_allclose(model.predict([[2.0], [4.0]]), [2, 2 + 2 * slope])
    through_zero = LinearRegression(alpha=0, intercept=False).fit(X, y)
    assert through_zero.coef_[0] == pytest.approx(15 / 14)
    assert through_zero.intercept_ == 0


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.5, 10.0])
def test_as_scikit_learn(intercept, alpha):
    X, y = load_diabetes(return_X_y=True)
    ours = LinearRegression(alpha, intercept, tol=1e-12).fit(X, y)
    theirs = sklearn.linear_model.Ridge(alpha, fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6)
    assert ours.converged_
    for classes in (2, 3):
        X, y = random_texts(classes)
        ours = RidgeClassifier(alpha, intercept, tol=1e-12).fit(X, y)
        theirs = sklearn.linear_model.RidgeClassifier(alpha, fit_intercept=intercept)
        theirs.fit(X.toarray(), y)
        scores = theirs.decision_function(X)
        np.testing.assert_allclose(ours.decision_function(X), scores, atol=1e-8)


def test_of_many_solutions_the_least():
    generator = np.random.default_rng(0)
    X, y = generator.standard_normal((5, 20)), generator.standard_normal(5)
    model = LinearRegression(alpha=0, intercept=False, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, np.linalg.pinv(X) @ y, atol=1e-8)


def test_stopping_at_the_limit_is_told():
    X, y = load_diabetes(return_X_y=True)
    model = LinearRegression(alpha=0, tol=1e-14, max_iter=2).fit(X, y)
    assert not model.converged_
    assert model.n_iter_ == 2


def test_equal_ratings_are_predicted():
    X, _ = random_texts()
    model = LinearRegression().fit(X, np.full(60, 3.0))
    np.testing.assert_allclose(model.predict(X), 3)
    assert model.converged_


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.5, 10.0])
@pytest.mark.parametrize(("n", "m"), [(60, 20), (20, 60)])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_the_closed_form_is_the_solution(intercept, alpha, n, m, kind):
    generator = np.random.default_rng(1)
    X, y = generator.poisson(0.5, (n, m)).astype(float), 3 + generator.standard_normal(n)
    ours = LinearRegression(alpha, intercept, solver="closed_form").fit(kind(X), y)
    theirs = sklearn.linear_model.Ridge(alpha, fit_intercept=intercept, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
    assert ours.intercept_ == pytest.approx(theirs.intercept_)
    assert ours.n_iter_ == 0
    codes = generator.integers(0, 3, n)
    closed, lsqr = (
        RidgeClassifier(alpha, intercept, solver=solver, tol=1e-13).fit(kind(X), codes)
        for solver in ("closed_form", "lsqr")
    )
    np.testing.assert_allclose(closed.coef_, lsqr.coef_, atol=1e-8)
    np.testing.assert_allclose(closed.intercept_, lsqr.intercept_, atol=1e-8)


@pytest.mark.parametrize(("n", "m"), [(5, 20), (20, 20), (30, 20)])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_closed_form_of_many_solutions_is_the_least(n, m, intercept):
    generator = np.random.default_rng(0)
    X, y = generator.standard_normal((n, m)), generator.standard_normal(n)
    X[:, 1] = X[:, 0]
    model = LinearRegression(alpha=0, intercept=intercept, solver="closed_form").fit(X, y)
    centre = (X.mean(axis=0), y.mean()) if intercept else (0, 0)
    wanted = np.linalg.pinv(X - centre[0], rcond=1e-10) @ (y - centre[1])
    np.testing.assert_allclose(model.coef_, wanted, atol=1e-6)


@pytest.mark.parametrize("name", ["ridge", "linreg"])
def test_one_factorisation_serves_every_penalty(monkeypatch, name):
    calls, real = [], ClosedForm.of
    monkeypatch.setattr(ClosedForm, "of", lambda *given: calls.append(1) or real(*given))
    X, y = random_texts()
    points = [{"solver": "closed_form", "alpha": alpha} for alpha in (0.1, 1.0, 10.0)]
    fitted = dict(fit_grid(name, X, y, points))
    assert len(calls) == 1
    for index, point in enumerate(points):
        alone = make_estimator(name, point).fit(X, y)
        np.testing.assert_array_equal(fitted[index].estimator.coef_, alone.coef_)


def test_a_large_closed_form_is_refused_before_memory_is_taken():
    X = sp.csr_matrix((50_000, 40_000))
    with pytest.raises(ValueError, match=r"Gram matrix of 40000 features.*47.7 GiB.*'lsqr'"):
        LinearRegression(solver="closed_form").fit(X, np.zeros(50_000))


def test_two_steps_of_gradient_descent_by_hand():
    # Centred x = (-1, 0, 1), y = (-1, -1, 2): the loss is (2 (w - 3/2)^2 + 3/2) / 6.
    X, y = np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 1.0, 4.0])
    options = {"alpha": 0, "solver": "gradient_descent"}
    model = LinearRegression(**options, learning_rate=0.75, max_iter=2).fit(X, y)
    # Each step halves the distance to 3/2: w = 3/4, then 9/8.
    assert model.coef_[0] == pytest.approx(9 / 8)
    assert model.intercept_ == pytest.approx(2 - 2 * 9 / 8)
    np.testing.assert_allclose(model.loss_curve_, [1, 0.25 + 0.1875, 0.25 + 0.046875])
    assert model.n_iter_ == 2
    assert not model.converged_
    # 1 / L is 3/2, which goes there in one step; the second sees that nothing is left to gain.
    model = LinearRegression(**options).fit(X, y)
    assert model.learning_rate_ == pytest.approx(1.5)
    np.testing.assert_allclose(model.coef_, [1.5])
    assert model.n_iter_ == 2
    assert model.converged_


@pytest.mark.parametrize("intercept", [True, False])
def test_gradient_descent_comes_to_the_closed_form(intercept):
    X, _ = random_texts()
    y = X[:, 0].toarray().ravel() + np.random.default_rng(1).standard_normal(60)
    descent = LinearRegression(1.0, intercept, solver="gradient_descent", tol=1e-14).fit(X, y)
    closed = LinearRegression(1.0, intercept, solver="closed_form").fit(X, y)
    np.testing.assert_allclose(descent.coef_, closed.coef_, atol=1e-5)
    assert descent.intercept_ == pytest.approx(closed.intercept_, abs=1e-5)
    assert descent.converged_
    assert len(descent.loss_curve_) == descent.n_iter_ + 1
    assert np.all(np.diff(descent.loss_curve_) <= 1e-14 * descent.loss_curve_[0])


def test_too_large_a_learning_rate_is_refused():
    X, y = random_texts()
    with pytest.raises(ValueError, match=r"diverges: step 1 raised the loss.*rate is 50, use one"):
        LinearRegression(solver="gradient_descent", learning_rate=50.0).fit(X, y)


@pytest.mark.parametrize("solver", ["lsqr", "closed_form", "gradient_descent"])
def test_equal_ratings_and_empty_documents(solver):
    model = LinearRegression(solver=solver).fit(random_texts()[0], np.full(60, 3.0))
    np.testing.assert_allclose(model.predict(np.zeros((1, 20))), 3)
    assert model.converged_
    empty = LinearRegression(solver=solver).fit(sp.csr_matrix((4, 3)), [1.0, 2.0, 3.0, 6.0])
    np.testing.assert_allclose(empty.predict([[0.0, 0, 1]]), 3)
