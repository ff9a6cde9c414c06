"""Figures of calibration and of accuracy by length, each with the same in words.

Except for over-confidence a method has one line where the study chose among its representations;
all cells stand in the CSV files.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from textbaselines.evaluation.reported_cells import cells_of_methods
from textbaselines.evaluation.selection import ACROSS
from textbaselines.reporting.figures.line_panels import Line, Panel, panel_figure
from textbaselines.reporting.tables.comparison import percent

_CALIBRATIONS = {
    "own": "own probabilities",
    "platt": "Platt's sigmoid",
    "isotonic": "isotonic regression",
}
_NO_PROBABILITIES = "No cell of this study has probabilities to measure."
_NO_OWN = "No method of this study has probabilities of its own."


def reliability_figure(
    reliability: pd.DataFrame,
    calibration: pd.DataFrame,
    study: Mapping[str, Any],
    *,
    narrow: bool = False,
) -> tuple[Figure, str]:
    """Return reliability diagrams, a panel for each dataset and calibration, and words.

    ``reliability`` and ``calibration``: what
    :func:`textbaselines.analysis.calibration.calibrate_cells` returned.
    """
    title = f"{study['title']}: are probabilities what they say?"
    words = [
        f"{title}",
        "Expected calibration error (15 bins of equal mass) with its 95 % bootstrap interval, "
        "and mean confidence minus accuracy, in points.",
    ]
    panels = []
    for dataset in study["datasets"]:
        mine = calibration[calibration["dataset"] == dataset["name"]]
        for kind, told in _CALIBRATIONS.items():
            rows = cells_of_methods(mine[(mine["calibration"] == kind) & mine["ece"].notna()])
            lines = []
            for row in rows.to_dict("records"):
                name = _name(row)
                curve = _of_cell(reliability, row, "calibration")
                lines.append(
                    Line(
                        name,
                        curve["mean_probability"].tolist(),
                        curve["share_positive"].tolist(),
                        curve["low"].tolist(),
                        curve["high"].tolist(),
                    )
                )
                words.append(
                    f"{dataset['title']}, {told}, {name}: ECE {percent(row['ece'], 1)} "
                    f"[{percent(row['ece_low'], 1)}, {percent(row['ece_high'], 1)}], "
                    f"confidence minus accuracy {100 * row['overconfidence']:+.1f}"
                )
            if lines:
                panels.append(Panel(f"{dataset['title']}: {told}", lines))
    if not panels:
        words.append(_NO_PROBABILITIES)
    across, up = axes_of_reliability(calibration)
    figure = panel_figure(
        title,
        panels,
        across,
        up,
        nothing=_NO_PROBABILITIES,
        columns=1 if narrow else 3,
        diagonal=True,
    )
    return figure, "\n".join(words) + "\n"


def axes_of_reliability(calibration: pd.DataFrame) -> tuple[str, str]:
    """Return what a reliability diagram shows across and up, by the numbers of classes."""
    many = set(calibration["n_classes"] > 2)
    if many == {True}:
        return "Mean probability of the predicted class", "Share of right predictions"
    if True in many:
        return "Mean probability of the class", "Share of documents of the class"
    return "Mean probability of the positive class", "Share of positive documents"


def overconfidence_figure(
    by_length: pd.DataFrame, study: Mapping[str, Any], *, narrow: bool = False
) -> tuple[Figure, str]:
    """Return confidence minus accuracy by document length, of methods' own probabilities.

    ``by_length``: what :func:`textbaselines.analysis.calibration.calibrate_cells` returned.
    """
    points = ("overconfidence", "overconfidence_low", "overconfidence_high")
    title = f"{study['title']}: over-confidence by document length"
    words = [
        title,
        "Mean confidence minus accuracy in points, with 95 % bootstrap intervals, of the methods' "
        "own probabilities, by fifths of the test documents in tokens.",
    ]
    # Weightings change confidence, so a line that mixes them would hide what this shows.
    own = by_length[(by_length["calibration"] == "own") & (by_length["representation"] != ACROSS)]
    panels = _length_panels(own, study, points, words, signed=True)
    if not panels:
        words.append(_NO_OWN)
    figure = panel_figure(
        title,
        panels,
        "Tokens of the document",
        "Mean confidence minus accuracy (points)",
        nothing=_NO_OWN,
        columns=1 if narrow else _columns(panels),
        zero=True,
    )
    return figure, "\n".join(words) + "\n"


def length_figure(
    lengths: pd.DataFrame, study: Mapping[str, Any], *, narrow: bool = False
) -> tuple[Figure, str]:
    """Return accuracy by document length, one panel per dataset, and the same in words.

    ``lengths``: with the columns :data:`textbaselines.analysis.lengths.LENGTH_COLUMNS`.
    """
    title = f"{study['title']}: accuracy by document length"
    words = [
        title,
        "Accuracy in % with Wilson's 95 % interval, by fifths of the test documents in tokens.",
    ]
    panels = _length_panels(lengths, study, ("accuracy", "low", "high"), words, signed=False)
    figure = panel_figure(
        title,
        panels,
        "Tokens of the document",
        "Accuracy (%), 95 % interval",
        nothing="No cell of this study has a result.",
        columns=1 if narrow else _columns(panels),
    )
    return figure, "\n".join(words) + "\n"


def _length_panels(
    rows: pd.DataFrame,
    study: Mapping[str, Any],
    columns: tuple[str, str, str],
    words: list[str],
    *,
    signed: bool,
) -> list[Panel]:
    """Return the panels of the datasets that have rows, and tell every line in ``words``."""
    panels = []
    for dataset in study["datasets"]:
        mine = cells_of_methods(rows[rows["dataset"] == dataset["name"]])
        if mine.empty:
            continue
        groups = list(mine.groupby(["method", "representation"], sort=False))
        lines = []
        for place, (_, line) in enumerate(groups):
            # Lines of one part stand beside each other, not on each other.
            shift = (place - (len(groups) - 1) / 2) * min(0.08, 0.6 / len(groups))
            name = _name(line.to_dict("records")[0])
            middle, low, high = ((100 * line[column]).tolist() for column in columns)
            lines.append(Line(name, (line["part"] + shift).tolist(), middle, low, high))
            told = ", ".join(
                f"{span}: {y:{'+' if signed else ''}.1f} [{a:.1f}, {b:.1f}]"
                for span, y, a, b in zip(_spans(line), middle, low, high, strict=True)
            )
            words.append(f"{dataset['title']}, {name}: {told}")
        panels.append(Panel(dataset["title"], lines, _spans(groups[0][1])))
    return panels


def _columns(panels: list[Panel]) -> int:
    return 2 if len(panels) in (2, 4) else 3


def _spans(line: pd.DataFrame) -> list[str]:
    pairs = zip(line["tokens_from"], line["tokens_to"], strict=True)
    return [f"{first}–{last}" if first != last else f"{first}" for first, last in pairs]


def _name(row: Mapping[Any, Any]) -> str:
    return f"{row['method']}-{row['representation']}"


def _of_cell(table: pd.DataFrame, row: Mapping[Any, Any], *others: str) -> pd.DataFrame:
    mine = table
    for column in ("dataset", "representation", "method", *others):
        mine = mine[mine[column] == row[column]]
    return mine
