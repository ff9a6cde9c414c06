"""What a finished run folder was trained from, so that a job trains again only what changed.

A receipt has the digest of the task and of each file that went into it, inputs and code. It is
removed before a run folder is written and written last, so that a folder with one is whole.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from textbaselines import storage

RECEIPT = "receipt.json"

RUN_FILES = (
    "run.json",
    "scores.parquet",
    "predictions.parquet",
    "inner_scores.parquet",
    "inner_predictions.parquet",
    "timings.parquet",
)
"""The files of a run folder."""


def digests_of(files: Collection[Path]) -> dict[str, str]:
    """Return the sha256 of every file by its path."""
    return {path.as_posix(): storage.file_digest(path) for path in sorted(files)}


def is_trained(folder: Path, task: Mapping[str, Any], digests: Mapping[str, str]) -> bool:
    """Return whether a run folder is whole and was made of just this task and these files.

    Parameters
    ----------
    folder : path
        The run folder; it need not exist.
    task : mapping
        The fields of a :class:`~textbaselines.experiments.training.Task`.
    digests : mapping
        What :func:`digests_of` has for everything that a training job reads and runs.
    """
    return bool(_read(folder) == _receipt(task, digests))


def would_be_kept(folder: Path, task: Mapping[str, Any], base: Path) -> bool:
    """Return whether a job would keep a run folder, were its files to stay as they are now.

    The files are those that the receipt names; ``base`` is the folder that their paths start from.
    """
    receipt = _read(folder)
    if receipt is None:
        return False
    files = {name: base / name for name in receipt["files"]}
    if not all(path.is_file() for path in files.values()):
        return False
    now = {name: storage.file_digest(path) for name, path in files.items()}
    return bool(receipt == _receipt(task, now))


def discard_receipt(folder: Path) -> None:
    """Say that a run folder is not to be relied on any more."""
    (folder / RECEIPT).unlink(missing_ok=True)


def write_receipt(folder: Path, task: Mapping[str, Any], digests: Mapping[str, str]) -> None:
    """Say what a run folder, now whole, was made of."""
    storage.write_json(folder / RECEIPT, _receipt(task, digests))


def _read(folder: Path) -> Any:
    """Return the receipt of a whole run folder, or None."""
    whole = all((folder / name).is_file() for name in (RECEIPT, *RUN_FILES))
    return storage.read_json(folder / RECEIPT) if whole else None


def _receipt(task: Mapping[str, Any], digests: Mapping[str, str]) -> dict[str, Any]:
    return {"task": storage.short_digest(task, 64), "files": dict(digests)}
