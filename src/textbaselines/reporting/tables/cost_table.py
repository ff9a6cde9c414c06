"""The table of costs: how long a fit takes and how much memory its job needs, method by dataset."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from textbaselines.reporting.tables.layout import DASH, Cell, Table


def cost_table(costs: pd.DataFrame, study: Mapping[str, Any]) -> Table:
    """Return the costs with the comparison table's rows and columns.

    ``costs``: what :func:`textbaselines.evaluation.costs.costs_of_runs` returned.
    """
    found = {
        (row["method"], row["representation"], row["dataset"]): row
        for row in costs.to_dict("records")
    }
    groups = []
    for method in study["methods"]:
        rows = []
        for representation in study["representations"]:
            pair = (method["name"], representation["name"])
            line = [found.get((*pair, dataset["name"])) for dataset in study["datasets"]]
            if any(line):
                name = Cell(f"{method['title']}-{representation['title']}")
                rows.append((name, *map(_cell, line)))
        if rows:
            groups.append(tuple(rows))
    return Table(
        name="costs",
        title=f"{study['title']}: what it costs",
        caption=(
            "Median seconds of one fit on ready features, work that several grid points share "
            "divided evenly among them; below, microseconds to predict a "
            "document and the peak memory (MiB) of the job that fits the method's whole grid on "
            "all folds, then the size of a linear model: its weights as float64, without the "
            "dictionary. Measured while other jobs ran on the same machine."
        ),
        header=("Method", *(dataset["title"] for dataset in study["datasets"])),
        groups=tuple(groups),
        emphasis=False,
    )


def _cell(row: Mapping[Any, Any] | None) -> Cell:
    if row is None or math.isnan(row["fit_seconds"]):
        return Cell(DASH)
    memory = "" if math.isnan(row["peak_mebibytes"]) else f" · {row['peak_mebibytes']:.0f} MiB"
    below = f"{significant(row['predict_microseconds'])} µs{memory}"
    if not math.isnan(row["model_bytes"]):
        below += f"\n{size(row['model_bytes'])}"
    return Cell(significant(row["fit_seconds"]), below=below)


def significant(value: float) -> str:
    """Return a positive number with two significant digits and no exponent: 0.0012, 3.4, 120."""
    if value <= 0:
        return "0"
    decimals = max(0, 1 - math.floor(math.log10(value)))
    return f"{round(value, decimals):.{decimals}f}" if value < 100 else f"{value:.0f}"


def size(number_of_bytes: float) -> str:
    """Return a number of bytes in bytes, KiB or MiB, with two significant digits or more."""
    for unit, divisor in (("MiB", 2**20), ("KiB", 2**10)):
        if number_of_bytes >= divisor:
            return f"{significant(number_of_bytes / divisor)} {unit}"
    return f"{number_of_bytes:.0f} B"
