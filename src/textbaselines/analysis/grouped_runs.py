"""What identical texts on both sides are worth: the same methods on folds that keep them together.

Beside a study's plain runs its methods are trained on grouped folds: the plain ones, in which each
repeated text stands where its first document does, or under an official split without the test
documents that stand in training. So nothing differs but the repeats; where inner folds choose,
these are the plain ones, too, with each repeated text where its first document is. The cost of the
leak is the plain accuracy less the grouped one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from logging import Logger
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textbaselines.analysis.duplicates import RESAMPLES
from textbaselines.core.seeds import seed_from
from textbaselines.evaluation.runs import Run
from textbaselines.evaluation.selection import (
    RunScores,
    cell_predictions,
    predictions_of_cell,
    read_run_scores,
    selections_of_runs,
)
from textbaselines.significance.bootstrap import accuracy_difference_interval
from textbaselines.study.class_placement import NEVER_TEST, keep_in_training
from textbaselines.study.folds import (
    LEFT_OUT,
    Protocol,
    divisions,
    draw_folds,
    standing_in_training,
)
from textbaselines.study.tasks import Task
from textbaselines.text.counts import read_counts
from textbaselines.text.tokens import read_tokens
from textbaselines.text.vocabulary import fit_vocabulary

if TYPE_CHECKING:
    from textbaselines.training.train import Trained

GROUPED_COLUMNS = (
    "dataset",
    "representation",
    "method",
    "selection",
    "predictions",
    "predictions_grouped",
    "accuracy",
    "accuracy_grouped",
    "cost_points",
    "cost_low_points",
    "cost_high_points",
)


@dataclass(frozen=True)
class GroupedTasks:
    """Tasks on the same counts.

    ``policy`` and ``min_count`` are those of their vocabularies.
    """

    counts: Path
    tokens: Path
    policy: str
    min_count: int
    tasks: Sequence[Task]


def has_repeats(corpus: pd.DataFrame, folds: pd.DataFrame) -> bool:
    """Return whether a test document's text stands in training; columns id, group of the corpus."""
    groups = corpus.set_index("id")["group"]
    return bool(standing_in_training(folds, groups)["repeated"].any())


def train_grouped(
    work: Sequence[GroupedTasks],
    corpus: pd.DataFrame,
    folds: pd.DataFrame,
    inner_folds: pd.DataFrame,
    protocol: Protocol,
    dataset: str,
    threads: int,
    log: Logger,
    max_documents: int | None = None,
) -> Iterator[Trained]:
    """Train on grouped folds.

    Parameters
    ----------
    work : sequence of GroupedTasks
    corpus : data frame
        Columns id, label, rating, split, group.
    folds, inner_folds : data frames
        The plain ones.
    protocol : Protocol
        The plain one.
    """
    # Here, for the datasets without repeats: it takes a second.
    from textbaselines.training.train import train

    groups, labels = corpus.set_index("id")["group"], corpus.set_index("id")["label"]
    if protocol.kind == "split":
        together = replace(protocol, grouped=True)
        grouped_folds = draw_folds(corpus, together, dataset, max_documents)
    else:
        grouped_folds = folds_kept_together(folds, groups, labels)
    if not any(task.chooses for part in work for task in part.tasks):
        inner_folds = inner_folds.iloc[:0]
    inner = inner_folds_kept_together(inner_folds, grouped_folds, groups, labels)
    for part in work:
        counts, tokens = read_counts(part.counts), read_tokens(part.tokens)
        vocabularies = {
            division.key: fit_vocabulary(tokens, division.training, part.policy, part.min_count)
            for division in divisions(grouped_folds, tokens.documents, inner)
        }
        yield from train(
            *(part.tasks, counts, vocabularies, grouped_folds, inner, corpus, threads, log)
        )


def compare_with_grouped(
    plain: Sequence[Run], grouped: Sequence[Run], groups: pd.Series, runs: Path
) -> pd.DataFrame:
    """Set the accuracies of grouped runs beside those of the plain ones.

    Parameters
    ----------
    plain, grouped : sequences of Run
        Of one dataset, the same tasks on both kinds of folds, in the study's order.
    groups : Series
        The group of identical text of each document, by document id.
    runs : Path
        The study's folder of plain runs.

    Returns
    -------
    data frame with the columns :data:`GROUPED_COLUMNS`
        For each task a row at its fixed point and one of what inner folds chose, and for each
        method with several representations one of their choice among all of them
        (:func:`textbaselines.evaluation.selection.selections_of_runs`), as far as the task has
        such and could be trained on both. Accuracies are fractions of all test predictions, all
        repeats pooled. The 95 % interval is a percentile bootstrap over groups of identical text,
        the fitted models taken as given (Efron & Tibshirani 1993, section 13.3).
    """
    plain_scores = [read_run_scores(run) for run in plain]
    grouped_scores = [
        RunScores(one.run, run.table("scores"), run.table("inner_scores"))
        for one, run in zip(plain_scores, grouped, strict=True)
    ]
    chosen = [selections_of_runs(side) for side in (plain_scores, grouped_scores)]
    trained = {(run.representation, run.method): run for run in grouped}
    rows = []
    for cell in _cells([run.record for run in grouped], chosen[0]):

        def read(representation: str, point: str, method: str = cell["method"]) -> pd.DataFrame:
            return trained[representation, method].table("predictions", point=point)

        before = cell_predictions(runs, cell, chosen[0])
        after = predictions_of_cell(read, cell, chosen[1])
        if before.empty or after.empty:
            continue
        seed = seed_from(*(cell[name] for name in _IDENTITY), "grouped")
        identity = {name: cell[name] for name in _IDENTITY}
        rows.append({**identity, **cost_of_leak(before, after, groups, seed)})
    return pd.DataFrame(rows, columns=list(GROUPED_COLUMNS))


_IDENTITY = GROUPED_COLUMNS[:4]


def _cells(records: Sequence[Mapping[str, Any]], chosen: pd.DataFrame) -> Iterator[dict[Any, Any]]:
    """Yield what is compared: each fixed point, and whatever nested selection chose for."""
    for record in records:
        for point in record["points"]:
            if "fixed" in point["origin"]:
                yield {
                    **{name: record[name] for name in _IDENTITY[:3]},
                    "selection": "fixed",
                    "point": point["point"],
                }
    yield from chosen[list(_IDENTITY)].drop_duplicates().to_dict("records")


def folds_kept_together(folds: pd.DataFrame, groups: pd.Series, labels: pd.Series) -> pd.DataFrame:
    """Return folds in which the documents of a group are where the first of them is.

    A class that would be lost from a training part has a text moved, and a class of one text
    always trains (:func:`textbaselines.study.class_placement.keep_in_training`).

    Parameters
    ----------
    folds : data frame
        Columns repeat, fold, id; documents that are left out stay so.
    groups, labels : Series
        The group of identical text and the class of each document, by document id.
    """
    used = folds[folds["fold"] != LEFT_OUT]
    of_text = used.groupby([used["repeat"], used["id"].map(groups)], sort=False)["fold"]
    together = folds.copy()
    together.loc[used.index, "fold"] = of_text.transform("first")
    for _, rows in together.loc[used.index].groupby("repeat"):
        together.loc[rows.index, "fold"] = _kept_in_training(rows, "fold", groups, labels)
    return together


def _kept_in_training(
    rows: pd.DataFrame, column: str, groups: pd.Series, labels: pd.Series
) -> NDArray[np.int32]:
    fold_of = rows[column].to_numpy(dtype=np.int32)
    codes = pd.factorize(rows["id"].map(labels))[0].astype(np.int64)
    units = pd.factorize(rows["id"].map(groups))[0].astype(np.int64)
    folds = sorted(set(fold_of.tolist()) - {NEVER_TEST})
    return keep_in_training(fold_of, codes, units, folds)


def inner_folds_kept_together(
    inner_folds: pd.DataFrame, grouped_folds: pd.DataFrame, groups: pd.Series, labels: pd.Series
) -> pd.DataFrame:
    """Return inner folds of grouped training documents: each group where its first one was.

    Classes are kept in training as :func:`folds_kept_together` keeps them. A group that came into
    the training part by that always trains in its inner folds, too.

    Parameters
    ----------
    inner_folds : data frame
        Columns repeat, fold, inner, id: of the plain training documents.
    grouped_folds : data frame
        Columns repeat, fold, id: what :func:`folds_kept_together` made of the plain folds.
    groups, labels : Series
        The group of identical text and the class of each document, by document id.
    """
    of_group = inner_folds.assign(group=inner_folds["id"].map(groups))
    of_group = of_group.drop_duplicates(["repeat", "fold", "group"]).drop(columns="id")
    # The first document of a group stays in its fold, so it was a training document before, unless
    # its class would have been lost.
    parts = []
    for (repeat, fold), found in of_group.groupby(["repeat", "fold"], sort=True):
        rows = grouped_folds[grouped_folds["repeat"] == repeat]
        training = rows[~rows["fold"].isin([fold, LEFT_OUT])]
        inner = training["id"].map(groups).map(found.set_index("group")["inner"])
        placed = inner.fillna(NEVER_TEST).to_numpy(dtype="int32")
        part = training[["repeat", "id"]].assign(fold=int(str(fold)), inner=placed)
        part["inner"] = _kept_in_training(part, "inner", groups, labels)
        parts.append(part)
    columns = ["repeat", "fold", "inner", "id"]
    return pd.concat(parts)[columns] if parts else inner_folds[columns]


def cost_of_leak(
    plain: pd.DataFrame, grouped: pd.DataFrame, groups: pd.Series, seed: int
) -> Mapping[str, Any]:
    """Return the columns of :data:`GROUPED_COLUMNS` from ``predictions`` on.

    Parameters
    ----------
    plain, grouped : data frames
        Predictions of one method: columns id, label, predicted.
    groups : Series
        The group of identical text of each document, by document id.
    seed : int
    """
    sums: dict[tuple[str, str], pd.Series] = {}
    accuracies = []
    for run, predictions in (("plain", plain), ("grouped", grouped)):
        correct = predictions["label"] == predictions["predicted"]
        accuracies.append(float(correct.mean()))
        of_group = correct.groupby(predictions["id"].map(groups).to_numpy())
        sums[run, "n"], sums[run, "correct"] = of_group.size(), of_group.sum()
    table = pd.DataFrame(sums).fillna(0.0).to_numpy(dtype="float64")
    low, high = accuracy_difference_interval(table, seed, RESAMPLES)
    return {
        "predictions": len(plain),
        "predictions_grouped": len(grouped),
        "accuracy": accuracies[0],
        "accuracy_grouped": accuracies[1],
        "cost_points": 100 * (accuracies[0] - accuracies[1]),
        "cost_low_points": low,
        "cost_high_points": high,
    }
