"""Declared contrasts: adjusted over what was declared, seen from the declared side."""

import math

import pandas as pd
import pytest

from textbaselines.significance.pairs import PAIR_COLUMNS
from textbaselines.significance.verdicts import CONTRAST_COLUMNS, judge_contrasts, turned
from textbaselines.study.contrasts import Contrast


def pair(dataset, a, b, p, points, failure=None):
    numbers = dict.fromkeys(PAIR_COLUMNS, math.nan)
    named = {"dataset": dataset, "a": a, "b": b, "p": p, "difference_points": points}
    return {**numbers, **named, "failure": failure}


def judged(rows, contrasts, datasets=("cr",)):
    declared = [Contrast(*one) for one in contrasts]
    frame = judge_contrasts(pd.DataFrame(rows, columns=list(PAIR_COLUMNS)), declared, datasets)
    assert list(frame.columns) == list(CONTRAST_COLUMNS)
    return frame


def test_holm_over_the_declared_contrasts_of_a_dataset_and_of_all():
    rows = [
        pair("cr", "A", "B", 0.020, 1.0),
        pair("cr", "A", "C", 0.030, -1.0),
        pair("cr", "B", "C", 0.0001, 1.0),  # not declared: takes no part
        pair("rt-s", "A", "B", 0.010, 1.0),
        pair("rt-s", "A", "C", 0.500, 1.0),
    ]
    frame = judged(rows, [("A", "B"), ("A", "C")], ("cr", "rt-s"))
    assert frame["p_holm"].tolist() == pytest.approx([0.04, 0.04, 0.02, 0.5])
    # sorted 0.01, 0.02, 0.03, 0.5 times 4, 3, 2, 1
    assert frame["p_holm_study"].tolist() == pytest.approx([0.06, 0.06, 0.04, 0.5])
    assert frame["outcome"].tolist() == ["better", "worse", "better", "not better"]


def test_contrasts_of_the_same_two_models_count_once_and_a_twin_is_not_tested():
    twin = pair("cr", "A", "A2", math.nan, 0.0) | {"identical": True}
    rows = [
        twin,
        pair("cr", "A", "B", 0.02, 1.0),
        pair("cr", "A2", "B", 0.02, 1.0),
        pair("cr", "A", "C", 0.03, -1.0),
    ]
    frame = judged(rows, [("A", "B"), ("A2", "B"), ("A", "C"), ("A2", "A")])
    # Two hypotheses, not four: 0.02 twice, then the larger of that and 0.03.
    assert frame["p_holm"].tolist() == pytest.approx([0.04, 0.04, 0.04, math.nan], nan_ok=True)
    assert frame["p_holm_study"].tolist()[:3] == pytest.approx([0.04, 0.04, 0.04])
    assert frame["outcome"].tolist() == ["better", "better", "worse", "identical"]


def test_a_failed_contrast_counts_and_one_that_was_never_run_does_not():
    rows = [
        pair("cr", "A", "B", 0.03, 1.0),
        pair("cr", "A", "C", math.nan, math.nan, "C: too large"),
    ]
    frame = judged(rows, [("A", "B"), ("A", "C"), ("A", "D")])
    assert frame["outcome"].tolist() == ["not better", "failed", "not run"]
    assert frame["p_holm"].tolist() == pytest.approx([0.06, math.nan, math.nan], nan_ok=True)
    assert frame["failure"].iloc[1:].tolist() == ["C: too large", "not run"]


def test_a_pair_is_turned_to_the_declared_side():
    row = pair("cr", "A", "B", 0.01, 2.0) | {
        "accuracy_a": 0.9,
        "accuracy_b": 0.88,
        "mcnemar_only_a": 6,
        "mcnemar_only_b": 3,
        "t": 3.0,
        "t_low_points": 0.5,
        "t_high_points": 3.5,
        "bootstrap_low_points": 0.7,
        "bootstrap_high_points": 3.2,
        "cohens_g": 1 / 6,
        "odds_ratio": 2.0,
    }
    (other,) = judged([row], [("B", "A")]).to_dict("records")
    assert (other["a"], other["b"], other["outcome"]) == ("B", "A", "worse")
    assert (other["accuracy_a"], other["mcnemar_only_a"]) == (0.88, 3)
    assert (other["difference_points"], other["t"], other["cohens_g"]) == (-2.0, -3.0, -1 / 6)
    assert (other["t_low_points"], other["t_high_points"]) == (-3.5, -0.5)
    assert (other["bootstrap_low_points"], other["bootstrap_high_points"]) == (-3.2, -0.7)
    assert (other["odds_ratio"], other["p"]) == (0.5, 0.01)
    assert turned(turned(row)) == pytest.approx(row, nan_ok=True)
