"""An empty store of MLflow, made once: its migrations take seconds."""

import shutil

import pytest
from run_files import log_to, make_cells


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory):
    """The path of a store with MLflow's schema and nothing in it."""
    root = tmp_path_factory.mktemp("store")
    log_to(root, [], make_cells().iloc[:0])
    return root / "mlflow.db"


@pytest.fixture
def root(tmp_path, empty_store):
    """A folder with an empty store."""
    shutil.copy(empty_store, tmp_path / "mlflow.db")
    return tmp_path
