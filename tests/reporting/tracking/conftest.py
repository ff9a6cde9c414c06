"""An empty store of MLflow, made once: its migrations take seconds."""

import shutil

import pytest

from textbaselines.reporting.tracking.store import Location
from textbaselines.reporting.tracking.writer import log_studies


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory):
    """The path of a store with MLflow's schema and nothing in it."""
    root = tmp_path_factory.mktemp("store")
    log_studies([], Location(root / "mlflow.db", root / "artifacts"))
    return root / "mlflow.db"


@pytest.fixture
def root(tmp_path, empty_store):
    """A folder with an empty store."""
    shutil.copy(empty_store, tmp_path / "mlflow.db")
    return tmp_path
