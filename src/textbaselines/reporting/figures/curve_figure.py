"""The figure of learning curves, one panel per dataset and representation, and its words."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from textbaselines.reporting.figures.line_panels import Line, Panel, panel_figure
from textbaselines.reporting.tables.comparison import percent


def learning_curve_figure(
    curves: pd.DataFrame,
    crossings: pd.DataFrame,
    study: Mapping[str, Any],
    *,
    narrow: bool = False,
) -> tuple[Figure, str]:
    """Return accuracy against training documents (log scale), and the same in words.

    ``curves`` and ``crossings``: what :func:`textbaselines.analysis.learning_curves.curve_table`
    and ``crossing_table`` returned.
    """
    title = f"{study['title']}: learning curves"
    words = [
        title,
        "Accuracy in % with Wilson's 95 % interval, by training documents; fixed "
        "hyper-parameters, every method on the same documents.",
    ]
    titles = {dataset["name"]: dataset["title"] for dataset in study["datasets"]}
    panels = []
    for (dataset, representation), rows in curves.groupby(
        ["dataset", "representation"], sort=False
    ):
        heading = f"{titles[dataset]}, {representation}"
        lines = []
        for method, line in rows.groupby("method", sort=False):
            told = []
            for point in line.to_dict("records"):
                size = f"{point['training_documents']:,.0f}"
                if math.isnan(point["accuracy"]):
                    told.append(f"{size}: no result ({point['failure']})")
                    continue
                interval = f"[{percent(point['low'], 1)}, {percent(point['high'], 1)}]"
                told.append(f"{size}: {percent(point['accuracy'], 1)} {interval}")
            words.append(f"{heading}, {method}: {'; '.join(told)}")
            columns = [(100 * line[name]).tolist() for name in ("accuracy", "low", "high")]
            accuracy, low, high = columns
            sizes = line["training_documents"].tolist()
            lines.append(Line(str(method), sizes, accuracy, low, high))
        panels.append(Panel(heading, lines))
    for row in crossings.to_dict("records"):
        words.append(
            f"{titles[row['dataset']]}, {row['representation']}, {row['generative']} against "
            f"{row['discriminative']}: {row['verdict']}{_interval(row)}"
        )
    figure = panel_figure(
        title,
        panels,
        "Training documents (log scale)",
        "Accuracy (%), 95 % interval",
        nothing="No learning curves.",
        columns=1 if narrow else 2,
        logarithmic="points",
    )
    return figure, "\n".join(words) + "\n"


def _interval(row: Mapping[Any, Any]) -> str:
    if math.isnan(row["low"]):
        return ""
    share = percent(row["share_crossing"], 0)
    interval = f"[{row['low']:,.0f}, {row['high']:,.0f}]"
    return f" {interval} among the resamples of folds that cross, {share} % of them"
