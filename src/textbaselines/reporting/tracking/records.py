"""What the result files say of each run, ready to be logged: no MLflow in here."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from textbaselines.core import provenance
from textbaselines.core.errors import UserError
from textbaselines.core.result_paths import RECORDS, RUN_TABLES, Results
from textbaselines.core.storage import (
    canonical_json,
    file_digest,
    parquet_columns,
    short_digest,
)
from textbaselines.evaluation.cells import (
    MAJORITY,
    cell_table,
    cells_of_runs,
    summarise_point,
)
from textbaselines.evaluation.costs import benchmark_file, read_benchmark
from textbaselines.evaluation.runs import Run
from textbaselines.evaluation.selection import (
    ACROSS,
    RunScores,
    cell_predictions,
    selections_of_runs,
)
from textbaselines.reporting.tracking import artifacts as shown
from textbaselines.reporting.tracking.artifacts import Artifact

_SECONDS = ("fit_seconds", "predict_seconds")
_LOGARITHMIC = ("alpha", "C", "gamma", "noise")
_FIT = ("point", "repeat", "fold")
_COLUMNS = {
    "scores": (
        *_FIT,
        *("n_test", "n_features", "correct", "accuracy", "macro_f1", "rmse", "log_loss"),
        *("train_by_class", "test_by_class", "predicted_by_class", "correct_by_class"),
        *("converged", "failure"),
    ),
    "predictions": (*_FIT, "id", "label", "predicted"),
    "timings": (*_FIT, *_SECONDS, "started", "ended"),
    "inner_scores": (*_FIT, "inner", "n_test", "correct", "failure"),
}
_LOGGED = ("fixed", "nested")  # selections; one that is tuned on the test folds is no result

Code = Mapping[str, str]
"""Tags of the code that made a result: git_commit, git_dirty, lock; empty where unknown."""


@dataclass(frozen=True)
class Record:
    """All that one MLflow run will hold.

    ``metrics`` are (name, value, step); ``tags`` and ``params`` are text of any length. The run is
    known by ``key``, the digest of what it is; ``digest`` is that of what it says. ``sources`` is
    the digest of what its artifacts are made of, and ``artifacts`` makes them, once the code that
    made the results is known.
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
    sources: str = ""
    artifacts: Callable[[Code], dict[str, Artifact]] | None = field(default=None, compare=False)

    @property
    def key(self) -> str:
        """The identity: experiment, dataset, representation, method, and the point of a grid."""
        names = ("stage", "study", "dataset", "representation", "method", "selection", "point")
        return short_digest([self.tags.get(name, "") for name in names], 16)

    @property
    def digest(self) -> str:
        """The digest of all it says; the code version is not part of it."""
        content = [self.tags, self.params, self.metrics, self.dataset_digest, self.failed]
        return short_digest([*content, self.started, self.ended, self.sources], 16)


@dataclass(frozen=True)
class Finished:
    """What is finished of a study: its description, its cells, the records of each experiment."""

    study: Mapping[str, Any]
    cells: pd.DataFrame
    records: dict[str, list[Record]]


@dataclass(frozen=True)
class Sources:
    """What the runs of one study are read from; the attributes are those of :func:`read_finished`.

    Reading takes a while for tens of thousands of grid points, the digest does not.
    """

    runs: Sequence[Run]
    study: Mapping[str, Any]
    cells: pd.DataFrame | None = None
    benchmarks: str | Path | None = None

    def digest(self) -> str:
        """Return the digest of the content of every file, and of the code that reads them."""
        batches = list(dict.fromkeys(run.batch for run in self.runs))
        files = [path for batch in batches for path in _files_of(batch)]
        if self.benchmarks is not None:
            files += sorted(Path(self.benchmarks).glob("*/*.tsv"))
        code = provenance.source_files("reporting.tracking.writer")
        return short_digest(
            [
                self.study,
                [[run.batch.name, run.representation, run.method] for run in self.runs],
                [[path.name, file_digest(path)] for path in files + code],
                None if self.cells is None else self.cells.to_dict("split"),
            ],
            32,
        )

    def read(self) -> Finished:
        """Read and check it all, as :func:`read_finished` does."""
        return read_finished(self.runs, self.study, self.cells, benchmarks=self.benchmarks)


def _files_of(folder: Path) -> list[Path]:
    return sorted([*folder.glob("*.json"), *folder.glob("*.parquet")])


def read_finished(
    finished: Sequence[Run],
    study: Mapping[str, Any],
    cells: pd.DataFrame | None = None,
    *,
    benchmarks: str | Path | None = None,
    source: str = "Snakefile",
    user: str = "textbaselines",
) -> Finished:
    """Read runs into one record for each grid point and one for each cell to report.

    Everything is read and checked here, so that a broken file stops before anything is logged.

    Parameters
    ----------
    finished : sequence of Run
        Runs that are finished.
    study : mapping
        ``name`` and ``title``; ``command``, where known, is what runs the study.
    cells : data frame, optional
        The cells; those of selections ``fixed`` and ``nested`` become the runs of
        ``<study>-results``. Summarised from the runs when not given.
    benchmarks : path, optional
        The folder with the measures of the training tasks, for peak memory.
    source, user : str
        What MLflow shows as a run's source and user.

    Raises
    ------
    UserError
        For a file that is broken or does not fit the others, with its path.
    """
    common = {
        "study": str(study["name"]),
        "mlflow.source.name": source,
        "mlflow.source.type": "PROJECT",
        "mlflow.user": user,
    }
    records: dict[str, list[Record]] = {}
    runs: dict[tuple[str, str, str], _Run] = {}
    for one in finished:
        run = _read_run(one, study, common, benchmarks)
        said = run.said
        runs[said["dataset"], said["representation"], said["method"]] = run
        records.setdefault(f"{study['name']}-grid-{said['dataset']}", []).extend(run.points)
    scored = [RunScores(run.said, run.scores, run.inner_scores) for run in runs.values()]
    if cells is None:
        summarised, selections = cells_of_runs(scored)
        told = cell_table(summarised)
    else:
        told, selections = cells, selections_of_runs(scored)
    results = f"{study['name']}-results"
    floor = told[told["selection"] == MAJORITY].set_index("dataset")["accuracy"].to_dict()
    records[results] = [
        _cell_record(
            {**cell, "majority": floor.get(cell["dataset"], math.nan)},
            _behind(cell, runs, selections, study),
            study,
            common,
            results,
        )
        for cell in told[told["selection"].isin(_LOGGED)].to_dict("records")
    ]
    _refuse_shared_keys(records)
    return Finished(study, told, records)


@dataclass(frozen=True)
class _Run:
    """A run: what its record says, its scores, its records, and the cost of its job."""

    source: Run
    said: dict[str, Any]
    scores: pd.DataFrame
    inner_scores: pd.DataFrame
    points: list[Record]
    job: dict[str, float]


def _read_run(
    source: Run,
    study: Mapping[str, Any],
    common: Mapping[str, str],
    benchmarks: str | Path | None,
) -> _Run:
    run = source.record
    for name, columns in _COLUMNS.items():
        _check_columns(source, name, columns)
    scores = source.table("scores")
    timings = source.table("timings")
    inner_scores = source.table("inner_scores")
    scores = scores.sort_values(list(_FIT), kind="stable")
    known = {point["point"] for point in run["points"]}
    for name, frame in (("scores", scores), ("timings", timings)):
        strange = sorted(set(frame["point"]) - known)
        if strange:
            raise UserError(
                f"{name} of a grid point that the record does not list",
                where=str(source.path(name)),
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
                where=str(source.path("scores")),
                expected=f"rows of point {point['point']}",
                fix="remove the folder and train again",
            )
        mine = by_point[point["point"]]
        spent = times.get(point["point"], timings.iloc[:0])
        tags = {
            **common,
            "stage": "grid",
            "dataset": run["dataset"],
            "representation": run["representation"],
            "method": run["method"],
            "point": point["point"],
            "origin": "+".join(point["origin"]),
            "converged": str(bool(mine["converged"].to_numpy().all())).lower(),
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
                failed=bool(len(failures)),
            )
        )
    return _Run(source, run, scores, inner_scores, records, _job_costs(source, benchmarks))


def _check_columns(run: Run, table: str, columns: Sequence[str]) -> None:
    """Refuse a file that lacks a column, before logging has begun."""
    found, path = run.columns(table), run.path(table)
    parquet_columns(path)  # a broken file stops here
    missing = [name for name in columns if name not in found]
    if missing:
        raise UserError(
            f"a result file without the column {missing[0]!r}",
            where=str(path),
            found=", ".join(found),
            fix="remove the folder and train again: another version of the code made it",
        )


def _job_costs(run: Run, benchmarks: str | Path | None) -> dict[str, float]:
    """Return seconds and peak memory of the task that trained the whole grid, where measured."""
    if benchmarks is None:
        return {}
    if not benchmark_file(benchmarks, run).is_file():
        return {}
    seconds, peak = read_benchmark(benchmarks, run)
    costs = {"job_seconds": seconds, "job_peak_mebibytes": peak}
    return {name: value for name, value in costs.items() if not math.isnan(value)}


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
        ("log_loss", _mean_over_documents(scores, "log_loss"), 0),
        ("failed_fits", float(len(scores["failure"].dropna())), 0),
        *((name, float(timings[name].mean()), 0) for name in _SECONDS),
    ]
    steps = _steps(scores, scores)
    for name in ("accuracy", "macro_f1", "n_features"):
        metrics += zip(
            repeat(f"fold/{name}"), scores[name].to_numpy(dtype=np.float64).tolist(), steps
        )
    return [metric for metric in metrics if not math.isnan(metric[1])]


def _mean_over_documents(scores: pd.DataFrame, name: str) -> float:
    """Return the mean over all test documents of a measure that is a mean over each fold's."""
    return float(np.average(scores[name], weights=scores["n_test"]))


def _shown(numbers: Mapping[Any, Any]) -> dict[str, float]:
    """Return the metrics of a cell, or of a point summarised like one."""
    return {
        "accuracy": float(numbers["accuracy"]),
        "accuracy_pct": _percent(numbers["accuracy"]),
        "accuracy_std": float(numbers["sd"]),
        "accuracy_std_pct": _percent(numbers["sd"]),
        "accuracy_low": float(numbers["low"]),
        "accuracy_low_pct": _percent(numbers["low"]),
        "accuracy_high": float(numbers["high"]),
        "accuracy_high_pct": _percent(numbers["high"]),
        "macro_f1": float(numbers["macro_f1"]),
        "macro_f1_pct": _percent(numbers["macro_f1"]),
        "rmse": float(numbers["rmse"]),
        "draws": float(numbers["draws"]),
        "documents": float(numbers["documents"]),
    }


def _percent(value: Any) -> float:
    return round(100 * float(value), 2)


@dataclass(frozen=True)
class _Behind:
    """What a cell rests on.

    ``parts`` are (run, point, steps): the points it takes and, for each, the steps of the folds
    that it takes from it. ``chosen`` are the rows of nested selection, none for a fixed cell.
    """

    parts: list[tuple[_Run, Record, set[int]]]
    chosen: pd.DataFrame

    @property
    def runs(self) -> list[_Run]:
        return list({id(run): run for run, _, _ in self.parts}.values())

    @property
    def params(self) -> list[dict[str, Any]]:
        """The hyper-parameters of each part."""
        return [
            next(one["params"] for one in run.said["points"] if one["point"] == point.tags["point"])
            for run, point, _ in self.parts
        ]

    def agreed(self) -> dict[str, Any]:
        """Return the hyper-parameters that are the same in every fold."""
        first, *rest = self.params
        return {
            name: value
            for name, value in first.items()
            if all(name in other and other[name] == value for other in rest)
        }

    def choices(self) -> pd.DataFrame:
        """Return what each fold chose: a row for each, with a column for each hyper-parameter."""
        params = {
            (run.said["representation"], point.tags["point"]): values
            for (run, point, _), values in zip(self.parts, self.params, strict=True)
        }
        return pd.DataFrame(
            {
                "repeat": row["repeat"],
                "fold": row["fold"],
                "representation": row["chosen_representation"],
                **params[row["chosen_representation"], row["point"]],
                "inner_accuracy": row["inner_accuracy"],
            }
            for row in self.chosen.to_dict("records")
        ).astype({"representation": "object"})


def _behind(
    cell: Mapping[Any, Any],
    runs: Mapping[tuple[str, str, str], _Run],
    selections: pd.DataFrame,
    study: Mapping[str, Any],
) -> _Behind:
    dataset, representation, method = cell["dataset"], cell["representation"], cell["method"]
    mine = selections.iloc[:0]
    wanted: dict[Any, pd.DataFrame | None] = {(representation, cell["point"]): None}
    if cell["selection"] == "nested":
        mine = selections[
            (selections["dataset"] == dataset)
            & (selections["method"] == method)
            & (selections["representation"] == representation)
        ]
        wanted = dict(iter(mine.groupby(["chosen_representation", "point"], sort=False)))
    parts = []
    for (chosen, name), rows in wanted.items():
        where = " / ".join((dataset, representation, method))
        if (dataset, chosen, method) not in runs:
            raise UserError(
                "a cell whose run is not among the runs",
                where=where,
                fix="give the folder of every run that the cells rest on",
            )
        run = runs[dataset, chosen, method]
        point = next((one for one in run.points if one.tags["point"] == name), None)
        if point is None:
            raise UserError(
                "a cell of a grid point that its run does not have",
                where=where,
                found=name,
                expected=", ".join(one.tags["point"] for one in run.points),
                fix=f"make results/{study['name']}/evaluation/cells.parquet again",
            )
        scores = run.scores[run.scores["point"] == name]
        parts.append((run, point, set(_steps(scores if rows is None else rows, run.scores))))
    if not parts:
        raise UserError(
            "a cell of nested selection whose runs have no inner folds",
            where=" / ".join((dataset, representation, method)),
            fix=f"make results/{study['name']}/evaluation/cells.parquet again",
        )
    return _Behind(parts, mine)


def _steps(rows: pd.DataFrame, scores: pd.DataFrame) -> list[int]:
    """Return the step of each row's fold: repeat x folds + fold."""
    folds = int(scores["fold"].max()) + 1
    steps: list[int] = (rows["repeat"].to_numpy() * folds + rows["fold"].to_numpy()).tolist()
    return steps


def _cell_record(
    cell: Mapping[Any, Any],
    behind: _Behind,
    study: Mapping[str, Any],
    common: Mapping[str, str],
    experiment: str,
) -> Record:
    nested = cell["selection"] == "nested"
    runs = behind.runs
    first = runs[0]
    place = (cell["dataset"], cell["representation"], cell["method"])
    params = behind.agreed()
    said = {**first.said, "representation": place[1]}
    tags = {
        **common,
        "stage": "final",
        "dataset": place[0],
        "representation": place[1],
        "method": place[2],
        "selection": str(cell["selection"]),
        "point": str(cell["point"]),
        "converged": str(bool(cell["converged"])).lower(),
        "above_majority": str(bool(cell["above_majority"])).lower(),
    }
    failures = [point.tags["failure"] for _, point, _ in behind.parts if "failure" in point.tags]
    if math.isnan(cell["accuracy"]) and failures:
        tags["failure"] = "; ".join(dict.fromkeys(failures))
    command = _command(study, place[0], [run.source for run in runs])
    note = _note(said, params, tags)
    numbers = {**_shown(cell), "majority_accuracy_pct": _percent(cell["majority"])}
    metrics = {name: value for name, value in numbers.items() if not math.isnan(value)}
    series = [
        metric
        for _, point, steps in behind.parts
        for metric in point.metrics
        if (metric[0].startswith("fold/") and metric[2] in steps)
        or (not nested and metric[0] in _SECONDS)
    ]
    choices = None
    if nested:
        choices = behind.choices()
        accuracies = choices["inner_accuracy"].tolist()
        steps = _steps(choices, first.scores)
        series += [
            ("fold/inner_accuracy", value, step)
            for value, step in zip(accuracies, steps, strict=True)
            if not math.isnan(value)
        ]
        what = "Hyper-parameters" if place[1] != ACROSS else "Representation and hyper-parameters"
        note += (
            f"\n\n{what} were chosen in each fold by its inner folds; the artifact "
            "selected_parameters.json has each fold's choice. Named above are those in which all "
            "folds agree."
        )
    tested = int(cell["documents"] * cell["draws"])
    if cut := shown.cut_note(tested):
        note += f"\n\n{cut}"
    tags["mlflow.note.content"] = f"{note}\n\nRun it again:\n\n    {command}"
    return Record(
        experiment=experiment,
        name=f"{place[2]}-{place[1]} on {place[0]}" + (", nested" if nested else ""),
        tags=tags,
        params=_params(said, params),
        metrics=[(name, value, 0) for name, value in (metrics | _costs_of(runs)).items()] + series,
        dataset=place[0],
        dataset_digest=first.said["content_digest"],
        started=min(point.started for _, point, _ in behind.parts),
        ended=max(point.ended for _, point, _ in behind.parts),
        failed=math.isnan(cell["accuracy"]),
        sources=short_digest(
            [
                [[run.said, *(run.source.digest(name) for name in RUN_TABLES)] for run in runs],
                None if choices is None else choices.to_dict("split"),
                file_digest(shown.__file__),
            ]
        ),
        artifacts=partial(
            shown.of_final_run,
            partial(cell_predictions, first.source.batch.parents[1], dict(cell), behind.chosen),
            first.said,
            first.scores if place[1] != ACROSS else None,
            inner_scores=first.inner_scores if nested else None,
            choices=choices,
            command=command,
            note=note,
            metrics=metrics,
        ),
    )


def _command(study: Mapping[str, Any], dataset: str, runs: Sequence[Run]) -> str:
    """Return what makes a cell's runs again: their batches."""
    batches = dict.fromkeys(run.batch.name for run in runs)
    targets = " ".join(
        str(Results().study(study["name"]).runs / dataset / batch / RECORDS) for batch in batches
    )
    # The targets first: options of Snakemake take every word after them.
    command: str = study.get("command", "snakemake --cores all")
    return command.replace("snakemake", f"snakemake {targets}", 1)


def _costs_of(runs: Sequence[_Run]) -> dict[str, float]:
    """Return the seconds of all jobs together and the most memory of any, where all are known."""
    known = [run.job for run in runs]
    costs = {}
    if all("job_seconds" in job for job in known):
        costs["job_seconds"] = sum(job["job_seconds"] for job in known)
    if all("job_peak_mebibytes" in job for job in known):
        costs["job_peak_mebibytes"] = max(job["job_peak_mebibytes"] for job in known)
    return costs


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
                fix="give each run once",
            )
        seen[record.key] = record.name
