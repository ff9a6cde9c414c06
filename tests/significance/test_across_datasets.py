"""Tests over datasets: the published example of Demsar (2006), and cases by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from textbaselines.significance.across_datasets import (
    average_ranks,
    bayesian_signed_rank,
    compare_across,
    critical_difference,
    friedman,
    most_comparisons,
    smallest_wilcoxon_p,
    wilcoxon,
)

# AUC of C4.5, C4.5 with m, with cf, with both, on 14 datasets (Demsar 2006, table 6). On the
# thirteenth the paper ranks the two 0.975 as 2 and 3: their digits are cut.
DEMSAR = np.array(
    [
        (0.763, 0.768, 0.771, 0.798),
        (0.599, 0.591, 0.590, 0.569),
        (0.954, 0.971, 0.968, 0.967),
        (0.628, 0.661, 0.654, 0.657),
        (0.882, 0.888, 0.886, 0.898),
        (0.936, 0.931, 0.916, 0.931),
        (0.661, 0.668, 0.609, 0.685),
        (0.583, 0.583, 0.563, 0.625),
        (0.775, 0.838, 0.866, 0.875),
        (1.000, 1.000, 1.000, 1.000),
        (0.940, 0.962, 0.965, 0.962),
        (0.619, 0.666, 0.614, 0.669),
        (0.972, 0.981, 0.9751, 0.975),
        (0.957, 0.978, 0.946, 0.970),
    ]
)


def test_the_ranks_of_the_published_example():
    assert average_ranks(DEMSAR) == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)


def test_friedman_on_the_published_example():
    # The paper's 9.28 and 3.69 are without the correction for ties, which the library makes: one
    # dataset has four alike, three have two.
    chi2, p, f, p_f = friedman(DEMSAR)
    ties = 1 - ((4**3 - 4) + 3 * (2**3 - 2)) / (14 * 4 * (4**2 - 1))
    uncorrected = chi2 * ties
    assert uncorrected == pytest.approx(9.28, abs=0.005)
    assert 13 * uncorrected / (14 * 3 - uncorrected) == pytest.approx(3.69, abs=0.005)
    assert f == pytest.approx(13 * chi2 / (14 * 3 - chi2))
    assert p == pytest.approx(stats.chi2.sf(chi2, 3))
    assert p_f == pytest.approx(stats.f.sf(f, 3, 39))


def test_friedman_without_difference_and_with_full_agreement():
    assert friedman(np.ones((5, 3))) == (0.0, 1.0, 0.0, 1.0)
    chi2, _, f, p_f = friedman(np.arange(15.0).reshape(5, 3))
    assert (chi2, f, p_f) == (pytest.approx(10.0), math.inf, 0.0)


def test_the_critical_difference_of_the_published_example():
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    # q at 0.05 of table 5a, for 2 to 10 classifiers
    table = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    for k, q in enumerate(table, start=2):
        found = critical_difference(k, 1) / math.sqrt(k * (k + 1) / 6)
        assert found == pytest.approx(q, abs=2e-3)


def test_wilcoxon_on_the_published_example():
    # Demsar 2006, section 3.1.3: C4.5 with m against C4.5; R- = 12, critical value 21 at 0.05
    gaps = DEMSAR[:, 1] - DEMSAR[:, 0]
    assert stats.wilcoxon(np.round(gaps, 10), zero_method="zsplit").statistic == 12.0
    assert wilcoxon(gaps) < 0.05


@pytest.mark.parametrize("n", [5, 6, 9, 13])
def test_the_smallest_p_value_is_reached_and_bounds_the_comparisons(n):
    assert wilcoxon(np.arange(1.0, n + 1)) == pytest.approx(smallest_wilcoxon_p(n))
    assert wilcoxon(-np.ones(n)) == pytest.approx(smallest_wilcoxon_p(n))  # ties
    most = most_comparisons(n)
    assert most * smallest_wilcoxon_p(n) < 0.05 <= (most + 1) * smallest_wilcoxon_p(n)


def test_nine_datasets_allow_twelve_comparisons_and_five_none():
    assert (most_comparisons(9), most_comparisons(6), most_comparisons(5)) == (12, 1, 0)


def test_wilcoxon_by_hand():
    # differences 1, 2, 3, -4, 5: W- = 4; of 32 signs, 7 have a sum of negative ranks of at most 4
    assert wilcoxon(np.array([1.0, 2, 3, -4, 5])) == pytest.approx(2 * 7 / 32)
    assert wilcoxon(np.zeros(6)) == 1.0
    assert wilcoxon(np.array([0.1 + 0.2 - 0.3, 0, 0, 0, 0])) == 1.0  # a rounding error is no gap


def test_the_bayesian_test_agrees_with_its_formula():
    """Benavoli et al. 2014: weights Dirichlet(0.5, 1, ..., 1) on differences 0, z_1, ..., z_N."""
    gaps = np.array([1.2, 0.3, -0.2, 2.0, 0.9, -1.5, 0.6])
    z = np.append(0.0, gaps)
    sums = z[:, None] + z[None, :]
    rng = np.random.default_rng(8)
    weights = rng.dirichlet([0.5, *[1.0] * len(gaps)], size=10_000)

    def mass(above):
        beyond = (above > 1.0) + 0.5 * (above == 1.0)  # twice half a point
        return np.einsum("si,sj,ij->s", weights, weights, beyond)

    assert (sums == 1.0).any()  # the bound belongs to neither side
    above, below = mass(sums), mass(-sums)
    winner = np.argmax(np.column_stack([above, 1 - above - below, below]), axis=1)
    wanted = np.bincount(winner, minlength=3) / 10_000
    found = bayesian_signed_rank(gaps, 1)
    assert found == pytest.approx(wanted, abs=0.02)
    assert sum(found) == pytest.approx(1.0)
    assert found[0] > found[2]  # the first is the better one
    assert bayesian_signed_rank(gaps, 1) == found


def frame(values, columns=("A-x", "B-x", "C-x")):
    index = [f"d{i}" for i in range(len(values))]
    return pd.DataFrame(values, columns=list(columns), index=index)


def test_rows_that_are_one_model_are_ranked_and_tested_once():
    columns = ("A-x", "A-selected", "B-x", "C-x")
    values = np.random.default_rng(3).random((6, 4))
    values[:, 1] = values[:, 0]
    twins = dict.fromkeys(columns[:2], columns[:2])
    contrasts = [("A-x", "B-x"), ("A-selected", "B-x"), ("A-selected", "A-x"), ("C-x", "B-x")]
    found = compare_across(frame(values, columns), contrasts, "s", twins=twins)
    alone = compare_across(
        frame(values[:, [0, 2, 3]]), [("A-x", "B-x"), ("C-x", "B-x")], "s", twins={}
    )
    assert found.ranks["row"].tolist() == ["A-x = A-selected", "B-x", "C-x"]
    assert found.ranks["average_rank"].tolist() == alone.ranks["average_rank"].tolist()
    assert found.omnibus["statistic"].tolist() == alone.omnibus["statistic"].tolist()
    assert set(found.omnibus["rows"]) == {3}
    assert len(found.nemenyi) == 3
    p = found.contrasts["wilcoxon_p_holm"].tolist()
    assert p[0] == p[1] == alone.contrasts["wilcoxon_p_holm"].iloc[0]
    assert p[3] == alone.contrasts["wilcoxon_p_holm"].iloc[1]
    assert math.isnan(p[2])
    assert found.contrasts["note"].iloc[2] == "not tested: the same predictions on every dataset"


def test_fewer_than_five_datasets_are_not_tested_and_say_so():
    found = compare_across(frame(np.random.default_rng(0).random((4, 3))), [("A-x", "B-x")], "s")
    assert found.omnibus["statistic"].isna().all()
    assert set(found.omnibus["note"]) == {"not tested: 4 datasets, at least 5 needed"}
    assert found.ranks["average_rank"].isna().all()
    assert found.nemenyi.empty
    (line,) = found.contrasts.to_dict("records")
    assert math.isnan(line["wilcoxon_p"])
    assert line["note"] == "not tested: 4 datasets, at least 5 needed"
    assert line["wins"] + line["ties"] + line["losses"] == 4


def test_a_row_that_a_dataset_lacks_is_not_ranked_and_says_so():
    values = np.random.default_rng(1).random((6, 4))
    values[2, 3] = np.nan
    found = compare_across(frame(values, ("A-x", "B-x", "C-x", "D-x")), [("A-x", "D-x")], "s")
    ranks = found.ranks.set_index("row")
    assert ranks.loc["D-x", "note"] == "not ranked: no result on d2"
    assert ranks["average_rank"].dropna().sum() == pytest.approx(1 + 2 + 3)
    assert set(found.omnibus["rows"]) == {3}
    assert len(found.nemenyi) == 3
    assert found.contrasts["datasets"].tolist() == [5]


def test_more_comparisons_than_the_datasets_allow_say_that_none_can_be_significant():
    rng = np.random.default_rng(2)
    base = rng.random(6)
    values = np.column_stack([base, base + 0.01, base + 0.02])
    one = compare_across(frame(values), [("B-x", "A-x")], "s").contrasts
    assert one["wilcoxon_p_holm"].tolist() == pytest.approx([2 / 64])
    assert one["note"].tolist() == [""]
    two = compare_across(frame(values), [("B-x", "A-x"), ("C-x", "A-x")], "s").contrasts
    assert two["wilcoxon_p_holm"].tolist() == pytest.approx([4 / 64] * 2)
    assert all(
        "cannot be significant: 2 comparisons, with 6 datasets at most 1" in note
        for note in two["note"]
    )


def test_the_ranks_of_nemenyi_and_the_critical_difference_agree():
    columns = ("A-x", "B-x", "C-x", "D-x")
    found = compare_across(frame(DEMSAR, columns), [], "s")
    critical = found.omnibus.set_index("test")["statistic"]["Nemenyi CD"]
    beyond = found.nemenyi["rank_difference"].abs() >= critical
    assert (beyond == (found.nemenyi["p"] < 0.05)).all()
    # Demsar 2006: no two of the four differ by as much as 1.25
    assert not beyond.any()
