"""What training jobs keep for themselves, so that a job that runs again trains only what changed.

Snakemake takes the outputs of a job away before it runs, and again when it fails. So a trained
task is first written to a folder that no rule names, with a receipt of what went into it and of
what came out; when all tasks of a batch are there, they make the batch's files. A receipt is
removed before its folder is written and written last: a folder with one is whole.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from textbaselines.core import storage
from textbaselines.core.result_paths import RUN_TABLES

RECEIPT = "receipt.json"

RECORD = "run.json"
"""What was run."""

MEASURES = "measures.json"
"""What the task took: seconds and MiB."""

_KEPT = (RECORD, *(f"{name}.parquet" for name in RUN_TABLES), MEASURES)


def digests_of(files: Collection[Path]) -> dict[str, str]:
    """Return the sha256 of every file by its path."""
    return {path.as_posix(): storage.file_digest(path) for path in sorted(files)}


def is_trained(folder: Path, task: Mapping[str, Any], digests: Mapping[str, str]) -> bool:
    """Return whether a kept folder is whole, as it was written, and made of just this.

    Parameters
    ----------
    folder : path
        It need not exist.
    task : mapping
        The fields of a :class:`~textbaselines.study.tasks.Task`.
    digests : mapping
        What :func:`digests_of` has for everything that a training job reads and runs.
    """
    receipt = _read(folder)
    return bool(
        set(receipt) == {"task", "files", "results"}
        and receipt["task"] == _digest(task)
        and receipt["files"] == dict(digests)
        and receipt["results"] == _results(folder)
    )


def would_be_kept(folder: Path, task: Mapping[str, Any], base: Path) -> bool:
    """Return whether a job would keep a folder, were the files it reads to stay as they are now.

    These files are those that the receipt names; ``base`` is the folder that their paths start
    from.
    """
    files = {name: base / name for name in _read(folder).get("files", {})}
    if not all(path.is_file() for path in files.values()):
        return False
    now = {name: storage.file_digest(path) for name, path in files.items()}
    return is_trained(folder, task, now)


def discard_receipt(folder: Path) -> None:
    """Say that a folder is not to be relied on any more."""
    (folder / RECEIPT).unlink(missing_ok=True)


def write_receipt(folder: Path, task: Mapping[str, Any], digests: Mapping[str, str]) -> None:
    """Say what a folder, now whole, was made of."""
    receipt = {"task": _digest(task), "files": dict(digests), "results": _results(folder)}
    storage.write_json(folder / RECEIPT, receipt)


def _read(folder: Path) -> Any:
    """Return the receipt of a whole folder; an empty one where it is not whole."""
    whole = all((folder / name).is_file() for name in (RECEIPT, *_KEPT))
    return storage.read_json(folder / RECEIPT) if whole else {}


def _digest(task: Mapping[str, Any]) -> str:
    return storage.short_digest(task, 64)


def _results(folder: Path) -> dict[str, str]:
    return {name: storage.file_digest(folder / name) for name in _KEPT}
