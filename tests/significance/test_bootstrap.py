"""The cluster bootstrap, against scipy's and by hand."""

import numpy as np
import pytest
from scipy import stats

from textbaselines.significance.bootstrap import (
    draws,
    percentile_interval,
    resampled_accuracies,
    resampled_sums,
    sums_of_groups,
)


def test_whole_groups_are_resampled() -> None:
    sums = sums_of_groups(np.array([[1.0], [2.0], [10.0]]), np.array([0, 0, 1]))
    drawn = resampled_sums(sums, draws(2, 3, 1000))[:, 0]
    assert len(drawn) == 1000
    assert set(drawn) == {6.0, 13.0, 20.0}
    assert abs((drawn == 13.0).mean() - 0.5) < 0.06
    assert np.array_equal(drawn, resampled_sums(sums, draws(2, 3, 1000))[:, 0])


def test_the_bootstrap_agrees_with_scipy_where_every_group_is_one_document():
    rng = np.random.default_rng(3)
    a, b = rng.random(400) < 0.85, rng.random(400) < 0.8
    drawn = resampled_accuracies(np.column_stack([a, b]), np.arange(400), 1, 10_000)
    found = percentile_interval(drawn[:, 0] - drawn[:, 1])
    other = stats.bootstrap(
        (a.astype(float) - b,),
        np.mean,
        n_resamples=10_000,
        method="percentile",
        random_state=np.random.default_rng(2),
    ).confidence_interval
    assert found == pytest.approx((other.low, other.high), abs=0.004)
    assert np.mean(drawn, axis=0) == pytest.approx([a.mean(), b.mean()], abs=0.001)


def test_copies_of_a_text_are_no_more_evidence():
    rng = np.random.default_rng(4)
    correct = rng.random((50, 2)) < 0.7
    once = resampled_accuracies(correct, np.arange(50), 1, 500)
    copied = resampled_accuracies(
        np.repeat(correct, 6, axis=0), np.repeat(np.arange(50), 6), 1, 500
    )
    assert (once == copied).all()


def test_a_column_of_the_bootstrap_does_not_depend_on_the_others():
    rng = np.random.default_rng(5)
    correct, groups = rng.random((70, 3)) < 0.7, rng.permutation(70) // 2
    together = resampled_accuracies(correct, groups, 1, 200)
    assert (resampled_accuracies(correct[:, [2]], groups, 1, 200)[:, 0] == together[:, 2]).all()
    assert (resampled_accuracies(correct, groups, 2, 200) != together).any()


def test_percentile_interval_by_hand():
    # of 0..1000 the 2.5th and the 97.5th percentile are 25 and 975
    assert percentile_interval(np.arange(1001.0)) == pytest.approx((25.0, 975.0))
