"""The answer first: which row, by how much, how sure, in sentences made from the tables."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from textbaselines.experiments.pairs import compared_cells
from textbaselines.experiments.significance import LEVEL, holm
from textbaselines.experiments.verdicts import BETTER, FAILED, NOT_BETTER, WORSE
from textbaselines.reporting.contrasts import T_TEST, p_text, signed
from textbaselines.reporting.tables import percent


def row_titles(study: Mapping[str, Any]) -> dict[str, str]:
    """Return the title of each row of the tables by its name, ``<method>-<representation>``."""
    return {
        f"{method['name']}-{representation['name']}": f"{method['title']}-{representation['title']}"
        for method in study["methods"]
        for representation in study["representations"]
    }


def findings(
    cells: pd.DataFrame,
    pairs: pd.DataFrame | None,
    contrasts: pd.DataFrame | None,
    study: Mapping[str, Any],
) -> list[str]:
    """Return a few sentences for each dataset.

    The row with the highest accuracy and its interval; which rows are not shown to differ from
    it; and what the declared contrasts say.

    Parameters
    ----------
    cells : data frame
        The study's cells.
    pairs, contrasts : data frame or None
        The tables of :mod:`textbaselines.experiments.pairs` and ``verdicts``; None when the study
        has none.
    study : mapping
        The study's description.
    """
    titles = row_titles(study)
    honest = compared_cells(cells)
    honest = honest[honest["accuracy"].notna()]
    sentences = []
    for dataset in study["datasets"]:
        mine = honest[honest["dataset"] == dataset["name"]]
        if pairs is not None and len(mine) > 1:
            rows = pairs[pairs["dataset"] == dataset["name"]]
            mine = mine[mine["row"].isin({*rows["a"], *rows["b"]})]
        if mine.empty:
            continue
        best = mine.sort_values("accuracy", ascending=False, kind="stable").iloc[0]
        words = [
            f"{dataset['title']}: {titles[best['row']]} has the highest accuracy, "
            f"{percent(best['accuracy'], 1)} % (95 % interval {percent(best['low'], 1)} to "
            f"{percent(best['high'], 1)})."
        ]
        if pairs is not None and len(mine) > 1:
            words.append(_near(best["row"], rows, titles))
        if contrasts is not None:
            words.append(_declared(contrasts[contrasts["dataset"] == dataset["name"]], titles))
        sentences.append(" ".join(filter(None, words)))
    return sentences


def _near(best: str, pairs: pd.DataFrame, titles: Mapping[str, str]) -> str:
    """Say which rows are not shown to differ from the best, and which comes next."""
    against = []
    for row in pairs.to_dict("records"):
        if best in (row["a"], row["b"]) and not math.isnan(row["p"]):
            sign = 1 if row["a"] == best else -1
            name = "t" if row["test"] == T_TEST else "bootstrap"
            ends = sorted(sign * row[f"{name}_{side}_points"] for side in ("low", "high"))
            other = row["b"] if row["a"] == best else row["a"]
            against.append((sign * row["difference_points"], other, ends, row["p"]))
    if not against:
        return ""
    against.sort(key=lambda one: (one[0], one[1]))
    adjusted = dict(
        zip((one[1] for one in against), holm([one[3] for one in against]), strict=True)
    )
    lead, second, (low, high), _ = against[0]
    verdict = (
        "a difference that is not shown to be real" if adjusted[second] >= LEVEL else "a real lead"
    )
    text = (
        f"Next is {titles[second]}, {_points(lead)} behind (95 % interval of the difference "
        f"{signed(low)} to {signed(high)}, p {_relation(adjusted[second])} adjusted over the "
        f"{len(against)} rows compared with the best): {verdict}."
    )
    alike = [titles[other] for _, other, _, _ in against[1:] if adjusted[other] >= LEVEL]
    if adjusted[second] >= LEVEL and alike:
        text += f" Nor {_are(alike)} {_listed(alike)} shown to differ from it."
    return text


def _declared(contrasts: pd.DataFrame, titles: Mapping[str, str]) -> str:
    outcome: dict[str, list[Mapping[Any, Any]]] = {BETTER: [], NOT_BETTER: [], WORSE: []}
    failed = int((contrasts["outcome"] == FAILED).sum())
    for row in contrasts.to_dict("records"):
        if row["outcome"] in outcome:
            outcome[row["outcome"]].append(row)
    total = sum(map(len, outcome.values()))
    if not total:
        return ""
    controls = set(contrasts["b"])
    control = titles[next(iter(controls))] if len(controls) == 1 else None

    def name(row: Mapping[Any, Any]) -> str:
        difference = signed(row["difference_points"])
        against = "" if control else f" against {titles[row['b']]}"
        return f"{titles[row['a']]}{against} ({difference} points, p {_relation(row['p_holm'])})"

    start = (
        f"Of the {total} declared comparisons with the control, {control}, "
        if control
        else f"Of the {total} declared comparisons, "
    )
    parts = []
    for kind, words in ((BETTER, "better"), (WORSE, "worse")):
        rows = sorted(outcome[kind], key=lambda row: row["p_holm"])
        if rows:
            parts.append(f"{len(rows)} {_are(rows)} {words}: {_listed([name(r) for r in rows])}")
    count = len(outcome[NOT_BETTER])
    parts.append(
        "every one shows a difference"
        if not count
        else f"{count} {_are(outcome[NOT_BETTER])} not better, nor shown to be worse"
    )
    untested = f" {failed} more could not be tested, for a fit failed." if failed else ""
    return start + "; ".join(parts) + f".{untested}"


def _are(rows: Sequence[Any]) -> str:
    return "is" if len(rows) == 1 else "are"


def _relation(p: float) -> str:
    text = p_text(p)
    return text.replace("<", "< ") if text.startswith("<") else f"= {text}"


def _points(difference: float) -> str:
    return f"{percent(difference / 100, 2)} points"


def _listed(names: Sequence[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
