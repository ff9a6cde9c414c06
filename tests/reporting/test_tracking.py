import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from mlflow import MlflowClient

from textbaselines.errors import UserError
from textbaselines.reporting import tracking
from textbaselines.reporting.tracking import log_runs
from textbaselines.storage import read_json, write_json, write_parquet

STUDY = {"name": "small", "title": "A small study"}
DIGEST = "c0ffee" * 10 + "abcd"
POINTS = [
    {"point": "aaaaaaaaaaaa", "params": {"alpha": 1.0}, "origin": ["fixed", "grid"]},
    {"point": "bbbbbbbbbbbb", "params": {"alpha": 0.01}, "origin": ["grid"]},
]
# correct of 10 for (repeat, fold): the draws' accuracies are (8 + 9) / 20 and (7 + 6) / 20
CORRECT = {(0, 0): 8, (0, 1): 9, (1, 0): 7, (1, 1): 6}


def make_run(root, dataset="cr", method="MNB", points=POINTS, failed=()):
    folder = root / "runs" / dataset / "uni" / method
    scores, timings = [], []
    for place, point in enumerate(points):
        for (repeat, fold), correct in CORRECT.items():
            fold_failed = point["point"] in failed
            base = {"point": point["point"], "repeat": repeat, "fold": fold}
            scores.append(
                base
                | {
                    "n_train": 10,
                    "n_test": 10,
                    "n_features": 50 + place,
                    "correct": None if fold_failed else correct - place,
                    "accuracy": float("nan") if fold_failed else (correct - place) / 10,
                    "macro_f1": float("nan") if fold_failed else (correct - place) / 10 - 0.05,
                    "rmse": float("nan"),
                    "log_loss": float("nan"),
                    "converged": True,
                    "n_iter": 1,
                    "failure": "alpha = 0 is refused" if fold_failed else None,
                }
            )
            start = 1000.5 + 10 * place + 2 * repeat + fold
            seconds = {"fit_seconds": 0.25, "predict_seconds": 0.5, "threads": 1}
            timings.append(base | seconds | {"started": start, "ended": start + 0.75})
    write_json(
        folder / "run.json",
        {
            "dataset": dataset,
            "representation": "uni",
            "method": method,
            "family": "mnb",
            "classes": ["pos", "neg"],
            "positive": "pos",
            "protocol": {"kind": "cv", "folds": 2, "repeats": 2, "grouped": False},
            "content_digest": DIGEST,
            "points": points,
        },
    )
    frame = pd.DataFrame(scores)
    frame["failure"] = frame["failure"].astype("str" if failed else "object")
    write_parquet(folder / "scores.parquet", frame)
    write_parquet(folder / "timings.parquet", pd.DataFrame(timings))
    return folder


def make_cells(datasets=("cr",), method="MNB", point=POINTS[0]):
    return pd.DataFrame(
        {
            "dataset": dataset,
            "representation": "uni",
            "method": method,
            "selection": selection,
            "point": point["point"],
            "params": json.dumps(point["params"]),
            "accuracy": 0.75,
            "sd": 0.1414,
            "draws": 2,
            "documents": 20,
            "low": 0.5,
            "high": 0.9,
            "macro_f1": 0.7,
            "rmse": 0.4,
            "converged": True,
        }
        for dataset in datasets
        for selection in ("fixed", "oracle")
    )


@pytest.fixture(scope="module")
def empty_store(tmp_path_factory):
    """A store with MLflow's schema and nothing in it: the migrations take seconds."""
    root = tmp_path_factory.mktemp("store")
    log_to(root, [], make_cells().iloc[:0])
    return root / "mlflow.db"


@pytest.fixture
def root(tmp_path, empty_store):
    shutil.copy(empty_store, tmp_path / "mlflow.db")
    return tmp_path


def log_to(root, folders, cells, **more):
    return log_runs(
        folders,
        cells,
        STUDY,
        database=root / "mlflow.db",
        artifact_root=root / "artifacts",
        receipt=root / "receipt.json",
        **more,
    )


def client_of(root):
    return MlflowClient(tracking_uri=f"sqlite:///{root / 'mlflow.db'}")


def runs_of(root, experiment):
    client = client_of(root)
    found = client.get_experiment_by_name(experiment)
    return list(client.search_runs([found.experiment_id], max_results=1000))


def by_point(root, experiment="small-grid-cr"):
    return {run.data.tags["point"]: run for run in runs_of(root, experiment)}


def test_values_are_those_of_the_files(root):
    folder = make_run(root)
    git = {"commit": "abc123", "dirty": True}
    receipt = log_to(root, [folder], make_cells(), git=git, lock_digest="feed")
    runs = by_point(root)
    assert set(runs) == {"aaaaaaaaaaaa", "bbbbbbbbbbbb"}
    first, second = runs["aaaaaaaaaaaa"], runs["bbbbbbbbbbbb"]

    metrics = first.data.metrics
    assert metrics["accuracy"] == pytest.approx((17 / 20 + 13 / 20) / 2)
    assert metrics["accuracy_pct"] == 75.0
    assert metrics["accuracy_std"] == pytest.approx(0.2 / 2**0.5)  # of 0.85 and 0.65
    assert metrics["accuracy_std_pct"] == 14.14
    assert metrics["macro_f1"] == pytest.approx(0.70)
    assert (metrics["fit_seconds"], metrics["predict_seconds"]) == (0.25, 0.5)
    assert metrics["failed_fits"] == 0
    assert "log_loss" not in metrics
    history = client_of(root).get_metric_history(first.info.run_id, "fold/accuracy")
    assert {m.step: m.value for m in history} == {0: 0.8, 1: 0.9, 2: 0.7, 3: 0.6}
    assert second.data.metrics["accuracy"] == pytest.approx(0.65)

    assert first.data.params == {
        "alpha": "1.0",
        "log10_alpha": "0",
        "representation": "uni",
        "method": "MNB",
    }
    assert second.data.params["log10_alpha"] == "-2"
    tags = first.data.tags
    assert (tags["stage"], tags["dataset"], tags["method"]) == ("grid", "cr", "MNB")
    assert (tags["origin"], tags["converged"]) == ("fixed+grid", "true")
    assert (tags["git_commit"], tags["git_dirty"], tags["lock"]) == ("abc123", "true", "feed")
    assert "alpha = 1.0" in tags["mlflow.note.content"]
    assert (first.info.start_time, first.info.end_time) == (1000500, 1004250)
    assert first.info.status == "FINISHED"
    (used,) = first.inputs.dataset_inputs
    assert (used.dataset.name, used.dataset.digest) == ("cr", DIGEST[:36])

    (final,) = runs_of(root, "small-results")
    assert final.data.metrics["accuracy"] == 0.75
    assert final.data.metrics["accuracy_std"] == 0.1414
    assert final.data.metrics["accuracy_low"] == 0.5
    assert final.data.metrics["fit_seconds"] == 0.25
    assert final.data.tags["stage"] == "final"
    assert receipt["counts"]["logged"] == 3
    assert set(receipt["runs"].values()) == {run.info.run_id for run in (first, second, final)}
    assert read_json(root / "receipt.json") == receipt


def test_pages_open_with_the_columns_that_matter(root):
    receipt = log_to(root, [make_run(root)], make_cells())
    experiment = client_of(root).get_experiment_by_name("small-grid-cr")
    tags = experiment.tags
    assert tags["mlflow.experimentKind"] == "custom_model_development"
    assert tags["mlflow.experiment.primaryMetric.name"] == "accuracy_pct"
    view = json.loads(tags["mlflow.sharedViewState.textbaselines"])
    assert isinstance(view["name"], str)
    assert view["createdAt"] == 1014250
    state = json.loads(view["state"])
    assert {"metrics.`accuracy_pct`", "params.`alpha`"} <= set(state["selectedColumns"])
    link = receipt["links"]["small-grid-cr"]
    assert f"/experiments/{experiment.experiment_id}/" in link
    assert "viewStateShareKey=textbaselines" in link
    assert (root / "artifacts" / "small-grid-cr").as_uri() == experiment.artifact_location


def test_logging_twice_changes_nothing(root):
    folders, cells = [make_run(root), make_run(root, "rt-s")], make_cells(("cr", "rt-s"))
    first = log_to(root, folders, cells)
    before = {run.info.run_id for name in first["experiments"] for run in runs_of(root, name)}
    second = log_to(root, folders, cells, git={"commit": "later", "dirty": False})
    after = {run.info.run_id for name in first["experiments"] for run in runs_of(root, name)}
    assert after == before
    assert len(after) == 6
    assert second["runs"] == first["runs"]
    assert (second["counts"]["logged"], second["counts"]["skipped"]) == (0, 6)


def test_a_changed_score_replaces_that_run_alone(root):
    folder, cells = make_run(root), make_cells()
    log_to(root, [folder], cells)
    before = by_point(root)
    scores = pd.read_parquet(folder / "scores.parquet")
    row = (scores["point"] == "bbbbbbbbbbbb") & (scores["repeat"] == 1) & (scores["fold"] == 1)
    scores.loc[row, ["correct", "accuracy"]] = [9, 0.9]
    write_parquet(folder / "scores.parquet", scores)
    receipt = log_to(root, [folder], cells)
    after = by_point(root)
    assert (receipt["counts"]["replaced"], receipt["counts"]["skipped"]) == (1, 2)
    assert after["aaaaaaaaaaaa"].info.run_id == before["aaaaaaaaaaaa"].info.run_id
    assert after["bbbbbbbbbbbb"].info.run_id != before["bbbbbbbbbbbb"].info.run_id
    # draws (7 + 8) / 20 and (6 + 9) / 20
    assert after["bbbbbbbbbbbb"].data.metrics["accuracy"] == pytest.approx(0.75)
    assert len(runs_of(root, "small-grid-cr")) == 2


def test_an_unfinished_run_is_removed_and_a_users_own_is_not(root):
    folder, cells = make_run(root), make_cells()
    first = log_to(root, [folder], cells)
    client = client_of(root)
    experiment = first["experiments"]["small-grid-cr"]
    finished = by_point(root)["aaaaaaaaaaaa"]
    orphan = client.create_run(experiment, tags=finished.data.tags)
    mine = client.create_run(experiment, run_name="my own trial")
    receipt = log_to(root, [folder], cells)
    ids = {run.info.run_id for run in runs_of(root, "small-grid-cr")}
    assert orphan.info.run_id not in ids
    assert mine.info.run_id in ids
    assert receipt["counts"]["unfinished_removed"] == 1
    assert receipt["counts"]["other"] == 1
    assert receipt["runs"] == first["runs"]


def test_points_that_the_files_no_longer_have_are_removed(root):
    rts = make_run(root, "rt-s")
    log_to(root, [make_run(root), rts], make_cells(("cr", "rt-s")))
    # the grid of cr shrinks to what was its second point, which is the fixed one now
    other = [{**POINTS[1], "origin": ["fixed"]}]
    receipt = log_to(root, [make_run(root, points=other)], make_cells(point=POINTS[1]))
    assert set(by_point(root)) == {"bbbbbbbbbbbb"}
    finals = {run.data.tags["dataset"]: run for run in runs_of(root, "small-results")}
    assert len(runs_of(root, "small-results")) == 2
    assert finals["cr"].data.params["alpha"] == "0.01"
    assert receipt["counts"]["outdated_removed"] == 2
    assert receipt["counts"]["other"] == 1  # the final run of rt-s, which was not given
    assert len(runs_of(root, "small-grid-rt-s")) == 2


KILLED = """
import os, signal, sys
from pathlib import Path
import pandas as pd
from textbaselines.reporting import tracking
calls = 0
def dying(name):
    whole = getattr(tracking.MlflowClient, name)
    def call(self, *args, **kwargs):
        global calls
        calls += 1
        if calls == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        return whole(self, *args, **kwargs)
    return call
for name in ("create_run", "log_inputs", "log_batch", "set_terminated"):
    setattr(tracking.MlflowClient, name, dying(name))
root = Path(sys.argv[1])
tracking.log_runs(
    sorted((root / "runs").glob("*/*/*")), pd.read_parquet(root / "cells.parquet"),
    {"name": "small", "title": "A small study"},
    database=root / "mlflow.db", artifact_root=root / "artifacts",
    receipt=root / "receipt.json",
)
"""


def test_killed_midway_then_finished_each_run_stands_once(root):
    make_run(root)
    make_run(root, "rt-s")
    write_parquet(root / "cells.parquet", make_cells(("cr", "rt-s")))
    script = root / "killed.py"
    script.write_text(KILLED, encoding="utf-8")
    for call in (3, 8):  # before the digest of the first run; before a run is called finished
        command = [sys.executable, str(script), str(root), str(call)]
        done = subprocess.run(command, capture_output=True, check=False)
        assert done.returncode == -signal.SIGKILL, done.stderr.decode()
        assert not (root / "receipt.json").exists()
    folders = sorted((root / "runs").glob("*/*/*"))
    receipt = log_to(root, folders, make_cells(("cr", "rt-s")))
    assert receipt["counts"]["unfinished_removed"] == 1
    runs = [run for name in receipt["experiments"] for run in runs_of(root, name)]
    assert len(runs) == 6
    assert len({run.data.tags["run_key"] for run in runs}) == 6
    assert {run.info.status for run in runs} == {"FINISHED"}
    for run in runs:
        history = client_of(root).get_metric_history(run.info.run_id, "fold/accuracy")
        assert len(history) == 4


def test_a_kill_while_the_store_is_made_leaves_no_half_store(tmp_path, monkeypatch):
    def dies(uri, _):
        Path(uri.removeprefix("sqlite:///")).write_bytes(b"half a store")
        raise KeyboardInterrupt

    monkeypatch.setattr(tracking, "SqlAlchemyStore", dies)
    with pytest.raises(KeyboardInterrupt):
        log_to(tmp_path, [], make_cells().iloc[:0])
    assert [path.name for path in tmp_path.iterdir()] == ["mlflow.db.lock"]


def test_long_values_are_shortened_and_kept_whole(root):
    words = "stop word " * 1000
    points = [{"point": "aaaaaaaaaaaa", "params": {"stop_words": words}, "origin": ["fixed"]}]
    folder = make_run(root, points=points)
    receipt = log_to(root, [folder], make_cells(point=points[0]))
    for experiment in ("small-grid-cr", "small-results"):
        (run,) = runs_of(root, experiment)
        shown = run.data.params["stop_words"]
        assert len(shown) <= 6000
        assert shown.startswith("stop word stop word")
        assert "10000 characters" in shown
        path = client_of(root).download_artifacts(
            run.info.run_id, "whole/params/stop_words.txt", str(root)
        )
        assert Path(path).read_text(encoding="utf-8") == words
    assert receipt["counts"]["shortened"] == 4  # the parameter and the note, in two runs
    assert log_to(root, [folder], make_cells(point=points[0]))["counts"]["skipped"] == 2


def test_a_failed_point_is_logged_as_failed(root):
    folder = make_run(root, failed=("bbbbbbbbbbbb",))
    log_to(root, [folder], make_cells())
    run = by_point(root)["bbbbbbbbbbbb"]
    assert run.info.status == "FAILED"
    assert run.data.tags["failure"] == "alpha = 0 is refused"
    assert "accuracy" not in run.data.metrics
    assert run.data.metrics["failed_fits"] == 4
    assert log_to(root, [folder], make_cells())["counts"]["skipped"] == 3


def test_more_metrics_than_a_batch_may_hold(root, monkeypatch):
    monkeypatch.setattr(tracking, "_METRICS_PER_BATCH", 3)
    log_to(root, [make_run(root)], make_cells())
    run = by_point(root)["aaaaaaaaaaaa"]
    history = client_of(root).get_metric_history(run.info.run_id, "fold/accuracy")
    assert {m.step: m.value for m in history} == {0: 0.8, 1: 0.9, 2: 0.7, 3: 0.6}


def test_one_writer(root):
    with tracking._only_writer(root / "mlflow.db"):
        code = (
            "import sys; from pathlib import Path; from textbaselines.reporting import tracking\n"
            "from textbaselines.errors import UserError\n"
            "try:\n"
            "    with tracking._only_writer(Path(sys.argv[1])): print('got it')\n"
            "except UserError as error: print(error)\n"
        )
        command = [sys.executable, "-c", code, str(root / "mlflow.db")]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "another process is logging" in said
    assert f"process {os.getpid()}" in said
    with tracking._only_writer(root / "mlflow.db"):
        pass  # free again


def test_a_file_that_is_no_database(root):
    (root / "mlflow.db").write_text("not a database, but long enough to be read as one " * 40)
    with pytest.raises(UserError, match="not a SQLite database"):
        log_to(root, [], make_cells().iloc[:0])


def test_a_database_of_something_else(root):
    (root / "mlflow.db").unlink()
    with sqlite3.connect(root / "mlflow.db") as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    with pytest.raises(UserError, match=r"not a database of MLflow[\s\S]*recipes"):
        log_to(root, [], make_cells().iloc[:0])


def test_a_store_of_another_version(root):
    with sqlite3.connect(root / "mlflow.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0000deadbeef'")
    with pytest.raises(UserError, match=r"another version of MLflow[\s\S]*mlflow db upgrade"):
        log_to(root, [], make_cells().iloc[:0])


def test_a_locked_store(root, monkeypatch):
    connect = sqlite3.connect
    monkeypatch.setattr(
        tracking.sqlite3, "connect", lambda path, timeout: connect(path, timeout=0.1)
    )
    holder = connect(root / "mlflow.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(UserError, match="locked by another program"):
            log_to(root, [], make_cells().iloc[:0])
    finally:
        holder.close()


def test_files_that_do_not_fit_together_are_refused(root):
    folder, cells = make_run(root), make_cells()
    with pytest.raises(UserError, match="one identity"):
        log_to(root, [folder, folder], cells)
    with pytest.raises(UserError, match="not among the run folders"):
        log_to(root, [folder], make_cells(("imdb",)))
    with pytest.raises(UserError, match="cccccccccccc"):
        log_to(root, [folder], cells.assign(point="cccccccccccc"))
    scores = pd.read_parquet(folder / "scores.parquet")
    write_parquet(folder / "scores.parquet", scores[scores["point"] == "aaaaaaaaaaaa"])
    with pytest.raises(UserError, match="bbbbbbbbbbbb"):
        log_to(root, [folder], cells)


def test_tables_import_no_mlflow():
    code = (
        "import sys, textbaselines.reporting.tables, textbaselines.reporting.figures;"
        "sys.exit('mlflow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
