"""Every estimator of the package passes scikit-learn's own checks."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from textbaselines import models

ESTIMATORS = [getattr(models, name)() for name in models.__all__]


def refusals(estimator) -> dict[str, str]:
    """Return the one check that a method cannot pass, of those that say X must not be negative.

    It fits rows below zero to whatever has both scores and probabilities, and does not look at the
    tag ``positive_only``; scikit-learn's own naive Bayes has no scores.
    """
    if estimator.NON_NEGATIVE and hasattr(estimator, "predict_proba"):
        assert estimator.__sklearn_tags__().input_tags.positive_only
        return {"check_decision_proba_consistency": "fits negative rows despite positive_only"}
    return {}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=refusals)
def test_scikit_learn_accepts_the_estimator(estimator, check) -> None:
    check(estimator)


@pytest.mark.parametrize(
    "estimator", [one for one in ESTIMATORS if refusals(one)], ids=lambda one: type(one).__name__
)
def test_probabilities_rise_with_scores_on_rows_that_the_method_takes(estimator) -> None:
    from scipy.stats import rankdata
    from sklearn.datasets import make_blobs

    # The check that is refused, its rows moved above zero.
    X, y = make_blobs(100, 4, centers=[(2, 2), (4, 4)], random_state=0)
    X -= X.min()
    estimator.fit(X[:80], y[:80])
    scores = estimator.decision_function(X[80:])
    ranks = rankdata(estimator.predict_proba(X[80:])[:, 1])
    assert (ranks == rankdata(scores)).all()
