"""The figure of the search: expected best inner accuracy against the number of trials."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from textbaselines.reporting.figures.line_panels import Line, Panel, panel_figure
from textbaselines.reporting.tables.comparison import percent

_NOTHING = "No inner folds chose anything in this study, so there is no search to show."


def search_figure(
    curves: pd.DataFrame, study: Mapping[str, Any], *, narrow: bool = False
) -> tuple[Figure, str]:
    """Return a line plot of the search, one panel per dataset, and the same in words.

    ``curves``: what :func:`textbaselines.analysis.search_curves.search_curves` returned.
    """
    title = f"{study['title']}: how much search pays"
    words = [
        f"{title}.",
        "Expected accuracy in % on the inner folds of the best of n grid points drawn with "
        "replacement (Dodge et al. 2019), mean over outer folds.",
    ]
    found = dict(iter(curves.groupby(["dataset", "method", "representation"])))
    panels = []
    for dataset in study["datasets"]:
        lines = []
        told = []
        for method in study["methods"]:
            for representation in study["representations"]:
                key = (dataset["name"], method["name"], representation["name"])
                if key in found:
                    curve = found[key].sort_values("trials")
                    name = f"{method['title']}-{representation['title']}"
                    accuracy = (100 * curve["expected_accuracy"]).tolist()
                    lines.append(Line(name, curve["trials"].tolist(), accuracy, marked_at_end=True))
                    told.append(f"  {name}: {_in_words(curve)}")
        if lines:
            panels.append(Panel(dataset["title"], lines))
            words += ["", f"{dataset['title']}:", *told]
    figure = panel_figure(
        title,
        panels,
        "Grid points tried (log scale)",
        "Expected best accuracy on inner folds (%)",
        nothing=_NOTHING,
        columns=1 if narrow else 3,
        logarithmic="powers",
    )
    return figure, "\n".join(words if panels else [words[0], _NOTHING]) + "\n"


def _in_words(curve: pd.DataFrame) -> str:
    """Say the curve at 1, 2, 4, ... trials and at its end."""
    values = dict(zip(curve["trials"], curve["expected_accuracy"], strict=True))
    last = max(values)
    if math.isnan(values[last]):
        return "no result: on an outer fold every grid point failed"
    wanted = sorted({2**power for power in range(last.bit_length())} | {last})
    told = ", ".join(f"{percent(values[n], 2)} with {n}" for n in wanted)
    failed = int(curve["failed_points"].iloc[0])
    return told + (f"; {failed} of {last} grid points failed" if failed else "")
