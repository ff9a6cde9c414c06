import json

import numpy as np
import pandas as pd
import pytest
from run_files import POINTS, client_of, log_to, make_cells, make_predictions, make_run, runs_of
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from textbaselines.core.storage import write_parquet
from textbaselines.reporting.tracking import artifacts

STUDY = {"name": "small", "title": "A small study", "command": "snakemake --cores all -C x=1"}


@pytest.fixture
def final(root, tmp_path):
    """The final run of a logged study, and its artifacts in a folder."""
    folder = make_run(root)
    code = {"git_commit": "abc123", "git_dirty": "true", "lock": "feed"}
    benchmarks = root / "benchmarks"
    (benchmarks / "cr").mkdir(parents=True)
    text = "representation\tmethod\ts\tmax_rss\nuni\tMNB\t2.5\t321.5\n"
    (benchmarks / "cr" / "uni-MNB.tsv").write_text(text)
    log_to(root, [folder], make_cells(), study=STUDY, code=code, benchmarks=benchmarks)
    (run,) = runs_of(root, "small-results")
    return run, download(root, run, tmp_path)


def download(root, run, tmp_path):
    folder = tmp_path / "shown"
    folder.mkdir()
    client_of(root).download_artifacts(run.info.run_id, "", str(folder))
    return folder


def test_a_final_run_has_its_files(final):
    run, folder = final
    assert {path.name for path in folder.iterdir()} == {
        "confusion_matrix.png",
        "description.md",
        "environment.json",
        "per_class_report.json",
        "per_class_report.md",
        "predictions.json",
        "predictions.parquet",
        "tuning.png",
    }
    for name in ("confusion_matrix.png", "tuning.png"):
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
    assert run.data.metrics["job_peak_mebibytes"] == 321.5
    assert run.data.metrics["job_seconds"] == 2.5
    assert run.data.metrics["accuracy_low_pct"] == 50.0


def test_the_description_says_how_to_run_it_again(final):
    run, folder = final
    text = (folder / "description.md").read_text()
    command = "snakemake results/small/runs/cr/uni-MNB/runs.json --cores all -C x=1"
    assert f"git checkout abc123\n{command}\n" in text
    assert "not committed" in text
    assert "`feed`" in text
    assert "| accuracy | 0.75 |" in text
    assert command in run.data.tags["mlflow.note.content"]
    environment = json.loads((folder / "environment.json").read_text())
    assert environment["git_commit"] == "abc123"
    assert environment["logged_with"]["numpy"] == np.__version__


def test_the_predictions_table_is_that_of_the_point(final):
    run, folder = final
    table = json.loads((folder / "predictions.json").read_text())
    rows = pd.DataFrame(table["data"], columns=table["columns"])
    assert list(rows)[:6] == ["repeat", "fold", "id", "label", "predicted", "correct"]
    assert len(rows) == 40
    assert rows["correct"].sum() == 30  # 8 + 9 + 7 + 6
    assert "predictions.json" in run.data.tags["mlflow.loggedArtifacts"]


def test_the_report_is_that_of_scikit_learn(final):
    _, folder = final
    predictions = make_predictions(POINTS)
    predictions = predictions[predictions["point"] == POINTS[0]["point"]]
    labels = ["pos", "neg"]
    by_repeat = [
        precision_recall_fscore_support(mine["label"], mine["predicted"], labels=labels)
        for _, mine in predictions.groupby("repeat")
    ]
    wanted = np.mean(by_repeat, axis=0)
    wanted[3] *= 2  # documents of both repeats
    report = json.loads((folder / "per_class_report.json").read_text())
    for place, row in enumerate(report):
        assert row["class"] == labels[place]
        found = [row["precision"], row["recall"], row["f1"], row["support"]]
        assert found == pytest.approx([column[place] for column in wanted])
    matrix = artifacts.confusion_of(predictions, labels)
    wanted = confusion_matrix(predictions["label"], predictions["predicted"], labels=labels)
    assert matrix.tolist() == wanted.tolist()


def test_the_mean_of_f1_in_the_report_is_the_macro_f1_of_the_run(root, tmp_path):
    log_to(root, [make_run(root)], None)
    (run,) = runs_of(root, "small-results")
    report = json.loads((download(root, run, tmp_path) / "per_class_report.json").read_text())
    found = np.mean([row["f1"] for row in report])
    assert found == pytest.approx(run.data.metrics["macro_f1"], abs=1e-12)
    # Beside the accuracy stands that of the majority class: 5 of 10 in each fold.
    assert run.data.metrics["majority_accuracy_pct"] == 50.0
    # Of one repeat 10 documents are right here alone, 5 there alone: 5 < 1.96 sqrt(15).
    assert run.data.tags["above_majority"] == "false"


def test_a_class_never_met_or_predicted_has_zeros():
    rows = pd.DataFrame({"repeat": 0, "label": ["a"] * 3, "predicted": ["a"] * 3})
    report = artifacts.per_class_report(rows, ["a", "b"])
    assert report[["precision", "recall", "f1"]].to_numpy().tolist() == [[1, 1, 1], [0, 0, 0]]


def test_the_tuning_plot_shows_the_grid():
    points = [
        {"point": f"p{c}{beta}", "params": {"C": c, "beta": beta}, "origin": ["grid"]}
        for c in (0.1, 1.0, 10.0)
        for beta in (0.0, 0.5)
    ]
    points[0]["origin"] = ["fixed", "grid"]
    scores = pd.DataFrame(
        {
            "point": [point["point"] for point in points],
            "repeat": 0,
            "fold": 0,
            "n_test": 10,
            "correct": range(3, 9),
            "converged": True,
            "failure": None,
        }
    )
    run = {"points": points, "method": "NBSVM", "representation": "bi", "dataset": "cr"}
    (axis,) = artifacts.tuning_figure(run, scores).axes
    lines = {line.get_label(): line.get_xydata().tolist() for line in axis.lines}
    assert lines["beta = 0.0"] == [[0.1, 30.0], [1.0, 50.0], [10.0, 70.0]]
    assert lines["the fixed point"] == [[0.1, 30.0]]
    assert (axis.get_xlabel(), axis.get_xscale()) == ("C", "log")
    only = {**run, "points": points[:1]}
    assert artifacts.tuning_figure(only, scores) is None


def test_a_long_table_is_cut_and_the_page_says_where_the_whole_is(root, tmp_path, monkeypatch):
    monkeypatch.setattr(artifacts, "MOST_ROWS", 7)
    log_to(root, [make_run(root)], make_cells())
    (run,) = runs_of(root, "small-results")
    told = "the first 7 of 40 predictions; the artifact predictions.parquet has all"
    assert told in run.data.tags["mlflow.note.content"]
    folder = download(root, run, tmp_path)
    assert told in (folder / "description.md").read_text()
    table = json.loads((folder / "predictions.json").read_text())
    whole = pd.read_parquet(folder / "predictions.parquet")
    assert (len(table["data"]), len(whole)) == (7, 40)
    wanted = make_predictions(POINTS)
    wanted = wanted[wanted["point"] == POINTS[0]["point"]]
    assert whole["id"].tolist() == wanted["id"].tolist()
    assert whole["correct"].tolist() == (wanted["label"] == wanted["predicted"]).tolist()
    assert whole["score"].tolist() == wanted["score"].tolist()


def test_other_predictions_replace_the_final_run_alone(root):
    folder = make_run(root)
    log_to(root, [folder], make_cells())
    predictions = make_predictions(POINTS)
    predictions.loc[0, "score"] = 7.0
    write_parquet(folder / "predictions.parquet", predictions)
    counts = log_to(root, [folder], make_cells())["counts"]
    assert (counts["replaced"], counts["skipped"]) == (1, 2)
