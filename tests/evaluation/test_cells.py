"""Scores and cells: by hand and against scikit-learn and statsmodels."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score

from textbaselines.evaluation.cells import (
    cell_table,
    cells_of_run,
    cells_of_runs,
    shows_macro_f1,
    summarise_point,
)
from textbaselines.evaluation.metrics import class_counts, confusion
from textbaselines.evaluation.selection import RunScores


def rows(point: str, correct: list[list[int]], n_test: list[int], **more) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "point": point,
                "repeat": repeat,
                "fold": fold,
                "n_test": n_test[fold],
                "correct": number,
                "train_by_class": [2, 1],
                "test_by_class": [n_test[fold], 0],
                "predicted_by_class": [number, n_test[fold] - number],
                "correct_by_class": [number, 0],
                "rmse": 2.0 * fold,
                "converged": True,
                "failure": None,
                **more,
            }
            for repeat, folds in enumerate(correct)
            for fold, number in enumerate(folds)
        ]
    )


def test_a_draw_pools_the_documents_of_its_folds() -> None:
    # Draw 0: (9 + 0) / (10 + 2) = 0.75; draw 1: (8 + 2) / 12. A mean of folds would differ.
    table = rows("p", [[9, 0], [8, 2]], [10, 2])
    cell = summarise_point(table)
    assert cell["accuracy"] == pytest.approx((9 / 12 + 10 / 12) / 2)
    assert cell["sd"] == pytest.approx(abs(9 / 12 - 10 / 12) / math.sqrt(2))
    assert (cell["draws"], cell["folds"], cell["documents"]) == (2, 2, 12)
    # Ten errors of square 0 and two of square 4 in each draw; the mean over folds would be 1.
    assert cell["rmse"] == pytest.approx(math.sqrt(8 / 12))


def test_interval_is_wilsons() -> None:
    # Newcombe (1998), table I: 81 of 263 gives 0.2553 to 0.3662.
    table = rows("p", [[81]], [263])
    cell = summarise_point(table)
    assert cell["low"] == pytest.approx(0.2553, abs=5e-5)
    assert cell["high"] == pytest.approx(0.3662, abs=5e-5)
    assert math.isnan(cell["sd"])


def test_one_fit_that_did_not_converge_marks_the_cell() -> None:
    table = rows("p", [[1, 1]], [2, 2])
    table.loc[1, "converged"] = False
    assert summarise_point(table)["converged"] is False


def test_a_failed_point_has_no_accuracy_and_its_reason() -> None:
    table = rows("p", [[0, 0]], [2, 2])
    table.loc[0, "failure"] = "negative values"
    cell = summarise_point(table)
    assert math.isnan(cell["accuracy"])
    assert cell["failure"] == "negative values"


def test_cells_of_a_run() -> None:
    run = {
        "dataset": "d",
        "representation": "bi",
        "method": "M",
        "points": [
            {"point": "a", "params": {"C": 1}, "origin": ["fixed", "grid"]},
            {"point": "b", "params": {"C": 2}, "origin": ["grid"]},
            {"point": "c", "params": {"C": 3}, "origin": ["grid"]},
        ],
    }
    table = pd.concat(
        [
            rows("a", [[5]], [10]),
            rows("b", [[7]], [10]),
            rows("c", [[9]], [10], failure="no memory"),
        ]
    )
    cells = cell_table(cells_of_run(run, table))
    assert cells[["selection", "point", "accuracy"]].to_numpy().tolist() == [
        ["fixed", "a", 0.5],
        # The failed point is never the best.
        ["oracle", "b", 0.7],
    ]
    assert cells["params"].tolist() == ['{"C":1}', '{"C":2}']


def scores_of(predictions: pd.DataFrame, train: list[int], n_classes: int) -> pd.DataFrame:
    """Return the scores of predictions (repeat, fold, truth, predicted), as training has them."""
    found = []
    for (repeat, fold), mine in predictions.groupby(["repeat", "fold"]):
        truth, predicted = mine["truth"].to_numpy(), mine["predicted"].to_numpy()
        counts = class_counts(confusion(truth, predicted, n_classes))
        found.append(
            {
                "point": "p",
                "repeat": repeat,
                "fold": fold,
                "n_test": len(mine),
                "correct": int(counts.correct.sum()),
                "train_by_class": train,
                "test_by_class": counts.test,
                "predicted_by_class": counts.predicted,
                "correct_by_class": counts.correct,
                "rmse": math.nan,
                "converged": True,
                "failure": None,
            }
        )
    return pd.DataFrame(found)


def three_classes(seed: int = 0) -> pd.DataFrame:
    """Predictions of a skewed set in ten folds, twice; some folds lack the smallest class."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(4, p=[0.03, 0.27, 0.7, 0.0], size=120)
    parts = []
    for repeat in range(2):
        predicted = np.where(rng.random(120) < 0.6, truth, rng.choice(3, size=120))
        fold = rng.permutation(120) % 10
        parts.append(
            pd.DataFrame({"repeat": repeat, "fold": fold, "truth": truth, "predicted": predicted})
        )
    return pd.concat(parts, ignore_index=True)


def test_macro_f1_pools_the_folds_of_a_draw_and_is_averaged_over_draws() -> None:
    predictions = three_classes()
    # The fourth class never occurs: scikit-learn averages over the other three.
    by_draw = [
        f1_score(mine["truth"], mine["predicted"], average="macro")
        for _, mine in predictions.groupby("repeat")
    ]
    by_fold = [
        f1_score(mine["truth"], mine["predicted"], average="macro")
        for _, mine in predictions.groupby(["repeat", "fold"])
    ]
    found = summarise_point(scores_of(predictions, [1, 2, 3, 0], 4))["macro_f1"]
    assert found == pytest.approx(np.mean(by_draw), abs=1e-12)
    assert abs(found - np.mean(by_fold)) > 0.01


def run_of(scores: pd.DataFrame, classes: list[str]) -> RunScores:
    run = {
        "dataset": "d",
        "representation": "uni",
        "method": "M",
        "classes": classes,
        "points": [{"point": "p", "params": {}, "origin": ["fixed"]}],
        "protocol": {"inner": 0},
    }
    return RunScores(run, scores, pd.DataFrame())


def test_the_majority_class_is_that_of_each_training_part() -> None:
    scores = scores_of(three_classes(), [0, 0, 0, 0], 4).iloc[:3]
    scores = scores.assign(
        # Ties go to the first class of the dataset file.
        train_by_class=[[5, 5, 1, 0], [0, 5, 9, 0], [1, 2, 9, 0]],
        test_by_class=[[2, 1, 1, 0], [0, 1, 3, 0], [2, 1, 1, 0]],
        predicted_by_class=[[4, 0, 0, 0]] * 3,
        correct_by_class=[[0, 0, 0, 0]] * 3,
        n_test=4,
        correct=0,
    )
    cell, *others = cells_of_runs([run_of(scores, ["a", "b", "c", "d"])])[0]
    assert (cell["method"], cell["selection"], cell["representation"]) == (
        "majority",
        "majority",
        "",
    )
    assert cell["accuracy"] == pytest.approx((2 + 3 + 1) / 12)
    assert cell["params"] == '{"class":["c","a"]}'
    # a: 2 right of 4 predicted and 4 true; b: none of 3; c: 4 right of 8 predicted and 5 true.
    assert cell["macro_f1"] == pytest.approx((4 / 8 + 0 + 8 / 13) / 3)
    assert (cell["documents"], cell["above_majority"], cell["failure"]) == (12, False, None)
    # Wilson by hand for 6 of 12.
    z = 1.959963984540054
    centre, n = 6 / 12, 12
    half = z * math.sqrt(centre * (1 - centre) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    middle = (centre + z**2 / (2 * n)) / (1 + z**2 / n)
    assert [cell["low"], cell["high"]] == pytest.approx([middle - half, middle + half])
    assert [one["selection"] for one in others] == ["fixed"]


@pytest.mark.parametrize(
    ("alone", "majority_alone", "above"),
    # b - c > 1.96 sqrt(b + c): 10 > 1.96 sqrt(26) = 9.99; 9 < 1.96 sqrt(25) = 9.8
    [(18, 8, True), (17, 8, False), (8, 18, False), (4, 0, True), (3, 0, False), (0, 0, False)],
)
def test_above_the_majority_is_a_score_test_on_the_same_documents(
    alone: int, majority_alone: int, above: bool
) -> None:
    table = pd.DataFrame(
        {
            "repeat": [0, 1],
            "fold": 0,
            "n_test": 100,
            "correct": 60 - majority_alone + alone,
            "train_by_class": [[6, 4]] * 2,
            "test_by_class": [[60, 40]] * 2,
            "predicted_by_class": [[100 - alone, alone]] * 2,
            "correct_by_class": [[60 - majority_alone, alone]] * 2,
            "rmse": math.nan,
            "converged": True,
            "failure": None,
        }
    )
    # Two draws of the same documents count as one.
    assert summarise_point(table)["above_majority"] is above


@pytest.mark.parametrize(
    ("train", "test", "shown"),
    [([63, 27], [7, 3], False), ([64, 26], [7, 3], True), ([1, 1, 1], [1, 1, 1], True)],
)
def test_macro_f1_is_shown_for_many_classes_or_a_skew_beyond_70_to_30(
    train: list[int], test: list[int], shown: bool
) -> None:
    table = pd.DataFrame({"train_by_class": [train], "test_by_class": [test]})
    assert shows_macro_f1(table) is shown
