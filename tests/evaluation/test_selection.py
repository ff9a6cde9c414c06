"""Nested selection: by the inner folds alone, by hand, and across representations."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from stored_runs import store_run
from textbaselines.core import storage
from textbaselines.evaluation import selection
from textbaselines.evaluation.cells import cells_of_runs
from textbaselines.evaluation.selection import ACROSS, RunScores

POINTS = [
    {"point": "a", "params": {"C": 1}, "origin": ["fixed"]},
    {"point": "b", "params": {"C": 2}, "origin": ["grid"]},
    {"point": "c", "params": {"C": 3}, "origin": ["grid"]},
]


def run_scores(
    representation: str,
    correct: dict[str, list[int]],
    inner: dict[str, list[list[int]]],
    failed: tuple[str, ...] = (),
) -> RunScores:
    """Scores of two folds of 10 test documents; inner folds of 10 and of 2 documents."""
    run = {
        "dataset": "d",
        "representation": representation,
        "method": "M",
        "classes": ["x", "y"],
        "points": [point for point in POINTS if point["point"] in correct],
        "protocol": {"inner": 2},
    }
    scores = pd.DataFrame(
        [
            {
                "point": point,
                "repeat": 0,
                "fold": fold,
                "n_test": 10,
                "correct": number,
                "train_by_class": [6, 4],
                "test_by_class": [10, 0],
                "predicted_by_class": [10, 0],
                "correct_by_class": [number, 0],
                "rmse": math.nan,
                "converged": True,
                "failure": None,
            }
            for point, folds in correct.items()
            for fold, number in enumerate(folds)
        ]
    )
    names = ["point", "repeat", "fold", "inner", "n_test", "correct", "failure"]
    rows = [
        (point, 0, fold, k, (10, 2)[k], number, "no memory" if point in failed and k else None)
        for point, folds in inner.items()
        for fold, numbers in enumerate(folds)
        for k, number in enumerate(numbers)
    ]
    return RunScores(run, scores, pd.DataFrame(rows, columns=names))


def chosen(runs: list[RunScores], representation: str) -> list[tuple[str, str, float]]:
    table = selection.selections_of_runs(runs)
    mine = table[table["representation"] == representation].sort_values("fold")
    columns = ["chosen_representation", "point", "inner_accuracy"]
    return [tuple(row) for row in mine[columns].to_numpy().tolist()]


BI = run_scores(
    "bi",
    {"a": [10, 10], "b": [6, 6], "c": [7, 3]},
    # Fold 0: b has 8 of 12 and the higher mean of fold accuracies; c has 9 of 12.
    {"a": [[10, 2], [10, 2]], "b": [[6, 2], [6, 0]], "c": [[9, 0], [5, 1]]},
)


def test_inner_folds_are_pooled_and_the_fixed_point_off_the_grid_is_no_candidate() -> None:
    # Fold 1: 6 of 12 each; b comes first in the grid.
    assert chosen([BI], "bi") == [("bi", "c", 0.75), ("bi", "b", 0.5)]


def test_the_cell_has_the_test_scores_of_what_each_fold_chose() -> None:
    cells, _ = cells_of_runs([BI])
    by_selection = {cell["selection"]: cell for cell in cells}
    assert set(by_selection) == {"majority", "fixed", "nested", "oracle"}
    nested = by_selection["nested"]
    assert nested["accuracy"] == pytest.approx((7 + 6) / 20)
    assert nested["documents"] == 20
    assert nested["point"] == ""
    assert json.loads(nested["params"]) == {"C": [3, 2]}
    # Tuning on what one reports would have said more.
    assert by_selection["oracle"]["accuracy"] == pytest.approx(12 / 20)
    assert by_selection["fixed"]["accuracy"] == 1.0


def test_a_point_that_failed_on_an_inner_fold_ranks_last() -> None:
    one = run_scores(
        "bi", {"b": [9, 9], "c": [2, 2]}, {"b": [[10, 2], [10, 2]], "c": [[1, 0], [1, 0]]}, ("b",)
    )
    assert [point for _, point, _ in chosen([one], "bi")] == ["c", "c"]
    cells, _ = cells_of_runs([one])
    (nested,) = [cell for cell in cells if cell["selection"] == "nested"]
    assert nested["accuracy"] == pytest.approx(0.2)
    assert nested["point"] == "c"
    assert json.loads(nested["params"]) == {"C": 3}


def test_the_representation_is_chosen_with_the_hyper_parameters() -> None:
    uni = run_scores(
        "uni", {"b": [1, 8], "c": [1, 9]}, {"b": [[7, 1], [6, 0]], "c": [[8, 1], [8, 1]]}
    )
    # Fold 0: 0.75 of bi's c and of uni's c: bi comes first. Fold 1: uni's c.
    assert chosen([BI, uni], ACROSS) == [("bi", "c", 0.75), ("uni", "c", 0.75)]
    assert chosen([uni, BI], ACROSS) == [("uni", "c", 0.75), ("uni", "c", 0.75)]
    cells, _ = cells_of_runs([BI, uni])
    (across,) = [cell for cell in cells if cell["representation"] == ACROSS]
    assert across["selection"] == "nested"
    assert across["accuracy"] == pytest.approx((7 + 9) / 20)
    assert across["point"] == "c"
    assert json.loads(across["params"]) == {"C": 3, "representation": ["bi", "uni"]}


def test_a_run_with_nothing_to_choose_is_its_own_choice() -> None:
    only = run_scores("bi", {"a": [4, 5]}, {})
    assert [(r, p) for r, p, _ in chosen([only], "bi")] == [("bi", "a"), ("bi", "a")]
    (_, fixed, nested) = cells_of_runs([only])[0]
    assert (fixed["selection"], nested["selection"]) == ("fixed", "nested")
    assert nested["accuracy"] == fixed["accuracy"] == pytest.approx(0.45)
    # A representation whose method could not be tried is not chosen over one that could.
    skipped = run_scores("uni", {"b": [0, 0], "c": [0, 0]}, {})
    assert [(r, p) for r, p, _ in chosen([skipped, BI], ACROSS)] == [("bi", "c"), ("bi", "b")]


def test_without_inner_folds_there_is_no_nested_cell() -> None:
    BI_fixed = RunScores({**BI.run, "protocol": {"inner": 0}}, BI.scores, BI.inner_scores)
    cells, selections = cells_of_runs([BI_fixed])
    assert {cell["selection"] for cell in cells} == {"majority", "fixed", "oracle"}
    assert selections.columns.tolist() == list(selection.SELECTION_COLUMNS)
    assert selections.empty


def test_predictions_of_a_cell(tmp_path) -> None:
    for representation in ("bi", "uni"):
        frame = pd.DataFrame(
            {
                "point": np.repeat(["a", "b", "c"], 4),
                "repeat": 0,
                "fold": [0, 0, 1, 1] * 3,
                "id": ["d0", "d1", "d2", "d3"] * 3,
                "label": "pos",
                "predicted": [f"{representation}-{p}" for p in np.repeat(["a", "b", "c"], 4)],
                "score": 0.0,
            }
        )
        folder = tmp_path / "d" / representation / "M"
        storage.write_parquet(folder / "predictions.parquet", frame)
        store_run(folder)
    uni = run_scores("uni", {"c": [1, 9]}, {"c": [[0, 0], [10, 2]]})
    cells, selections = cells_of_runs([BI, uni])
    found = {
        (cell["representation"], cell["selection"]): selection.cell_predictions(
            tmp_path, cell, selections
        )
        for cell in cells
        if cell["selection"] != "majority"
    }
    assert found["bi", "fixed"]["predicted"].tolist() == ["bi-a"] * 4
    assert found["bi", "nested"]["predicted"].tolist() == ["bi-c"] * 2 + ["bi-b"] * 2
    assert found[ACROSS, "nested"]["predicted"].tolist() == ["bi-c"] * 2 + ["uni-c"] * 2
    assert found[ACROSS, "nested"]["id"].tolist() == ["d0", "d1", "d2", "d3"]
