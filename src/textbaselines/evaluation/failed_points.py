"""The grid points of a study that failed on some folds, with the reason."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from textbaselines.core import storage
from textbaselines.core.result_paths import Results
from textbaselines.evaluation.runs import runs_of_study

FAILED_COLUMNS = (
    *("dataset", "representation", "method", "point", "params"),
    *("failed", "divisions", "reason"),
)
_SCORES = ("scores", "inner_scores")
SHOWN = 10
"""How many failed points are named in lines."""


def failed_points(results: Path, study: Mapping[str, Any]) -> pd.DataFrame:
    """Return the failed grid points of a study's finished runs, in the study's order.

    Returns
    -------
    data frame with the columns :data:`FAILED_COLUMNS`
        ``failed`` of ``divisions`` fits, on folds and inner folds together, and the first reason.
    """
    rows = []
    for run in runs_of_study(Results(results).study(study["name"]).runs, study):
        if not any(_has_failure(run.path(name)) for name in _SCORES):
            continue
        read = [run.table(name, ["point", "failure"]) for name in _SCORES]
        by_point = dict(iter(pd.concat(read, ignore_index=True).groupby("point")["failure"]))
        record = run.record
        names = [record[key] for key in FAILED_COLUMNS[:3]]
        for point in record["points"]:
            failures = by_point[point["point"]]
            reasons = failures.dropna()
            if len(reasons):
                params = storage.canonical_json(point["params"])
                counts = len(reasons), len(failures)
                rows.append((*names, point["point"], params, *counts, str(reasons.iloc[0])))
    return pd.DataFrame(rows, columns=list(FAILED_COLUMNS))


def failure_lines(failed: pd.DataFrame) -> Sequence[str]:
    """Return failed points as lines for a terminal, the first :data:`SHOWN` of them."""
    lines = [
        f"{row.method}-{row.representation} on {row.dataset}, {row.params}: failed in {row.failed} "
        f"of {row.divisions} fits: {row.reason}"
        for row in failed.head(SHOWN).itertuples()
    ]
    if len(failed) > SHOWN:
        lines.append(f"and {len(failed) - SHOWN} more")
    return lines


def _has_failure(file: Path) -> bool:
    """Return whether a file of scores has a failure: its statistics say so without a read."""
    if not file.is_file():
        return False
    metadata = pq.ParquetFile(file).metadata
    place = metadata.schema.to_arrow_schema().get_field_index("failure")
    for group in range(metadata.num_row_groups):
        column = metadata.row_group(group).column(place)
        known = column.statistics
        if known is None or not known.has_null_count or known.null_count < column.num_values:
            return True
    return False
