"""Variables of MLflow in the environment do not change where runs and models go."""

import logging
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time

import mlflow
import pytest
from model_files import make_portable, make_results
from run_files import client_of, log_to, make_cells, make_run, runs_of

from textbaselines.core.errors import UserError
from textbaselines.core.storage import write_json, write_parquet
from textbaselines.reporting.tracking import variables
from textbaselines.reporting.tracking.registered_models import register_best
from textbaselines.reporting.tracking.serving import serve_command
from textbaselines.reporting.tracking.store import Location, only_store, open_store
from textbaselines.reporting.tracking.ui import ui_command
from textbaselines.reporting.tracking.variables import for_store, say_unused

URI = "sqlite:////here/mlflow.db"


@pytest.fixture(autouse=True)
def say_anew():
    """Forget which lines this process has logged."""
    variables._say_once.cache_clear()


@pytest.fixture
def silent_server():
    """A port that accepts connections and never answers, and whether anybody came."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        yield server


def visited(server):
    try:
        server.accept()[0].close()
    except TimeoutError:
        return False
    return True


def test_only_how_a_server_is_reached_is_taken_from_the_environment():
    used = {
        "PATH": "/bin",
        "MLFLOW_TRACKING_USERNAME": "me",
        "MLFLOW_TRACKING_PASSWORD": "secret",
        "MLFLOW_TRACKING_TOKEN": "secret",
        "MLFLOW_TRACKING_INSECURE_TLS": "true",
        "MLFLOW_HTTP_REQUEST_TIMEOUT": "5",
        "MLFLOW_S3_ENDPOINT_URL": "https://s3.example.org",
        "MLFLOW_DISABLE_TELEMETRY": "true",
    }
    unused = {
        "MLFLOW_EXPERIMENT_NAME": "mine",
        "MLFLOW_EXPERIMENT_ID": "7",
        "MLFLOW_RUN_ID": "abc",
        "MLFLOW_ACTIVE_MODEL_ID": "m-1",
        "MLFLOW_WORKSPACE": "team",
        "MLFLOW_ENABLE_ASYNC_LOGGING": "true",
        "MLFLOW_BACKEND_STORE_URI": "sqlite:///other.db",
        "MLFLOW_DEFAULT_ARTIFACT_ROOT": "/elsewhere",
        "MLFLOW_SERVER_DISABLE_SECURITY_MIDDLEWARE": "true",
        "DATABRICKS_HOST": "https://example.org",
    }
    addresses = {"MLFLOW_TRACKING_URI": "http://other", "MLFLOW_REGISTRY_URI": "http://other"}
    assert for_store({**used, **unused, **addresses}, URI) == {
        **used,
        "MLFLOW_TRACKING_URI": URI,
        "MLFLOW_REGISTRY_URI": URI,
    }


def test_each_unused_variable_is_named_with_its_value_but_no_secret(caplog):
    caplog.set_level(logging.WARNING, "textbaselines")
    environment = {
        "MLFLOW_REGISTRY_URI": "postgresql://me:pa@ss@host/db?password=hidden",
        "MLFLOW_TRACKING_URI": URI,
        "MLFLOW_EXPERIMENT_NAME": "mine",
        "MLFLOW_FLASK_SERVER_SECRET_KEY": "hidden",
        "MLFLOW_RUN_ID": "",
        "MLFLOW_TRACKING_PASSWORD": "hidden",
        "MLFLOW_RUN_CONTEXT": "x" * 500,
        "DATABRICKS_TOKEN": "hidden",
    }
    say_unused(environment, URI)
    assert [record.message for record in caplog.records] == [
        "DATABRICKS_TOKEN is set and is not used",
        "MLFLOW_EXPERIMENT_NAME is set to 'mine' and is not used",
        "MLFLOW_FLASK_SERVER_SECRET_KEY is set and is not used",
        "MLFLOW_REGISTRY_URI is set to 'postgresql://***@host/db?***' and is not used: "
        f"the store is {URI}",
        f"MLFLOW_RUN_CONTEXT is set to {'x' * 100!r}… and is not used",
    ]
    say_unused(environment, URI)
    assert len(caplog.records) == 5


@pytest.fixture
def elsewhere(monkeypatch, tmp_path, silent_server):
    """Variables that name other places; all that may be reached is short of time."""
    other = tmp_path / "other"
    other.mkdir()
    for name, value in {
        "MLFLOW_TRACKING_URI": f"sqlite:///{other}/tracking.db",
        "MLFLOW_REGISTRY_URI": f"http://127.0.0.1:{silent_server.getsockname()[1]}",
        "MLFLOW_EXPERIMENT_NAME": "leaked",
        "MLFLOW_RUN_ID": "0" * 32,
        "MLFLOW_HTTP_REQUEST_TIMEOUT": "2",
        "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
    }.items():
        monkeypatch.setenv(name, value)
    return other


def test_runs_and_models_go_to_the_store_of_the_study_alone(
    root, elsewhere, silent_server, monkeypatch, caplog
):
    caplog.set_level(logging.WARNING, "textbaselines")
    work = root / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    before = dict(os.environ)
    begun = time.monotonic()
    log_to(root, [make_run(root)], None)
    make_portable(root / "model")
    with open_store(Location(root / "mlflow.db", root / "artifacts")) as client:
        receipt = register_best(client, "small", [root / "model"])
    assert time.monotonic() - begun < 60
    assert dict(os.environ) == before
    assert not visited(silent_server)
    assert list(elsewhere.iterdir()) == list(work.iterdir()) == []
    assert receipt["cr"]["version"] == 1
    with sqlite3.connect(root / "mlflow.db") as store:
        names = {name for (name,) in store.execute("select name from experiments")}
        assert names == {"Default", "small-results", "small-grid-cr"}
        aliases = store.execute("select name, alias, version from registered_model_aliases")
        assert aliases.fetchall() == [("cr", "champion", 1)]
    assert len(runs_of(root, "small-results")) == 1
    told = [record.message for record in caplog.records if "is not used" in record.message]
    assert [line.split()[0] for line in told] == [
        "MLFLOW_EXPERIMENT_NAME",
        "MLFLOW_REGISTRY_URI",
        "MLFLOW_RUN_ID",
        "MLFLOW_TRACKING_URI",
    ]
    assert f"the store is sqlite:///{root}/mlflow.db" in told[1]


def test_functions_without_a_client_use_the_store_within_the_block_and_not_after(root, elsewhere):
    uri = f"sqlite:///{root / 'mlflow.db'}"
    with only_store(uri) as client:
        assert mlflow.get_tracking_uri() == mlflow.get_registry_uri() == uri
        assert client.tracking_uri == uri
        mlflow.MlflowClient().create_registered_model("m")
    assert mlflow.get_tracking_uri() == f"sqlite:///{elsewhere}/tracking.db"
    assert mlflow.get_registry_uri().startswith("http://127.0.0.1:")
    assert client_of(root)._registry_uri != uri
    with only_store(uri) as client:
        assert [model.name for model in client.search_registered_models()] == ["m"]


def test_pages_and_served_models_are_those_of_the_store(root, elsewhere, monkeypatch, caplog):
    caplog.set_level(logging.WARNING, "textbaselines")
    monkeypatch.setenv("MLFLOW_SERVER_DISABLE_SECURITY_MIDDLEWARE", "true")
    uri = f"sqlite:///{root / 'mlflow.db'}"
    command, environment = ui_command(root)
    assert command[command.index("--registry-store-uri") + 1] == uri
    assert environment["MLFLOW_TRACKING_URI"] == environment["MLFLOW_REGISTRY_URI"] == uri
    assert "MLFLOW_SERVER_DISABLE_SECURITY_MIDDLEWARE" not in environment
    with pytest.raises(UserError, match="no model of this dataset is registered"):
        serve_command(root, "cr", 5001)
    with open_store(Location(root / "mlflow.db", root / "artifacts")) as client:
        client.create_registered_model("cr")
        client.create_model_version("cr", str(root), tags={})
        client.set_registered_model_alias("cr", "champion", "1")
    _, environment = serve_command(root, "cr", 5001)
    assert environment["MLFLOW_TRACKING_URI"] == environment["MLFLOW_REGISTRY_URI"] == uri
    assert not {"MLFLOW_EXPERIMENT_NAME", "MLFLOW_RUN_ID"} & environment.keys()
    assert "MLFLOW_SERVER_DISABLE_SECURITY_MIDDLEWARE is set to 'true' and is not used" in [
        record.message for record in caplog.records
    ]


def test_the_script_that_tracks_uses_the_store_it_is_given(
    elsewhere, root, silent_server, repository
):
    results = make_results(root)
    database = results / "mlflow.db"
    shutil.move(root / "mlflow.db", database)
    folder = results / "small"
    write_parquet(folder / "evaluation" / "cells.parquet", make_cells())
    write_json(folder / "plans" / "x.json", {"study": "small", "models": [["cr", "best"]]})
    script = repository / "workflow" / "scripts" / "track.py"
    command = [sys.executable, script, "--plan", folder / "plans" / "x.json", "--root", repository]
    command += ["--study", folder / "study.json"]
    done = subprocess.run(
        command, cwd=elsewhere, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "MLFLOW_REGISTRY_URI is set to" in done.stderr
    assert list(elsewhere.iterdir()) == []
    assert not visited(silent_server)
    with sqlite3.connect(database) as store:
        aliases = store.execute("select name, alias, version from registered_model_aliases")
        assert aliases.fetchall() == [("cr", "champion", 1)]
