"""Intervals of macro-F1, by the bootstrap over groups of identical text."""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from textbaselines.core.seeds import seed_from
from textbaselines.evaluation.cells import MACRO_F1_RESAMPLES, MAJORITY, shows_macro_f1
from textbaselines.evaluation.metrics import ClassCounts, macro_f1
from textbaselines.evaluation.selection import RunScores, cell_predictions
from textbaselines.significance.bootstrap import (
    draws_of_kinds,
    percentile_interval,
    resampled_sums,
)

_COLUMNS = ["repeat", "fold", "id", "label", "predicted"]


def macro_f1_intervals(
    cells: Sequence[Mapping[str, Any]],
    runs: Sequence[RunScores],
    selections: pd.DataFrame,
    folder: Path,
    tested: Mapping[str, pd.DataFrame],
) -> list[dict[str, Any]]:
    """Return the cells with an interval of macro-F1 where the tables show macro-F1.

    That is for datasets of more than two classes, or with one class above 70 % of the documents
    (:func:`textbaselines.evaluation.cells.shows_macro_f1`); the other cells are unchanged.

    Parameters
    ----------
    cells, selections
        What :func:`textbaselines.evaluation.cells.cells_of_runs` returned for ``runs``.
    tested : mapping of data frames
        The test documents of each dataset: columns repeat, fold, id, label, group.
    """
    first = {one.run["dataset"]: one for one in reversed(runs)}
    shown = {name: one for name, one in first.items() if shows_macro_f1(one.scores)}
    groups = {name: tested[name].drop_duplicates("id").set_index("id")["group"] for name in shown}
    known: dict[tuple[Any, ...], tuple[float, float]] = {}
    told = []
    for cell in cells:
        dataset = cell["dataset"]
        if dataset not in shown or cell["failure"] is not None:
            told.append(dict(cell))
            continue
        # The fixed point is often the best of the grid, too.
        key = (dataset, cell["representation"], cell["method"], cell["point"])
        if not cell["point"] or key not in known:
            if cell["selection"] == MAJORITY:
                predictions = _majority_predictions(shown[dataset], tested[dataset])
            else:
                predictions = cell_predictions(folder, cell, selections, columns=_COLUMNS)
            known[key] = interval(
                predictions,
                groups[dataset],
                shown[dataset].run["classes"],
                seed_from(dataset, "macro-F1"),
            )
        low, high = known[key]
        told.append({**cell, "macro_f1_low": low, "macro_f1_high": high})
    return told


def _majority_predictions(one: RunScores, tested: pd.DataFrame) -> pd.DataFrame:
    scores = one.scores[one.scores["point"] == one.run["points"][0]["point"]]
    majority = {
        (row["repeat"], row["fold"]): one.run["classes"][int(np.argmax(row["train_by_class"]))]
        for row in scores.to_dict("records")
    }
    places = zip(tested["repeat"], tested["fold"], strict=True)
    return tested.assign(predicted=[majority[place] for place in places])


def interval(
    predictions: pd.DataFrame,
    groups: pd.Series,
    classes: Sequence[str],
    seed: int,
    resamples: int = MACRO_F1_RESAMPLES,
) -> tuple[float, float]:
    """Return the 95 % percentile interval of macro-F1; NaN where there is no prediction.

    In each resample of groups of identical text (:mod:`textbaselines.significance.bootstrap`)
    macro-F1 pools the predictions of a repeat, and is averaged over repeats.

    Parameters
    ----------
    predictions : data frame
        Columns repeat, id, label, predicted.
    groups : Series
        The group of each document, by document id.
    classes : sequence of str
        The K classes.
    """
    if predictions.empty:
        return float("nan"), float("nan")
    kinds, numbers, shape = _kinds(predictions, groups, classes)
    totals = resampled_sums(kinds, draws_of_kinds(numbers, seed, resamples))
    counts = ClassCounts(*np.moveaxis(totals.reshape(-1, *shape), 2, 0))
    return percentile_interval(macro_f1(counts).mean(axis=1))


def _kinds(
    predictions: pd.DataFrame, groups: pd.Series, classes: Sequence[str]
) -> tuple[Any, NDArray[np.int64], tuple[int, int, int]]:
    """Return the kinds of groups: their sums, a row for each kind, and how many groups are of it.

    A kind is of groups whose documents have the same labels and predictions in every repeat. The
    columns are repeats x (test, predicted, correct) x classes; the third value is their shape.
    """
    code = {name: place for place, name in enumerate(classes)}
    label = predictions["label"].map(code).to_numpy(dtype=np.int64)
    predicted = predictions["predicted"].map(code).to_numpy(dtype=np.int64)
    repeat = pd.factorize(predictions["repeat"])[0]
    group = pd.factorize(predictions["id"].map(groups))[0]
    k, n_repeats = len(classes), int(repeat.max()) + 1
    outcome = (repeat * k + label) * k + predicted
    order = np.lexsort((outcome, group))
    outcome = outcome[order]
    bounds = [0, *(np.flatnonzero(np.diff(group[order])) + 1).tolist(), len(outcome)]
    found = Counter(outcome[begin:end].tobytes() for begin, end in itertools.pairwise(bounds))
    outcomes = [np.frombuffer(kind, dtype=np.int64) for kind in found]
    row = np.repeat(np.arange(len(outcomes)), [len(one) for one in outcomes])
    of_repeat, pair = np.divmod(np.concatenate(outcomes), k * k)
    true, guess = np.divmod(pair, k)
    hit = true == guess
    begin = 3 * k * of_repeat
    columns = np.concatenate([begin + true, begin + k + guess, (begin + 2 * k + true)[hit]])
    rows = np.concatenate([row, row, row[hit]])
    ones = np.ones(len(rows), dtype=np.int64)
    sums = sparse.csr_array((ones, (rows, columns)), shape=(len(outcomes), 3 * k * n_repeats))
    return sums, np.array(list(found.values())), (n_repeats, 3, k)
