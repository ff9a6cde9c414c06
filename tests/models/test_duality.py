"""The gap that every linear fit reports: right by hand, and never below the distance."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from textbaselines.models import NBSVM, LinearSVM, LogisticRegression
from textbaselines.models.duality import relative_gap
from textbaselines.models.log_count_ratio import log_count_ratio
from textbaselines.models.registry import fit_grid


def random_texts(n=60, m=40, classes=2, seed=0):
    generator = np.random.default_rng(seed)
    X = sp.csr_array((generator.random((n, m)) < 0.15).astype(float))
    return X, generator.integers(0, classes, n)


def test_squared_hinge_by_hand():
    # Margins 0.5 and 0: P = 1/8 + 1/4 + 1; a = (1, 2), X'ay = 1, q = 1 + (1 + 4) / 2, D = 9 / 2q.
    X, positive = np.array([[1.0], [0.0]]), np.array([True, False])
    gap = relative_gap(X, positive, np.array([0.5]), C=1.0, loss="squared_hinge")
    assert gap == pytest.approx((1.375 - 9 / 7) / 1.375)


def test_logistic_by_hand():
    # At w = 0 every a is C / 2: P = 2 C log 2 and D = that less 1/2 (C/2 (x1 - x2))^2.
    X, positive = np.array([[3.0], [1.0]]), np.array([True, False])
    gap = relative_gap(X, positive, np.zeros(1), C=2.0, loss="logistic")
    assert gap == pytest.approx(0.5 * 2.0**2 / (4 * math.log(2)))
    # l1: X'ay = 2 is twice too large, so a = C / 4, and D = 2 C (entropy of 1/4).
    gap = relative_gap(X, positive, np.zeros(1), C=2.0, loss="logistic", penalty="l1")
    entropy = -0.25 * math.log(0.25) - 0.75 * math.log(0.75)
    assert gap == pytest.approx(1 - entropy / math.log(2))


def test_the_bias_is_a_feature_like_any_other():
    X, y = random_texts()
    wide = sp.hstack([X, np.full((60, 1), 3.0)]).tocsr()
    weights = np.random.default_rng(1).normal(size=41)
    for loss, penalty in (("squared_hinge", "l2"), ("logistic", "l2"), ("logistic", "l1")):
        given = {"C": 0.3, "loss": loss, "penalty": penalty}
        assert relative_gap(
            X, y == 1, weights[:-1], bias=3.0, bias_weight=weights[-1], **given
        ) == pytest.approx(relative_gap(wide, y == 1, weights, **given))


def test_a_scale_is_that_of_the_columns():
    X, y = random_texts()
    generator = np.random.default_rng(2)
    scale, weights = generator.normal(size=40), generator.normal(size=40)
    for loss, penalty in (("squared_hinge", "l2"), ("logistic", "l2"), ("logistic", "l1")):
        given = {"C": 0.3, "loss": loss, "penalty": penalty}
        assert relative_gap(X, y == 1, weights, scale=scale, **given) == pytest.approx(
            relative_gap((X * scale).tocsr(), y == 1, weights, **given)
        )


@pytest.mark.parametrize("classes", [2, 3])
def test_the_gap_of_nbsvm_is_that_of_the_rows_its_solver_saw(classes):
    X, y = random_texts(classes=classes)
    model = NBSVM(C=3.0, tol=1.0).fit(X, y)
    gaps = []
    for row, label in enumerate([1] if classes == 2 else range(classes)):
        ratio = log_count_ratio(X, y == label, 1.0)
        rows = sp.csr_array(X.toarray() * ratio)
        gaps.append(
            relative_gap(rows, y == label, model._weights[row], C=3.0, loss="squared_hinge")
        )
    assert model.gap_ == pytest.approx(max(gaps))
    assert model.gap_ > 1e-6


@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["svm", "lr", "l1"]),
    st.sampled_from([None, 2.0]),
    st.sampled_from([2, 3]),
    st.sampled_from([0.1, 1.0, 10.0]),
)
def test_the_gap_bounds_the_distance_to_the_optimum(seed, kind, bias, classes, C):
    X, y = random_texts(n=40, m=20, classes=classes, seed=seed)

    def fitted(tol, max_iter):
        if kind == "svm":
            return LinearSVM(C=C, bias=bias, tol=tol, max_iter=max_iter).fit(X, y)
        penalty = "l1" if kind == "l1" else "l2"
        model = LogisticRegression(C=C, bias=bias, penalty=penalty, tol=tol, max_iter=max_iter)
        return model.fit(X, y)

    def objective(model, row, label):
        signs = np.where(y == label, 1.0, -1.0)
        weights, intercept = model.coef_[row], model.intercept_[row]
        whole = np.append(weights, 0.0 if bias is None else intercept / bias)
        margins = signs * (X @ weights + intercept)
        if kind == "svm":
            return 0.5 * whole @ whole + C * np.sum(np.maximum(0, 1 - margins) ** 2)
        size = np.abs(whole).sum() if kind == "l1" else 0.5 * whole @ whole
        return size + C * np.logaddexp(0, -margins).sum()

    rough, exact = fitted(1.0, 2), fitted(1e-10, 10**5)
    labels = [1] if classes == 2 else range(classes)
    above = [
        1 - objective(exact, row, label) / objective(rough, row, label)
        for row, label in enumerate(labels)
    ]
    assert rough.gap_ >= max(above) - 1e-9
    assert -1e-12 < exact.gap_ < 1e-4


def test_a_smaller_tolerance_leaves_a_smaller_gap():
    X, y = random_texts(n=300, m=200)
    gaps = [NBSVM(C=10.0, tol=tol, max_iter=10**5).fit(X, y).gap_ for tol in (1.0, 0.1, 1e-3)]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-3 < gaps[0]


def test_the_hinge_and_closed_forms_have_none():
    X, y = random_texts()
    assert math.isnan(LinearSVM(loss="hinge").fit(X, y).gap_)
    for name, known in (("nbsvm", True), ("lr", True), ("ridge", False), ("mnb", False)):
        ((_, point),) = fit_grid(name, X, y, [{}])
        assert math.isnan(point.gap) is not known
