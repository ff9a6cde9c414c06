"""Write records to an open store, each run once, and the receipt."""

import json
import logging
import tempfile
from collections.abc import Mapping, Sequence
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
    RunTag,
)

from textbaselines.core.result_paths import StudyFolder
from textbaselines.core.storage import read_json, read_parquet, short_digest, write_json
from textbaselines.evaluation.runs import Run
from textbaselines.reporting.tracking.artifacts import Artifact
from textbaselines.reporting.tracking.cells_at_commits import keep_cells
from textbaselines.reporting.tracking.records import Code, Finished, Record, Sources
from textbaselines.reporting.tracking.store import Location, StoredRun, open_store, stored_runs
from textbaselines.reporting.tracking.views import (
    experiment_tags,
    outdated_views,
    views_of,
    views_to_open,
)

# Limits of MLflow 3 (mlflow.utils.validation), in characters or items.
_PARAM_LENGTH = 6000
_TAG_LENGTH = 8000
_DIGEST_LENGTH = 36
_METRICS_PER_BATCH = 900
_ENDED = ("FINISHED", "FAILED")
_CODE_TAGS = ("git_commit", "git_dirty", "lock")
_PLACE = ("study", "dataset", "representation", "method")
_TAGS = ("run_key", "result_digest", *_PLACE, *_CODE_TAGS)
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
    others : list of str
        The ids of runs of ours that were left alone: runs that were not given.
    experiments, links, open : dict
        By the experiment's name: its id, the addresses of its views, the views to open first.
    pages : dict
        By the experiment's name: the digest of each tag that its page is made of.
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
    others: list[str] = field(default_factory=list)
    experiments: dict[str, str] = field(default_factory=dict)
    links: dict[str, dict[str, str]] = field(default_factory=dict)
    open: dict[str, list[str]] = field(default_factory=dict)
    pages: dict[str, dict[str, str]] = field(default_factory=dict)

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
            "pages": self.pages,
            "runs": self.runs,
            "others": self.others,
            "counts": self.counts,
            "codes": kinds,
            "code_of_run": code,
        }


def log_runs(
    runs: Sequence[Run],
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
    """Log every grid point and every cell to report of one study.

    A run that the store already has with the same content is skipped, one whose content changed
    is replaced, one that a killed logger left unfinished is removed and logged again, and so is one
    of a grid point that its run no longer has. Other runs of the same experiments (of other
    studies' runs, or made by hand) are left alone and counted.

    Parameters
    ----------
    runs, cells, study, benchmarks
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
        first), ``counts``, ``codes`` with ``code_of_run``: the code that each result was logged
        with; and, for the next time, ``sources``: the digest of what was read, ``others`` and
        ``pages`` (see :class:`Logged`), and ``commit``: at which the cells were kept.

    Raises
    ------
    UserError
        For broken result files, before anything is logged, and as
        :func:`textbaselines.reporting.tracking.store.open_store`.
    """
    sources = Sources(runs, study, cells, benchmarks)
    location = Location(Path(database), Path(artifact_root), server)
    return log_studies([(sources, Path(receipt))], location, code=code, patience=patience)[0]


def log_studies(
    studies: Sequence[tuple[Sources, Path]],
    location: Location,
    *,
    code: Code | None = None,
    patience: float = 0.0,
    rebuild: bool = False,
) -> list[dict[str, Any]]:
    """Log studies, each with the path of its receipt, and return the receipts.

    A study whose files are those of its receipt, and whose runs are all in the store as the receipt
    says, is not read again. Everything else is read before the store is opened. At a known commit
    the study's cells are kept beside the receipt (:mod:`~.tracking.cells_at_commits`).

    Parameters
    ----------
    studies : sequence of (Sources, Path)
    location, code, patience
        As for :func:`log_runs`.
    rebuild : bool
        Make the store anew. A result that a receipt knows keeps the code it was logged with: the
        code at hand may not be the one that made it.

    Raises
    ------
    UserError
        For broken result files, and as :func:`textbaselines.reporting.tracking.store.open_store`.
    """
    code = code or {}
    before = [read_receipt(path) for _, path in studies]
    digests = [sources.digest() for sources, _ in studies]
    read = [
        None if receipt.get("sources") == digest and not rebuild else sources.read()
        for (sources, _), receipt, digest in zip(studies, before, digests, strict=True)
    ]
    known: dict[str, tuple[str, dict[str, str]]] = {}
    for receipt in before:
        known |= _codes_of_receipt(receipt)
    receipts = []
    with open_store(location, patience=patience, rebuild=rebuild) as client:
        for (sources, path), finished, receipt, digest in zip(
            studies, read, before, digests, strict=True
        ):
            if finished is None and _stands(client, location, receipt):
                counts = {**Logged().counts, "skipped": len(receipt["runs"])}
                told = {**receipt, "counts": {**counts, "other": receipt["counts"]["other"]}}
            else:
                finished = finished or sources.read()
                logged = _Writer(client, location, code, known).write(finished)
                told = {**logged.receipt(), "sources": digest}
            told["commit"] = _keep(path, sources, finished, receipt, code)
            write_json(path, told)
            receipts.append(told)
    return receipts


def read_receipt(path: Path) -> dict[str, Any]:
    """Return what a receipt says; nothing where there is none, or one of another version's form."""
    receipt = read_json(path) if path.is_file() else {}
    wanted = {*Logged().receipt(), "sources", "commit"}
    return receipt if isinstance(receipt, dict) and wanted <= receipt.keys() else {}


def _codes_of_receipt(receipt: Mapping[str, Any]) -> dict[str, tuple[str, dict[str, str]]]:
    """Return the code tags of each run that a receipt knows."""
    kinds = receipt.get("codes", [])
    found = receipt.get("code_of_run", {}).items()
    return {key: (digest, kinds[place]) for key, (digest, place) in found}


def _stands(client: MlflowClient, location: Location, receipt: Mapping[str, Any]) -> bool:
    """Return whether the store holds exactly what the receipt says."""
    wanted = {
        receipt["runs"][key]: (key, digest) for key, (digest, _) in receipt["code_of_run"].items()
    }
    found: dict[str, tuple[str, str]] = {}
    others = []
    for name, identifier in receipt["experiments"].items():
        experiment = client.get_experiment_by_name(name)
        if experiment is None or str(experiment.experiment_id) != identifier:
            return False
        if experiment.lifecycle_stage != LifecycleStage.ACTIVE:
            return False
        tags = {tag: short_digest(value) for tag, value in experiment.tags.items()}
        if not receipt["pages"][name].items() <= tags.items():
            return False
        for run in stored_runs(client, location, identifier, _TAGS):
            if not _is_ours(run):
                continue
            if run.status not in _ENDED or "result_digest" not in run.tags:
                return False
            if run.id in wanted:
                found[run.id] = (run.tags["run_key"], run.tags["result_digest"])
            else:
                others.append(run.id)
    return found == wanted and sorted(others) == sorted(receipt["others"])


def _keep(
    path: Path,
    sources: Sources,
    finished: Finished | None,
    receipt: Mapping[str, Any],
    code: Code,
) -> str:
    """Keep the cells at the commit at hand, and return it; empty where it is not known."""
    commit, study = code.get("git_commit", "unknown"), str(sources.study["name"])
    if commit == "unknown":
        return ""
    folder = StudyFolder(path.parents[1])
    dirty = code.get("git_dirty") == "true"
    if finished is not None:
        cells = finished.cells
    else:
        last = folder.commit(receipt["commit"])
        cells = read_parquet(last) if receipt["commit"] and last.is_file() else sources.read().cells
    keep_cells(folder.commit(commit), study, cells, dirty)
    return commit


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
        self.logged.pages[name] = {key: short_digest(value) for key, value in wanted.items()}
        for key in outdated_views(before, wanted):
            client.delete_experiment_tag(identifier, key)
        return identifier

    def _log_all(self, experiment: str, records: Sequence[Record]) -> None:
        counts = self.logged.counts
        known = {record.key for record in records}
        places = {_place(record.tags) for record in records}
        done: dict[str, StoredRun] = {}
        for run in stored_runs(self.client, self.location, experiment, _TAGS):
            key = run.tags.get("run_key", "")
            if not _is_ours(run):
                counts["other"] += 1
            elif run.status not in _ENDED or "result_digest" not in run.tags or key in done:
                self.client.delete_run(run.id)
                counts["unfinished_removed"] += 1
            elif key in known:
                done[key] = run
            elif _place(run.tags) in places:
                self.client.delete_run(run.id)
                counts["outdated_removed"] += 1
            else:
                counts["other"] += 1
                self.logged.others.append(run.id)
        for position, record in enumerate(records, 1):
            self._log_once(experiment, record, done.get(record.key))
            if position % 100 == 0:
                _log.info("%s: %d of %d runs", record.experiment, position, len(records))

    def _log_once(self, experiment: str, record: Record, before: StoredRun | None) -> None:
        logged = self.logged
        key, digest = record.key, record.digest
        if before is not None and before.tags["result_digest"] == digest:
            logged.runs[key] = before.id
            tags = before.tags
            logged.codes[key] = (digest, {n: tags[n] for n in _CODE_TAGS if n in tags})
            logged.counts["skipped"] += 1
            return
        known_digest, known_code = self.known.get(key, ("", {}))
        code = dict(known_code if known_digest == digest else self.code)
        made = record.artifacts(code) if record.artifacts else {}
        if before is not None:
            self.client.delete_run(before.id)
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


def _is_ours(run: StoredRun) -> bool:
    return "run_key" in run.tags and "study" in run.tags


def _place(tags: Mapping[str, str]) -> tuple[str | None, ...]:
    return tuple(tags.get(name) for name in _PLACE)


def _shorten(value: str, limit: int, name: str) -> str:
    if len(value) <= limit:
        return value
    note = f" … ({len(value)} characters; whole in the artifact whole/…/{name}.txt)"
    return value[: limit - len(note)] + note
