"""The expected best of n trials: by hand, against every possible sequence of draws, by joining."""

import itertools
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from stored_runs import store_run
from textbaselines.analysis.search_curves import (
    CURVE_COLUMNS,
    expected_maximum,
    search_curves,
)
from textbaselines.core.storage import write_json, write_parquet
from textbaselines.evaluation.runs import Run


def test_three_scores_by_hand() -> None:
    # Of the 9 pairs of draws, 1 has the maximum 0.2, 3 have 0.5 and 5 have 0.8; of the 27 triples
    # 1, 7 and 19.
    curve = expected_maximum(np.array([0.8, 0.2, 0.5]))
    assert curve == pytest.approx(
        [0.5, (0.2 + 3 * 0.5 + 5 * 0.8) / 9, (0.2 + 7 * 0.5 + 19 * 0.8) / 27], abs=1e-15
    )


@pytest.mark.parametrize("scores", [[0.7], [0.3, 0.3], [0.9, 0.1, 0.4, 0.4], [0, 1, 0.5, 0.2, 1]])
def test_against_every_sequence_of_draws(scores: list[float]) -> None:
    brute = [
        np.mean([max(draws) for draws in itertools.product(scores, repeat=n)])
        for n in range(1, len(scores) + 1)
    ]
    assert expected_maximum(np.array(scores, dtype=float)) == pytest.approx(brute, abs=1e-12)


def test_the_curve_rises_from_the_mean_towards_the_best() -> None:
    scores = np.random.default_rng(0).random(200)
    curve = expected_maximum(scores)
    assert curve[0] == pytest.approx(scores.mean())
    assert (np.diff(curve) > 0).all()
    assert 0.99 * scores.max() < curve[-1] < scores.max()


def test_a_failed_point_is_as_bad_as_the_worst() -> None:
    with_failure = expected_maximum(np.array([0.8, np.nan, 0.5]))
    assert with_failure == pytest.approx(expected_maximum(np.array([0.8, 0.5, 0.5])))
    assert np.isnan(expected_maximum(np.array([np.nan, np.nan]))).tolist() == [True, True]


def write_run(folder: Path, correct: dict[tuple[str, int, int], int | None], origins) -> Run:
    """A run whose inner folds have 10 and 30 documents; None for a failed fit."""
    rows = [
        {
            "point": point,
            "repeat": 0,
            "fold": fold,
            "inner": inner,
            "n_test": 10 + 20 * inner,
            "correct": right or 0,
            "accuracy": math.nan if right is None else right / (10 + 20 * inner),
            "converged": right is not None,
            "failure": "no" if right is None else None,
        }
        for (point, fold, inner), right in correct.items()
    ]
    frame = pd.DataFrame(rows, columns=["point", "repeat", "fold", "inner", "n_test", "correct"])
    if rows:
        frame = pd.DataFrame(rows)
    points = [{"point": name, "params": {}, "origin": origin} for name, origin in origins.items()]
    run = {"dataset": "cr", "representation": "bi", "method": folder.name, "points": points}
    write_json(folder / "run.json", run)
    # Rows in no particular order.
    write_parquet(folder / "inner_scores.parquet", frame.sample(frac=1, random_state=0))
    return store_run(folder)


ORIGINS = {"a": ["fixed"], "b": ["grid"], "c": ["fixed", "grid"]}


def test_folds_are_pooled_within_and_averaged_without(tmp_path: Path) -> None:
    correct = {
        **{("a", fold, inner): 10 for fold in (0, 1) for inner in (0, 1)},
        **{("b", 0, 0): 10, ("b", 0, 1): 10, ("b", 1, 0): 2, ("b", 1, 1): 6},
        **{("c", 0, 0): 5, ("c", 0, 1): 5, ("c", 1, 0): 8, ("c", 1, 1): 20},
    }
    curves = search_curves([write_run(tmp_path / "cr" / "bi" / "SVM", correct, ORIGINS)])
    assert list(curves.columns) == list(CURVE_COLUMNS)
    # b: 20/40 and 8/40, c: 10/40 and 28/40; the fixed point a is not on the grid.
    one = (0.5 + 0.25) / 2, (0.2 + 0.7) / 2
    two = (3 * 0.5 + 0.25) / 4, (0.2 + 3 * 0.7) / 4
    assert curves["trials"].tolist() == [1, 2]
    assert curves["expected_accuracy"].tolist() == pytest.approx([np.mean(one), np.mean(two)])
    assert (
        curves[["dataset", "representation", "method"]].values.tolist() == [["cr", "bi", "SVM"]] * 2
    )
    assert curves[["points", "failed_points", "folds"]].values.tolist() == [[2, 0, 2]] * 2


def test_a_point_that_fails_on_one_inner_fold_has_failed(tmp_path: Path) -> None:
    correct = {("b", 0, 0): 10, ("b", 0, 1): None, ("c", 0, 0): 5, ("c", 0, 1): 5}
    curves = search_curves([write_run(tmp_path / "cr" / "bi" / "SVM", correct, ORIGINS)])
    assert curves["expected_accuracy"].tolist() == pytest.approx([0.25, 0.25])
    assert curves["failed_points"].tolist() == [1, 1]


def test_runs_without_inner_folds_have_no_curve(tmp_path: Path) -> None:
    frame = search_curves([write_run(tmp_path / "MNB", {}, ORIGINS)])
    assert frame.empty
    assert list(frame.columns) == list(CURVE_COLUMNS)
