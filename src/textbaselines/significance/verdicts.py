"""The tests of a study's contrasts: p-values adjusted together, and an outcome for each."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from textbaselines.evaluation.twins import distinct, twins_of
from textbaselines.significance.paired_tests import LEVEL, holm
from textbaselines.significance.pairs import PAIR_COLUMNS
from textbaselines.study.contrasts import Contrast

CONTRAST_COLUMNS = (*PAIR_COLUMNS, "p_holm", "p_holm_study", "outcome", "declared")

BETTER, NOT_BETTER, WORSE, FAILED, NOT_RUN = "better", "not better", "worse", "failed", "not run"
IDENTICAL = "identical"
"""Outcomes of a contrast: a against b."""


def judge_contrasts(
    pairs: pd.DataFrame,
    contrasts: Sequence[Contrast],
    datasets: Sequence[str],
    *,
    declared: bool = True,
) -> pd.DataFrame:
    """Return every contrast on every dataset, its p-value adjusted and its outcome.

    Parameters
    ----------
    pairs : data frame
        What :func:`textbaselines.significance.pairs.compare_rows` returned for the datasets.
    datasets : sequence of str
        In the study's order.
    declared : bool
        Whether the study file declares the contrasts; otherwise they are taken by default.

    Returns
    -------
    data frame with the columns :data:`CONTRAST_COLUMNS`
        ``p_holm`` is adjusted by Holm's method over the contrasts of the dataset, ``p_holm_study``
        over those of all datasets; one that could not be tested for a failed fit counts as one
        with p = 1, and contrasts of the same two models under other names
        (:mod:`textbaselines.evaluation.twins`) count as one. ``outcome``, by ``p_holm``:
        ``better`` (a than b), ``not better``, ``worse``, ``failed``, ``not run``, or ``identical``
        for a row and its own twin, which are not tested.
    """
    found = {(row["dataset"], row["a"], row["b"]): row for row in pairs.to_dict("records")}
    rows: list[dict[Any, Any]] = []
    for dataset in datasets:
        mine: list[dict[Any, Any]] = []
        twins = twins_of(pairs[pairs["dataset"] == dataset])
        for a, b in contrasts:
            row = found.get((dataset, a, b))
            if row is None and (dataset, b, a) in found:
                row = turned(found[dataset, b, a])
            if row is None:
                row = {**dict.fromkeys(PAIR_COLUMNS, math.nan), "failure": NOT_RUN}
            compared = (dataset, distinct((a, b), twins))
            named = {"dataset": dataset, "a": a, "b": b, "declared": declared}
            mine.append({**row, **named, "compared": compared})
        _adjust(mine, "p_holm")
        for row in mine:
            row["outcome"] = _outcome(row)
        rows += mine
    _adjust(rows, "p_holm_study")
    return pd.DataFrame(rows, columns=list(CONTRAST_COLUMNS))


def _adjust(rows: Sequence[dict[Any, Any]], column: str) -> None:
    family = {
        row["compared"]: 1.0 if math.isnan(row["p"]) else row["p"]
        for row in rows
        if row["failure"] != NOT_RUN and row["identical"] is not True
    }
    adjusted = dict(zip(family, holm(list(family.values())), strict=True))
    for row in rows:
        row[column] = math.nan if math.isnan(row["p"]) else adjusted[row["compared"]]


def _outcome(row: Mapping[Any, Any]) -> str:
    if row["failure"] == NOT_RUN:
        return NOT_RUN
    if row["identical"] is True:
        return IDENTICAL
    if math.isnan(row["p"]):
        return FAILED
    if row["p_holm"] >= LEVEL:
        return NOT_BETTER
    return BETTER if row["difference_points"] > 0 else WORSE


def turned(row: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a row of pairs seen from the other side: a becomes b, differences change sign."""
    other = dict(row)
    for name in ("{}", "selection_{}", "accuracy_{}", "mcnemar_only_{}"):
        a, b = name.format("a"), name.format("b")
        other[a], other[b] = row[b], row[a]
    signed = ("difference_points", "t_mean_points", "t", "cohens_g", "standardised_difference")
    for name in signed:
        other[name] = _minus(row[name])
    for name in ("t", "bootstrap"):
        low, high = f"{name}_low_points", f"{name}_high_points"
        other[low], other[high] = _minus(row[high]), _minus(row[low])
    ratio = row["odds_ratio"]
    if not math.isnan(ratio):
        other["odds_ratio"] = math.inf if ratio == 0 else 1 / ratio
    return other


def _minus(value: float) -> float:
    return 0.0 - value  # and no minus zero
