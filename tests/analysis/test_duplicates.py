"""The cost of repeated texts, counted by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from textbaselines.analysis.duplicates import leak_of_predictions
from textbaselines.study.folds import standing_in_training

GROUPS = pd.Series({"a": "x", "b": "x", "c": "y", "d": "y", "e": "z", "f": "w", "g": "x"})


def folds(**fold_of):
    return pd.DataFrame({"repeat": 0, "fold": list(fold_of.values()), "id": list(fold_of)})


def test_a_repeat_counts_where_it_trains() -> None:
    # a and b stand in different folds; c and d share one, so neither trains for the other; f is
    # never tested but trains; g is left out and does not train.
    told = standing_in_training(folds(a=0, b=1, c=0, d=0, e=1, f=-1, g=-2), GROUPS)
    assert dict(zip(told["id"], told["repeated"], strict=True)) == {
        "a": True,
        "b": True,
        "c": False,
        "d": False,
        "e": False,
    }


def test_training_documents_that_are_never_tested_count() -> None:
    told = standing_in_training(folds(a=0, b=-1, c=0, d=-2), GROUPS)
    assert dict(zip(told["id"], told["repeated"], strict=True)) == {"a": True, "c": False}


def test_repeats_are_told_apart() -> None:
    first, second = folds(a=0, b=1), folds(a=0, b=0).assign(repeat=1)
    told = standing_in_training(pd.concat([first, second]), GROUPS)
    assert told.groupby("repeat")["repeated"].sum().to_dict() == {0: 2, 1: 0}


def predictions(right):
    return pd.DataFrame(
        {
            "repeat": 0,
            "fold": [0, 1, 0, 0, 1],
            "id": list("abcde"),
            "label": "pos",
            "predicted": ["pos" if one else "neg" for one in right],
        }
    )


def test_the_cost_is_all_less_new() -> None:
    tested = standing_in_training(folds(a=0, b=1, c=0, d=0, e=1), GROUPS)
    # Joined by id: another order of rows.
    shuffled = predictions([1, 1, 0, 1, 0]).iloc[::-1]
    leak = leak_of_predictions(shuffled, tested, seed=1)
    assert (leak["predictions"], leak["repeated"]) == (5, 2)
    assert leak["share_repeated"] == 2 / 5
    assert leak["accuracy_repeated"] == 1.0
    assert leak["accuracy_new"] == pytest.approx(1 / 3)
    assert leak["accuracy_all"] == 3 / 5
    assert leak["cost_points"] == pytest.approx(100 * (3 / 5 - 1 / 3))
    assert leak["cost_low_points"] <= leak["cost_points"] <= leak["cost_high_points"]


def test_the_interval_is_that_of_drawing_groups_one_by_one() -> None:
    random = np.random.default_rng(3)
    n = 400
    tested = pd.DataFrame(
        {
            "repeat": 0,
            "fold": 0,
            "id": [str(i) for i in range(n)],
            "group": [f"g{i // 4}" if i < 160 else f"s{i}" for i in range(n)],
            "repeated": [i < 160 for i in range(n)],
        }
    )
    right = random.random(n) < np.where(np.arange(n) < 160, 0.95, 0.8)
    said = tested[["repeat", "fold", "id"]].assign(label="p", predicted=np.where(right, "p", "n"))
    leak = leak_of_predictions(said, tested, seed=5)
    groups = [part.index.to_numpy() for _, part in tested.groupby("group")]
    costs = []
    for _ in range(1500):
        rows = np.concatenate([groups[i] for i in random.integers(len(groups), size=len(groups))])
        new = rows[rows >= 160]
        costs.append(100 * (right[rows].mean() - right[new].mean()))
    low, high = np.percentile(costs, [2.5, 97.5])
    assert leak["cost_low_points"] == pytest.approx(low, abs=0.35)
    assert leak["cost_high_points"] == pytest.approx(high, abs=0.35)


def test_without_repeats_there_is_no_cost() -> None:
    tested = standing_in_training(folds(a=0, c=0, d=0, e=1), GROUPS)
    mine = predictions([1, 1, 1, 0, 1]).query("id != 'b'")
    leak = leak_of_predictions(mine, tested, seed=1)
    assert leak["repeated"] == 0
    assert leak["accuracy_new"] == leak["accuracy_all"] == 3 / 4
    assert math.isnan(leak["cost_points"])
    assert math.isnan(leak["accuracy_repeated"])
