"""Scores and cells: by hand and against scikit-learn and statsmodels."""

import math

import pandas as pd
import pytest

from textbaselines.experiments import evaluation


def rows(point: str, correct: list[list[int]], n_test: list[int], **more) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "point": point,
                "repeat": repeat,
                "fold": fold,
                "n_test": n_test[fold],
                "correct": number,
                "macro_f1": 0.5,
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
    cell = evaluation.summarise_point(table)
    assert cell["accuracy"] == pytest.approx((9 / 12 + 10 / 12) / 2)
    assert cell["sd"] == pytest.approx(abs(9 / 12 - 10 / 12) / math.sqrt(2))
    assert (cell["draws"], cell["folds"], cell["documents"]) == (2, 2, 12)
    assert cell["rmse"] == 1.0


def test_interval_is_wilsons() -> None:
    # Newcombe (1998), table I: 81 of 263 gives 0.2553 to 0.3662.
    table = rows("p", [[81]], [263])
    cell = evaluation.summarise_point(table)
    assert cell["low"] == pytest.approx(0.2553, abs=5e-5)
    assert cell["high"] == pytest.approx(0.3662, abs=5e-5)
    assert math.isnan(cell["sd"])


def test_one_fit_that_did_not_converge_marks_the_cell() -> None:
    table = rows("p", [[1, 1]], [2, 2])
    table.loc[1, "converged"] = False
    assert evaluation.summarise_point(table)["converged"] is False


def test_a_failed_point_has_no_accuracy_and_its_reason() -> None:
    table = rows("p", [[0, 0]], [2, 2])
    table.loc[0, "failure"] = "negative values"
    cell = evaluation.summarise_point(table)
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
    cells = evaluation.cell_table(evaluation.cells_of_run(run, table))
    assert cells[["selection", "point", "accuracy"]].to_numpy().tolist() == [
        ["fixed", "a", 0.5],
        # The failed point is never the best.
        ["oracle", "b", 0.7],
    ]
    assert cells["params"].tolist() == ['{"C":1}', '{"C":2}']
