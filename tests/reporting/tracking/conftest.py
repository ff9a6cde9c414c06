"""An empty store of MLflow, made once: its migrations take seconds."""

import contextlib
import shutil
import sqlite3

import pytest

from textbaselines.reporting.tracking.store import Location
from textbaselines.reporting.tracking.writer import log_studies


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory):
    """The path of a store with MLflow's schema and nothing in it."""
    root = tmp_path_factory.mktemp("store")
    log_studies([], Location(root / "mlflow.db", root / "artifacts"))
    return root / "mlflow.db"


@pytest.fixture(scope="session")
def put_store(empty_store):
    """A function that puts an empty store, with its artifacts beside it, into a folder."""

    def put(folder):
        database = folder / "mlflow.db"
        shutil.copy(empty_store, database)
        with contextlib.closing(sqlite3.connect(database)) as connection, connection:
            place = (folder / "artifacts" / "0").as_uri()
            connection.execute("UPDATE experiments SET artifact_location = ?", (place,))
        return folder

    return put


@pytest.fixture
def root(tmp_path, put_store):
    """A folder with an empty store."""
    return put_store(tmp_path)
