"""Confusion matrices of datasets with more than two classes, as heat maps."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PatchCollection
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from textbaselines.reporting.figures.accuracy import empty_figure, set_title, shortened
from textbaselines.reporting.tables.comparison import percent

FEWEST_CLASSES = 3
"""Datasets with fewer classes have no heat map: their four numbers stand in a table."""

# Narrow steps where most confusions are.
_STEPS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
_WITH_NUMBERS = 12  # classes, at most, for numbers in the cells
_MOST_PAIRS = 20


def confusion_of_best(confusion: pd.DataFrame) -> pd.DataFrame:
    """Return the confusion matrices of the cell of each dataset that is right most often.

    ``confusion``: what :func:`textbaselines.analysis.error_analysis.confusion_matrices`
    returned, of all datasets.
    """
    parts = []
    for _, of_dataset in confusion.groupby("dataset", sort=False):
        cells = of_dataset.groupby(["method", "representation", "selection"], sort=False)
        right = {
            cell: group.loc[group["label"] == group["predicted"], "predictions"].sum()
            / group["predictions"].sum()
            for cell, group in cells
        }
        parts.append(cells.get_group(max(right, key=lambda cell: right[cell])))
    return pd.concat(parts) if parts else confusion


def has_many_classes(confusion: pd.DataFrame) -> pd.Series:
    """Return for each row whether its dataset has at least :data:`FEWEST_CLASSES` classes."""
    many: pd.Series = confusion.groupby("dataset")["label"].transform("nunique") >= FEWEST_CLASSES
    return many


def most_confused(confusion: pd.DataFrame) -> pd.DataFrame:
    """Return what is taken for what, the most frequent errors of each dataset first."""
    wrong = confusion[
        (confusion["label"] != confusion["predicted"]) & (confusion["predictions"] > 0)
    ]
    place = {name: at for at, name in enumerate(confusion["dataset"].unique())}
    ordered = wrong.assign(place=wrong["dataset"].map(place)).sort_values(
        ["place", "predictions", "share_of_label"], ascending=[True, False, False], kind="stable"
    )
    return ordered.drop(columns="place")


def confusion_figure(
    confusion: pd.DataFrame,
    study: Mapping[str, Any],
    *,
    narrow: bool = False,
) -> tuple[Figure, str]:
    """Return a heat map for each dataset with more than two classes, and the same in words.

    Each row of a map is a label and sums to 1; the classes are in the order of the dataset's file.

    ``study``: the study's description: ``title`` and ``datasets`` with their ``classes``;
    ``narrow``: the scale of the shares below the maps, for a phone.
    """
    title = f"{study['title']}: what is taken for what"
    words = [title, "Share of each label that is predicted as each class, in %."]
    best = confusion_of_best(confusion)
    panels = []
    for dataset in study["datasets"]:
        name = dataset["name"]
        mine = best[best["dataset"] == name]
        if not mine.empty and len(dataset["classes"]) >= FEWEST_CLASSES:
            first = mine.iloc[0]
            head = f"{dataset['title']}: {first['method']}-{first['representation']}"
            panels.append((head, list(dataset["classes"]), mine))
            words += ["", f"{head}:", *_in_words(mine)]
    if not panels:
        words.append("No dataset with more than two classes has a result.")
        return empty_figure(words[-1]), "\n".join(words) + "\n"
    sides = [_side(len(names)) for _, names, _ in panels]
    width, height = max(sides) + 2.6, sum(sides) + 1.9 * len(sides)
    if narrow:
        width, height = max(sides) + 1.3, height + 0.8
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(len(panels), 1, squeeze=False, height_ratios=sides)[:, 0]
    norm = BoundaryNorm(_STEPS, len(_STEPS) - 1)
    shades = matplotlib.colormaps["Blues"](np.linspace(0.12, 0.95, len(_STEPS) - 1))
    colours = ListedColormap(shades)
    for axis, (head, names, mine) in zip(axes, panels, strict=True):
        shares = _matrix(mine, names)
        _draw(axis, shares, colours, norm)
        labels = [shortened(name) for name in names]
        size = 9 if len(names) <= _WITH_NUMBERS else 7
        axis.set_xticks(range(len(names)), labels, rotation=90, fontsize=size)
        axis.set_yticks(range(len(names)), labels, fontsize=size)
        axis.set_title(head, fontsize=10, loc="left", fontweight="bold")
        axis.set_xlabel("Predicted", fontsize=9)
        axis.set_ylabel("Label", fontsize=9)
    bar = figure.colorbar(
        ScalarMappable(norm, colours),
        ax=axes.tolist(),
        location="bottom" if narrow else "right",
        spacing="uniform",
        shrink=0.9 if narrow else 0.6,
        aspect=25,
    )
    bar.set_label("Share of the label (%)", fontsize=9)
    bar.set_ticks(list(_STEPS), labels=[f"{100 * step:.0f}" for step in _STEPS])
    bar.ax.tick_params(labelsize=8)
    set_title(figure, title)
    return figure, "\n".join(words) + "\n"


def _side(classes: int) -> float:
    """Return the inches of the side of a map."""
    return max(2.4, classes * (0.4 if classes <= _WITH_NUMBERS else 0.155))


def _matrix(confusion: pd.DataFrame, names: Sequence[str]) -> NDArray[np.float64]:
    wide = confusion.pivot(index="label", columns="predicted", values="share_of_label")
    return wide.reindex(index=list(names), columns=list(names)).to_numpy(dtype=np.float64)


def _draw(axis: Any, shares: NDArray[np.float64], colours: Any, norm: Any) -> None:
    # Squares, and only where there is something: a picture of pixels would not stay sharp.
    places = np.argwhere(shares > 0)
    squares = PatchCollection(
        [Rectangle((column - 0.5, row - 0.5), 1, 1) for row, column in places],
        cmap=colours,
        norm=norm,
        linewidth=0,
    )
    squares.set_array(shares[shares > 0])
    axis.add_collection(squares)
    n = len(shares)
    axis.set_xlim(-0.5, n - 0.5)
    axis.set_ylim(n - 0.5, -0.5)
    axis.set_aspect("equal")
    axis.tick_params(length=0)
    for edge in np.arange(0.5, n - 1):
        axis.axhline(edge, color="0.9", linewidth=0.4, zorder=0)
        axis.axvline(edge, color="0.9", linewidth=0.4, zorder=0)
    if n <= _WITH_NUMBERS:
        for row, column in places:
            share = shares[row, column]
            colour = "white" if share >= 0.4 else "black"
            text = f"{100 * share:.0f}" if share >= 0.005 else "<1"
            axis.text(column, row, text, ha="center", va="center", fontsize=8, color=colour)


def _in_words(mine: pd.DataFrame) -> list[str]:
    own = mine[mine["label"] == mine["predicted"]]
    lines = [
        f"  {label}: {'no document' if math.isnan(share) else f'{percent(share, 1)} right'}"
        for label, share in zip(own["label"], own["share_of_label"], strict=True)
    ]
    wrong = most_confused(mine).head(_MOST_PAIRS)
    return lines + [
        f"  {row['label']} as {row['predicted']}: {percent(row['share_of_label'], 1)} "
        f"({row['predictions']} predictions)"
        for row in wrong.to_dict("records")
    ]
