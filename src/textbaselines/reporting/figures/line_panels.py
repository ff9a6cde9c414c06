"""Figures of lines in panels, one panel per dataset: what all of them share."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullLocator, StrMethodFormatter

from textbaselines.reporting.figures.accuracy import (
    COLOURS,
    MARKERS,
    empty_figure,
    panel_axes,
    quieten,
    set_title,
)

# Colours repeat after 7 lines, dashes after 4, markers after 10: together after 140.
_DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (5, 1.5, 1.2, 1.5)))


@dataclass(frozen=True)
class Line:
    """One line of a panel.

    Attributes
    ----------
    name : str
        In the legend; a name has the same style in every panel.
    x, y : sequences of float
    low, high : sequences of float or None
        The ends of the interval at each point.
    marked_at_end : bool
        The last point alone bears a marker.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    marked_at_end: bool = False


@dataclass(frozen=True)
class Panel:
    """One panel: its title and lines; labels of the horizontal axis at 1, 2, ..., if any."""

    title: str
    lines: Sequence[Line]
    labels: Sequence[str] | None = None


def panel_figure(
    title: str,
    panels: Sequence[Panel],
    across: str,
    up: str,
    *,
    nothing: str,
    columns: int = 3,
    logarithmic: Literal["", "points", "powers"] = "",
    diagonal: bool = False,
    zero: bool = False,
) -> Figure:
    """Return a figure with one panel after another and a legend of all lines below.

    Parameters
    ----------
    panels : sequence of Panel
        Without lines in any of them the figure says ``nothing``.
    across, up : str
        The labels of the axes.
    columns : int
        Panels in a row, at most.
    logarithmic : str
        Of a logarithmic horizontal axis: whether it has numbers at the ``points`` of the lines or
        at ``powers`` of two.
    diagonal : bool
        Draw y = x on axes from 0 to 1.
    zero : bool
        Draw y = 0.
    """
    names = list(dict.fromkeys(line.name for panel in panels for line in panel.lines))
    if not names:
        return empty_figure(nothing, title)
    styles = {name: _style(place) for place, name in enumerate(names)}
    columns = min(columns, len(panels))
    legend_columns = min(len(names), 2 * columns)
    below = 0.2 * math.ceil(len(names) / legend_columns) + 0.9
    figure, axes = panel_axes(len(panels), columns, (2.9, 2.5), (1.0, below))
    for index, (axis, panel) in enumerate(zip(axes, panels, strict=True)):
        if diagonal:
            axis.plot([0, 1], [0, 1], color="0.6", linewidth=0.9, zorder=1)
        if zero:
            axis.axhline(0, color="0.6", linewidth=0.9, zorder=1)
        for line in panel.lines:
            _draw(axis, line, styles[line.name])
        axis.set_title(textwrap.fill(panel.title, 32), fontsize=10, loc="left", fontweight="bold")
        _scale(axis, panel, logarithmic, diagonal)
        if index + columns >= len(panels):
            # A label of the whole figure would lie under the legend.
            axis.set_xlabel(across, fontsize=9)
    set_title(figure, title)
    figure.supylabel(up, fontsize=9)
    figure.legend(
        [Line2D([], [], **styles[name], markerfacecolor="white") for name in names],
        names,
        loc="outside lower center",
        ncols=legend_columns,
        fontsize=8,
        frameon=False,
        handlelength=3.2,
    )
    return figure


def _style(place: int) -> dict[str, Any]:
    return {
        "color": COLOURS[place % len(COLOURS)],
        "linestyle": _DASHES[place % len(_DASHES)],
        "marker": MARKERS[place % len(MARKERS)],
    }


def _draw(axis: Any, line: Line, style: Mapping[str, Any]) -> None:
    if line.low is not None and line.high is not None:
        axis.vlines(line.x, line.low, line.high, color=style["color"], linewidth=0.8)
    axis.plot(
        line.x,
        line.y,
        **style,
        linewidth=1.3,
        markersize=4,
        markerfacecolor="white",
        markevery=[-1] if line.marked_at_end else None,
    )


def _scale(axis: Any, panel: Panel, logarithmic: str, diagonal: bool) -> None:
    quieten(axis, "both")
    axis.grid(visible=False, axis="x")
    if diagonal:
        axis.set_xlim(-0.03, 1.03)
        axis.set_ylim(-0.03, 1.03)
        axis.set_aspect("equal")
    if logarithmic:
        points = sorted({x for line in panel.lines for x in line.x})
        axis.set_xscale("log", base=2)
        if logarithmic == "points":
            axis.set_xticks(points)
            axis.tick_params(axis="x", labelrotation=45)
        else:
            axis.set_xlim(0.93 * points[0], 1.12 * points[-1])
        axis.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axis.xaxis.set_minor_locator(NullLocator())
    elif panel.labels is not None:
        axis.set_xticks(range(1, len(panel.labels) + 1), panel.labels)
        axis.set_xlim(0.7, len(panel.labels) + 0.3)
    axis.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
