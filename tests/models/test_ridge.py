import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from sklearn.datasets import load_diabetes

from textbaselines.models import LinearRegression, RidgeClassifier


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
