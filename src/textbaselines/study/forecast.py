"""What a study will cost before it runs: fits per dataset and method, and an estimate of time."""

import functools
import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from textbaselines.core import storage
from textbaselines.core.errors import UserError
from textbaselines.core.result_paths import RECORDS, Results
from textbaselines.evaluation.runs import KEY
from textbaselines.evaluation.runs import Run as StoredRun
from textbaselines.study.batches import plan_of
from textbaselines.study.definition import Study
from textbaselines.study.estimates import (
    START_SECONDS,
    STATED_RATES,
    Run,
    Size,
    divisions_of,
    inner_training,
    stated_rate,
    stated_size,
    task_seconds,
    units,
)
from textbaselines.study.plan import Plan

TEXT_SECONDS = {"read": 2.1, "tokenise": 0.3, "count": 0.55, "fit_vocabularies": 0.15}
"""Of a job of these rules, per million tokens of the dataset."""

PLAN_COLUMNS = (
    "dataset",
    "method",
    "tasks",
    "done",
    "points",
    "outer_fits",
    "inner_fits",
    "document_fits",
    "core_seconds",
    "basis",
)


@dataclass(frozen=True)
class StudyEstimate:
    """What is to be done.

    Attributes
    ----------
    rows : data frame with the columns :data:`PLAN_COLUMNS`
        One for each dataset and method. ``tasks`` and ``done`` are training tasks; the columns
        after ``points`` are of the tasks that are not done. ``document_fits``: training documents,
        summed over fits.
    tasks : data frame
        Columns dataset, representation, method, done, core_seconds: one row for each task.
    other_jobs : dict
        How many other jobs are to be run, by rule.
    other_seconds : float
        Of the other jobs, fetching without the time of the network.
    assumed : tuple of str
        Datasets whose length of documents is assumed.
    notes : tuple of str
        What should be known of the folds: classes that are tested less, numbers that are replaced.
    """

    rows: pd.DataFrame
    tasks: pd.DataFrame
    other_jobs: dict[str, int]
    other_seconds: float
    assumed: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def core_seconds(self) -> float:
        """The estimate of all jobs together."""
        return float(self.tasks["core_seconds"].sum()) + self.other_seconds

    def wall_seconds(self, cores: int) -> float:
        """Return the estimate on so many cores: tasks, the longest first, one core each."""
        free = [0.0] * cores
        for seconds in sorted(self.tasks["core_seconds"], reverse=True):
            heapq.heapreplace(free, free[0] + seconds)
        return max(free) + self.other_seconds / cores


def measured_rates(results: Path) -> pd.DataFrame:
    """Return what the fits of all finished runs of a folder of results took.

    Returns
    -------
    data frame with the columns dataset, representation, family, seconds, units
        A row for each run of any study that holds a successful fit of a known family on a
        dataset whose audit is there. ``seconds`` are fit and predict, ``units`` those of
        :data:`STATED_RATES`, both summed over fits.
    """
    rows = []
    tokens: dict[str, float | None] = {}
    for one in _stored_runs(results):
        run = one.record
        dataset = run["dataset"]
        if dataset not in tokens:
            audit = _audit(results, dataset)
            tokens[dataset] = None if audit is None else float(audit["length"]["tokens"]["mean"])
        mean = tokens[dataset]
        if mean is None or run["family"] not in STATED_RATES:
            continue
        if not one.is_finished:
            continue
        key = ["point", "repeat", "fold"]
        fits = one.table("scores").merge(one.table("timings"), on=key)
        fits = fits[fits["failure"].isna()]
        lowest, highest = run["ngrams"]
        rank = (run["reduction"] or {}).get("rank")
        width = rank or mean * (highest - lowest + 1)
        params = {point["point"]: point["params"] for point in run["points"]}
        fitted = fits.groupby(["point", "n_train"], as_index=False).size()
        done = sum(
            number * units(run["family"], size, width, params[point])
            for point, size, number in fitted.itertuples(index=False)
        )
        if done:
            seconds = float((fits["fit_seconds"] + fits["predict_seconds"]).sum())
            rows.append((dataset, run["representation"], run["family"], seconds, done))
    return pd.DataFrame(rows, columns=["dataset", "representation", "family", "seconds", "units"])


def _stored_runs(folder: Path) -> Iterator[StoredRun]:
    """Yield every run of every study, also of batches that a plan no longer has."""
    for file in sorted(folder.glob(f"*/runs/*/*/{RECORDS}")):
        for record in storage.read_json(file):
            yield StoredRun(file.parent, *(record[name] for name in KEY))


def estimate_study(
    study: Study,
    results: Path,
    to_run: Collection[Run],
    other: Iterable[tuple[str, str, str]] = (),
) -> StudyEstimate:
    """Return what a study still has to do, with an estimate of its time.

    A training task takes the rate of finished runs of the same family, of the same dataset and
    representation where there are any, else of all; without any, the stated rate.

    Parameters
    ----------
    study : Study
    results : Path
        The folder of results, for what is known of datasets and of earlier runs.
    to_run : collection of (dataset, representation, method)
        The training tasks that are not done.
    other : iterable of (rule, dataset, batch)
        The other jobs that are to be run; empty text where a job has no dataset or batch.
    """
    rates = measured_rates(results)
    sizes = {name: size_of(study, name, results) for name in study.datasets}
    plan = plan_of(study)
    sharing = {
        (dataset, task["representation"], task["method"]): {
            "in_job": sum(len(part.tasks) for part in parts),
            "on_counts": len(part.tasks),
        }
        for dataset in study.datasets
        for parts in (plan.batch(dataset, batch) for batch in plan.batches(dataset))
        for part in parts
        for task in part.tasks
    }
    # A study has many tasks of few families.
    rate_of = functools.cache(functools.partial(_rate, study, rates))
    planned, tasks = [], []
    for dataset, representation, method in study.runs():
        name = study.methods[method]
        protocol = study.protocol(dataset)
        points, divisions = len(name.points), divisions_of(protocol)
        inner = protocol.inner if study.chooses(dataset, method) else 0
        waiting = (dataset, representation, method) in to_run
        seconds, basis, outer_fits, inner_fits, documents = 0.0, "", 0, 0, 0
        if waiting:
            outer_fits = points * divisions
            inner_fits = outer_fits * inner
            size = sizes[dataset]
            documents = outer_fits * size.training + inner_fits * inner_training(size, inner)
            task = dataset, representation, method
            rate, basis = rate_of(dataset, representation, name.family)
            grid = [point.params for point in name.points]
            seconds = task_seconds(study, task, grid, inner, size, rate=rate, **sharing[task])
        tasks.append((dataset, representation, method, not waiting, seconds))
        planned.append(
            (
                *(dataset, method, 1, int(not waiting), points),
                *(outer_fits, inner_fits, documents, seconds, basis),
            )
        )
    rows = pd.DataFrame(planned, columns=list(PLAN_COLUMNS))
    grouped = rows.groupby(["dataset", "method"], sort=False, as_index=False)
    summed = {name: "sum" for name in PLAN_COLUMNS[2:-1] if name != "points"}
    rows = grouped.agg({**summed, "points": "first", "basis": _joined})
    waiting_others = list(other)
    counts: dict[str, int] = {}
    for rule, *_ in waiting_others:
        counts[rule] = counts.get(rule, 0) + 1
    return StudyEstimate(
        rows[list(PLAN_COLUMNS)],
        pd.DataFrame(
            tasks, columns=["dataset", "representation", "method", "done", "core_seconds"]
        ),
        counts,
        sum(
            _grouped_seconds(plan, study, dataset, batch, sizes[dataset], results, rate_of)
            if rule == "train_grouped"
            else _other_seconds(rule, sizes.get(dataset))
            for rule, dataset, batch in waiting_others
        ),
        tuple(name for name, size in sizes.items() if size.assumed),
        (*study.replaced_folds(), *study.notes()),
    )


def _grouped_seconds(
    plan: Plan,
    study: Study,
    dataset: str,
    batch: str,
    size: Size,
    results: Path,
    rate_of: Callable[[str, str, str], tuple[float, str]],
) -> float:
    """Return what training a batch on grouped folds takes; little where no text repeats."""
    audit = _audit(results, dataset)
    if audit is not None and not audit["duplicates"]["repeating_documents"]:
        return START_SECONDS
    seconds = START_SECONDS
    for part in plan.grouped(dataset, batch):
        for task in part.tasks:
            inner = study.protocol(dataset).inner if task["chooses"] else 0
            run = dataset, task["representation"], task["method"]
            rate, _ = rate_of(dataset, task["representation"], task["family"])
            seconds += task_seconds(
                *(study, run, [point["params"] for point in task["points"]], inner, size),
                rate=rate,
                in_job=len(part.tasks),
                on_counts=len(part.tasks),
            )
    return seconds


def size_of(study: Study, dataset: str, results: Path) -> Size:
    """Return how much a dataset has: from its audit once it is read, else from its file.

    Raises
    ------
    UserError
        When an audit is of another version.
    """
    return stated_size(study, dataset, _audit(results, dataset))


def _audit(results: Path, dataset: str) -> Any:
    """Return the audit of a dataset, None where it is not read yet."""
    path = Results(results).audit(dataset)
    if not path.is_file():
        return None
    audit = storage.read_json(path)
    if "mean" not in audit.get("length", {}).get("tokens", {}):
        raise UserError(
            "an audit without the length of documents",
            where=str(path),
            expected="length.tokens.mean",
            fix="delete it and run again",
        )
    return audit


def _rate(
    study: Study, rates: pd.DataFrame, dataset: str, representation: str, family: str
) -> tuple[float, str]:
    """Return seconds per unit, and what they rest on."""
    mine = rates[rates["family"] == family]
    here = mine[(mine["dataset"] == dataset) & (mine["representation"] == representation)]
    for chosen, basis in ((here, "runs of this dataset"), (mine, "runs of other datasets")):
        if len(chosen):
            return float(chosen["seconds"].sum() / chosen["units"].sum()), basis
    return stated_rate(family, study.representations[representation].weighting), "stated rates"


def _other_seconds(rule: str, size: Size | None) -> float:
    per_million = TEXT_SECONDS.get(rule, 0.0)
    if size is None:
        return START_SECONDS
    return START_SECONDS + per_million * 1e-6 * size.documents * size.tokens


def _joined(bases: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(basis for basis in bases if basis)) or "done"
