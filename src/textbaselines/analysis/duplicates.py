"""What repeated texts are worth: accuracy on test documents that stand word by word in training."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from textbaselines.core.result_paths import Results
from textbaselines.core.seeds import seed_from
from textbaselines.datasets.corpus import read_corpus
from textbaselines.evaluation.selection import cell_predictions, compared_cells
from textbaselines.significance.bootstrap import accuracy_difference_interval
from textbaselines.study.folds import read_folds, standing_in_training

LEAK_COLUMNS = (
    "dataset",
    "representation",
    "method",
    "selection",
    "predictions",
    "repeated",
    "share_repeated",
    "accuracy_all",
    "accuracy_repeated",
    "accuracy_new",
    "cost_points",
    "cost_low_points",
    "cost_high_points",
)
RESAMPLES = 2_000


def leak_of_predictions(
    predictions: pd.DataFrame, tested: pd.DataFrame, seed: int
) -> dict[str, float]:
    """Return what the repeated texts are worth to one row of the tables.

    The cost of the leak is accuracy on all test documents less accuracy on the new ones, those
    whose text no training document of their fold has. It is an observation, not an experiment:
    texts that repeat are other texts than those that do not. Its 95 % interval is a percentile
    bootstrap over groups of identical text, the fitted models taken as given (Efron & Tibshirani
    1993, section 13.3).

    ``predictions``: columns repeat, fold, id, label, predicted; ``tested``: what
    :func:`textbaselines.study.folds.standing_in_training` returned.

    Returns
    -------
    dict
        The columns of :data:`LEAK_COLUMNS` from ``predictions`` on; NaN where there is no
        repeated document, or no new one.
    """
    rows = predictions.merge(tested, on=["repeat", "fold", "id"], validate="one_to_one")
    if len(rows) != len(predictions):
        raise ValueError("a prediction is of no test document")
    correct = (rows["label"] == rows["predicted"]).to_numpy()
    repeated = rows["repeated"].to_numpy()
    accuracy_all = float(correct.mean())
    none = {"accuracy_repeated": math.nan, "accuracy_new": math.nan}
    leak = {
        "predictions": len(rows),
        "repeated": int(repeated.sum()),
        "share_repeated": float(repeated.mean()),
        "accuracy_all": accuracy_all,
        **none,
        "cost_points": math.nan,
        "cost_low_points": math.nan,
        "cost_high_points": math.nan,
    }
    if repeated.any():
        leak["accuracy_repeated"] = float(correct[repeated].mean())
    if not repeated.all():
        leak["accuracy_new"] = float(correct[~repeated].mean())
    if repeated.any() and not repeated.all():
        leak["cost_points"] = 100 * (accuracy_all - leak["accuracy_new"])
        counts = pd.DataFrame(
            {
                "n": np.ones(len(rows)),
                "correct": correct.astype(np.float64),
                "n_new": (~repeated).astype(np.float64),
                "correct_new": (correct & ~repeated).astype(np.float64),
            }
        )
        sums = counts.groupby(rows["group"].to_numpy()).sum().to_numpy()
        low, high = accuracy_difference_interval(sums, seed, RESAMPLES)
        leak["cost_low_points"], leak["cost_high_points"] = low, high
    return leak


def leaks_of_study(
    results: Path, study: Mapping[str, Any], cells: pd.DataFrame, selections: pd.DataFrame
) -> pd.DataFrame:
    """Return the cost of the leak of every row on every dataset that has repeats across folds.

    ``results``: the folder of results: ``corpora``, ``folds`` and ``runs`` are read.

    Returns
    -------
    data frame with the columns :data:`LEAK_COLUMNS`
        Accuracies are fractions of all test predictions (all repeats pooled), the cost is in
        points. No rows for a dataset none of whose test texts stands in training, nor for a cell
        that failed.
    """
    of_study = Results(results).study(study["name"])
    rows = []
    honest = compared_cells(cells)
    for dataset in (entry["name"] for entry in study["datasets"]):
        corpus = read_corpus(of_study.results.corpus(dataset), ["id", "group"])
        folds = read_folds(of_study.folds(dataset))
        tested = standing_in_training(folds, corpus.set_index("id")["group"])
        if not tested["repeated"].any():
            continue
        mine = honest[(honest["dataset"] == dataset) & honest["accuracy"].notna()]
        for cell in mine.to_dict("records"):
            predictions = cell_predictions(of_study.runs, cell, selections)
            identity = {key: cell[key] for key in LEAK_COLUMNS[:4]}
            seed = seed_from(*identity.values(), "leak")
            rows.append({**identity, **leak_of_predictions(predictions, tested, seed)})
    return pd.DataFrame(rows, columns=list(LEAK_COLUMNS))
