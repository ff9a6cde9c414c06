"""The MLflow store: where it is, one writer at a time, and what to say when it cannot be used."""

import contextlib
import errno
import fcntl
import functools
import logging
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mlflow
from mlflow import MlflowClient
from mlflow.entities import LifecycleStage, Run, ViewType
from mlflow.exceptions import MlflowException
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore
from sqlalchemy import event
from sqlalchemy.engine import Engine

from textbaselines.core.errors import UserError
from textbaselines.core.storage import whole_file
from textbaselines.core.validation import check_server
from textbaselines.reporting.tracking.addresses import sqlite_address
from textbaselines.reporting.tracking.moves import check_place
from textbaselines.reporting.tracking.variables import for_store, say_unused

_SECONDS_BETWEEN_TRIES = 0.5
_log = logging.getLogger("textbaselines")


@dataclass(frozen=True)
class Location:
    """Where runs are logged: a SQLite file with a folder of artifacts, or a server.

    Attributes
    ----------
    database : Path
        The SQLite file; made with MLflow's current schema when absent. With a server only the
        lock file beside it is used.
    artifact_root : Path
        The folder of artifacts.
    server : str or None
        The address of a tracking server (http or https). Its user and password or token come
        from the environment alone (MLFLOW_TRACKING_USERNAME, _PASSWORD, _TOKEN).
    """

    database: Path
    artifact_root: Path
    server: str | None = None

    def __post_init__(self) -> None:
        """Make the paths absolute; refuse an address that holds a password."""
        object.__setattr__(self, "database", Path(self.database).absolute())
        object.__setattr__(self, "artifact_root", Path(self.artifact_root).absolute())
        if self.server is not None:
            check_server(self.server, "tracking_uri")

    @property
    def uri(self) -> str:
        """The address as MLflow takes it."""
        return self.server or sqlite_address(self.database)


@contextlib.contextmanager
def only_store(uri: str, check: Callable[[], None] | None = None) -> Iterator[MlflowClient]:
    """Let MLflow use one store, whatever the environment says, and yield a client of it.

    Runs and registered models go to ``uri``; so do the functions of MLflow that take no client.
    Variables that would change this are out of the environment within the block, and are logged
    (:func:`textbaselines.reporting.tracking.variables.say_unused`). ``check`` is called before
    there is a client, which would ask a database that is locked or broken again for minutes.
    """
    before = dict(os.environ)
    say_unused(before, uri)
    within = for_store(before, uri)
    _set_variables(within, before.keys() | within.keys())
    mlflow.set_tracking_uri(uri)
    mlflow.set_registry_uri(uri)
    try:
        if check is not None:
            check()
        yield MlflowClient(tracking_uri=uri, registry_uri=uri)
    finally:
        # MLflow keeps a chosen address in the environment too: what was there is there again.
        mlflow.set_tracking_uri(None)  # type: ignore[arg-type]
        mlflow.set_registry_uri(None)  # type: ignore[arg-type]
        _set_variables(before, before.keys() | within.keys())


def _set_variables(wanted: Mapping[str, str], names: Iterable[str]) -> None:
    for name in names:
        if name not in wanted:
            os.environ.pop(name, None)
        elif os.environ.get(name) != wanted[name]:
            os.environ[name] = wanted[name]


@contextlib.contextmanager
def open_store(
    location: Location, *, patience: float = 0.0, rebuild: bool = False
) -> Iterator[MlflowClient]:
    """Open the store as its only writer.

    Parameters
    ----------
    patience : float
        Seconds to wait while another process logs.
    rebuild : bool
        Delete the SQLite file and the artifacts first, in a process that has not opened them
        before (MLflow keeps files open). Refused for a server.

    Raises
    ------
    UserError
        When another logger holds the store, or it cannot be used: no database, made by another
        version of MLflow or in another folder, locked, a full disk, no answer from the server.
    """
    if rebuild and location.server:
        raise UserError(
            "a server's store is not made anew from here",
            where="tracking_uri",
            found=location.server,
            fix="delete the study's experiments there, then log again",
        )
    with _only_writer(location.database, patience), _told_to_user(location):
        if location.server:
            with only_store(location.uri) as client:
                client.search_experiments(max_results=1)
                yield client
            return
        if rebuild:
            _remove(location)
        check_place(location.database, location.artifact_root)
        with (
            _flushed_once(location.database),
            only_store(location.uri, functools.partial(_open, location)) as client,
        ):
            client.search_experiments(max_results=1)
            yield client
            _analyze(location.database)


@dataclass(frozen=True)
class StoredRun:
    """A run that is in a store: its id, its status, and those of its tags that were asked for."""

    id: str
    status: str
    tags: dict[str, str]


def stored_runs(
    client: MlflowClient, location: Location, experiment: str, tags: Sequence[str]
) -> list[StoredRun]:
    """Return every active run of an experiment, the latest start first, with some of its tags.

    A SQLite store is asked for these tags alone: MLflow's own search reads every metric of every
    run, which takes half a minute for 10,000 grid points.
    """
    if location.server:
        return [
            StoredRun(
                str(run.info.run_id),
                str(run.info.status),
                {name: run.data.tags[name] for name in tags if name in run.data.tags},
            )
            for run in _searched(client, experiment)
        ]
    query = (
        "SELECT runs.run_uuid, runs.status, tags.key, tags.value FROM runs LEFT JOIN tags "
        f"ON tags.run_uuid = runs.run_uuid AND tags.key IN ({', '.join('?' * len(tags))}) "
        "WHERE runs.experiment_id = ? AND runs.lifecycle_stage = ? "
        "ORDER BY runs.start_time DESC, runs.run_uuid"
    )
    values = [*tags, int(experiment), LifecycleStage.ACTIVE]
    with contextlib.closing(sqlite3.connect(location.database, timeout=20)) as connection:
        rows = connection.execute(query, values).fetchall()
    found: dict[str, StoredRun] = {}
    for identifier, status, key, value in rows:
        run = found.setdefault(identifier, StoredRun(identifier, status, {}))
        if key is not None:
            run.tags[key] = value
    return list(found.values())


def _searched(client: MlflowClient, experiment: str) -> Iterator[Run]:
    token = None
    while True:
        page = client.search_runs(
            [experiment], run_view_type=ViewType.ACTIVE_ONLY, max_results=1000, page_token=token
        )
        yield from page
        token = page.token
        if not token:
            return


def _remove(location: Location) -> None:
    for path in (location.database, Path(f"{location.database}-journal")):
        path.unlink(missing_ok=True)
    if location.artifact_root.exists():
        shutil.rmtree(location.artifact_root)


@contextlib.contextmanager
def _only_writer(database: Path, patience: float) -> Iterator[None]:
    """Hold the lock file beside the database; a killed process lets go of it by itself."""
    path = database.with_name(database.name + ".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as lock:
        end = time.monotonic() + patience
        told = False
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                lock.seek(0)
                holder = f"process {lock.read().strip() or 'unknown'}"
                if time.monotonic() >= end:
                    raise UserError(
                        "another process is logging to this store",
                        where=str(path),
                        found=holder,
                        fix="wait until it has ended, then log again",
                    ) from error
                if not told:
                    told = True
                    _log.info("waiting for %s, which is logging to this store", holder)
            time.sleep(_SECONDS_BETWEEN_TRIES)
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


@contextlib.contextmanager
def _flushed_once(database: Path) -> Iterator[None]:
    """Flush the database to the disk at the end instead of at each commit: twice as fast.

    A killed process loses nothing by it. A power cut may leave a store that must be made anew, but
    then there is no receipt either.
    """

    def relax(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA synchronous = OFF")

    event.listen(Engine, "connect", relax)
    try:
        yield
    finally:
        event.remove(Engine, "connect", relax)
    with database.open("rb+") as file:
        os.fsync(file)


def _open(location: Location) -> None:
    """Make the store where there is none, and see that it is one."""
    for name in ("alembic", "mlflow.store.db.utils"):
        logging.getLogger(name).setLevel(logging.WARNING)
    database = location.database
    if database.exists() and database.stat().st_size > 0:
        _check_database(database)
    else:
        # All migrations run on a file beside: a kill must not leave a half-migrated store, which
        # no later MLflow command can mend.
        with whole_file(database) as part:
            store: Any = SqlAlchemyStore(  # type: ignore[no-untyped-call]
                sqlite_address(part), location.artifact_root.as_uri()
            )
            store.engine.dispose()


def _check_database(database: Path) -> None:
    """Say at once what SQLAlchemy would find out only after many tries."""
    try:
        with contextlib.closing(sqlite3.connect(database, timeout=5)) as connection:
            tables = {
                name for (name,) in connection.execute("SELECT name FROM sqlite_master").fetchall()
            }
            connection.execute("BEGIN IMMEDIATE")
            connection.rollback()
    except sqlite3.DatabaseError as error:
        if "locked" in str(error):
            raise _locked(database, str(error)) from error
        raise UserError(
            "the tracking store is not a SQLite database",
            where=str(database),
            found=str(error),
            fix="move the file away and log again: the store is made from the result files",
        ) from error
    if "experiments" not in tables or "alembic_version" not in tables:
        raise UserError(
            "the tracking store is not a database of MLflow",
            where=str(database),
            found=f"tables: {', '.join(sorted(tables)) or 'none'}",
            fix="move the file away and log again: the store is made from the result files",
        )


def _locked(database: Path, found: str) -> UserError:
    return UserError(
        "the tracking store is locked by another program",
        where=str(database),
        found=found.splitlines()[0],
        fix="end what holds it (a backup, another writer), then log again",
    )


@contextlib.contextmanager
def _told_to_user(location: Location) -> Iterator[None]:
    """Turn what MLflow says of a store that it cannot use into what the user can do."""
    try:
        yield
    except MlflowException as error:
        told = _explained(str(error), location)
        if told is None:
            raise
        raise told from error
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise _full(location, str(error)) from error
    except sqlite3.OperationalError as error:
        told = _explained(str(error), location)
        if told is None:
            raise
        raise told from error


def _explained(text: str, location: Location) -> UserError | None:
    if location.server:
        return UserError(
            "the tracking server did not take the runs",
            where=location.server,
            found=text.splitlines()[0],
            fix="see that the server runs and that MLFLOW_TRACKING_USERNAME and "
            "MLFLOW_TRACKING_PASSWORD (or _TOKEN) are right, then log again: what was logged stays",
        )
    if "database or disk is full" in text or "No space left" in text:
        return _full(location, text)
    if "schema" in text:
        return UserError(
            "the tracking store was made by another version of MLflow",
            where=str(location.database),
            found=text.split(". ")[0],
            fix="run `make track-rebuild`, which makes it anew from the result files; or, to keep "
            f"what you wrote into it, `mlflow db upgrade {location.uri}`",
        )
    if "locked" in text:
        return _locked(location.database, text)
    return None


def _full(location: Location, found: str) -> UserError:
    return UserError(
        "the disk of the tracking store is full",
        where=str(location.database.parent),
        found=found.splitlines()[0],
        fix="make room, then log again: runs that were logged whole stay, no other is shown as "
        "finished",
    )


def _analyze(database: Path) -> None:
    """Let SQLite gather the statistics without which a sorted page of 10,000 runs takes seconds."""
    with contextlib.closing(sqlite3.connect(database, timeout=20)) as connection:
        connection.execute("ANALYZE")
        connection.commit()
