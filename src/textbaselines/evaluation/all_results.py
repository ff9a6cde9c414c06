"""All results of a folder as one data frame: of cells, or of every grid point."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from textbaselines.core import storage
from textbaselines.core.errors import UserError
from textbaselines.core.result_paths import Results
from textbaselines.core.validation import closest
from textbaselines.evaluation.cells import (
    CELL_COLUMNS,
    cell_table,
    cells_of_runs,
    summarise_point,
)
from textbaselines.evaluation.runs import Run, runs_of_study
from textbaselines.evaluation.selection import read_run_scores

IDENTITY = ("study", "dataset", "representation", "method", "selection")
"""What names a cell among all studies."""

_PARAM = "param."


def studies_in(results: Path) -> list[dict[str, Any]]:
    """Return the descriptions of the studies that a folder of results holds, by name.

    Raises :class:`UserError` when there is none.
    """
    files = [study.description for study in Results(results).studies()]
    if not files:
        raise UserError(
            "no study in this folder of results",
            where=str(results),
            expected="a file <study>/study.json, which the workflow writes first",
            fix="run a study, or give the right folder by --results",
        )
    return [storage.read_json(file) for file in files]


def study_in(results: Path, name: str) -> dict[str, Any]:
    """Return the description of one study; UserError names those that there are."""
    studies = {study["name"]: study for study in studies_in(results)}
    if name not in studies:
        raise UserError(
            "no such study in this folder of results",
            where=str(results),
            found=repr(name),
            expected="one of " + ", ".join(studies),
            fix=closest(name, studies),
        )
    return studies[name]


def finished_runs(results: Path, study: dict[str, Any]) -> list[Run]:
    """Return the finished runs of a study, in its order."""
    runs = runs_of_study(Results(results).study(study["name"]).runs, study)
    return [run for run in runs if run.is_finished]


def cells_of_studies(results: Path, studies: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return the cells of all finished runs: study, then the columns of a cell, then its params.

    Read from the runs, so that a study that is still running shows what it has. Columns
    ``param.<name>`` hold the hyper-parameters, empty where a method has none of that name.
    """
    rows = []
    for study in studies:
        cells, _ = cells_of_runs(list(map(read_run_scores, finished_runs(results, study))))
        rows += [{"study": study["name"], **row} for row in cell_table(cells).to_dict("records")]
    frame = pd.DataFrame(rows, columns=["study", *CELL_COLUMNS])
    return _with_params(frame)


def points_of_studies(results: Path, studies: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return every grid point of all finished runs, one row each.

    Columns: study, dataset, representation, method, family, point, origin (``fixed``, ``grid`` or
    both), params (JSON), the numbers of a cell, ``fold_accuracy`` (a list, by repeat and fold),
    ``fit_seconds`` and ``predict_seconds`` (means over the folds), ``started`` and ``ended`` (unix
    seconds), ``content_digest`` of the corpus, and ``param.<name>`` as for cells.
    """
    rows = [row for study in studies for row in _points(results, study)]
    return _with_params(pd.DataFrame(rows))


def _points(results: Path, study: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for finished in finished_runs(results, study):
        one = read_run_scores(finished)
        run, scores = one.run, one.scores
        timings = finished.table("timings")
        times = dict(iter(timings.groupby("point")))
        by_point = dict(iter(scores.groupby("point")))
        for point in run["points"]:
            mine = by_point[point["point"]].sort_values(["repeat", "fold"])
            spent = times.get(point["point"], timings.iloc[:0])
            yield {
                "study": study["name"],
                **{key: run[key] for key in ("dataset", "representation", "method", "family")},
                "point": point["point"],
                "origin": "+".join(point["origin"]),
                "params": storage.canonical_json(point["params"]),
                **summarise_point(mine),
                "fold_accuracy": mine["accuracy"].tolist(),
                "fit_seconds": spent["fit_seconds"].mean(),
                "predict_seconds": spent["predict_seconds"].mean(),
                "started": spent["started"].min(),
                "ended": spent["ended"].max(),
                "content_digest": run["content_digest"],
            }


def _with_params(frame: pd.DataFrame) -> pd.DataFrame:
    """Add a column for each hyper-parameter; of one type, text where the values differ in type."""
    if frame.empty:
        return frame
    read = [json.loads(text) for text in frame["params"]]
    names = sorted({name for params in read for name in params})
    columns = {}
    for name in names:
        values = [params.get(name) for params in read]
        kinds = {type(value) for value in values if value is not None}
        if not kinds <= {int, float} and kinds not in ({str}, {bool}):
            values = [None if v is None else storage.canonical_json(v) for v in values]
        columns[_PARAM + name] = pd.Series(values, index=frame.index)
    return pd.concat([frame, pd.DataFrame(columns, index=frame.index)], axis=1)
