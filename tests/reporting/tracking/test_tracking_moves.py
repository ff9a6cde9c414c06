"""A moved or copied folder: said with the remedy, which brings runs and champions back."""

import shutil
import sqlite3
import subprocess
import sys

import mlflow
import pytest
from click.testing import CliRunner
from model_files import TEXTS, make_results

import textbaselines
from textbaselines.cli.commands import main
from textbaselines.core.errors import UserError
from textbaselines.core.storage import read_json, write_json
from textbaselines.reporting.tracking.moves import check_place
from textbaselines.reporting.tracking.registered_models import register_best
from textbaselines.reporting.tracking.serving import serve_command
from textbaselines.reporting.tracking.store import Location, open_store
from textbaselines.reporting.tracking.ui import ui_command

STUDIES = ("second", "first")


def track(folder, *options):
    command = ["track", "--results", str(folder / "results"), "--root", str(folder), *options]
    return CliRunner().invoke(main, command)


def place(folder):
    return folder / "results" / "mlflow.db", folder / "results" / "mlflow-artifacts"


def champion(folder):
    with sqlite3.connect(folder / "results" / "mlflow.db") as store:
        return store.execute(
            "select version, value from registered_model_aliases as a join model_version_tags "
            "as t using (name, version) where alias = 'champion' and t.key = 'study'"
        ).fetchall()


def contents(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def made(tmp_path_factory, empty_store):
    """Results of two studies, logged; the champion is of ``first``. Not to be changed."""
    folder = tmp_path_factory.mktemp("made")
    results = make_results(folder, *STUDIES)
    shutil.copy(empty_store, results / "mlflow.db")
    assert track(folder).exit_code == 0
    for name in STUDIES:  # as the workflow does
        with open_store(Location(*place(folder))) as client:
            receipt = register_best(client, name, [results / name / "models" / "cr" / "best"])
        write_json(results / name / "tracking" / "models.json", receipt)
    assert champion(folder) == [(2, "first")]
    return folder


@pytest.fixture
def copied(made, tmp_path):
    """A copy, whose store has the addresses of the original."""
    return shutil.copytree(made, tmp_path / "copied")


def test_a_copied_store_is_refused_and_made_anew_with_its_champions(made, copied):
    results, before = copied / "results", contents(made)
    for act in (
        lambda: check_place(*place(copied)),
        lambda: serve_command(results, "cr", 5001),
        lambda: open_store(Location(*place(copied))).__enter__(),
    ):
        with pytest.raises(UserError, match="made in another folder") as error:
            act()
        assert f"files in {made / 'results' / 'mlflow-artifacts'}" in str(error.value)
        assert f"files in {results / 'mlflow-artifacts'}" in str(error.value)
        assert "make track-rebuild" in str(error.value)
    refused = track(copied)
    assert refused.exit_code == 1
    assert "make track-rebuild" in refused.stderr

    rebuilt = track(copied, "--rebuild")
    assert rebuilt.exit_code == 0, rebuilt.stderr
    assert "registered again: 2" in rebuilt.stderr
    assert champion(copied) == [(2, "first")]
    command, environment = serve_command(results, "cr", 5001)
    model = textbaselines.load(results / "first" / "models" / "cr" / "best")
    address = command[command.index("--model") + 1]
    code = f"import mlflow; print(*mlflow.pyfunc.load_model({address!r}).predict({TEXTS!r}).label)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        cwd=copied,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == model.predict(TEXTS) == ["pos", "pos", "neg", "neg"], done.stderr
    for study, version in zip(STUDIES, (1, 2), strict=True):
        receipt = read_json(results / study / "tracking" / "models.json")["cr"]
        assert receipt["version"] == version
        with sqlite3.connect(results / "mlflow.db") as store:
            run = store.execute("select status from runs where run_uuid = ?", [receipt["run"]])
            assert run.fetchall() == [("FINISHED",)]
    assert contents(made) == before
    # Snakemake makes the models' receipt after the runs' one: it is the newer file here too.
    for study in STUDIES:
        files = [results / study / "tracking" / f"{one}.json" for one in ("runs", "models")]
        assert files[0].stat().st_mtime_ns < files[1].stat().st_mtime_ns


@pytest.fixture
def moved(made):
    """The original under another name for the length of a test."""
    other = made.rename(made.with_name("moved"))
    yield other
    other.rename(made)


def test_a_moved_store_is_refused_and_its_pages_come_with_a_warning(moved, caplog):
    with pytest.raises(UserError, match="made in another folder"):
        check_place(*place(moved))
    ui_command(moved / "results")
    assert any("make track-rebuild" in record.message for record in caplog.records)
    # What the documentation says that MLflow itself answers.
    mlflow.set_tracking_uri(f"sqlite:///{place(moved)[0]}")
    try:
        with pytest.raises(mlflow.MlflowException, match="No such artifact"):
            mlflow.pyfunc.load_model("models:/cr@champion")
    finally:
        mlflow.set_tracking_uri(None)


def test_a_folder_under_two_names_is_one_folder(made, tmp_path):
    (tmp_path / "link").symlink_to(made)
    check_place(*place(tmp_path / "link"))


def test_a_store_that_was_deleted_gets_back_the_models_that_are_there(copied):
    results = copied / "results"
    (results / "mlflow.db").unlink()
    shutil.rmtree(results / "mlflow-artifacts")
    shutil.rmtree(results / "second" / "models")
    done = track(copied)
    assert done.exit_code == 0, done.stderr
    assert "the model of cr that second had registered is not in" in done.stderr
    assert "registered again: 1" in done.stderr
    assert champion(copied) == [(1, "first")]
    assert "registered again" not in track(copied).stderr
