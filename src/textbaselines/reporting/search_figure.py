"""The figure of the search: expected best inner accuracy against the number of trials."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FormatStrFormatter, MaxNLocator

from textbaselines.reporting.figures import COLOURS, MARKERS, set_title
from textbaselines.reporting.tables import percent

# Colours repeat after 7 lines, dashes after 4, markers after 10: together after 140.
_DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (5, 1.5, 1.2, 1.5)))
_NOTHING = "No inner folds chose anything in this study, so there is no search to show."


def search_figure(
    curves: pd.DataFrame, study: Mapping[str, Any], *, narrow: bool = False
) -> tuple[Figure, str]:
    """Return a line plot of the search, one panel per dataset, and the same in words.

    Parameters
    ----------
    curves : data frame
        What :func:`textbaselines.experiments.search_curves.search_curves` returned.
    study : mapping
        The study's description: ``title``, ``datasets``, ``representations``, ``methods``.
    narrow : bool
        One panel below the other, for a phone.
    """
    title = f"{study['title']}: how much search pays"
    found = dict(iter(curves.groupby(["dataset", "method", "representation"])))
    datasets = [d for d in study["datasets"] if (curves["dataset"] == d["name"]).any()]
    if not datasets:
        return _empty(title), f"{title}.\n{_NOTHING}\n"
    pairs = [
        (method, representation)
        for method in study["methods"]
        for representation in study["representations"]
        if any((d["name"], method["name"], representation["name"]) in found for d in datasets)
    ]
    styles: dict[tuple[str, str], dict[str, Any]] = {
        (method["name"], representation["name"]): {
            "color": COLOURS[place % len(COLOURS)],
            "linestyle": _DASHES[place % len(_DASHES)],
            "marker": MARKERS[place % len(MARKERS)],
        }
        for place, (method, representation) in enumerate(pairs)
    }
    columns = 1 if narrow else min(3, len(datasets))
    lines = math.ceil(len(datasets) / columns)
    legend_lines = math.ceil(len(pairs) / (2 * columns))
    height = 2.6 * lines + 0.2 * legend_lines + 0.8
    figure = Figure(figsize=(1.0 + 2.9 * columns, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(lines, columns, squeeze=False)
    words = [
        f"{title}.",
        "Expected accuracy in % on the inner folds of the best of n grid points drawn with "
        "replacement (Dodge et al. 2019), mean over outer folds.",
    ]
    for index, axis in enumerate(axes.flat):
        if index >= len(datasets):
            axis.set_visible(False)
            continue
        dataset = datasets[index]
        words += ["", f"{dataset['title']}:"]
        most = 1
        for method, representation in pairs:
            key = (dataset["name"], method["name"], representation["name"])
            if key not in found:
                continue
            curve = found[key].sort_values("trials")
            most = max(most, int(curve["trials"].max()))
            words.append(f"  {method['title']}-{representation['title']}: {_in_words(curve)}")
            axis.plot(
                curve["trials"],
                100 * curve["expected_accuracy"],
                **styles[key[1], key[2]],
                linewidth=1.3,
                markersize=4.5,
                markevery=[len(curve) - 1],
                markerfacecolor="white",
            )
        axis.set_title(dataset["title"], fontsize=10, loc="left", fontweight="bold")
        axis.set_xscale("log", base=2)
        axis.set_xlim(0.93, most * 1.12)
        axis.xaxis.set_major_formatter(FormatStrFormatter("%d"))
        if index + columns >= len(datasets):
            # A label of the whole figure would lie under the legend.
            axis.set_xlabel("Grid points tried (log scale)", fontsize=9)
        axis.tick_params(labelsize=8)
        axis.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
        axis.grid(axis="y", color="0.88", linewidth=0.7)
        axis.set_axisbelow(True)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    set_title(figure, title)
    figure.supylabel("Expected best accuracy on inner folds (%)", fontsize=9)
    handles = [
        Line2D([], [], **styles[method["name"], representation["name"]], markerfacecolor="white")
        for method, representation in pairs
    ]
    labels = [f"{method['title']}-{rep['title']}" for method, rep in pairs]
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=min(len(pairs), 2 * columns),
        fontsize=8,
        frameon=False,
        handlelength=3.2,
    )
    return figure, "\n".join(words) + "\n"


def _empty(title: str) -> Figure:
    figure = Figure(figsize=(6, 1.2), layout="constrained")
    FigureCanvasAgg(figure)
    set_title(figure, title)
    figure.text(0.5, 0.4, _NOTHING, ha="center", fontsize=9)
    return figure


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
