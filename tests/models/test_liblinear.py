"""The compiled solver, called by itself, gives what scikit-learn's estimators make of it."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC, _liblinear

from textbaselines.models.liblinear import solve_linear


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("bias", [None, 10.0])
@pytest.mark.parametrize(
    ("loss", "penalty", "dual"),
    [
        ("squared_hinge", "l2", True),
        ("squared_hinge", "l2", False),
        ("hinge", "l2", True),
        ("logistic", "l2", True),
        ("logistic", "l2", False),
        ("logistic", "l1", False),
    ],
)
@pytest.mark.parametrize("max_iter", [2, 1000])
def test_bit_for_bit_and_in_silence(form, bias, loss, penalty, dual, max_iter, capfd) -> None:
    draw = np.random.default_rng(3)
    rows = draw.poisson(0.4, (80, 40)).astype(np.float64)
    positive = draw.random(80) < 0.3
    options = {
        "C": 0.7,
        "dual": dual,
        "tol": 0.01,
        "max_iter": max_iter,
        "fit_intercept": bias is not None,
        "intercept_scaling": bias or 1.0,
        "random_state": 11,
    }
    if loss == "logistic":
        share = 1.0 if penalty == "l1" else 0.0
        theirs = LogisticRegression(solver="liblinear", l1_ratio=share, **options)
    else:
        theirs = LinearSVC(loss=loss, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs.fit(form(rows), positive)
    _liblinear.set_verbosity_wrap(1)
    capfd.readouterr()
    ours = solve_linear(
        form(rows),
        positive,
        C=0.7,
        loss=loss,
        penalty=penalty,
        dual=dual,
        tol=0.01,
        max_iter=max_iter,
        bias=bias,
        seed=11,
    )
    assert capfd.readouterr().out == ""
    np.testing.assert_array_equal(ours.weights, theirs.coef_[0])
    assert ours.intercept == float(theirs.intercept_ if bias is None else theirs.intercept_[0])
    assert ours.n_iter == np.max(theirs.n_iter_)
    assert ours.converged == (ours.n_iter < max_iter)
