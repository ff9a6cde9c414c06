"""What is behind the accuracies: training size, probabilities and document length."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from textbaselines.reporting.report.blocks import (
    Block,
    Prose,
    Results,
    Section,
    Sheet,
    Source,
    absent,
    picture_of,
    sheet_of_frame,
)
from textbaselines.reporting.report.formats import (
    as_count,
    as_interval,
    as_percent,
    as_points,
    three_decimals,
)
from textbaselines.reporting.report.titles import named

_KINDS = ("own", "platt", "isotonic")
_CELL = ["dataset", "representation", "method", "selection"]
_MOST_ROWS = 60


def learning_curves(results: Results, study: Mapping[str, Any]) -> Section:
    """Return the section of the learning curves."""
    title = "More documents"
    source = Source("analysis/learning_curves.csv", "analyse")
    blocks: list[Block] = picture_of(
        results,
        "figures/learning-curves",
        "learning-curves",
        "Accuracy against the number of training documents. Each smaller training set is "
        "contained in every larger one, and all methods are trained on the same documents.",
        source,
    )
    crossings = results.table("analysis/crossings.csv")
    if crossings is None:
        return Section(
            "learning-curves",
            title,
            absent="This study has no learning curves (key learning_curves of the study file).",
        )
    curves = results.table("analysis/learning_curves.csv")
    if curves is not None and not curves["accuracy"].notna().any():
        failed = "; ".join(curves["failure"].dropna().unique())
        return Section("learning-curves", title, absent=f"No point has a result: {failed}.")
    if len(crossings):
        blocks.append(
            sheet_of_frame(
                named(crossings, study),
                {
                    "dataset_title": ("Dataset", None),
                    "generative": ("Generative", None),
                    "discriminative": ("Discriminative", None),
                    "crossing": ("Crossing, documents", as_count),
                    "low": ("95 % from", as_count),
                    "high": ("to", as_count),
                    "verdict": ("In words", None),
                },
                name="crossings",
                title="Generative against discriminative",
                caption="The crossing is where the mean difference over the folds last changes its "
                "sign (Ng & Jordan 2002 expect the discriminative method to be ahead in the end). "
                "The interval resamples folds. They share training documents, so it is too "
                "narrow.",
                sources=(Source("analysis/crossings.csv", "analyse"),),
                of_each=_of_each(study),
            )
        )
    return Section("learning-curves", title, tuple(blocks))


def calibration(results: Results, study: Mapping[str, Any]) -> Section:
    """Return the section of the calibration, before and after Platt's and isotonic."""
    title = "Are the probabilities right?"
    table = results.table("analysis/calibration.csv")
    if table is None:
        return absent("calibration", title, "analysis/calibration.csv")
    source = Source("analysis/calibration.csv", "calibrate")
    with_numbers = named(table[table["ece"].notna()], study)
    if with_numbers.empty:
        why = "; ".join(table["reason"].dropna().unique())
        return Section("calibration", title, absent=f"No probabilities to measure: {why}.")
    by_length = results.table("analysis/calibration_by_length.csv")
    by_source = Source("analysis/calibration_by_length.csv", "calibrate")
    own = None if by_length is None else _own(named(by_length, study))
    blocks: list[Block] = [
        *picture_of(
            results,
            "figures/reliability",
            "reliability",
            _reliability_words(with_numbers),
            *(Source(f"analysis/{one}.csv", "calibrate") for one in ("reliability", "calibration")),
        ),
    ]
    if own is not None and not own.empty:
        blocks += picture_of(
            results,
            "figures/calibration-by-length",
            "calibration-by-length",
            "Confidence minus accuracy by document length, in fifths of the documents.",
            by_source,
        )
    blocks.append(_calibration_sheet(with_numbers, study, source))
    if own is not None and not own.empty:
        blocks.append(_by_length(own, study, by_source))
    else:
        none = (
            "Over-confidence by document length is left out: no method of this study has "
            "probabilities of its own."
        )
        blocks.append(Prose((none,), (by_source,)))
    return Section("calibration", title, tuple(blocks))


def _reliability_words(table: pd.DataFrame) -> str:
    """Return the caption of the reliability diagrams, by the numbers of classes."""
    two = "the share of positive documents against the predicted probability"
    more = "how often the predicted class is right against its predicted probability"
    many = set(table["n_classes"] > 2)
    if many == {True}:
        return f"Reliability: {more}."
    if many == {False}:
        return f"Reliability: {two}."
    return f"Reliability. Two classes: {two}. More: {more}."


def _own(by_length: pd.DataFrame) -> pd.DataFrame:
    return by_length[(by_length["calibration"] == "own") & by_length["overconfidence"].notna()]


def _calibration_sheet(table: pd.DataFrame, study: Mapping[str, Any], source: Source) -> Sheet:
    """Return a row for each cell: its numbers before and after each calibration."""
    rows = []
    for _, cell in table.groupby(_CELL, sort=False):
        row = dict(cell.iloc[0][["dataset", "dataset_title", "row"]])
        for one in cell.to_dict("records"):
            kind = one["calibration"]
            interval = f"{as_percent(one['ece_low'])}–{as_percent(one['ece_high'])}"
            row[f"ece_{kind}"] = f"{as_percent(one['ece'])} ({interval})"
            row |= {f"{name}_{kind}": one[name] for name in ("brier", "log_loss")}
            if kind == "own":
                row["overconfidence"] = one["overconfidence"]
        rows.append(row)
    columns = [f"{name}_{kind}" for name in ("ece", "brier", "log_loss") for kind in _KINDS]
    frame = pd.DataFrame(rows)
    frame = frame.reindex(columns=[*frame.columns[:3], "overconfidence", *columns])
    heads = {
        "row": ("Row", None),
        "dataset_title": ("Dataset", None),
        "overconfidence": ("Over-confident, points", as_points),
        "ece_own": ("ECE %, own", str),
        "ece_platt": ("ECE %, Platt", str),
        "ece_isotonic": ("ECE %, isotonic", str),
        "brier_own": ("Brier, own", three_decimals),
        "brier_platt": ("Brier, Platt", three_decimals),
        "brier_isotonic": ("Brier, isotonic", three_decimals),
        "log_loss_own": ("Log-loss, own", three_decimals),
        "log_loss_platt": ("Log-loss, Platt", three_decimals),
        "log_loss_isotonic": ("Log-loss, isotonic", three_decimals),
    }
    # A calibration that no row has is no column of dashes.
    there = {name: head for name, head in heads.items() if frame[name].notna().any()}
    return sheet_of_frame(
        frame,
        there,
        name="calibration-table",
        title="Before and after calibration",
        caption="ECE: expected calibration error, 15 bins of equal mass, with its 95 % interval. "
        "Over-confident: mean probability of the predicted class minus accuracy. Log-loss in nats. "
        "Own: the method's own probabilities, which the SVMs lack. Platt's and isotonic "
        "calibration are fitted on inner folds. More than two classes: probabilities of the most "
        "probable class (top-label calibration: Guo et al. 2017), Brier score from 0 to 2 as the "
        "sum over classes (Brier 1950), each class calibrated against the rest.",
        sources=(source,),
        of_each=_of_each(study),
    )


def _by_length(own: pd.DataFrame, study: Mapping[str, Any], source: Source) -> Sheet:
    """Return how over-confident the methods are on the shortest and on the longest documents."""
    rows = []
    for _, cell in own.groupby(_CELL, sort=False):
        ordered = cell.sort_values("part", kind="stable")
        row = dict(ordered.iloc[0][["dataset", "dataset_title", "row"]])
        for name, part in (("short", ordered.iloc[0]), ("long", ordered.iloc[-1])):
            row[f"{name}_tokens"] = f"{part['tokens_from']:.0f}–{part['tokens_to']:.0f}"
            row[name] = part["overconfidence"]
            low, high = part["overconfidence_low"], part["overconfidence_high"]
            row[f"{name}_between"] = as_interval(low, high)
        rows.append(row)
    return sheet_of_frame(
        pd.DataFrame(rows),
        {
            "row": ("Row", None),
            "dataset_title": ("Dataset", None),
            "short_tokens": ("Shortest, tokens", str),
            "short": ("Over-confident, points", as_points),
            "short_between": ("95 % interval", str),
            "long_tokens": ("Longest, tokens", str),
            "long": ("Over-confident, points", as_points),
            "long_between": ("95 % interval", str),
        },
        name="overconfidence",
        title="Over-confidence on the shortest and on the longest documents",
        caption="Mean confidence minus accuracy, for the methods' own probabilities, on the "
        "shortest and the longest fifth of the documents. Naive Bayes takes words as independent, "
        "so its confidence grows with length whether or not its accuracy does.",
        sources=(source,),
        of_each=_of_each(study),
    )


def _of_each(study: Mapping[str, Any]) -> int:
    """Return how many rows of each dataset a table may show."""
    return max(6, _MOST_ROWS // max(1, len(study["datasets"])))


def lengths(results: Results, study: Mapping[str, Any]) -> Section:
    """Return the section of accuracy by document length."""
    file = "analysis/accuracy_by_length.csv"
    figure = picture_of(
        results,
        "figures/accuracy-by-length",
        "lengths",
        "Accuracy by document length, in fifths of the documents, with 95 % intervals.",
        Source(file, "analyse"),
    )
    table = results.table(file)
    if not figure or table is None:
        return absent("lengths", "Does length matter?", file)
    if table.empty:
        none = "No row of this study has a result."
        return Section("lengths", "Does length matter?", absent=none)
    return Section("lengths", "Does length matter?", tuple(figure))
