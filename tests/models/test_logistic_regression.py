import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
from scipy.special import expit

from textbaselines.models import NBSVM, LogisticRegression
from textbaselines.models.log_count_ratio import log_count_ratio


def random_texts(classes=2, seed=0):
    generator = np.random.default_rng(seed)
    X = sp.csr_matrix((generator.random((80, 30)) < 0.2).astype(float))
    return X, generator.integers(0, classes, 80)


def gradient_of_losses(X, y, w, b):
    signs = np.where(y == 1, 1.0, -1.0)
    pull = -signs * expit(-signs * (X @ w + b))
    return X.T @ pull, pull.sum()


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("bias", [None, 2.0])
def test_the_gradient_is_zero_with_the_l2_penalty(dual, bias):
    X, y = random_texts()
    model = LogisticRegression(C=0.7, dual=dual, bias=bias, tol=1e-9, max_iter=10**5).fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    by_w, by_b = gradient_of_losses(X, y, w, b)
    np.testing.assert_allclose(w + 0.7 * by_w, 0, atol=1e-5)
    if bias is None:
        assert b == 0
    else:
        # The bias's weight is b / bias, its feature the constant bias.
        assert b / bias + 0.7 * bias * by_b == pytest.approx(0, abs=1e-5)
    assert model.converged_


def test_the_l1_penalty_meets_its_conditions():
    X, y = random_texts()
    model = LogisticRegression(C=0.7, penalty="l1", bias=None, tol=1e-8, max_iter=10**5).fit(X, y)
    w = model.coef_[0]
    slope = 0.7 * gradient_of_losses(X, y, w, 0)[0]
    assert 0 < np.count_nonzero(w) < 30
    np.testing.assert_allclose(slope[w != 0], -np.sign(w[w != 0]), atol=1e-4)
    assert np.all(np.abs(slope[w == 0]) <= 1 + 1e-4)


def test_probabilities_are_logistic_and_of_many_classes_normalised():
    X, y = random_texts()
    model = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(model.decision_function(X)))
    X, y = random_texts(classes=3)
    model = LogisticRegression().fit(X, y)
    each = expit(model.decision_function(X))
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities, each / each.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(np.argmax(probabilities, axis=1), model.predict(X))


def test_an_unbalanced_set_keeps_its_intercept():
    X = sp.csr_matrix((200, 3))
    model = LogisticRegression(tol=1e-6).fit(X, np.arange(200) < 10)
    assert model.intercept_[0] == pytest.approx(np.log(10 / 190), abs=0.005)
    # A bias feature of 1 is pulled: b + 200 / (1 + exp(-b)) = 10.
    pulled = LogisticRegression(tol=1e-6, bias=1.0).fit(X, np.arange(200) < 10).intercept_[0]
    assert pulled + 200 * expit(pulled) == pytest.approx(10, abs=1e-3)


def test_l1_in_the_dual_is_refused():
    with pytest.raises(ValueError, match="the l1 penalty is solved in the primal alone"):
        LogisticRegression(penalty="l1", dual=True).fit(*random_texts())


def test_nbsvm_with_the_logistic_loss():
    X, y = random_texts()
    r = log_count_ratio(X, y == 1)
    theirs = sklearn.linear_model.LogisticRegression(fit_intercept=False, tol=1e-10)
    w = theirs.fit(X.multiply(r).tocsr(), y).coef_[0]
    model = NBSVM(loss="logistic", tol=1e-9, max_iter=10**5).fit(X, y)
    wanted = r * (0.75 * np.abs(w).mean() + 0.25 * w)
    np.testing.assert_allclose(model.coef_[0], wanted, atol=1e-5)
