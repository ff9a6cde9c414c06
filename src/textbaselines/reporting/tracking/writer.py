"""Write records to an open store, each run once, and the receipt."""

import json
import logging
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
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

from textbaselines.reporting.tracking.artifacts import Artifact
from textbaselines.reporting.tracking.records import Code, Finished, Record, read_finished
from textbaselines.reporting.tracking.store import Location, open_store
from textbaselines.reporting.tracking.views import (
    experiment_tags,
    outdated_views,
    views_of,
    views_to_open,
)
from textbaselines.storage import read_json, write_json

# Limits of MLflow 3 (mlflow.utils.validation), in characters or items.
_PARAM_LENGTH = 6000
_TAG_LENGTH = 8000
_DIGEST_LENGTH = 36
_METRICS_PER_BATCH = 900
_ENDED = ("FINISHED", "FAILED")
_CODE_TAGS = ("git_commit", "git_dirty", "lock")
_log = logging.getLogger("textbaselines")


@dataclass
class Logged:
    """What was done with the runs of one study, and where they are.

    Attributes
    ----------
    counts : dict
        How many runs were logged, replaced, skipped, removed, or are not ours.
    runs : dict
        Run key to MLflow run id.
    codes : dict
        Run key to its result digest and the code tags which that result was logged with.
    experiments, links, open : dict
        By the experiment's name: its id, the addresses of its views, the views to open first.
    """

    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(
            (
                "logged",
                "replaced",
                "skipped",
                "unfinished_removed",
                "outdated_removed",
                "other",
                "shortened",
            ),
            0,
        )
    )
    runs: dict[str, str] = field(default_factory=dict)
    codes: dict[str, tuple[str, dict[str, str]]] = field(default_factory=dict)
    experiments: dict[str, str] = field(default_factory=dict)
    links: dict[str, dict[str, str]] = field(default_factory=dict)
    open: dict[str, list[str]] = field(default_factory=dict)

    def receipt(self) -> dict[str, Any]:
        """Return what the receipt file says."""
        kinds: list[dict[str, str]] = []
        code = {}
        for key, (digest, tags) in self.codes.items():
            if tags not in kinds:
                kinds.append(tags)
            code[key] = [digest, kinds.index(tags)]
        return {
            "experiments": self.experiments,
            "links": self.links,
            "open": self.open,
            "runs": self.runs,
            "counts": self.counts,
            "codes": kinds,
            "code_of_run": code,
        }


def log_runs(
    run_folders: Sequence[str | Path],
    cells: pd.DataFrame | None,
    study: Mapping[str, Any],
    *,
    database: str | Path,
    artifact_root: str | Path,
    receipt: str | Path,
    server: str | None = None,
    benchmarks: str | Path | None = None,
    code: Code | None = None,
    patience: float = 0.0,
) -> dict[str, Any]:
    """Log every grid point and every fixed cell of one study.

    A run that the store already has with the same content is skipped, one whose content changed
    is replaced, one that a killed logger left unfinished is removed and logged again, and so is one
    of a grid point that its run folder no longer has. Other runs of the same experiments (of other
    run folders, or made by hand) are left alone and counted.

    Parameters
    ----------
    run_folders, cells, study, benchmarks
        As for :func:`textbaselines.reporting.tracking.records.read_finished`.
    database, artifact_root, server
        As for :class:`textbaselines.reporting.tracking.store.Location`.
    receipt : path
        Where the returned mapping is written as JSON.
    code : mapping, optional
        ``git_commit``, ``git_dirty`` and ``lock`` of the code that made the results.
    patience : float
        Seconds to wait while another process logs.

    Returns
    -------
    dict
        ``runs`` (run key to MLflow run id), ``experiments`` (name to id), ``links`` (name to the
        addresses of its saved views, from the server's root on), ``open`` (the views to open
        first), ``counts``, and ``codes`` with ``code_of_run``: the code that each result was
        logged with.

    Raises
    ------
    UserError
        For broken result files, before anything is logged, and as
        :func:`textbaselines.reporting.tracking.store.open_store`.
    """
    finished = read_finished(run_folders, study, cells, benchmarks=benchmarks)
    location = Location(Path(database), Path(artifact_root), server)
    return log_studies([(finished, Path(receipt))], location, code=code, patience=patience)[0]


def log_studies(
    studies: Sequence[tuple[Finished, Path]],
    location: Location,
    *,
    code: Code | None = None,
    patience: float = 0.0,
    rebuild: bool = False,
) -> list[dict[str, Any]]:
    """Log studies, each with the path of its receipt, and return the receipts.

    Parameters
    ----------
    studies : sequence of (Finished, Path)
    location, code, patience
        As for :func:`log_runs`.
    rebuild : bool
        Make the store anew. A result that a receipt knows keeps the code it was logged with: the
        code at hand may not be the one that made it.

    Raises
    ------
    UserError
        As :func:`textbaselines.reporting.tracking.store.open_store`.
    """
    known: dict[str, tuple[str, dict[str, str]]] = {}
    for _, path in studies:
        known |= _codes_of_receipt(path)
    receipts = []
    with open_store(location, patience=patience, rebuild=rebuild) as client:
        for finished, path in studies:
            logged = _Writer(client, location, code or {}, known).write(finished)
            told = logged.receipt()
            write_json(path, told)
            receipts.append(told)
    return receipts


def _codes_of_receipt(path: Path) -> dict[str, tuple[str, dict[str, str]]]:
    """Return the code tags of each run that a receipt knows; none without a receipt."""
    if not path.is_file():
        return {}
    receipt = read_json(path)
    kinds = receipt.get("codes", [])
    found = receipt.get("code_of_run", {}).items()
    return {key: (digest, kinds[place]) for key, (digest, place) in found}


class _Writer:
    """One study's records on their way into an open store."""

    def __init__(
        self,
        client: MlflowClient,
        location: Location,
        code: Code,
        known: Mapping[str, tuple[str, dict[str, str]]],
    ) -> None:
        self.client, self.location, self.code, self.known = client, location, code, known
        self.logged = Logged()

    def write(self, finished: Finished) -> Logged:
        logged = self.logged
        for name, mine in finished.records.items():
            identifier = self._experiment(name, finished.study, mine)
            logged.experiments[name] = identifier
            views = views_of(name, mine)
            logged.links[name] = {view.name: view.link(identifier) for view in views}
            logged.open[name] = views_to_open(views, mine)
            self._log_all(identifier, mine)
        return logged

    def _experiment(self, name: str, study: Mapping[str, Any], records: Sequence[Record]) -> str:
        client = self.client
        found = client.get_experiment_by_name(name)
        if found is None:
            # A server has a place of its own for artifacts.
            folder = None if self.location.server else self.location.artifact_root / name
            place = folder.as_uri() if folder else None
            identifier = str(client.create_experiment(name, artifact_location=place))
        else:
            identifier = str(found.experiment_id)
            if found.lifecycle_stage == LifecycleStage.DELETED:
                client.restore_experiment(identifier)
        before = found.tags if found else {}
        wanted = experiment_tags(study, name, records)
        for key, value in wanted.items():
            if before.get(key) != value:
                client.set_experiment_tag(identifier, key, value)
        for key in outdated_views(before, wanted):
            client.delete_experiment_tag(identifier, key)
        return identifier

    def _log_all(self, experiment: str, records: Sequence[Record]) -> None:
        counts = self.logged.counts
        known = {record.key for record in records}
        places = {_place(record.tags) for record in records}
        done: dict[str, Run] = {}
        for run in _all_runs(self.client, experiment):
            tags = run.data.tags
            key = tags.get("run_key")
            if key is None or tags.get("study") is None:
                counts["other"] += 1
            elif run.info.status not in _ENDED or "result_digest" not in tags or key in done:
                self.client.delete_run(run.info.run_id)
                counts["unfinished_removed"] += 1
            elif key in known:
                done[key] = run
            elif _place(tags) in places:
                self.client.delete_run(run.info.run_id)
                counts["outdated_removed"] += 1
            else:
                counts["other"] += 1
        for position, record in enumerate(records, 1):
            self._log_once(experiment, record, done.get(record.key))
            if position % 100 == 0:
                _log.info("%s: %d of %d runs", record.experiment, position, len(records))

    def _log_once(self, experiment: str, record: Record, before: Run | None) -> None:
        logged = self.logged
        key, digest = record.key, record.digest
        if before is not None and before.data.tags["result_digest"] == digest:
            logged.runs[key] = before.info.run_id
            tags = before.data.tags
            logged.codes[key] = (digest, {n: tags[n] for n in _CODE_TAGS if n in tags})
            logged.counts["skipped"] += 1
            return
        known_digest, known_code = self.known.get(key, ("", {}))
        code = dict(known_code if known_digest == digest else self.code)
        made = record.artifacts(code) if record.artifacts else {}
        if before is not None:
            self.client.delete_run(before.info.run_id)
            logged.counts["replaced"] += 1
        else:
            logged.counts["logged"] += 1
        logged.runs[key] = self._log(experiment, record, key, digest, code, made)
        logged.codes[key] = (digest, code)

    def _log(
        self,
        experiment: str,
        record: Record,
        key: str,
        digest: str,
        code: Code,
        made: Mapping[str, Artifact],
    ) -> str:
        client = self.client
        start, end = int(1000 * record.started), int(1000 * record.ended)
        tags = {name: _shorten(value, _TAG_LENGTH, name) for name, value in record.tags.items()}
        if "git_commit" in code:
            tags["mlflow.source.git.commit"] = code["git_commit"]
        run = client.create_run(
            experiment,
            start_time=start,
            run_name=record.name,
            tags={**tags, **code, "run_key": key},
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
        self._log_artifacts(run_id, {**_whole(record, self.logged.counts), **made})
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
            tags=[RunTag("result_digest", digest)],
        )
        client.set_terminated(run_id, "FAILED" if record.failed else "FINISHED", end_time=end)
        return run_id

    def _log_artifacts(self, run_id: str, made: Mapping[str, Artifact]) -> None:
        files = {name: content for name, content in made.items() if isinstance(content, bytes)}
        if files:
            with tempfile.TemporaryDirectory() as folder:
                for name, data in files.items():
                    path = Path(folder, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(data)
                self.client.log_artifacts(run_id, folder)
        for name, content in made.items():
            if isinstance(content, pd.DataFrame):
                self.client.log_table(run_id, content, name)


def _whole(record: Record, counts: dict[str, int]) -> dict[str, bytes]:
    """Return the values that are too long for the store, as files."""
    limits = (("tags", record.tags, _TAG_LENGTH), ("params", record.params, _PARAM_LENGTH))
    files = {
        f"whole/{kind}/{name}.txt": value.encode()
        for kind, values, limit in limits
        for name, value in values.items()
        if len(value) > limit
    }
    counts["shortened"] += len(files)
    return files


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


def _shorten(value: str, limit: int, name: str) -> str:
    if len(value) <= limit:
        return value
    note = f" … ({len(value)} characters; whole in the artifact whole/…/{name}.txt)"
    return value[: limit - len(note)] + note
