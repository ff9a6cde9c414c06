"""The answer: which row, by how much and how sure, in sentences made from the tables."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from textbaselines.evaluation.selection import compared_cells
from textbaselines.evaluation.twins import distinct, joined, twins_of
from textbaselines.reporting.report.titles import row_titles
from textbaselines.reporting.tables.comparison import percent, signed
from textbaselines.reporting.tables.contrast_tables import T_TEST, p_relation
from textbaselines.significance.paired_tests import LEVEL, holm
from textbaselines.significance.verdicts import BETTER, FAILED, NOT_BETTER, WORSE


def headline(cells: pd.DataFrame, pairs: pd.DataFrame | None, study: Mapping[str, Any]) -> str:
    """Return the shortest answer: which rows lead on how many datasets, and how many leads hold.

    Parameters
    ----------
    cells, pairs, study
        As for :func:`findings`. Empty when no row has a result.
    """
    titles = row_titles(study)
    best = _best_rows(cells, pairs, study)
    if not best:
        return ""
    counts = Counter(
        joined(row["row"], _twins(pairs, dataset), titles) for dataset, row in best.items()
    )
    datasets = "dataset" if len(best) == 1 else "datasets"
    parts = [f"{row} on {count}" for row, count in counts.most_common()]
    text = f"The highest accuracy is that of {_listed(parts)} of {len(best)} {datasets}."
    if pairs is None:
        return text
    compared = [
        rows
        for dataset, row in best.items()
        if (rows := _behind(row["row"], pairs[pairs["dataset"] == dataset]))
    ]
    real = sum(rows[0].p < LEVEL for rows in compared)
    if compared:
        text += (
            f" The lead over the next row is shown to be real on {real or 'none'} of "
            f"{len(compared)}."
        )
    return text


def findings(
    cells: pd.DataFrame,
    pairs: pd.DataFrame | None,
    contrasts: pd.DataFrame | None,
    study: Mapping[str, Any],
) -> list[str]:
    """Return a few sentences for each dataset.

    The row with the highest accuracy and its interval; which rows are not shown to differ from
    it; and what the contrasts say.

    Parameters
    ----------
    cells : data frame
        The study's cells.
    pairs, contrasts : data frame or None
        The tables of :mod:`textbaselines.significance.pairs` and ``verdicts``; None when the study
        has none.
    """
    titles = row_titles(study)
    sentences = []
    for dataset in study["datasets"]:
        best = _best_rows(cells, pairs, study).get(dataset["name"])
        if best is None:
            continue
        twins = _twins(pairs, dataset["name"])
        words = [
            f"{dataset['title']}: {joined(best['row'], twins, titles)} has the highest accuracy, "
            f"{percent(best['accuracy'], 1)} % (95 % interval {percent(best['low'], 1)} to "
            f"{percent(best['high'], 1)})."
        ]
        if pairs is not None:
            mine = pairs[pairs["dataset"] == dataset["name"]]
            words.append(_near(_behind(best["row"], mine), twins, titles))
        if contrasts is not None:
            mine = contrasts[contrasts["dataset"] == dataset["name"]]
            words.append(_compared(mine, twins, titles, declared=study["contrasts_declared"]))
        sentences.append(" ".join(filter(None, words)))
    return sentences


def _twins(pairs: pd.DataFrame | None, dataset: str) -> dict[str, tuple[str, ...]]:
    return {} if pairs is None else twins_of(pairs[pairs["dataset"] == dataset])


def _best_rows(
    cells: pd.DataFrame, pairs: pd.DataFrame | None, study: Mapping[str, Any]
) -> dict[str, Mapping[Any, Any]]:
    """Return the cell with the highest accuracy of each dataset, by the dataset's name."""
    honest = compared_cells(cells)
    honest = honest[honest["accuracy"].notna()]
    best = {}
    for dataset in study["datasets"]:
        mine = honest[honest["dataset"] == dataset["name"]]
        if pairs is not None and len(mine) > 1:
            rows = pairs[pairs["dataset"] == dataset["name"]]
            mine = mine[mine["row"].isin({*rows["a"], *rows["b"]})]
        if not mine.empty:
            ordered = mine.sort_values("accuracy", ascending=False, kind="stable")
            best[dataset["name"]] = ordered.iloc[0].to_dict()
    return best


@dataclass(frozen=True)
class _Behind:
    """A row behind the best: by how many points, the interval of that, and its adjusted p."""

    row: str
    points: float
    low: float
    high: float
    p: float


def _behind(best: str, pairs: pd.DataFrame) -> list[_Behind]:
    """Return the rows compared with the best, the nearest first; p by Holm over all of them.

    Of rows with the same predictions the first stands for all.
    """
    found = []
    twins = twins_of(pairs)
    for row in pairs.to_dict("records"):
        if best in (row["a"], row["b"]) and not math.isnan(row["p"]):
            other = row["b"] if row["a"] == best else row["a"]
            if other != twins.get(other, (other,))[0]:
                continue
            sign = 1 if row["a"] == best else -1
            name = "t" if row["test"] == T_TEST else "bootstrap"
            low, high = sorted(sign * row[f"{name}_{side}_points"] for side in ("low", "high"))
            found.append(_Behind(other, sign * row["difference_points"], low, high, row["p"]))
    found.sort(key=lambda one: (one.points, one.row))
    adjusted = holm([one.p for one in found])
    return [replace(one, p=float(p)) for one, p in zip(found, adjusted, strict=True)]


def _near(
    behind: Sequence[_Behind], twins: Mapping[str, Sequence[str]], titles: Mapping[str, str]
) -> str:
    """Say which rows are not shown to differ from the best, and which comes next."""
    if not behind:
        return ""
    second, *others = behind
    unproven = second.p >= LEVEL
    verdict = "a difference that is not shown to be real" if unproven else "a real lead"
    start = f"Next is {joined(second.row, twins, titles)}, {_points(second.points)} behind"
    if not second.points:
        verdict, start = "no difference", f"{joined(second.row, twins, titles)} is as accurate"
    text = (
        f"{start} (95 % interval of the difference {signed(second.low)} to {signed(second.high)}, "
        f"p {p_relation(second.p)} adjusted over the {len(behind)} "
        f"row{'s' * (len(behind) != 1)} compared with the best): "
        f"{verdict}."
    )
    alike = [joined(one.row, twins, titles) for one in others if one.p >= LEVEL]
    if unproven and len(alike) == len(others) > 3:
        text += " Nor is any other row shown to differ from it."
    elif unproven and alike:
        text += f" Nor {_are(alike)} {_listed(alike)} shown to differ from it."
    return text


def _compared(
    contrasts: pd.DataFrame,
    twins: Mapping[str, Sequence[str]],
    titles: Mapping[str, str],
    *,
    declared: bool,
) -> str:
    """Say what the contrasts of one dataset show, and whether the study file declares them."""
    models = [distinct(pair, twins) for pair in zip(contrasts["a"], contrasts["b"], strict=True)]
    contrasts = contrasts[~pd.Series(models, index=contrasts.index, dtype=object).duplicated()]
    outcome: dict[str, list[Mapping[Any, Any]]] = {BETTER: [], NOT_BETTER: [], WORSE: []}
    failed = int((contrasts["outcome"] == FAILED).sum())
    for row in contrasts.to_dict("records"):
        if row["outcome"] in outcome:
            outcome[row["outcome"]].append(row)
    total = sum(map(len, outcome.values()))
    if not total:
        return ""
    controls = set(contrasts["b"])
    control = joined(next(iter(controls)), twins, titles) if len(controls) == 1 else None

    def name(row: Mapping[Any, Any]) -> str:
        numbers = f"{signed(row['difference_points'])} points, p {p_relation(row['p_holm'])}"
        against = "" if control else f" against {joined(row['b'], twins, titles)}"
        return f"{joined(row['a'], twins, titles)}{against} ({numbers})"

    comparisons = f"comparison{'s' * (total != 1)}"
    if not declared:
        start = (
            f"Of the {total} {comparisons} with {control} (the first row, the control by default), "
        )
    elif control:
        start = f"Of the {total} declared {comparisons} with the control, {control}, "
    else:
        start = f"Of the {total} declared {comparisons}, "
    parts = []
    for kind, words in ((BETTER, "better"), (WORSE, "worse")):
        rows = sorted(outcome[kind], key=lambda row: row["p_holm"])
        if rows:
            parts.append(f"{len(rows)} {_are(rows)} {words}: {_listed([name(r) for r in rows])}")
    count = len(outcome[NOT_BETTER])
    parts.append(
        "every one shows a difference"
        if not count
        else f"{count} {_are(outcome[NOT_BETTER])} not shown to be better or worse"
    )
    untested = f" {failed} more could not be tested, because a fit failed." if failed else ""
    return start + "; ".join(parts) + f".{untested}"


def _are(rows: Sequence[Any]) -> str:
    return "is" if len(rows) == 1 else "are"


def _points(difference: float) -> str:
    return f"{percent(difference / 100, 2)} points"


def _listed(names: Sequence[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
