"""What a method costs: seconds to fit, microseconds to predict a document, memory, model size."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from textbaselines.core.csv_tables import read_csv
from textbaselines.core.errors import UserError
from textbaselines.evaluation.runs import KEY, Run
from textbaselines.models.classifier import LinearClassifier
from textbaselines.models.registry import METHODS
from textbaselines.models.ridge import LinearRegression

COST_COLUMNS = (
    "dataset",
    "representation",
    "method",
    "fits",
    "fit_seconds",
    "predict_microseconds",
    "peak_mebibytes",
    "job_seconds",
    "features",
    "model_bytes",
)


def costs_of_runs(runs: Sequence[Run], benchmarks: str | Path) -> pd.DataFrame:
    """Return one row of costs for each run.

    Parameters
    ----------
    runs : sequence of Run
    benchmarks : path
        The folder with a measure of the tasks of each batch: see :func:`read_benchmark`.

    Returns
    -------
    data frame with the columns :data:`COST_COLUMNS`
        ``fits``: grid points times folds. ``fit_seconds``: the median over them, of one fit on
        ready features. ``predict_microseconds``: per document, the median. ``peak_mebibytes`` and
        ``job_seconds``: of the whole job, its counts and all its fits included; NaN where the job
        was too short to be measured. ``features``: the median over the fits. ``model_bytes``: see
        :func:`model_bytes`.

    Raises
    ------
    UserError
        When a benchmark file lacks a column.
    """
    rows = []
    for one in runs:
        run = one.record
        key = ["point", "repeat", "fold"]
        timings = one.table("timings").set_index(key)
        read = [*key, "n_test", "n_features", "failure"]
        tested = one.table("scores", read)
        tested = tested[tested["failure"].isna()].set_index(key)
        fitted = timings.loc[timings.index.isin(tested.index)]
        per_document = fitted["predict_seconds"] / tested["n_test"]
        features = tested["n_features"].median()
        seconds, peak = read_benchmark(benchmarks, one)
        rows.append(
            {
                **{name: run[name] for name in ("dataset", "representation", "method")},
                "fits": len(fitted),
                "fit_seconds": fitted["fit_seconds"].median(),
                "predict_microseconds": 1e6 * per_document.median(),
                "peak_mebibytes": peak,
                "job_seconds": seconds,
                "features": features,
                "model_bytes": model_bytes(run, features),
            }
        )
    return pd.DataFrame(rows, columns=list(COST_COLUMNS))


def model_bytes(run: Mapping[str, Any], features: float) -> float:
    """Return the bytes of the numbers that a fitted linear model needs to predict.

    A weight of 8 bytes for each feature and an intercept, once for two classes or for ratings,
    else once for each class. What every model on the same features shares is not counted: the
    dictionary and, under a reduction, its directions. NaN for a family that is no list of weights
    (kernels, Gaussian processes), and where no fit succeeded.

    Parameters
    ----------
    run : mapping
        The run's record: ``family`` and ``classes``.
    features : float
        The number of features.
    """
    estimator = METHODS[run["family"]].estimator
    if math.isnan(features) or not issubclass(estimator, (LinearClassifier, LinearRegression)):
        return math.nan
    classes = len(run["classes"])
    return 8 * (features + 1) * (1 if classes <= 2 else classes)


def benchmark_file(folder: str | Path, run: Run) -> Path:
    """Return the file with the measures of the tasks of a run's batch."""
    return Path(folder, run.batch.parent.name, f"{run.batch.name}.tsv")


def read_benchmark(folder: str | Path, run: Run) -> tuple[float, float]:
    """Return the wall-clock seconds and the peak memory in MiB of the task that gave a run.

    The file of its batch is tab-separated, a row for each task: ``representation``, ``method``,
    ``s`` and ``max_rss``. NaN for what was not measured.

    Raises
    ------
    UserError
        When the file lacks a column or the task.
    """
    path = benchmark_file(folder, run)
    measured = read_csv(path, separator="\t", blanks=("-", "NA"))
    for column in (*KEY, "s", "max_rss"):
        if column not in measured:
            raise UserError(
                "not a benchmark file of the workflow",
                where=str(path),
                found=", ".join(measured.columns),
                expected="a column " + column,
                fix="delete it and run again",
            )
    mine = measured[
        (measured["representation"] == run.representation) & (measured["method"] == run.method)
    ]
    if len(mine) != 1:
        raise UserError(
            "no measure of a task",
            where=str(path),
            found=f"{len(mine)} rows of {run.method} on {run.representation}",
            expected="one",
            fix="delete it and run again",
        )
    return float(mine["s"].iloc[0]), float(mine["max_rss"].iloc[0])
