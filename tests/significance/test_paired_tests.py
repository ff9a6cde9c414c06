import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from textbaselines.significance.paired_tests import (
    corrected_resampled_t,
    decisive_test,
    exact_mcnemar,
    holm,
    paired_table,
)


def test_corrected_t_by_hand():
    # d = 1, 2, 3, 4, 5 hundredths: mean 0.03, var 2.5e-4; 90 train, 10 test:
    # (1/5 + 1/9) 2.5e-4 = 7.7778e-5, its root 8.8192e-3, t = 3.40168; df 4
    d = [0.01, 0.02, 0.03, 0.04, 0.05]
    found = corrected_resampled_t(d, [90] * 5, [10] * 5)
    assert found.mean == pytest.approx(0.03)
    assert found.error == pytest.approx(math.sqrt((1 / 5 + 1 / 9) * 2.5e-4))
    assert found.mean / found.error == pytest.approx(3.40168, abs=1e-5)
    assert found.df == 4
    # the distribution function of Student's t with 4 degrees of freedom in closed form
    t = found.mean / found.error
    x = t / math.sqrt(1 + t * t / 4)
    assert found.p == pytest.approx(1 - 0.75 * x * (1 - x * x / 12), abs=1e-12)
    low, high = found.interval()
    assert (low, high) == pytest.approx(
        (0.03 - 2.776445 * found.error, 0.03 + 2.776445 * found.error)
    )


def test_without_the_correction_it_would_be_the_paired_t():
    rng = np.random.default_rng(1)
    d = rng.normal(0.01, 0.02, 30)
    plain = stats.ttest_1samp(d, 0.0)
    # a huge training set takes the correction away
    assert corrected_resampled_t(d, [10**12] * 30, [1] * 30).p == pytest.approx(plain.pvalue)
    assert corrected_resampled_t(d, [90] * 30, [10] * 30).p > plain.pvalue


def test_equal_differences():
    assert corrected_resampled_t([0.0] * 4, [9] * 4, [1] * 4).p == 1.0
    same = corrected_resampled_t([0.1] * 4, [9] * 4, [1] * 4)
    assert (same.p, same.error) == (0.0, 0.0)
    assert same.p_greater(0.05) == 0.0
    assert same.p_greater(0.1 + 1e-9) == 1.0


def test_what_cannot_be_tested_is_refused():
    with pytest.raises(ValueError, match="two differences"):
        corrected_resampled_t([0.1], [9], [1])
    with pytest.raises(ValueError, match="not finite"):
        corrected_resampled_t([0.1, float("nan")], [9, 9], [1, 1])
    with pytest.raises(ValueError, match="pairs documents"):
        exact_mcnemar([True], [True, False])


def test_mcnemar_cells_are_not_swapped():
    # a alone is right on 8 documents, b alone on 2; both on 5, neither on 1
    a = np.array([True] * 8 + [False] * 2 + [True] * 5 + [False])
    b = np.array([False] * 8 + [True] * 2 + [True] * 5 + [False])
    assert paired_table(a, b).tolist() == [[5, 8], [2, 1]]
    found = exact_mcnemar(a, b)
    assert found.mean == pytest.approx(6 / 16)
    assert found.mean == pytest.approx(a.mean() - b.mean())
    # 2 (C(10,0) + C(10,1) + C(10,2)) / 2^10
    assert found.p == pytest.approx(2 * (1 + 10 + 45) / 1024)
    assert exact_mcnemar(b, a).mean == pytest.approx(-6 / 16)
    assert exact_mcnemar(b, a).p == found.p


def test_mcnemar_error_is_that_of_the_paired_differences():
    rng = np.random.default_rng(2)
    a, b = rng.random(500) < 0.8, rng.random(500) < 0.7
    d = a.astype(float) - b.astype(float)
    assert exact_mcnemar(a, b).error == pytest.approx(d.std() / math.sqrt(500))


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_mcnemar_p_is_a_probability_and_symmetric(pairs):
    a, b = zip(*pairs, strict=True)
    found = exact_mcnemar(a, b)
    assert 0 < found.p <= 1
    assert exact_mcnemar(b, a).p == found.p
    if found.mean == 0:
        assert found.p == 1
    only_a = sum(x and not y for x, y in pairs)
    only_b = sum(y and not x for x, y in pairs)
    if only_a + only_b:
        assert found.p == pytest.approx(stats.binomtest(only_a, only_a + only_b).pvalue)


@given(
    st.lists(st.floats(-0.2, 0.2), min_size=2, max_size=30),
    st.floats(-0.3, 0.3),
)
def test_one_sided_p_values_add_up(differences, bound):
    found = corrected_resampled_t(differences, [9] * len(differences), [1] * len(differences))
    if found.error > 1e-9:
        assert found.p_greater(bound) + found.p_less(bound) == pytest.approx(1.0)
        twice = 2 * min(found.p_greater(0.0), found.p_less(0.0))
        assert found.p == pytest.approx(twice)


def test_holm_by_hand():
    # sorted 0.01, 0.02, 0.04 times 3, 2, 1 = 0.03, 0.04, 0.04
    assert holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


def test_the_protocol_alone_chooses_the_test():
    def never():
        raise AssertionError("documents are asked for one fold only")

    several = decisive_test([0.01, 0.03], [90, 90], [10, 10], never)
    assert several == corrected_resampled_t([0.01, 0.03], [90, 90], [10, 10])
    right = ([True, True, False], [False, True, False])
    assert decisive_test([1 / 3], [90], [3], lambda: right) == exact_mcnemar(*right)
