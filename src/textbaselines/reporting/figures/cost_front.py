"""Accuracy against cost: what no other row beats in both, one panel per dataset."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from textbaselines.core.errors import UserError
from textbaselines.evaluation.selection import compared_cells
from textbaselines.reporting.figures.accuracy import (
    COLOURS,
    MARKERS,
    panel_axes,
    quieten,
    set_title,
)
from textbaselines.reporting.tables.comparison import percent
from textbaselines.reporting.tables.cost_table import significant

FRONT_COLUMNS = (
    "dataset",
    "method",
    "representation",
    "selection",
    "accuracy",
    "fit_seconds",
    "on_front",
)

_FEW_DECADES = 100  # an axis of a smaller ratio has ticks within the decades


def cost_front(cells: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy and seconds per fit of every row, and whether it is on the front.

    A row is on the front of its dataset when no other is at least as accurate and at least as
    fast, and better in one of the two (Pareto); rows alike in both are on it together.

    Parameters
    ----------
    cells : data frame
        A study's cells; of several selections the honest one is taken, see
        :func:`textbaselines.evaluation.selection.compared_cells`.
    costs : data frame
        What :func:`textbaselines.evaluation.costs.costs_of_runs` returned.

    Returns
    -------
    data frame with the columns :data:`FRONT_COLUMNS`
        In the order of the costs; rows without an accuracy or without a fit are left out.
    """
    key = ["dataset", "representation", "method"]
    rows = costs[[*key, "fit_seconds"]].merge(
        compared_cells(cells)[[*key, "selection", "accuracy"]], on=key, how="inner"
    )
    rows = rows.dropna(subset=["accuracy", "fit_seconds"]).reset_index(drop=True)
    on_front = []
    for row in rows.itertuples():
        others = rows[rows["dataset"] == row.dataset]
        beaten = (
            (others["accuracy"] >= row.accuracy)
            & (others["fit_seconds"] <= row.fit_seconds)
            & ((others["accuracy"] > row.accuracy) | (others["fit_seconds"] < row.fit_seconds))
        )
        on_front.append(not beaten.any())
    rows["on_front"] = pd.array(on_front, dtype=bool)
    return rows[list(FRONT_COLUMNS)]


def cost_front_figure(
    front: pd.DataFrame, study: Mapping[str, Any], *, narrow: bool = False
) -> tuple[Figure, str]:
    """Return a scatter plot of accuracy against seconds per fit, and the same in words.

    A marker and a colour for each method; filled for rows on the front, which a stepped line
    joins, open for the others. Rows on the front bear the name of their representation.

    ``front``: what :func:`cost_front` returned. Raises :class:`UserError` when there is no row.
    """
    datasets = [d for d in study["datasets"] if (front["dataset"] == d["name"]).any()]
    if not datasets:
        raise UserError(
            "no row with an accuracy and a fit to draw", where=f"study {study['name']}, its costs"
        )
    methods = [m for m in study["methods"] if (front["method"] == m["name"]).any()]
    look: dict[str, dict[str, Any]] = {
        method["name"]: {
            "color": COLOURS[place % len(COLOURS)],
            "marker": MARKERS[place % len(MARKERS)],
        }
        for place, method in enumerate(methods)
    }
    titles = {
        axis: {entry["name"]: entry["title"] for entry in study[f"{axis}s"]}
        for axis in ("method", "representation")
    }

    def named(row: Mapping[Any, Any]) -> str:
        return "-".join(titles[axis][row[axis]] for axis in ("method", "representation"))

    columns = 1 if narrow else min(3, len(datasets))
    below = 0.22 * math.ceil(len(methods) / (2 * columns)) + 0.9
    figure, axes = panel_axes(len(datasets), columns, (2.9, 2.7), (1.0, below))
    title = f"{study['title']}: accuracy against cost"
    words = [
        f"{title}.",
        "The front of each dataset, from the fastest: accuracy in %, median seconds of one fit on "
        "ready features (a reduction is not counted). "
        "Every row that is not named is slower than one of these and no more accurate.",
    ]
    for axis, dataset in zip(axes, datasets, strict=True):
        mine = front[front["dataset"] == dataset["name"]]
        best = mine[mine["on_front"]].sort_values(["fit_seconds", "accuracy"], kind="stable")
        words += ["", f"{dataset['title']} ({len(best)} of {len(mine)} rows):"]
        words += [
            f"  {named(row)}: {percent(row['accuracy'], 2)} %, {significant(row['fit_seconds'])} s"
            for row in best.to_dict("records")
        ]
        _draw(axis, mine, best, look, titles["representation"])
        axis.set_title(dataset["title"], fontsize=10, loc="left", fontweight="bold")
    figure.supylabel("Accuracy (%)", fontsize=9)
    set_title(figure, title)
    figure.legend(
        handles=_legend(methods, look),
        loc="outside lower center",
        ncols=2 * columns,
        fontsize=8,
        frameon=False,
    )
    return figure, "\n".join(words) + "\n"


def _draw(
    axis: Any,
    mine: pd.DataFrame,
    best: pd.DataFrame,
    look: Mapping[str, Mapping[str, Any]],
    titles: Mapping[str, str],
) -> None:
    axis.step(
        best["fit_seconds"],
        100 * best["accuracy"],
        where="post",
        color="0.55",
        linewidth=1.1,
        zorder=1,
    )
    for row in mine.to_dict("records"):
        style = look[row["method"]]
        axis.plot(
            row["fit_seconds"],
            100 * row["accuracy"],
            linestyle="none",
            markersize=6,
            markeredgewidth=1.2,
            markerfacecolor=style["color"] if row["on_front"] else "white",
            zorder=3 if row["on_front"] else 2,
            **style,
        )
    axis.set_xscale("log")
    axis.margins(x=0.15, y=0.15)
    _name(axis, best, titles)
    low, high = axis.get_xlim()
    steps = (1, 2, 5) if high / low < _FEW_DECADES else (1,)
    axis.xaxis.set_major_locator(LogLocator(subs=steps, numticks=6))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: f"{seconds:g}"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set_xlabel("Seconds of one fit (median)", fontsize=8)
    quieten(axis, "both")


def _name(axis: Any, best: pd.DataFrame, titles: Mapping[str, str]) -> None:
    """Name the rows of the front; where names would lie on each other, the more accurate one's."""
    taken: list[tuple[float, float]] = []
    for row in best.iloc[::-1].to_dict("records"):
        point = (row["fit_seconds"], 100 * row["accuracy"])
        x, y = axis.transLimits.transform(axis.transScale.transform(point))
        if all(abs(x - a) > 0.13 or abs(y - b) > 0.06 for a, b in taken):
            taken.append((x, y))
            axis.annotate(
                titles[row["representation"]],
                point,
                xytext=(0, 5),
                textcoords="offset points",
                ha="center",
                fontsize=7,
            )


def _legend(
    methods: Sequence[Mapping[str, str]], look: Mapping[str, Mapping[str, Any]]
) -> list[Line2D]:
    shared: dict[str, Any] = {"linestyle": "none", "markersize": 6}
    handles = [Line2D([], [], label=m["title"], **shared, **look[m["name"]]) for m in methods]
    handles.append(
        Line2D([], [], label="not on the front", color="0.3", marker="o", mfc="white", **shared)
    )
    handles.append(Line2D([], [], label="front", color="0.55", linewidth=1.1))
    return handles
