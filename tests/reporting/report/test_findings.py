"""The sentences say what the tables say."""

import math

import pandas as pd
import pytest

from textbaselines.reporting.report.findings import findings, headline
from textbaselines.significance.pairs import PAIR_COLUMNS
from textbaselines.significance.verdicts import judge_contrasts
from textbaselines.study.contrasts import Contrast

STUDY = {
    "contrasts_declared": True,
    "datasets": [{"name": "d", "title": "D"}],
    "representations": [{"name": "bi", "title": "bigrams"}],
    "methods": [{"name": m, "title": m.upper()} for m in ("a", "b", "c")],
}
T = "corrected resampled t"


def cells(**accuracy):
    return pd.DataFrame(
        [
            {
                "dataset": "d",
                "representation": "bi",
                "method": method,
                "selection": selection,
                "accuracy": value + (0.1 if selection == "oracle" else 0),
                "low": value - 0.01,
                "high": value + 0.01,
            }
            for method, value in accuracy.items()
            for selection in ("fixed", "oracle")
        ]
    )


def pair(a, b, difference, p, low, high):
    return {
        "dataset": "d",
        "a": f"{a}-bi",
        "b": f"{b}-bi",
        "identical": False,
        "difference_points": difference,
        "p": p,
        "test": T,
        "t_low_points": low,
        "t_high_points": high,
    }


def test_the_best_row_its_interval_and_what_is_not_told_apart() -> None:
    pairs = pd.DataFrame(
        [
            pair("a", "b", 0.5, 0.3, -0.4, 1.4),
            pair("a", "c", -1.0, 0.04, -1.9, -0.1),
            pair("b", "c", -1.5, 0.001, -2.0, -1.0),
        ]
    )
    (words,) = findings(cells(a=0.80, b=0.795, c=0.81), pairs, None, STUDY)
    assert words.startswith("D: C-bigrams has the highest accuracy, 81.0 % (95 % interval 80.0 to")
    # The pair is stored as a against c: seen from the best row the signs turn. Holm over the two
    # rows compared with it: 0.001 x 2, then 0.04.
    assert "Next is A-bigrams, 1.00 points behind" in words
    assert "+0.10 to +1.90, p = 0.040 adjusted over the 2 rows" in words
    assert words.endswith("a real lead.")


def test_a_lead_that_is_not_shown() -> None:
    pairs = pd.DataFrame(
        [
            pair("c", "a", 0.2, 0.7, -0.6, 1.0),
            pair("c", "b", 0.4, 0.3, -0.3, 1.1),
        ]
    )
    (words,) = findings(cells(a=0.808, b=0.806, c=0.81), pairs, None, STUDY)
    assert "p = 0.700 adjusted" in words
    assert "a difference that is not shown to be real. Nor is B-bigrams shown" in words


@pytest.mark.parametrize(("p", "outcome"), [(0.01, "better"), (0.5, "not better")])
def test_declared_contrasts(p: float, outcome: str) -> None:
    contrasts = pd.DataFrame(
        [
            {**pair("b", "a", 2.0, p, 1, 3), "p_holm": p, "outcome": outcome},
            {**pair("c", "a", -1.0, 0.02, -2, 0), "p_holm": 0.02, "outcome": "worse"},
            {**pair("x", "a", math.nan, math.nan, 0, 0), "p_holm": math.nan, "outcome": "failed"},
        ]
    )
    (words,) = findings(cells(a=0.8, b=0.82, c=0.79), None, contrasts, STUDY)
    assert "Of the 2 declared comparisons with the control, A-bigrams, " in words
    assert words.endswith(" 1 more could not be tested, because a fit failed.")
    assert "1 is worse: C-bigrams (−1.00 points, p = 0.020)" in words
    better = "1 is better: B-bigrams (+2.00 points, p = 0.010)" in words
    assert better == (outcome == "better")
    assert ("1 is not shown to be better or worse" in words) == (outcome != "better")


def test_contrasts_by_default_are_not_called_declared() -> None:
    contrasts = pd.DataFrame(
        [{**pair("b", "a", 2.0, 0.01, 1, 3), "p_holm": 0.01, "outcome": "better"}]
    )
    study = {**STUDY, "contrasts_declared": False}
    (words,) = findings(cells(a=0.8, b=0.82), None, contrasts, study)
    assert (
        "Of the 1 comparison with A-bigrams (the first row, the control by default), 1 is" in words
    )
    assert "declared" not in words


def test_a_single_row_has_no_pairs_and_is_told() -> None:
    nothing = pd.DataFrame(columns=list(pair("a", "b", 0.0, 1.0, 0, 0)))
    (words,) = findings(cells(a=0.8), nothing, None, STUDY)
    assert words == "D: A-bigrams has the highest accuracy, 80.0 % (95 % interval 79.0 to 81.0)."


def test_the_optimistic_cells_are_never_the_answer() -> None:
    (words,) = findings(cells(a=0.8, b=0.7), None, None, STUDY)
    assert "80.0 %" in words
    assert "90.0" not in words


def test_the_headline_counts_leads_that_hold() -> None:
    pairs = pd.DataFrame([pair("a", "b", 0.5, 0.3, -0.4, 1.4), pair("c", "a", 1.0, 0.04, 0.1, 1.9)])
    scores = cells(a=0.80, b=0.795, c=0.81)
    # One comparison with the best, so Holm leaves its p as it is.
    assert headline(scores, pairs, STUDY) == (
        "The highest accuracy is that of C-bigrams on 1 of 1 dataset. The lead over the next row "
        "is shown to be real on 1 of 1."
    )
    pairs["p"] = 0.06
    assert headline(scores, pairs, STUDY).endswith("real on none of 1.")
    assert headline(scores.assign(accuracy=math.nan), pairs, STUDY) == ""


def test_twins_are_one_row_with_both_names() -> None:
    # a and b predict the same, and so do c and e; d is a third model.
    twin = {"identical": True, "p": math.nan, "t_low_points": math.nan, "t_high_points": math.nan}
    pairs = pd.DataFrame(
        [
            {**pair("a", "b", 0.0, math.nan, 0, 0), **twin},
            pair("a", "c", 0.5, 0.03, 0.1, 0.9),
            pair("b", "c", 0.5, 0.03, 0.1, 0.9),
            pair("a", "d", 1.0, 0.03, 0.2, 1.8),
            pair("b", "d", 1.0, 0.03, 0.2, 1.8),
            {**pair("c", "e", 0.0, math.nan, 0, 0), **twin},
            pair("a", "e", 0.5, 0.03, 0.1, 0.9),
            pair("b", "e", 0.5, 0.03, 0.1, 0.9),
        ]
    )
    study = {**STUDY, "methods": [{"name": m, "title": m.upper()} for m in "abcde"]}
    scores = cells(a=0.81, b=0.81, c=0.805, d=0.80, e=0.805)
    contrasts = judge_contrasts(
        pairs.assign(failure=None).reindex(columns=list(PAIR_COLUMNS)),
        [Contrast("b-bi", "a-bi"), *(Contrast(f"{m}-bi", "a-bi") for m in "cde")],
        ["d"],
    )
    (words,) = findings(scores, pairs, contrasts, study)
    assert words.startswith("D: A-bigrams = B-bigrams has the highest accuracy, 81.0 %")
    # Holm over two models, not over four rows: twice 0.03.
    assert "Next is C-bigrams = E-bigrams, 0.50 points behind" in words
    assert "p = 0.060 adjusted over the 2 rows compared with the best)" in words
    assert "Nor is D-bigrams shown to differ from it." in words
    assert "Of the 2 declared comparisons with the control, A-bigrams = B-bigrams, " in words
    assert headline(scores, pairs, study).startswith(
        "The highest accuracy is that of A-bigrams = B-bigrams on 1 of 1 dataset."
    )


def test_a_row_that_is_as_accurate() -> None:
    pairs = pd.DataFrame([pair("a", "b", 0.0, 1.0, 0.0, 0.0)])
    (words,) = findings(cells(a=0.80, b=0.80), pairs, None, STUDY)
    assert "B-bigrams is as accurate (95 % interval of the difference 0.00 to 0.00" in words
    assert words.endswith("compared with the best): no difference.")
