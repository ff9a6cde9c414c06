"""The critical-difference diagram: average ranks, rows that do not differ joined (Demsar 2006)."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import scikit_posthocs
from matplotlib.figure import Figure

from textbaselines.reporting.figures.accuracy import empty_figure
from textbaselines.reporting.tables.contrast_tables import omnibus_words
from textbaselines.significance.paired_tests import LEVEL

_WIDTH = 7.0  # inches
_LINE = 0.19  # inches for a label, or a bar


def critical_difference_figure(
    ranks: pd.DataFrame,
    nemenyi: pd.DataFrame,
    omnibus: pd.DataFrame,
    study: Mapping[str, Any],
    *,
    narrow: bool = False,
) -> tuple[Figure, str]:
    """Return the diagram of Nemenyi's test and the same in words.

    It is black on white: position and lines alone carry the meaning. Where nothing was tested the
    figure says why.

    ``ranks``, ``nemenyi`` and ``omnibus``: of
    :class:`textbaselines.significance.across_datasets.Across`.
    """
    width, size = (3.9, 7) if narrow else (_WIDTH, 9)
    ranked = ranks.dropna(subset="average_rank").sort_values("average_rank", kind="stable")
    summary = omnibus_words(omnibus)
    words = [f"{study['title']}: average ranks over the datasets, 1 the best.", summary]
    if ranked.empty:
        return empty_figure(f"No diagram: {summary}"), "\n".join(words) + "\n"
    names = [str(name) for name in ranked["row"]]
    p = _matrix(nemenyi, names)
    average = pd.Series(ranked["average_rank"].to_numpy(), index=names)
    critical = omnibus["statistic"][omnibus["test"] == "Nemenyi CD"].item()
    figure = Figure(figsize=(width, 1.0), layout="constrained")
    axis = figure.subplots()
    scikit_posthocs.critical_difference_diagram(
        average,
        p,
        alpha=LEVEL,
        ax=axis,
        color_palette=["black"] * len(average),
        label_fmt_left="{label} {rank:.2f}",
        label_fmt_right="{rank:.2f} {label}",
        label_props={"fontsize": size},
        marker_props={"s": 12},
        elbow_props={"linewidth": 0.9},
        crossbar_props={"color": "black", "linewidth": 2.5},
    )
    axis.tick_params(labelsize=8)
    # Above the numbers of the axis, where the library would draw over them.
    best = ranked["average_rank"].iloc[0]
    axis.plot([best, best + critical], [1.9, 1.9], color="black", linewidth=2.5, marker="|")
    axis.text(best + critical / 2, 2.2, f"CD = {critical:.2f}", ha="center", fontsize=9)
    axis.set_ylim(top=3.0)
    bottom, top = axis.get_ylim()
    figure.set_size_inches(width, 0.5 + _LINE * (top - bottom))
    alike = p >= LEVEL
    words += ["", "Row: average rank; rows that do not differ from it."]
    for name in names:
        same = [other for other in names if other != name and alike.at[name, other]]
        words.append(f"  {name}: {average[name]:.2f}; {', '.join(same) if same else 'none'}")
    return figure, "\n".join(words) + "\n"


def _matrix(nemenyi: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    p = pd.DataFrame(1.0, index=names, columns=names)
    for a, b, value in nemenyi[["a", "b", "p"]].itertuples(index=False):
        p.loc[a, b] = p.loc[b, a] = value
    return p
