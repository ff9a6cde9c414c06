"""Figures of the results: accuracy by method with its interval, one panel per dataset."""

import math
import textwrap
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Literal

import matplotlib
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from textbaselines.core.errors import UserError
from textbaselines.core.storage import whole_file, write_text
from textbaselines.evaluation.cells import MAJORITY
from textbaselines.evaluation.selection import compared_cells
from textbaselines.reporting.tables.comparison import SELECTIONS, check_cells, percent
from textbaselines.reporting.tables.layout import DAGGER

# Titles are the user's words: a dollar sign in one is no formula.
matplotlib.rcParams["text.parse_math"] = False

# Okabe & Ito (2008), "Color Universal Design", without yellow, too faint on white. Colour only
# repeats what the row's name and the marker already say.
COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "h")


def accuracy_figure(
    cells: pd.DataFrame,
    study: Mapping[str, Any],
    *,
    interval: str,
    narrow: bool = False,
) -> tuple[Figure, str]:
    """Return a dot plot of accuracies with 95 % intervals, and the same in words.

    Each dataset has a panel with its own accuracy axis; rows are the method-representation pairs
    in the study's order, a marker and a colour for each method, filled for the first
    representation and open for the others. A pair without accuracy leaves its row empty. Each has
    the cell that is compared (:func:`textbaselines.evaluation.selection.compared_cells`): its
    hyper-parameters chosen by inner folds where they are, else fixed. The accuracy of the majority
    class stands under each panel, and is a dashed line where the axis reaches it.

    Raises :class:`UserError` when there is no cell to compare.
    """
    mine = compared_cells(check_cells(cells, study))
    floor = cells[cells["selection"] == MAJORITY].set_index("dataset")["accuracy"].to_dict()
    selections = set(mine["selection"])
    datasets = [d for d in study["datasets"] if (mine["dataset"] == d["name"]).any()]
    pairs = [
        (place, which, method, representation)
        for place, method in enumerate(study["methods"])
        for which, representation in enumerate(study["representations"])
        if (
            (mine["method"] == method["name"]) & (mine["representation"] == representation["name"])
        ).any()
    ]
    if not datasets:
        raise UserError(
            "no cell to draw",
            where=f"study {study['name']}",
            found=", ".join(sorted(cells["selection"].unique())) or "no cells",
            expected="cells of selection nested or fixed",
        )
    found = {
        (row["dataset"], row["method"], row["representation"]): row for _, row in mine.iterrows()
    }

    columns = 1 if narrow else min(3, len(datasets))
    size = (2.5, 0.24 * len(pairs) + 0.75)
    figure, axes = panel_axes(len(datasets), columns, size, (1.2, 0.9), sharey=True)
    words = [f"{study['title']}: accuracy in %, 95 % intervals in brackets ({interval})."]
    words.append(chosen_how(selections))
    starred = dashed = False
    for index, (axis, dataset) in enumerate(zip(axes, datasets, strict=True)):
        words += ["", f"{dataset['title']}:"]
        majority = floor.get(dataset["name"], math.nan)
        if not math.isnan(majority):
            words.append(f"  majority class: {percent(majority, 2)}")
        for row, (place, which, method, representation) in enumerate(pairs):
            name = f"{method['title']}-{representation['title']}"
            cell = found.get((dataset["name"], method["name"], representation["name"]))
            if cell is None or math.isnan(cell["accuracy"]):
                words.append(f"  {name}: no result")
                place_text = {"transform": axis.get_yaxis_transform(), "va": "center"}
                axis.text(0.02, row, "no result", color="0.4", fontsize=8, **place_text)
                continue
            starred = starred or not cell["converged"]
            one_of_two = len(selections) > 1 and cell["selection"] == "fixed"
            words.append(f"  {name}: {_in_words(cell)}{', fixed' if one_of_two else ''}")
            _draw(axis, row, cell, place, which)
        axis.set_title(dataset["title"], fontsize=10, loc="left", fontweight="bold")
        if not math.isnan(majority):
            dashed = _draw_majority(axis, majority) or dashed
        axis.set_ylim(len(pairs) - 0.4, -0.6)
        labels = [f"{method['title']}-{rep['title']}" for _, _, method, rep in pairs]
        if narrow:
            labels = [shortened(label) for label in labels]
        axis.set_yticks(range(len(pairs)), labels)
        axis.tick_params(axis="y", length=0, labelsize=9, labelleft=index % columns == 0)
        axis.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10], min_n_ticks=3))
        quieten(axis, "x")
        for row in range(1, len(pairs)):
            if pairs[row][0] != pairs[row - 1][0]:
                axis.axhline(row - 0.5, color="0.75", linewidth=0.7)
        axis.spines["left"].set_visible(False)
    label = "Accuracy (%), 95 % interval; each panel has its own axis"
    if dashed:
        label += "; a dashed line is the majority class"
    if starred:
        label += f"; {DAGGER} a fit did not converge"
        words += ["", f"{DAGGER} At least one fit did not converge."]
    figure.supxlabel(label, fontsize=9)
    set_title(figure, study["title"])
    return figure, "\n".join(words) + "\n"


def chosen_how(selections: Collection[str]) -> str:
    """Return the sentence that says how the hyper-parameters of compared cells were chosen."""
    if set(selections) == {"nested", "fixed"}:
        return f"{SELECTIONS['nested']} Those of rows without a choice were fixed before the run."
    return " ".join(SELECTIONS[one] for one in selections)


def shortened(name: str, most: int = 24) -> str:
    """Return a name on one line, a long one cut in the middle to ``most`` characters."""
    line = " ".join(name.split()) or repr(name)
    if len(line) <= most:
        return line
    return f"{line[: most // 2]}…{line[-(most - most // 2 - 1) :]}"


def set_title(figure: Figure, title: str) -> None:
    """Set the title of a figure, on as many lines as its width asks for."""
    width, _ = figure.get_size_inches()
    # Letters of this size are about 0.085 inches wide, capitals more.
    figure.suptitle(textwrap.fill(title, int(10.5 * width), break_on_hyphens=False), fontsize=11)


def panel_axes(
    panels: int,
    columns: int,
    size: tuple[float, float],
    margins: tuple[float, float],
    *,
    sharey: bool = False,
) -> tuple[Figure, list[Any]]:
    """Return a figure and its axes: panels of one size in rows of ``columns``, in inches."""
    columns = min(columns, panels)
    rows = math.ceil(panels / columns)
    across, down = size[0] * columns + margins[0], size[1] * rows + margins[1]
    figure = Figure(figsize=(across, down), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharey=sharey).flat
    for axis in axes[panels:]:
        axis.set_visible(False)
    return figure, list(axes[:panels])


def quieten(axis: Any, grid: Literal["x", "y", "both"]) -> None:
    """Draw a pale grid below the lines and small numbers, and no frame above and on the right."""
    axis.tick_params(axis=grid, labelsize=8)
    axis.grid(axis=grid, color="0.88", linewidth=0.7)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)


def empty_figure(words: str, title: str | None = None) -> Figure:
    """Return a figure that says why there is nothing to draw."""
    figure = Figure(figsize=(6.5, 1.2), layout="constrained")
    if title is not None:
        set_title(figure, title)
    figure.text(0.5, 0.4, words, ha="center", va="center", fontsize=9)
    return figure


def _draw_majority(axis: Any, majority: float) -> bool:
    """Write the accuracy of the majority class under a panel; draw it without widening the axis."""
    axis.set_xlabel(f"majority class {percent(majority, 1)}", fontsize=8, color="0.3")
    low, high = axis.get_xlim()
    if low <= 100 * majority <= high:
        axis.axvline(100 * majority, color="0.4", linewidth=1.0, linestyle="--", zorder=0)
        axis.set_xlim(low, high)
        return True
    return False


def _draw(axis: Any, row: int, cell: Any, place: int, which: int) -> None:
    colour = COLOURS[place % len(COLOURS)]
    middle = 100 * cell["accuracy"]
    right = middle
    if not (math.isnan(cell["low"]) or math.isnan(cell["high"])):
        right = 100 * cell["high"]
        axis.plot(
            [100 * cell["low"], right],
            [row, row],
            color=colour,
            linewidth=1.6,
            solid_capstyle="butt",
        )
    axis.plot(
        middle,
        row,
        marker=MARKERS[place % len(MARKERS)],
        markersize=6,
        color=colour,
        markerfacecolor=colour if which == 0 else "white",
        markeredgewidth=1.3,
        linestyle="none",
    )
    if not cell["converged"]:
        axis.annotate(
            DAGGER, (right, row), xytext=(3, 0), textcoords="offset points", va="center", fontsize=9
        )


def _in_words(cell: Any) -> str:
    text = percent(cell["accuracy"], 2)
    if not (math.isnan(cell["low"]) or math.isnan(cell["high"])):
        text += f" [{percent(cell['low'], 2)}, {percent(cell['high'], 2)}]"
    return text if cell["converged"] else f"{text} {DAGGER}"


def draw_figure(
    stem: str | Path, make: Callable[..., tuple[Figure, str]], *of: Any, **options: Any
) -> list[Path]:
    """Write the figure that ``make`` returns, and the same one for a phone (``narrow``)."""
    narrow, _ = make(*of, **options, narrow=True)
    return write_figure(stem, *make(*of, **options), narrow)


def write_figure(
    stem: str | Path, figure: Figure, words: str, narrow: Figure | None = None
) -> list[Path]:
    """Write ``stem``.svg, .png (200 dots an inch) and .txt, the same bytes for the same figure.

    The text file says in words what the figure shows, for readers who cannot see it. ``narrow`` is
    the same figure for a phone, written as ``stem``-narrow.svg.
    """
    stem = Path(stem)
    paths = [stem.with_name(f"{stem.name}.{form}") for form in ("svg", "png", "txt")]
    with matplotlib.rc_context({"svg.hashsalt": stem.name, "svg.fonttype": "path"}):
        with whole_file(paths[0]) as part:
            figure.savefig(part, format="svg", metadata={"Date": None, "Creator": None})
        with whole_file(paths[1]) as part:
            figure.savefig(part, format="png", dpi=200, metadata={"Software": None})
        if narrow is not None:
            paths.append(stem.with_name(f"{stem.name}-narrow.svg"))
            with whole_file(paths[-1]) as part:
                narrow.savefig(part, format="svg", metadata={"Date": None, "Creator": None})
    write_text(paths[2], words)
    return paths
