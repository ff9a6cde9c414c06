"""What must not leave a half-logged store: kills, two loggers, full disks, broken files."""

import multiprocessing
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from run_files import by_point, client_of, log_to, make_cells, make_run, runs_of

from stored_runs import store_run
from textbaselines.core.errors import UserError
from textbaselines.core.storage import read_json, write_json
from textbaselines.reporting.tracking import writer
from textbaselines.reporting.tracking.store import Location
from textbaselines.reporting.tracking.writer import log_studies

STUDY = {"name": "small", "title": "A small study"}
CALLS = (
    "create_run",
    "log_inputs",
    "log_artifacts",
    "log_table",
    "log_batch",
    "set_terminated",
    "delete_run",
    "set_experiment_tag",
)
FORK = multiprocessing.get_context("fork")


def die_at(call, root, folders):
    """Log, and be killed at the so-manieth call of the client."""
    made = 0

    def dying(whole):
        def called(*args, **kwargs):
            nonlocal made
            made += 1
            if made == call:
                os.kill(os.getpid(), signal.SIGKILL)
            return whole(*args, **kwargs)

        return called

    for name in CALLS:
        setattr(writer.MlflowClient, name, dying(getattr(writer.MlflowClient, name)))
    log_to(root, folders, None)


def integrity(database):
    with sqlite3.connect(database) as connection:
        return connection.execute("PRAGMA integrity_check").fetchall()


def test_killed_ten_times_then_finished_each_run_stands_once(root):
    folders = [make_run(root, "cr"), make_run(root, "rt-s")]
    # while experiments get their tags, in the midst of runs and between two; each time less is left
    for call in (3, 8, 3, 4, 5, 8, 4, 5, 7, 6):
        child = FORK.Process(target=die_at, args=(call, root, folders))
        child.start()
        child.join()
        assert child.exitcode == -signal.SIGKILL, f"call {call} was never made"
        assert integrity(root / "mlflow.db") == [("ok",)]
        assert not (root / "receipt.json").exists()
    receipt = log_to(root, folders, None)
    assert integrity(root / "mlflow.db") == [("ok",)]
    runs = [run for name in receipt["experiments"] for run in runs_of(root, name)]
    assert len(runs) == 6
    assert len({run.data.tags["run_key"] for run in runs}) == 6
    assert {run.info.status for run in runs} == {"FINISHED"}
    client = client_of(root)
    for run in runs:
        assert len(client.get_metric_history(run.info.run_id, "fold/accuracy")) == 4
        files = {file.path for file in client.list_artifacts(run.info.run_id)}
        assert ("predictions.json" in files) == (run.data.tags["stage"] == "final")


def test_two_loggers_at_once_one_waits_and_nothing_is_doubled(root):
    folders = [make_run(root, "cr"), make_run(root, "rt-s")]
    children = [
        FORK.Process(
            target=log_to,
            args=(root, folders, None),
            kwargs={"patience": 60, "receipt": root / f"{number}.json"},
        )
        for number in range(2)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join()
        assert child.exitcode == 0
    assert len(runs_of(root, "small-grid-cr")) == len(runs_of(root, "small-grid-rt-s")) == 2
    assert len(runs_of(root, "small-results")) == 2


FULL = """
import shutil, sqlite3, sys
from pathlib import Path
from run_files import log_to
from textbaselines.core.errors import UserError
disk, root = Path(sys.argv[1]), Path(sys.argv[2])
shutil.copy(root / "mlflow.db", disk / "mlflow.db")
with sqlite3.connect(disk / "mlflow.db") as connection:
    place = (disk / "artifacts" / "0").as_uri()
    connection.execute("UPDATE experiments SET artifact_location = ?", (place,))
connection.close()
free = shutil.disk_usage(disk).free - int(sys.argv[3])
(disk / "filler").write_bytes(b"x" * free)
folders = sorted((root / "runs").glob("*/*/MNB"))
try:
    log_to(disk, folders, None)
except UserError as error:
    print(error)
def ask(query):
    with sqlite3.connect(disk / "mlflow.db") as connection:
        return connection.execute(query).fetchall()
whole = ("select count(*) from runs where status in ('FINISHED', 'FAILED') and run_uuid not in "
         "(select run_uuid from tags where key = 'result_digest')")
print("integrity", ask("PRAGMA integrity_check"), "half", ask(whole))
print("receipt", (disk / "receipt.json").exists())
(disk / "filler").unlink()
receipt = log_to(disk, folders, None)
print("then", ask("select status, count(*) from runs where lifecycle_stage = 'active' "
                  "group by status"))
"""


def test_a_full_disk_is_told_and_nothing_is_half_logged(root, tmp_path):
    make_run(root, "cr")
    make_run(root, "rt-s")
    (tmp_path / "disk").mkdir()
    script = tmp_path / "full.py"
    script.write_text(FULL, encoding="utf-8")
    shell = 'mount -t tmpfs -o size=24m tmpfs "$1" && shift && exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", shell, "sh", str(tmp_path / "disk")]
    command += [sys.executable, str(script), str(tmp_path / "disk"), str(root), "60000"]
    if shutil.which("unshare") is None or os.geteuid() != 0:
        pytest.skip("a small disk can be mounted by root alone")
    here = Path(__file__).parent
    folders = (str(here), str(here.parents[1]), os.environ.get("PYTHONPATH", ""))
    path = os.pathsep.join(folders)
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    if "mount:" in done.stderr or "unshare:" in done.stderr:
        pytest.skip("a small disk cannot be mounted here")
    assert "the disk of the tracking store is full" in done.stdout, done.stdout + done.stderr
    assert "integrity [('ok',)] half [(0,)]" in done.stdout
    assert "receipt False" in done.stdout
    assert "then [('FINISHED', 6)]" in done.stdout


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("runs.json", b'{"dataset": ', "not a JSON file"),
        ("scores.parquet", b"PAR1 and no more", "a broken Parquet file"),
        ("predictions.parquet", b"", "a broken Parquet file"),
        ("timings.parquet", None, "no such file"),
    ],
)
def test_a_broken_result_file_stops_before_anything_is_logged(root, name, content, told):
    whole, broken = make_run(root, "cr"), store_run(make_run(root, "rt-s"))
    if content is None:
        (broken.batch / name).unlink()
    else:
        (broken.batch / name).write_bytes(content)
    with pytest.raises(UserError, match=told) as caught:
        log_to(root, [whole, broken], None)
    assert str(broken.batch / name) in str(caught.value)
    assert client_of(root).get_experiment_by_name("small-grid-cr") is None


def test_predictions_with_broken_pages_leave_no_run(root):
    run = store_run(make_run(root))
    content = bytearray(run.path("predictions").read_bytes())
    content[4:200] = b"\xff" * 196  # the footer is whole, so the columns can be told
    run.path("predictions").write_bytes(content)
    with pytest.raises(UserError, match="a broken Parquet file"):
        log_to(root, [run], None)
    # They are read before anything is logged.
    assert client_of(root).get_experiment_by_name("small-results") is None


def test_columns_of_another_version_are_told(root):
    folder = make_run(root)
    scores = pd.read_parquet(folder / "scores.parquet")
    scores.drop(columns="rmse").to_parquet(folder / "scores.parquet")
    with pytest.raises(UserError, match="without the column 'rmse'"):
        log_to(root, [folder], None)


def test_a_rebuilt_store_has_the_runs_and_the_code_they_were_logged_with(root):
    results = root / "results"
    study = {**STUDY, "runs": [["cr", "uni", "MNB"], ["cr", "uni", "SVM"]]}
    study |= {"tracking": "mlflow", "tracking_uri": None}
    write_json(results / "small" / "study.json", study)
    store_run(make_run(root))
    store_run(make_run(root, method="SVM")).path("timings").unlink()
    shutil.copytree(root / "runs", results / "small" / "runs")
    (root / "mlflow.db").rename(results / "mlflow.db")

    def track(*options):
        command = [sys.executable, "-m", "textbaselines", "track", "--root", str(root), *options]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done

    first = track()
    assert "1 of 2 jobs finished" in first.stderr  # that of SVM is still running
    assert "http://127.0.0.1:5000/#/experiments/" in first.stdout
    receipt = results / "small" / "tracking" / "runs.json"
    known = read_json(receipt)
    known["codes"][0]["git_commit"] = "that-of-then"
    write_json(receipt, known)
    (results / "mlflow-artifacts" / "litter").mkdir()
    with sqlite3.connect(results / "mlflow.db") as connection:  # an older MLflow's
        connection.execute("UPDATE alembic_version SET version_num = '0000deadbeef'")
    track("--rebuild")
    assert read_json(receipt)["counts"]["logged"] == 3
    assert len(runs_of(results, "small-grid-cr")) == 2
    runs = by_point(results)
    assert {run.data.tags["git_commit"] for run in runs.values()} == {"that-of-then"}
    assert not (results / "mlflow-artifacts" / "litter").exists()


def test_a_server_takes_the_runs(root, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    shutil.copy(root / "mlflow.db", tmp_path / "remote.db")
    folder = make_run(root)
    with pytest.raises(UserError, match="the tracking server did not take the runs"):
        log_to(root, [folder], None, server=address)
    command = [sys.executable, "-m", "mlflow", "server", "--workers", "1", "--port", str(port)]
    command += ["--backend-store-uri", f"sqlite:///{tmp_path / 'remote.db'}"]
    command += ["--artifacts-destination", str(tmp_path / "remote")]
    server = subprocess.Popen(
        command,
        env={**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 90
        while True:
            with socket.socket() as knock:
                if knock.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert time.monotonic() < end
            time.sleep(0.3)
        receipt = log_to(root, [folder], None, server=address)
        assert receipt["counts"]["logged"] == 3
        again = log_to(root, [folder], None, server=address)
        assert again["counts"]["skipped"] == 3
        client = writer.MlflowClient(tracking_uri=address)
        (run,) = client.search_runs([receipt["experiments"]["small-results"]])
        files = {file.path for file in client.list_artifacts(run.info.run_id)}
        assert {"confusion_matrix.png", "predictions.json"} <= files
    finally:
        os.killpg(server.pid, signal.SIGKILL)
    assert client_of(root).get_experiment_by_name("small-results") is None


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("sqlite:///elsewhere.db", "not the address of a tracking server"),
        ("mlflow.example.org", "not the address of a tracking server"),
        ("https://me:secret@mlflow.example.org", "credentials in the address"),
    ],
)
def test_addresses_that_are_refused(tmp_path, address, told):
    with pytest.raises(UserError, match=told) as caught:
        Location(tmp_path / "mlflow.db", tmp_path / "artifacts", address)
    assert "secret" not in str(caught.value)


def test_a_servers_store_is_not_deleted(root):
    location = Location(root / "mlflow.db", root / "artifacts", "http://127.0.0.1:9")
    with pytest.raises(UserError, match="not made anew from here"):
        log_studies([], location, rebuild=True)


def test_make_cells_and_summaries_agree_on_which_runs_are_final(root):
    folder = make_run(root)
    log_to(root, [folder], make_cells())
    (given,) = runs_of(root, "small-results")
    log_to(root, [folder], None)
    (summarised,) = runs_of(root, "small-results")
    assert given.data.tags["run_key"] == summarised.data.tags["run_key"]
    assert summarised.data.metrics["accuracy"] == pytest.approx(0.75)
