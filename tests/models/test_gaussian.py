import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.discriminant_analysis
import sklearn.naive_bayes
from scipy.stats import multivariate_normal, norm
from sklearn.datasets import load_iris

from textbaselines.models import GaussianDiscriminantAnalysis, GaussianNB

IRIS, SPECIES = load_iris(return_X_y=True)


def test_iris_by_naive_bayes():
    model = GaussianNB().fit(IRIS, SPECIES)
    assert np.sum(model.predict(IRIS) != SPECIES) == 6
    theirs = sklearn.naive_bayes.GaussianNB().fit(IRIS, SPECIES)
    np.testing.assert_allclose(model.predict_proba(IRIS), theirs.predict_proba(IRIS), atol=1e-9)


def test_naive_bayes_by_hand():
    # Class 0: mean 1, variance 1; class 1: mean 5, variance 4; both half of the documents.
    model = GaussianNB(var_smoothing=0).fit([[0], [2], [3], [7]], [0, 0, 1, 1])
    wanted = (-0.5 * (3 - 5) ** 2 / 4 - np.log(2)) - (-0.5 * (3 - 1) ** 2)
    assert model.decision_function([[3]])[0] == pytest.approx(wanted)


def test_a_constant_column_is_refused_without_smoothing():
    with pytest.raises(ValueError, match="column 1 is constant in class 'b'"):
        GaussianNB(var_smoothing=0).fit([[0, 1], [1, 2], [0, 3], [1, 3]], list("aabb"))


def test_shared_covariance_is_linear_discriminant_analysis():
    theirs = sklearn.discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr")
    theirs.fit(IRIS, SPECIES)
    model = GaussianDiscriminantAnalysis(shrinkage=0).fit(IRIS, SPECIES)
    np.testing.assert_allclose(model.predict_proba(IRIS), theirs.predict_proba(IRIS), atol=1e-9)


def test_covariance_per_class_by_the_densities():
    model = GaussianDiscriminantAnalysis("per_class", shrinkage=0).fit(IRIS[:120], SPECIES[:120])
    for code, prior in enumerate([50 / 120, 50 / 120, 20 / 120]):
        rows = IRIS[:120][SPECIES[:120] == code]
        normal = multivariate_normal(rows.mean(axis=0), np.cov(rows.T, bias=True))
        np.testing.assert_allclose(
            model.joint_log_likelihood(IRIS)[:, code], normal.logpdf(IRIS) + np.log(prior)
        )


def test_full_shrinkage_is_the_nearest_mean():
    model = GaussianDiscriminantAnalysis(shrinkage=1).fit(IRIS, SPECIES)
    distance = ((IRIS[:, None] - model.means_[None]) ** 2).sum(axis=2)
    np.testing.assert_array_equal(model.predict(IRIS), np.argmin(distance, axis=1))


def test_a_singular_covariance_is_refused():
    wide = np.random.default_rng(0).standard_normal((6, 10))
    for covariance in ("shared", "per_class"):
        model = GaussianDiscriminantAnalysis(covariance, shrinkage=0)
        with pytest.raises(ValueError, match=r"rows, 10 columns\) is singular"):
            model.fit(wide, [0, 0, 0, 1, 1, 1])
    assert GaussianDiscriminantAnalysis(shrinkage=0.1).fit(wide, [0, 0, 0, 1, 1, 1])


def test_rounding_does_not_hide_that_a_covariance_is_singular():
    for seed in range(20):
        X = np.random.default_rng(seed).standard_normal((40, 4))
        X = np.column_stack([X, X @ [0.3, 1, 0.7, 1.1]])
        with pytest.raises(ValueError, match=r"40 rows, 5 columns\) is singular"):
            GaussianDiscriminantAnalysis(shrinkage=0).fit(X, np.arange(40) % 2)


def test_the_density_of_a_row_is_the_sum_over_the_classes():
    model = GaussianNB(var_smoothing=0).fit([[0], [2], [3], [7]], [0, 0, 1, 1])
    wanted = 0.5 * norm.pdf([3, 50], 1, 1) + 0.5 * norm.pdf([3, 50], 5, 2)
    np.testing.assert_allclose(model.log_evidence([[3], [50]]), np.log(wanted))
    for estimator in (GaussianNB(), GaussianDiscriminantAnalysis()):
        with pytest.raises(ValueError, match="trained on one class, 'a', and has no densities"):
            estimator.fit(IRIS, ["a"] * 150).log_evidence(IRIS)


@pytest.mark.parametrize("estimator", [GaussianNB(), GaussianDiscriminantAnalysis()])
def test_sparse_input_is_refused_with_the_estimate(estimator):
    # 1000 * 2**20 * 8 bytes = 7.8125 GiB, which are not taken.
    huge = sp.csr_matrix(([1.0], ([0], [0])), shape=(1000, 2**20))
    with pytest.raises(ValueError, match=r"sparse input.*\(1000, 1048576\).*7.81 GiB.*SVD"):
        estimator.fit(huge, np.arange(1000) % 2)
