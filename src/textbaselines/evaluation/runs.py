"""The results of training tasks, where the workflow puts them and everything else reads them.

A run is what one training task gave. The runs of a batch share a folder,
``<study>/<dataset>/<batch>``: ``runs.json`` has a record of each, and every table the rows of all
of them, run after run, with the columns ``representation`` and ``method``.
``<study>/batches.json`` says which batches the study's plan has, and which run is in which: what
earlier plans left is not read.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from textbaselines.core import storage
from textbaselines.core.errors import UserError
from textbaselines.core.result_paths import BATCH_FILES, BATCHES, RECORDS, RUN_TABLES

KEY = ("representation", "method")
"""The columns that say whose a row is."""


@dataclass(frozen=True)
class Run:
    """One run of a batch.

    Attributes
    ----------
    batch : Path
        The folder of its batch.
    representation, method : str
    """

    batch: Path
    representation: str
    method: str

    def __str__(self) -> str:
        """Return where it is, for messages."""
        return f"{self.batch} ({self.method} on {self.representation})"

    @property
    def is_finished(self) -> bool:
        """Whether the batch has all its files: one being trained lacks some."""
        return all((self.batch / name).is_file() for name in BATCH_FILES)

    @property
    def record(self) -> dict[str, Any]:
        """What was run: grid points, classes, protocol and the rest of the task.

        Raises
        ------
        UserError
            When the batch has no such run.
        """
        return {name: value for name, value in self._whole_record.items() if name != "columns"}

    def table(
        self,
        name: str,
        columns: Sequence[str] | None = None,
        point: str | None = None,
    ) -> pd.DataFrame:
        """Return a table of the run.

        Parameters
        ----------
        name : str
            One of :data:`~textbaselines.core.result_paths.RUN_TABLES`.
        columns : sequence of str, optional
            Which columns; all that the run has by default.
        point : str, optional
            Rows of this grid point alone.
        """
        filters = self._filters()
        if point is not None:
            filters.append(("point", "==", point))
        return storage.read_parquet(
            self.path(name), filters, self.columns(name) if columns is None else columns
        )

    def columns(self, name: str) -> list[str]:
        """Return the columns that the run has in a table: others of the batch may have more."""
        return list(self._whole_record["columns"][name])

    def digest(self, name: str) -> str:
        """Return the digest of the content of a table of the run."""
        return storage.table_digest(self.path(name), self._filters(), self.columns(name))

    def path(self, name: str) -> Path:
        """Return the file of a table."""
        return self.batch / f"{name}.parquet"

    def _filters(self) -> list[tuple[str, str, Any]]:
        return [(column, "==", getattr(self, column)) for column in KEY]

    @property
    def _whole_record(self) -> dict[str, Any]:
        path = self.batch / RECORDS
        try:
            changed = path.stat().st_mtime_ns
        except FileNotFoundError as error:
            raise UserError("no such file", where=str(path), fix="train the batch") from error
        records = _records(path, changed)
        if (self.representation, self.method) not in records:
            raise UserError(
                "a batch without one of its runs",
                where=str(path),
                expected=f"a record of {self.method} on {self.representation}",
                fix="delete the folder and train again",
            )
        return records[self.representation, self.method]


def runs_of_study(folder: str | Path, study: Mapping[str, Any]) -> list[Run]:
    """Return the runs of a study, in its order, finished or not.

    Parameters
    ----------
    folder : path
        The study's folder of runs.
    study : mapping
        The study's description, with ``runs``: dataset, representation and method of each.
    """
    return [run_of(folder, *run) for run in study["runs"]]


def run_of(folder: str | Path, dataset: str, representation: str, method: str) -> Run:
    """Return one run of a study.

    Raises
    ------
    UserError
        When the study has no such run.
    """
    path = Path(folder, BATCHES)
    try:
        changed = path.stat().st_mtime_ns
    except FileNotFoundError as error:
        raise UserError("no list of the study's batches", where=str(path)) from error
    try:
        batch = _batches(path, changed)[dataset, representation, method]
    except KeyError as error:
        raise UserError(
            "no such run in the study's plan",
            where=str(path),
            found=f"dataset {dataset}, representation {representation}, method {method}",
            fix="run the study again",
        ) from error
    return Run(Path(folder, dataset, batch), representation, method)


def write_index(path: str | Path, batches: Mapping[str, Mapping[str, Any]]) -> None:
    """Write which batches each dataset has, and (representation, method) of their runs."""
    storage.write_json(path, batches)


def write_batch(folder: str | Path, runs: Sequence[tuple[Mapping[str, Any], Path]]) -> None:
    """Write a batch's folder of the tables of its runs, ``runs.json`` last.

    Parameters
    ----------
    folder : path
    runs : sequence of (mapping, path)
        The record of each run, and a folder with a Parquet file for each of its tables.
    """
    folder = Path(folder)
    columns: list[dict[str, list[str]]] = [{} for _ in runs]
    for name in RUN_TABLES:
        parts = [({key: run[key] for key in KEY}, path / f"{name}.parquet") for run, path in runs]
        found = storage.join_parquet(folder / f"{name}.parquet", KEY, parts)
        for mine, names in zip(columns, found, strict=True):
            mine[name] = names
    records = [{**run, "columns": mine} for (run, _), mine in zip(runs, columns, strict=True)]
    storage.write_text(folder / RECORDS, storage.canonical_json(records) + "\n")


@functools.lru_cache(maxsize=256)
def _records(path: Path, changed: int) -> dict[tuple[str, str], dict[str, Any]]:
    return {tuple(one[key] for key in KEY): one for one in storage.read_json(path)}


@functools.lru_cache(maxsize=16)
def _batches(path: Path, changed: int) -> dict[tuple[str, str, str], str]:
    return {
        (dataset, representation, method): batch
        for dataset, batches in storage.read_json(path).items()
        for batch, runs in batches.items()
        for representation, method in runs
    }
