"""Final runs of nested selection: the numbers, predictions and choices of each fold's point."""

import json

import pandas as pd
import pytest
from run_files import (
    POINTS,
    add_inner_folds,
    client_of,
    log_to,
    make_predictions,
    make_run,
    runs_of,
)

from textbaselines.core.storage import read_json
from textbaselines.reporting.tracking import artifacts

# Folds 0 and 1 of repeat 0, then of repeat 1: the second point wins in the second alone.
INNER = {"aaaaaaaaaaaa": [7, 3, 7, 7], "bbbbbbbbbbbb": [6, 8, 2, 2]}


@pytest.fixture
def nested(root):
    """The final run of nested selection, and its artifacts in a folder."""
    folder = make_run(root)
    add_inner_folds(folder, INNER)
    log_to(root, [folder], None)
    finals = {run.data.tags["selection"]: run for run in runs_of(root, "small-results")}
    assert set(finals) == {"fixed", "nested"}
    shown = root / "shown"
    shown.mkdir()
    client_of(root).download_artifacts(finals["nested"].info.run_id, "", str(shown))
    return root, finals["nested"], shown


def test_its_numbers_are_those_of_the_points_that_the_folds_chose(nested) -> None:
    root, run, _ = nested
    # 8, 8 (of the second point: one fewer than the first's 9), 7 and 6 of 10
    assert run.data.metrics["accuracy"] == pytest.approx((16 / 20 + 13 / 20) / 2)
    client = client_of(root)

    def by_step(name):
        return {m.step: m.value for m in client.get_metric_history(run.info.run_id, name)}

    assert by_step("fold/accuracy") == {0: 0.8, 1: 0.8, 2: 0.7, 3: 0.6}
    assert by_step("fold/n_features") == {0: 50, 1: 51, 2: 50, 3: 50}
    assert by_step("fold/inner_accuracy") == {0: 7 / 8, 1: 1.0, 2: 7 / 8, 3: 7 / 8}
    # alpha is not the same in all folds
    assert run.data.params == {"representation": "uni", "method": "MNB"}
    assert "selected_parameters.json" in run.data.tags["mlflow.note.content"]
    assert (run.data.tags["stage"], run.data.tags["method"]) == ("final", "MNB")


def test_its_artifacts_say_what_each_fold_chose(nested) -> None:
    _, _, shown = nested
    table = json.loads((shown / "selected_parameters.json").read_text())
    rows = pd.DataFrame(table["data"], columns=table["columns"])
    assert rows["alpha"].tolist() == [1.0, 0.01, 1.0, 1.0]
    assert rows["inner_accuracy"].tolist() == [7 / 8, 1.0, 7 / 8, 7 / 8]
    assert set(rows["representation"]) == {"uni"}
    predictions = pd.read_parquet(shown / "predictions.parquet")
    by_fold = predictions.groupby(["repeat", "fold"])["correct"].sum()
    assert by_fold.tolist() == [8, 8, 7, 6]
    wanted = make_predictions(POINTS)
    second = (wanted["point"] == "bbbbbbbbbbbb") & (wanted["fold"] == 1) & (wanted["repeat"] == 0)
    mine = predictions[(predictions["fold"] == 1) & (predictions["repeat"] == 0)]
    assert mine["predicted"].tolist() == wanted[second]["predicted"].tolist()


def test_the_tuning_plot_is_on_the_inner_folds(tmp_path) -> None:
    folder = make_run(tmp_path)
    add_inner_folds(folder, INNER)
    scores, inner = (
        pd.read_parquet(folder / f"{name}.parquet") for name in ("scores", "inner_scores")
    )
    (axis,) = artifacts.tuning_figure(read_json(folder / "run.json"), scores, inner).axes
    assert axis.lines[0].get_xydata().tolist() == [[0.01, 100 * 18 / 32], [1.0, 100 * 24 / 32]]
    assert "inner folds" in axis.get_ylabel()


def test_where_all_folds_agree_the_parameters_are_the_runs(root) -> None:
    folder = make_run(root)
    add_inner_folds(folder, {**INNER, "aaaaaaaaaaaa": [1, 1, 1, 1]})
    first = log_to(root, [folder], None)
    finals = {run.data.tags["selection"]: run for run in runs_of(root, "small-results")}
    assert finals["nested"].data.params["alpha"] == "0.01"
    assert finals["nested"].data.params["log10_alpha"] == "-2"
    assert finals["fixed"].data.params["alpha"] == "1.0"
    assert log_to(root, [folder], None)["runs"] == first["runs"]


def test_another_choice_replaces_the_nested_run_alone_in_the_results(root) -> None:
    folder = make_run(root)
    add_inner_folds(folder, INNER)
    log_to(root, [folder], None)
    before = {run.data.tags["selection"]: run.info.run_id for run in runs_of(root, "small-results")}
    add_inner_folds(folder, {**INNER, "bbbbbbbbbbbb": [6, 2, 2, 2]})
    log_to(root, [folder], None)
    after = {run.data.tags["selection"]: run for run in runs_of(root, "small-results")}
    assert len(after) == len(runs_of(root, "small-results")) == 2
    assert after["nested"].info.run_id != before["nested"]
    assert after["nested"].data.params["alpha"] == "1.0"


def test_a_choice_among_representations(root) -> None:
    better = {"aaaaaaaaaaaa": [8] * 4, "bbbbbbbbbbbb": [0] * 4}
    folders = [make_run(root, representation=name) for name in ("uni", "bi")]
    for folder, correct in zip(folders, (INNER, better), strict=True):
        add_inner_folds(folder, correct)
    log_to(root, folders, None)
    finals = {
        (run.data.tags["representation"], run.data.tags["selection"]): run
        for run in runs_of(root, "small-results")
    }
    assert set(finals) == {
        *((name, kind) for name in ("uni", "bi") for kind in ("fixed", "nested")),
        ("selected", "nested"),
    }
    run = finals["selected", "nested"]
    # bi has 8 of 8 everywhere; in the second fold the second point of uni has too, and comes first
    names = {file.path for file in client_of(root).list_artifacts(run.info.run_id)}
    assert "selected_parameters.json" in names
    assert "tuning.png" not in names
    path = client_of(root).download_artifacts(
        run.info.run_id, "selected_parameters.json", str(root)
    )
    table = read_json(path)
    rows = pd.DataFrame(table["data"], columns=table["columns"])
    assert rows["representation"].tolist() == ["bi", "uni", "bi", "bi"]
    note = run.data.tags["mlflow.note.content"]
    assert "small/runs/cr/bi-MNB/runs.json" in note
    assert "small/runs/cr/uni-MNB/runs.json" in note
    assert "Representation and hyper-parameters were chosen" in note
