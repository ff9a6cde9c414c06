"""Tables of a study's contrasts: per dataset, and over all datasets."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from textbaselines.reporting.tables.comparison import describe_protocols, note_mark, percent, signed
from textbaselines.reporting.tables.layout import DASH, Cell, Table
from textbaselines.significance.across_datasets import EQUIVALENCE_POINTS
from textbaselines.significance.paired_tests import LEVEL
from textbaselines.significance.verdicts import FAILED, IDENTICAL, NOT_BETTER, NOT_RUN

T_TEST = "corrected resampled t"


def contrast_table(contrasts: pd.DataFrame, study: Mapping[str, Any]) -> Table:
    """Return the contrasts by dataset: difference, interval, adjusted p, outcome.

    Parameters
    ----------
    contrasts : data frame
        What :func:`textbaselines.significance.verdicts.judge_contrasts` returned.
    study : mapping
        The study's description: title, datasets, methods, ``control``, ``contrasts`` and
        ``contrasts_declared``.
    """
    found = {(row["dataset"], row["a"], row["b"]): row for row in contrasts.to_dict("records")}
    control = study["control"]
    reasons: dict[str, str] = {}
    groups: dict[str, list[tuple[Cell, ...]]] = {}
    for a, b in study["contrasts"]:
        line = [Cell(a if control else f"{a} − {b}")]
        for dataset in study["datasets"]:
            line.append(_cell(found.get((dataset["name"], a, b)), control, reasons))
        groups.setdefault(_method(a, study), []).append(tuple(line))
    declared = study["contrasts_declared"]
    against = f"minus the control, {control}" if control else "of the two"
    tests = set(contrasts["test"].dropna())
    caption = [
        f"Difference {against}, in points of accuracy; under it the 95 % interval, and the "
        "p-value adjusted by Holm's method over the contrasts of the dataset"
        f"{', all declared before the run' if declared else ''}. Better or worse: p below "
        f"{LEVEL}; not better: no difference shown, which does not show that there is none.",
    ]
    if not declared:
        caption.append(by_default(control))
    if T_TEST in tests:
        caption.append(
            "Test and interval: corrected resampled t (Nadeau & Bengio 2003) over repeats × folds"
            + (";" if len(tests) > 1 else ".")
        )
    if tests - {T_TEST}:
        caption.append(
            "on one split: exact McNemar, interval by a bootstrap of groups of identical text."
            if T_TEST in tests
            else "Test: exact McNemar. Interval: a bootstrap of groups of identical text."
        )
    caption += [_selections(contrasts), describe_protocols(study["datasets"])]
    return Table(
        name="contrasts",
        title=f"{study['title']}: "
        + (
            f"against the {'control' if declared else 'first row'}, {control}"
            if control
            else "declared comparisons"
        ),
        caption=" ".join(part for part in caption if part),
        header=("Row" if control else "Comparison", *(d["title"] for d in study["datasets"])),
        groups=tuple(tuple(rows) for rows in groups.values()),
        notes=tuple((mark, reason) for reason, mark in reasons.items()),
        emphasis=False,
    )


def by_default(control: str | None) -> str:
    """Return the sentence for a study whose file declares no comparison."""
    return (
        "The study file declares no comparison (contrasts: null), so the first row that every "
        f"dataset has, {control}, was taken as the control by default."
    )


def across_table(across: pd.DataFrame, study: Mapping[str, Any]) -> Table:
    """Return the contrasts over all datasets: Wilcoxon's test and the Bayesian one.

    ``across``: :attr:`textbaselines.significance.across_datasets.Across.contrasts`.
    """
    reasons: dict[str, str] = {}
    groups: dict[str, list[tuple[Cell, ...]]] = {}
    # Without any test its columns would be dashes.
    columns = 8 if across["wilcoxon_p"].notna().any() else 4
    for row in across.to_dict("records"):
        note = row["note"] if isinstance(row["note"], str) else ""
        mark = (note_mark(note, reasons),) if note else ()
        tested = not math.isnan(row["wilcoxon_p"])
        met = row["datasets"] > 0
        cells = [
            Cell(f"{row['a']} − {row['b']}", marks=mark),
            Cell(f"{row['datasets']:.0f}"),
            Cell(signed(row["mean_difference_points"]) if met else DASH),
            Cell(f"{row['wins']:.0f} / {row['ties']:.0f} / {row['losses']:.0f}" if met else DASH),
            Cell(p_text(row["wilcoxon_p_holm"]) if tested else DASH),
            *(
                Cell(f"{row[name]:.3f}" if tested else DASH)
                for name in ("bayes_a_better", "bayes_equivalent", "bayes_b_better")
            ),
        ]
        groups.setdefault(_method(row["a"], study), []).append(tuple(cells[:columns]))
    return Table(
        name="across-datasets",
        title=f"{study['title']}: over all datasets",
        caption=("" if study["contrasts_declared"] else f"{by_default(study['control'])} ")
        + "Each dataset is one observation. Mean difference in points of accuracy; datasets "
        "won / tied / lost"
        + (
            "; p of Wilcoxon's signed-rank test, adjusted by Holm's method over these "
            "comparisons; posterior probabilities of the Bayesian signed-rank test (Benavoli et "
            f"al. 2017) that the first is better by more than {EQUIVALENCE_POINTS} points, that "
            "the two are practically equivalent, or that the second is better."
            if columns == 8
            else "."
        ),
        header=(
            "Comparison",
            "Datasets",
            "Mean",
            "Won / tied / lost",
            "p",
            "P(first)",
            "P(equivalent)",
            "P(second)",
        )[:columns],
        groups=tuple(tuple(rows) for rows in groups.values()),
        notes=tuple((mark, reason) for reason, mark in reasons.items()),
        emphasis=False,
    )


def rank_table(ranks: pd.DataFrame, omnibus: pd.DataFrame, study: Mapping[str, Any]) -> Table:
    """Return the average ranks over the datasets, with Friedman's test in the caption.

    ``ranks`` and ``omnibus``: of :class:`textbaselines.significance.across_datasets.Across`.
    """
    reasons: dict[str, str] = {}
    ordered = ranks.sort_values("average_rank", kind="stable", na_position="last")
    rows = []
    tested = ordered["average_rank"].notna().any()
    for row in ordered.to_dict("records"):
        note = row["note"] if isinstance(row["note"], str) else ""
        ranked = not math.isnan(row["average_rank"])
        accuracy = row["mean_accuracy"]
        rows.append(
            (
                Cell(row["row"], marks=(note_mark(note, reasons),) if note else ()),
                *([Cell(f"{row['average_rank']:.2f}" if ranked else DASH)] if tested else []),
                Cell(DASH if math.isnan(accuracy) else percent(accuracy, 2)),
                Cell(str(row["datasets"])),
            )
        )
    return Table(
        name="ranks",
        title=f"{study['title']}: " + ("average ranks" if tested else "mean accuracies"),
        caption=f"{omnibus_words(omnibus)} "
        + ("Rank 1 is the best; ties share. " if tested else "")
        + "Mean accuracy in %.",
        header=("Row", *(["Average rank"] if tested else []), "Mean accuracy", "Datasets"),
        groups=(tuple(rows),),
        notes=tuple((mark, reason) for reason, mark in reasons.items()),
        emphasis=False,
    )


def omnibus_words(omnibus: pd.DataFrame) -> str:
    """Return what the tests of all rows at once say, or why there is none, in sentences."""
    by_test = {row["test"]: row for row in omnibus.to_dict("records")}
    chi2, f, critical = (by_test[name] for name in ("Friedman", "Iman-Davenport", "Nemenyi CD"))
    if math.isnan(chi2["statistic"]):
        return f"All rows at once were {chi2['note']}."
    return (
        f"{chi2['rows']} rows on {chi2['datasets']} datasets. "
        f"Friedman: χ² = {chi2['statistic']:.2f}, df {chi2['df1']:.0f}, p {p_relation(chi2['p'])}; "
        f"Iman and Davenport: F = {f['statistic']:.2f}, df {f['df1']:.0f} and {f['df2']:.0f}, "
        f"p {p_relation(f['p'])}. Nemenyi's critical difference at {LEVEL}: "
        f"{critical['statistic']:.2f} ranks (Demsar 2006)."
    )


def p_text(p: float) -> str:
    """Return a p-value with three decimals; "<0.001" below that."""
    return "<0.001" if p < 0.0005 else f"{p:.3f}"


def p_relation(p: float) -> str:
    """Return a p-value after its sign, "= 0.012" or "< 0.001"."""
    return p_text(p).replace("<", "< ") if p < 0.0005 else f"= {p_text(p)}"


def _cell(row: Mapping[Any, Any] | None, control: str | None, reasons: dict[str, str]) -> Cell:
    if row is None or row["outcome"] == NOT_RUN:
        return Cell(DASH, marks=(note_mark("Not run in this study.", reasons),))
    if row["outcome"] == IDENTICAL:
        same = "Predicts the same class of every test document: one model, not tested."
        return Cell(DASH, marks=(note_mark(same, reasons),))
    if row["outcome"] == FAILED:
        return Cell(DASH, marks=(note_mark(f"Failed: {row['failure']}", reasons),))
    name = "t" if row["test"] == T_TEST else "bootstrap"
    low, high = (signed(row[f"{name}_{side}_points"]) for side in ("low", "high"))
    outcome = row["outcome"]
    if control and outcome == NOT_BETTER:
        outcome = "not better than the control"
    below = f"{low} to {high}\np {p_relation(row['p_holm'])}\n{outcome}"
    return Cell(signed(row["difference_points"]), below=below)


def _selections(contrasts: pd.DataFrame) -> str:
    used = set(contrasts["selection_a"].dropna()) | set(contrasts["selection_b"].dropna())
    if used == {"fixed"}:
        return "Hyper-parameters were fixed before the run."
    if used == {"nested"}:
        return "Hyper-parameters were chosen inside each training part, by inner folds."
    if not used:
        return ""
    return (
        "Hyper-parameters were chosen inside each training part by inner folds, or fixed before "
        "the run where a row has no such choice."
    )


def _method(row: str, study: Mapping[str, Any]) -> str:
    """Return the method of a row, by its name: rows of one method stand together."""
    names: Sequence[str] = [method["name"] for method in study["methods"]]
    return max((name for name in names if row.startswith(f"{name}-")), key=len, default=row)
