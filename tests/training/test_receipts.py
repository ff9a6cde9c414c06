"""Receipts of run folders: when a finished one may be kept."""

from pathlib import Path

import pytest

from textbaselines.core.result_paths import RUN_TABLES
from textbaselines.training.receipts import (
    MEASURES,
    RECEIPT,
    RECORD,
    digests_of,
    discard_receipt,
    is_trained,
    would_be_kept,
    write_receipt,
)

FILES = (RECORD, *(f"{name}.parquet" for name in RUN_TABLES), MEASURES)
TASK = {"method": "MNB", "points": [{"point": "a", "params": {"alpha": 1.0}}]}


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "counts.npz", tmp_path / "training.py"]
    for path in paths:
        path.write_text(path.name)
    return paths


@pytest.fixture
def folder(tmp_path: Path, files: list[Path]) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    for name in FILES:
        (folder / name).write_text(name)
    write_receipt(folder, TASK, digests_of(files))
    return folder


def test_a_whole_folder_of_the_same_task_and_files_is_kept(folder, files) -> None:
    assert is_trained(folder, TASK, digests_of(files))
    assert would_be_kept(folder, TASK, Path("/"))


@pytest.mark.parametrize("name", [*FILES, RECEIPT])
@pytest.mark.parametrize("how", ["missing", "changed"])
def test_a_missing_or_changed_file_is_made_again(folder, files, name: str, how: str) -> None:
    if how == "missing":
        (folder / name).unlink()
    else:
        text = '{"task": ""}' if name == RECEIPT else "of another run"
        (folder / name).write_text(text)
    assert not is_trained(folder, TASK, digests_of(files))
    assert not would_be_kept(folder, TASK, Path("/"))


def test_another_task_or_file_is_trained(folder, files) -> None:
    other = {**TASK, "points": []}
    assert not is_trained(folder, other, digests_of(files))
    assert not would_be_kept(folder, other, Path("/"))
    assert not is_trained(folder, TASK, digests_of(files[:1]))
    for path in files:
        kept = path.read_text()
        path.write_text("changed")
        assert not is_trained(folder, TASK, digests_of(files))
        assert not would_be_kept(folder, TASK, Path("/"))
        path.write_text(kept)
    files[0].unlink()
    assert not would_be_kept(folder, TASK, Path("/"))


def test_a_folder_that_is_being_written_is_not_relied_on(folder, files) -> None:
    discard_receipt(folder)
    discard_receipt(folder)
    assert not is_trained(folder, TASK, digests_of(files))
