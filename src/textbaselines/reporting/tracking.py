"""Finished runs in MLflow: one writer, from result files, as often as wanted with one outcome.

The store is a view of the result files: deleting it loses nothing that logging again does not bring
back. Training and tables do not import this module, nor MLflow.
"""

import contextlib
import fcntl
import json
import logging
import math
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")

from mlflow import MlflowClient
from mlflow.entities import (
    Dataset,
    DatasetInput,
    InputTag,
    LifecycleStage,
    Metric,
    Param,
    Run,
    RunTag,
    ViewType,
)
from mlflow.exceptions import MlflowException
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore
from sqlalchemy import event
from sqlalchemy.engine import Engine

from textbaselines.errors import UserError
from textbaselines.experiments.evaluation import summarise_point
from textbaselines.storage import canonical_json, read_json, short_digest, whole_file, write_json

# Limits of MLflow 3 (mlflow.utils.validation), in characters or items.
_PARAM_LENGTH = 6000
_TAG_LENGTH = 8000
_DIGEST_LENGTH = 36
_METRICS_PER_BATCH = 900
_ENDED = ("FINISHED", "FAILED")
_SECONDS = ("fit_seconds", "predict_seconds")
_LOGARITHMIC = ("alpha", "C")
# Tags of the code at hand: it may change without the results.
_CODE_TAGS = ("git_commit", "git_dirty", "mlflow.source.git.commit", "lock")
_VIEW = "textbaselines"
_log = logging.getLogger("textbaselines")


@dataclass(frozen=True)
class Record:
    """All that one MLflow run will hold.

    ``metrics`` are (name, value, step); ``tags`` and ``params`` are text of any length. The run is
    known by ``key``, the digest of what it is; ``digest`` is that of what it says.
    """

    experiment: str
    name: str
    tags: dict[str, str]
    params: dict[str, str]
    metrics: list[tuple[str, float, int]]
    dataset: str
    dataset_digest: str
    started: float
    ended: float
    failed: bool

    @property
    def key(self) -> str:
        """The identity: experiment, dataset, representation, method, and the point of a grid."""
        names = ("stage", "study", "dataset", "representation", "method", "selection", "point")
        return short_digest([self.tags.get(name, "") for name in names], 16)

    @property
    def digest(self) -> str:
        """The digest of parameters, metrics, times, dataset and status; not of the code version."""
        told = {k: v for k, v in self.tags.items() if k not in _CODE_TAGS}
        content = [told, self.params, self.metrics, self.dataset_digest, self.failed]
        return short_digest([*content, self.started, self.ended], 16)


@dataclass
class _Counts:
    logged: int = 0
    replaced: int = 0
    skipped: int = 0
    unfinished_removed: int = 0
    outdated_removed: int = 0
    other: int = 0
    shortened: int = 0


@dataclass
class _Store:
    """An open store and what it held of each experiment when it was opened."""

    client: MlflowClient
    artifact_root: Path
    counts: _Counts = field(default_factory=_Counts)
    ids: dict[str, str] = field(default_factory=dict)


def log_runs(
    run_folders: Sequence[str | Path],
    cells: pd.DataFrame,
    study: Mapping[str, Any],
    *,
    database: str | Path,
    artifact_root: str | Path,
    receipt: str | Path,
    git: Mapping[str, Any] | None = None,
    lock_digest: str | None = None,
    source: str = "Snakefile",
    user: str = "textbaselines",
) -> dict[str, Any]:
    """Log every grid point and every fixed cell to a SQLite store of MLflow.

    A run that the store already has with the same content is skipped, one whose content changed
    is replaced, one that a killed logger left unfinished is removed and logged again, and so is one
    of a grid point that its run folder no longer has. Other runs of the same experiments (of other
    run folders, or made by hand) are left alone and counted.

    Parameters
    ----------
    run_folders : sequence of paths
        Folders with ``run.json``, ``scores.parquet`` and ``timings.parquet``.
    cells : pandas.DataFrame
        The cells; those of selection ``fixed`` become the runs of ``<study>-results``.
    study : mapping
        ``name`` and ``title``.
    database : path
        The SQLite file; made with MLflow's current schema when absent.
    artifact_root : path
        The folder of artifacts (values too long for the store).
    receipt : path
        Where the returned mapping is written as JSON.
    git : mapping, optional
        ``commit`` and ``dirty`` of the code that made the results.
    lock_digest : str, optional
        Digest of the locked dependencies.
    source, user : str
        What MLflow shows as a run's source and user.

    Returns
    -------
    dict
        ``runs`` (run key to MLflow run id), ``experiments`` (name to id), ``links`` (name to the
        address of its saved view, from the server's root on) and ``counts``.

    Raises
    ------
    UserError
        When another logger holds the store, or it cannot be opened: no database, made by another
        version of MLflow, or locked.
    """
    database, artifact_root = Path(database).absolute(), Path(artifact_root).absolute()
    common = _common_tags(study, git, lock_digest, source, user)
    records: dict[str, list[Record]] = {}
    runs = {}
    for folder in run_folders:
        run, points = _grid_records(Path(folder), study, common)
        runs[run["dataset"], run["representation"], run["method"]] = (run, points)
        for record in points:
            records.setdefault(record.experiment, []).append(record)
    results = f"{study['name']}-results"
    records[results] = _cell_records(cells, runs, study, common, results)
    _refuse_shared_keys(records)

    with _only_writer(database), _flushed_once(database):
        store = _Store(_open(database, artifact_root), artifact_root)
        links = {}
        with _told_to_user(database):
            experiments = {
                name: _experiment(store, name, study, mine) for name, mine in records.items()
            }
            for name, mine in records.items():
                _log_experiment(store, experiments[name], mine)
                links[name] = (
                    f"/#/experiments/{experiments[name]}/runs?workflowType=machine_learning"
                    f"&viewStateShareKey={_VIEW}&compareRunsMode=TABLE"
                )
        _analyze(database)
    told = {
        "experiments": experiments,
        "links": links,
        "runs": store.ids,
        "counts": vars(store.counts),
    }
    write_json(receipt, told)
    return told


# What the files say ----------------------------------------------------------------------------


def _common_tags(
    study: Mapping[str, Any],
    git: Mapping[str, Any] | None,
    lock_digest: str | None,
    source: str,
    user: str,
) -> dict[str, str]:
    tags = {
        "study": str(study["name"]),
        "mlflow.source.name": source,
        "mlflow.source.type": "PROJECT",
        "mlflow.user": user,
    }
    if git:
        tags["git_commit"] = str(git["commit"])
        tags["git_dirty"] = str(bool(git["dirty"])).lower()
        tags["mlflow.source.git.commit"] = str(git["commit"])
    if lock_digest:
        tags["lock"] = lock_digest
    return tags


def _grid_records(
    folder: Path, study: Mapping[str, Any], common: Mapping[str, str]
) -> tuple[dict[str, Any], list[Record]]:
    run = read_json(folder / "run.json")
    scores = pd.read_parquet(folder / "scores.parquet")
    timings = pd.read_parquet(folder / "timings.parquet")
    known = {point["point"] for point in run["points"]}
    for name, frame in (("scores", scores), ("timings", timings)):
        strange = sorted(set(frame["point"]) - known)
        if strange:
            raise UserError(
                f"{name} of a grid point that run.json does not list",
                where=str(folder / f"{name}.parquet"),
                found=strange[0],
                fix="remove the folder and train again",
            )
    by_point = dict(iter(scores.groupby("point")))
    times = dict(iter(timings.groupby("point")))
    records = []
    for point in run["points"]:
        if point["point"] not in by_point:
            raise UserError(
                "a grid point without scores",
                where=str(folder / "scores.parquet"),
                expected=f"rows of point {point['point']}",
                fix="remove the folder and train again",
            )
        mine = by_point[point["point"]].sort_values(["repeat", "fold"])
        spent = times.get(point["point"], timings.iloc[:0])
        tags = {
            **common,
            "stage": "grid",
            "dataset": run["dataset"],
            "representation": run["representation"],
            "method": run["method"],
            "point": point["point"],
            "origin": "+".join(point["origin"]),
            "converged": str(bool(mine["converged"].all())).lower(),
        }
        failures = mine["failure"].dropna()
        if len(failures):
            tags["failure"] = "; ".join(dict.fromkeys(failures))
        tags["mlflow.note.content"] = _note(run, point["params"], tags)
        records.append(
            Record(
                experiment=f"{study['name']}-grid-{run['dataset']}",
                name=f"{run['method']}-{run['representation']} {point['point'][:6]}",
                tags=tags,
                params=_params(run, point["params"]),
                metrics=_point_metrics(mine, spent),
                dataset=run["dataset"],
                dataset_digest=run["content_digest"],
                started=_bound(spent, "started", min),
                ended=_bound(spent, "ended", max),
                failed=bool(mine["failure"].notna().any()),
            )
        )
    return run, records


def _params(run: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, str]:
    """Return a point's parameters as text, with the logarithm of those that span decades."""
    shown = {"representation": run["representation"], "method": run["method"]}
    for name, value in params.items():
        shown[name] = value if isinstance(value, str) else canonical_json(value)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if name in _LOGARITHMIC and number and value > 0:
            shown[f"log10_{name}"] = f"{math.log10(value):.6g}"
    return shown


def _point_metrics(scores: pd.DataFrame, timings: pd.DataFrame) -> list[tuple[str, float, int]]:
    """Return the metrics of a grid point, those of a fold at step = repeat x folds + fold."""
    metrics = [(name, value, 0) for name, value in _shown(summarise_point(scores)).items()]
    metrics += [
        ("log_loss", float(scores["log_loss"].mean()), 0),
        ("failed_fits", float(scores["failure"].notna().sum()), 0),
        *((name, float(timings[name].mean()), 0) for name in _SECONDS),
    ]
    folds = int(scores["fold"].max()) + 1
    for row in scores.to_dict("records"):
        step = int(row["repeat"]) * folds + int(row["fold"])
        for name in ("accuracy", "macro_f1", "n_features"):
            metrics.append((f"fold/{name}", float(row[name]), step))
    return [metric for metric in metrics if not math.isnan(metric[1])]


def _shown(numbers: Mapping[Any, Any]) -> dict[str, float]:
    """Return the metrics of a cell, or of a point summarised like one."""
    return {
        "accuracy": float(numbers["accuracy"]),
        "accuracy_pct": round(100 * float(numbers["accuracy"]), 2),
        "accuracy_std": float(numbers["sd"]),
        "accuracy_std_pct": round(100 * float(numbers["sd"]), 2),
        "accuracy_low": float(numbers["low"]),
        "accuracy_high": float(numbers["high"]),
        "macro_f1": float(numbers["macro_f1"]),
        "rmse": float(numbers["rmse"]),
        "draws": float(numbers["draws"]),
        "documents": float(numbers["documents"]),
    }


def _cell_records(
    cells: pd.DataFrame,
    runs: Mapping[tuple[str, str, str], tuple[Mapping[str, Any], Sequence[Record]]],
    study: Mapping[str, Any],
    common: Mapping[str, str],
    experiment: str,
) -> list[Record]:
    records = []
    for cell in cells[cells["selection"] == "fixed"].to_dict("records"):
        place = (cell["dataset"], cell["representation"], cell["method"])
        if place not in runs:
            raise UserError(
                "a cell whose run is not among the run folders",
                where=" / ".join(place),
                fix="give the folder of every run that the cells rest on",
            )
        run, points = runs[place]
        point = next((one for one in points if one.tags["point"] == cell["point"]), None)
        if point is None:
            raise UserError(
                "a cell of a grid point that its run does not have",
                where=" / ".join(place),
                found=cell["point"],
                expected=", ".join(one.tags["point"] for one in points),
                fix="make results/cells.parquet again",
            )
        params = json.loads(cell["params"])
        tags = {
            **common,
            "stage": "final",
            "dataset": place[0],
            "representation": place[1],
            "method": place[2],
            "selection": "fixed",
            "point": str(cell["point"]),
            "converged": str(bool(cell["converged"])).lower(),
        }
        if "failure" in point.tags:
            tags["failure"] = point.tags["failure"]
        tags["mlflow.note.content"] = _note(run, params, tags)
        shared = [
            metric
            for metric in point.metrics
            if metric[0].startswith("fold/") or metric[0] in _SECONDS
        ]
        records.append(
            Record(
                experiment=experiment,
                name=f"{place[2]}-{place[1]} on {place[0]}",
                tags=tags,
                params=_params(run, params),
                metrics=[(k, v, 0) for k, v in _shown(cell).items() if not math.isnan(v)] + shared,
                dataset=place[0],
                dataset_digest=run["content_digest"],
                started=point.started,
                ended=point.ended,
                failed=math.isnan(cell["accuracy"]),
            )
        )
    return records


def _note(run: Mapping[str, Any], params: Mapping[str, Any], tags: Mapping[str, str]) -> str:
    """Return the run's description, in Markdown."""
    values = ", ".join(f"{name} = {value}" for name, value in params.items()) or "no parameters"
    text = (
        f"**{tags['method']}** (family `{run['family']}`) on **{tags['dataset']}**, representation "
        f"{tags['representation']}: {values}.\n\nPositive class `{run['positive']}`, corpus digest "
        f"`{run['content_digest'][:12]}`."
    )
    if tags["converged"] == "false":
        text += "\n\nAt least one fit did not converge."
    if "failure" in tags:
        text += f"\n\nFailed: {tags['failure']}"
    return text


def _bound(timings: pd.DataFrame, name: str, which: Any) -> float:
    """Return the first start or the last end in unix seconds, 0 where no time was taken."""
    times = timings[name].dropna().tolist()
    return float(which(times)) if times else 0.0


def _refuse_shared_keys(records: Mapping[str, Sequence[Record]]) -> None:
    seen: dict[str, str] = {}
    for record in (one for mine in records.values() for one in mine):
        if record.key in seen:
            raise UserError(
                "two runs of one identity",
                where=f"{record.experiment}: {record.name}",
                found=seen[record.key],
                expected="each dataset, representation, method and grid point once",
                fix="give each run folder once",
            )
        seen[record.key] = record.name


# The store -------------------------------------------------------------------------------------


@contextlib.contextmanager
def _only_writer(database: Path) -> Iterator[None]:
    """Hold the lock file beside the database; a killed process lets go of it by itself."""
    path = database.with_name(database.name + ".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.seek(0)
            raise UserError(
                "another process is logging to this store",
                where=str(path),
                found=f"process {lock.read().strip() or 'unknown'}",
                fix="wait until it has ended, then log again",
            ) from error
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


def _open(database: Path, artifact_root: Path) -> MlflowClient:
    for name in ("alembic", "mlflow.store.db.utils"):
        logging.getLogger(name).setLevel(logging.WARNING)
    if database.exists() and database.stat().st_size > 0:
        _check_database(database)
    else:
        # All migrations run on a file beside: a kill must not leave a half-migrated store, which
        # no later MLflow command can mend.
        with whole_file(database) as part:
            store: Any = SqlAlchemyStore(_uri(part), artifact_root.as_uri())  # type: ignore[no-untyped-call]
            store.engine.dispose()
    with _told_to_user(database):
        client = MlflowClient(tracking_uri=_uri(database))
        client.search_experiments(max_results=1)
    return client


def _uri(database: Path) -> str:
    return f"sqlite:///{database}"


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
            raise _locked(database, error) from error
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


def _locked(database: Path, error: Exception) -> UserError:
    return UserError(
        "the tracking store is locked by another program",
        where=str(database),
        found=str(error).splitlines()[0],
        fix="end what holds it (a backup, another writer), then log again",
    )


@contextlib.contextmanager
def _told_to_user(database: Path) -> Iterator[None]:
    """Turn what MLflow says of a store that it cannot use into what the user can do."""
    try:
        yield
    except MlflowException as error:
        text = str(error)
        if "schema" in text:
            raise UserError(
                "the tracking store was made by another version of MLflow",
                where=str(database),
                found=text.split(". ")[0],
                fix=f"run `mlflow db upgrade {_uri(database)}`, or move the file away and log "
                "again: the store is made from the result files",
            ) from error
        if "locked" in text:
            raise _locked(database, error) from error
        raise


def _experiment(
    store: _Store, name: str, study: Mapping[str, Any], records: Sequence[Record]
) -> str:
    client = store.client
    found = client.get_experiment_by_name(name)
    if found is None:
        folder = store.artifact_root / name
        identifier = str(client.create_experiment(name, artifact_location=folder.as_uri()))
    else:
        identifier = str(found.experiment_id)
        if found.lifecycle_stage == LifecycleStage.DELETED:
            client.restore_experiment(identifier)
    for key, value in _experiment_tags(study, name, records).items():
        if found is None or found.tags.get(key) != value:
            client.set_experiment_tag(identifier, key, value)
    return identifier


def _experiment_tags(
    study: Mapping[str, Any], name: str, records: Sequence[Record]
) -> dict[str, str]:
    """Return the tags that make MLflow's page of an experiment open with what matters."""
    final = name.endswith("-results")
    what = (
        "one run per cell of the comparison table, with fixed hyper-parameters"
        if final
        else "one run per grid point; the folds are the steps of the fold metrics"
    )
    view = {
        "name": "Accuracy",
        "createdAt": int(1000 * max((record.ended for record in records), default=0.0)),
        "state": canonical_json(_view_state(final, records)),
    }
    return {
        "mlflow.experimentKind": "custom_model_development",
        "mlflow.note.content": f"{study['title']}: {what}. Made from the result files; a number to "
        "report is taken from the tables, not from here.",
        "mlflow.experiment.primaryMetric.name": "accuracy_pct",
        f"mlflow.sharedViewState.{_VIEW}": canonical_json(view),
    }


def _view_state(final: bool, records: Sequence[Record]) -> dict[str, Any]:
    """Return the saved view: columns, order and charts (the fields of MLflow 3.17's page)."""
    names = sorted({name for record in records for name in record.params})
    hidden = {"method", "representation"}
    params = [name for name in names if name not in hidden and not name.startswith("log10_")]
    metrics = ["accuracy_pct", "accuracy_std_pct", "macro_f1", "fit_seconds"]
    tags = ["method", "representation", "converged"]
    columns = [f"tags.`{tag}`" for tag in (["dataset"] if final else []) + tags]
    columns += [f"metrics.`{metric}`" for metric in metrics]
    columns += [f"params.`{param}`" for param in params[:20]]
    return {
        "searchFilter": "",
        "orderByKey": "metrics.`accuracy_pct`",
        "orderByAsc": False,
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "modelVersionFilter": "All Runs",
        "datasetsFilter": [],
        "selectedColumns": columns,
        "columnOrder": [],
        "columnWidths": {},
        "runsHiddenMode": "SHOW_ALL",
        "viewMaximized": False,
        "runListHidden": False,
        "isAccordionReordered": False,
        "useGroupedValuesInCharts": True,
        "hideEmptyCharts": True,
        "groupBy": None,
        "groupsExpanded": {},
    }


def _log_experiment(store: _Store, experiment: str, records: Sequence[Record]) -> None:
    known = {record.key for record in records}
    places = {_place(record.tags) for record in records}
    done: dict[str, Run] = {}
    for run in _all_runs(store.client, experiment):
        key = run.data.tags.get("run_key")
        if key is None or run.data.tags.get("study") is None:
            store.counts.other += 1
        elif run.info.status not in _ENDED or "result_digest" not in run.data.tags or key in done:
            store.client.delete_run(run.info.run_id)
            store.counts.unfinished_removed += 1
        elif key in known:
            done[key] = run
        elif _place(run.data.tags) in places:
            store.client.delete_run(run.info.run_id)
            store.counts.outdated_removed += 1
        else:
            store.counts.other += 1
    for position, record in enumerate(records, 1):
        before = done.get(record.key)
        if before is not None and before.data.tags["result_digest"] == record.digest:
            store.ids[record.key] = before.info.run_id
            store.counts.skipped += 1
            continue
        if before is not None:
            store.client.delete_run(before.info.run_id)
            store.counts.replaced += 1
        else:
            store.counts.logged += 1
        store.ids[record.key] = _log_record(store, experiment, record)
        if position % 100 == 0:
            _log.info("%s: %d of %d runs", record.experiment, position, len(records))


def _place(tags: Mapping[str, str]) -> tuple[str | None, ...]:
    return tuple(tags.get(name) for name in ("study", "dataset", "representation", "method"))


def _all_runs(client: MlflowClient, experiment: str) -> Iterator[Run]:
    token = None
    while True:
        page = client.search_runs(
            [experiment], run_view_type=ViewType.ACTIVE_ONLY, max_results=1000, page_token=token
        )
        yield from page
        token = page.token
        if not token:
            return


def _log_record(store: _Store, experiment: str, record: Record) -> str:
    client = store.client
    start, end = int(1000 * record.started), int(1000 * record.ended)
    long_tags = {k: v for k, v in record.tags.items() if len(v) > _TAG_LENGTH}
    long_params = {k: v for k, v in record.params.items() if len(v) > _PARAM_LENGTH}
    tags = {name: _shorten(value, _TAG_LENGTH, name) for name, value in record.tags.items()}
    run = client.create_run(
        experiment,
        start_time=start,
        run_name=record.name,
        tags={**tags, "run_key": record.key},
    )
    run_id = str(run.info.run_id)
    dataset = Dataset(
        name=record.dataset,
        digest=record.dataset_digest[:_DIGEST_LENGTH],
        source_type="textbaselines",
        source=json.dumps({"content_digest": record.dataset_digest}),
    )
    context = [InputTag("mlflow.data.context", "evaluation")]
    client.log_inputs(run_id, [DatasetInput(dataset, context)])
    for folder, values in (("tags", long_tags), ("params", long_params)):
        for name, value in values.items():
            client.log_text(run_id, value, f"whole/{folder}/{name}.txt")
            store.counts.shortened += 1
    metrics = [Metric(name, value, end, step) for name, value, step in record.metrics]
    while len(metrics) > _METRICS_PER_BATCH:
        client.log_batch(run_id, metrics=metrics[:_METRICS_PER_BATCH])
        metrics = metrics[_METRICS_PER_BATCH:]
    # The digest comes with the last values, in one transaction: a run that has it has them all.
    client.log_batch(
        run_id,
        metrics=metrics,
        params=[
            Param(name, _shorten(value, _PARAM_LENGTH, name))
            for name, value in record.params.items()
        ],
        tags=[RunTag("result_digest", record.digest)],
    )
    client.set_terminated(run_id, "FAILED" if record.failed else "FINISHED", end_time=end)
    return run_id


def _shorten(value: str, limit: int, name: str) -> str:
    if len(value) <= limit:
        return value
    note = f" … ({len(value)} characters; whole in the artifact whole/…/{name}.txt)"
    return value[: limit - len(note)] + note


def _analyze(database: Path) -> None:
    """Let SQLite gather the statistics without which a sorted page of 10,000 runs takes seconds."""
    with contextlib.closing(sqlite3.connect(database, timeout=20)) as connection:
        connection.execute("ANALYZE")
        connection.commit()
