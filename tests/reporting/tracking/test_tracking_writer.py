import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from run_files import (
    DIGEST,
    POINTS,
    by_point,
    client_of,
    log_to,
    make_cells,
    make_run,
    runs_of,
)

from textbaselines.core.errors import UserError
from textbaselines.core.result_paths import StudyFolder
from textbaselines.core.storage import read_json, write_json, write_parquet
from textbaselines.reporting.tracking import records, store, writer


def test_values_are_those_of_the_files(root):
    folder = make_run(root)
    code = {"git_commit": "abc123", "git_dirty": "true", "lock": "feed"}
    receipt = log_to(root, [folder], make_cells(), code=code)
    runs = by_point(root)
    assert set(runs) == {"aaaaaaaaaaaa", "bbbbbbbbbbbb"}
    first, second = runs["aaaaaaaaaaaa"], runs["bbbbbbbbbbbb"]

    metrics = first.data.metrics
    assert metrics["accuracy"] == pytest.approx((17 / 20 + 13 / 20) / 2)
    assert metrics["accuracy_pct"] == 75.0
    assert metrics["accuracy_std"] == pytest.approx(0.2 / 2**0.5)  # of 0.85 and 0.65
    assert metrics["accuracy_std_pct"] == 14.14
    # Pooled: 7 of 10 "pos" and 10 of 10 "neg" are right in one repeat, 3 and 10 in the other.
    by_repeat = [(14 / 17 + 20 / 23) / 2, (6 / 13 + 20 / 27) / 2]
    assert metrics["macro_f1"] == pytest.approx(sum(by_repeat) / 2)
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


def test_logging_twice_changes_nothing(root):
    folders, cells = [make_run(root), make_run(root, "rt-s")], make_cells(("cr", "rt-s"))
    first = log_to(root, folders, cells)
    before = {run.info.run_id for name in first["experiments"] for run in runs_of(root, name)}
    second = log_to(root, folders, cells, code={"git_commit": "later", "git_dirty": "false"})
    after = {run.info.run_id for name in first["experiments"] for run in runs_of(root, name)}
    assert after == before
    assert len(after) == 6
    assert second["runs"] == first["runs"]
    assert (second["counts"]["logged"], second["counts"]["skipped"]) == (0, 6)


def read_never(self):
    raise AssertionError("the result files are read again")


def test_what_stands_in_the_store_is_not_read_again(root, monkeypatch):
    folder, cells = make_run(root), make_cells(("cr", "rt-s"))
    rts = make_run(root, "rt-s")
    log_to(root, [folder, rts], cells)
    # the run of rt-s is not given any more, but stays: it is none of this folder's
    client_of(root).create_run("0", tags={"run_key": "x", "study": "another"})
    first = log_to(root, [folder], make_cells())
    monkeypatch.setattr(records.Sources, "read", read_never)
    again = log_to(root, [folder], make_cells())
    assert again["runs"] == first["runs"]
    assert (again["counts"]["skipped"], again["counts"]["other"]) == (3, 1)
    with pytest.raises(AssertionError):
        log_to(root, [folder], make_cells().assign(accuracy=0.5))


def _delete(client, experiment, run):
    client.delete_run(run.info.run_id)


def _reopen(client, experiment, run):
    client.update_run(run.info.run_id, status="RUNNING")


def _say(client, experiment, run):
    client.set_tag(run.info.run_id, "result_digest", "other")


def _double(client, experiment, run):
    twin = client.create_run(experiment, tags=run.data.tags)
    client.set_terminated(twin.info.run_id)


def _lose_a_view(client, experiment, run):
    client.delete_experiment_tag(experiment, "mlflow.sharedViewState.all")


def _delete_all(client, experiment, run):
    client.delete_experiment(experiment)


@pytest.mark.parametrize(
    "change", [_delete, _reopen, _say, _double, _lose_a_view, _delete_all], ids=lambda f: f.__name__
)
def test_what_was_changed_in_the_store_is_put_right(root, change):
    folder = make_run(root)
    receipt = log_to(root, [folder], make_cells())
    client, experiment = client_of(root), receipt["experiments"]["small-grid-cr"]
    views = client.get_experiment(experiment).tags
    change(client, experiment, by_point(root)["aaaaaaaaaaaa"])
    log_to(root, [folder], make_cells())
    runs = runs_of(root, "small-grid-cr")
    assert sorted(run.data.tags["point"] for run in runs) == ["aaaaaaaaaaaa", "bbbbbbbbbbbb"]
    assert {run.info.status for run in runs} == {"FINISHED"}
    assert "other" not in {run.data.tags["result_digest"] for run in runs}
    assert client.get_experiment(experiment).tags == views


def test_a_receipt_of_another_form_is_written_anew(root):
    folder = make_run(root)
    log_to(root, [folder], make_cells())
    write_json(root / "receipt.json", {"runs": {}, "codes": [{}]})
    again = log_to(root, [folder], make_cells())
    assert again["counts"]["skipped"] == 3
    assert read_json(root / "receipt.json") == again


def test_the_cells_are_kept_at_the_commit(root):
    folder, cells = make_run(root), make_cells()
    receipt = root / "results" / "small" / "tracking" / "runs.json"

    def kept(commit):
        return pd.read_parquet(StudyFolder(receipt.parents[1]).commit(commit))

    log_to(root, [folder], cells, receipt=receipt, code={"git_commit": "aaa", "git_dirty": "false"})
    assert kept("aaa")["accuracy"].tolist() == [0.75, 0.75]
    assert kept("aaa")["dirty"].tolist() == [False, False]
    # unchanged at the next commit: nothing is logged, yet these are its results too
    code = {"git_commit": "bbb", "git_dirty": "true"}
    told = log_to(root, [folder], cells, receipt=receipt, code=code)
    assert (told["counts"]["skipped"], told["commit"]) == (3, "bbb")
    pd.testing.assert_frame_equal(kept("bbb"), kept("aaa").assign(dirty=True))
    log_to(root, [folder], cells.assign(accuracy=0.5), receipt=receipt, code={"git_commit": "ccc"})
    assert kept("ccc")["accuracy"].tolist() == [0.5, 0.5]
    assert kept("bbb")["accuracy"].tolist() == [0.75, 0.75]
    log_to(root, [folder], cells, receipt=receipt, code={"git_commit": "unknown"})
    kept_at = {path.stem for path in StudyFolder(receipt.parents[1]).commit("aaa").parent.iterdir()}
    assert kept_at == {"aaa", "bbb", "ccc"}


def test_a_changed_score_replaces_what_rests_on_it(root):
    folder, cells = make_run(root), make_cells()
    log_to(root, [folder], cells)
    before = by_point(root)
    scores = pd.read_parquet(folder / "scores.parquet")
    row = (scores["point"] == "bbbbbbbbbbbb") & (scores["repeat"] == 1) & (scores["fold"] == 1)
    scores.loc[row, ["correct", "accuracy"]] = [9, 0.9]
    write_parquet(folder / "scores.parquet", scores)
    receipt = log_to(root, [folder], cells)
    after = by_point(root)
    # the final run too: its tuning plot shows every grid point
    assert (receipt["counts"]["replaced"], receipt["counts"]["skipped"]) == (2, 1)
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


def test_a_kill_while_the_store_is_made_leaves_no_half_store(tmp_path, monkeypatch):
    def dies(uri, _):
        Path(uri.removeprefix("sqlite:///")).write_bytes(b"half a store")
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "SqlAlchemyStore", dies)
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
    monkeypatch.setattr(writer, "_METRICS_PER_BATCH", 3)
    log_to(root, [make_run(root)], make_cells())
    run = by_point(root)["aaaaaaaaaaaa"]
    history = client_of(root).get_metric_history(run.info.run_id, "fold/accuracy")
    assert {m.step: m.value for m in history} == {0: 0.8, 1: 0.9, 2: 0.7, 3: 0.6}


def test_one_writer(root):
    with store._only_writer(root / "mlflow.db", 0):
        code = (
            "import sys; from pathlib import Path\n"
            "from textbaselines.reporting.tracking import store\n"
            "from textbaselines.core.errors import UserError\n"
            "try:\n"
            "    with store._only_writer(Path(sys.argv[1]), 0): print('got it')\n"
            "except UserError as error: print(error)\n"
        )
        command = [sys.executable, "-c", code, str(root / "mlflow.db")]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "another process is logging" in said
    assert f"process {os.getpid()}" in said
    with store._only_writer(root / "mlflow.db", 0):
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
    with pytest.raises(UserError, match=r"another version[\s\S]*track-rebuild[\s\S]*db upgrade"):
        log_to(root, [], make_cells().iloc[:0])


def test_a_locked_store(root, monkeypatch):
    connect = sqlite3.connect
    monkeypatch.setattr(store.sqlite3, "connect", lambda path, timeout: connect(path, timeout=0.1))
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
    with pytest.raises(UserError, match="not among the runs"):
        log_to(root, [folder], make_cells(("imdb",)))
    with pytest.raises(UserError, match="cccccccccccc"):
        log_to(root, [folder], cells.assign(point="cccccccccccc"))
    scores = pd.read_parquet(folder / "scores.parquet")
    write_parquet(folder / "scores.parquet", scores[scores["point"] == "aaaaaaaaaaaa"])
    with pytest.raises(UserError, match="bbbbbbbbbbbb"):
        log_to(root, [folder], cells)


def test_tables_import_no_mlflow():
    code = (
        "import sys, textbaselines.reporting.tables.comparison;"
        "import textbaselines.reporting.figures.accuracy;"
        "sys.exit('mlflow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
