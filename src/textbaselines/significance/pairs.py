"""Every pair of rows of one dataset, compared on the same test documents."""

import hashlib
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textbaselines.core.errors import UserError
from textbaselines.core.seeds import seed_from
from textbaselines.evaluation.runs import run_of
from textbaselines.evaluation.selection import ACROSS, cell_predictions
from textbaselines.significance.bootstrap import percentile_interval, resampled_accuracies
from textbaselines.significance.paired_tests import (
    Difference,
    corrected_resampled_t,
    decisive_test,
    exact_mcnemar,
    paired_table,
)

RESAMPLES = 10_000

PAIR_COLUMNS = (
    "dataset",
    "a",
    "b",
    "selection_a",
    "selection_b",
    "accuracy_a",
    "accuracy_b",
    "difference_points",
    "documents",
    "groups",
    "repeats",
    "folds",
    "mcnemar_only_a",
    "mcnemar_only_b",
    "mcnemar_p",
    "mcnemar_approximate",
    "t_mean_points",
    "t",
    "t_df",
    "t_p",
    "t_low_points",
    "t_high_points",
    "bootstrap_low_points",
    "bootstrap_high_points",
    "cohens_g",
    "odds_ratio",
    "standardised_difference",
    "identical",
    "test",
    "p",
    "failure",
)
"""The columns of a table of pairs; docs/significance.md says what each holds."""


@dataclass(frozen=True)
class Outcomes:
    """What the rows of one dataset got right, on the same n test predictions.

    Attributes
    ----------
    dataset : str
    rows : tuple of str
        The m rows, ``<method>-<representation>``.
    selections : tuple of str
        How the hyper-parameters of each row were chosen.
    correct : array of bool, shape (n, m)
    repeat, fold : int arrays, shape (n,)
    document : int array, shape (n,)
        Codes of the documents: one that several repeats test has several predictions.
    group : int array, shape (n,)
        Codes 0..G-1 of the groups of identical text.
    train_sizes : dict by (repeat, fold)
        Training documents.
    predicted : tuple of str
        A digest of what each row predicts; without them no two rows are known to be the same.
    """

    dataset: str
    rows: tuple[str, ...]
    selections: tuple[str, ...]
    correct: NDArray[np.bool_]
    repeat: NDArray[np.int64]
    fold: NDArray[np.int64]
    document: NDArray[np.int64]
    group: NDArray[np.int64]
    train_sizes: dict[tuple[int, int], int]
    predicted: tuple[str, ...] = ()


def read_outcomes(
    runs: Path, cells: pd.DataFrame, selections: pd.DataFrame, groups: pd.Series
) -> Outcomes:
    """Read what the rows of one dataset got right.

    ``cells``: of :func:`textbaselines.evaluation.selection.compared_cells`, of one dataset, none
    failed; ``groups``: the group of identical text of each document, by document id. Raises
    :class:`UserError` when two rows were not tested on the same documents of the same folds, or a
    document is not of the corpus.
    """
    shared: pd.DataFrame | None = None
    columns, predicted = [], []
    for cell in cells.to_dict("records"):
        predictions = cell_predictions(runs, cell, selections)
        mine = predictions[_TOLD].sort_values(["repeat", "fold", "id"], ignore_index=True)
        if shared is None:
            shared = mine
        elif not mine[_SAME].equals(shared[_SAME]):
            raise UserError(
                "two rows to compare were not tested on the same documents",
                where=f"dataset {cell['dataset']}",
                found=f"{cells.iloc[0]['row']} with {len(shared)} predictions, {cell['row']} with "
                f"{len(mine)}, or of other documents, folds or labels",
                fix="train both again from the dataset's folds",
            )
        columns.append((mine["label"] == mine["predicted"]).to_numpy())
        predicted.append(_digest(mine["predicted"]))
    assert shared is not None
    unknown = ~shared["id"].isin(groups.index)
    if unknown.any():
        raise UserError(
            "a predicted document that is not in the corpus",
            where=f"dataset {cells.iloc[0]['dataset']}",
            found=shared["id"][unknown].iloc[0],
            fix="delete the dataset's folds and runs and run again",
        )
    return Outcomes(
        dataset=str(cells.iloc[0]["dataset"]),
        rows=tuple(cells["row"]),
        selections=tuple(cells["selection"]),
        correct=np.column_stack(columns),
        repeat=shared["repeat"].to_numpy(dtype=np.int64),
        fold=shared["fold"].to_numpy(dtype=np.int64),
        document=pd.factorize(shared["id"])[0],
        group=pd.factorize(groups.loc[shared["id"]])[0],
        train_sizes=_train_sizes(runs, cells.iloc[0].to_dict(), selections),
        predicted=tuple(predicted),
    )


def _digest(predicted: pd.Series) -> str:
    codes = pd.util.hash_array(predicted.to_numpy(dtype=object), categorize=True)
    return hashlib.sha256(codes.tobytes()).hexdigest()


_SAME = ["repeat", "fold", "id", "label"]
_TOLD = [*_SAME, "predicted"]


def _train_sizes(
    runs: Path, cell: Mapping[Any, Any], selections: pd.DataFrame
) -> dict[tuple[int, int], int]:
    """Return the training documents of each (repeat, fold), which all rows of a dataset share."""
    representation = cell["representation"]
    if representation == ACROSS:
        of_dataset = selections[selections["dataset"] == cell["dataset"]]
        of_method = of_dataset[of_dataset["method"] == cell["method"]]
        representation = of_method["chosen_representation"].iloc[0]
    scores = run_of(runs, cell["dataset"], representation, cell["method"]).table("scores")
    return {
        (int(row["repeat"]), int(row["fold"])): int(row["n_train"])
        for row in scores.drop_duplicates(["repeat", "fold"]).to_dict("records")
    }


def compare_rows(
    outcomes: Outcomes, failures: Sequence[tuple[str, str, str]] = (), resamples: int = RESAMPLES
) -> pd.DataFrame:
    """Return every pair of rows of a dataset with every test and effect size.

    ``failures``: rows without predictions: their pairs stand in the table with the reason and no
    number.

    Returns
    -------
    data frame with the columns :data:`PAIR_COLUMNS`
        The pairs in the order of the rows, those of failed ones last.
    """
    by_fold = _FoldAccuracies(outcomes)
    seed = seed_from(outcomes.dataset, "bootstrap")
    replicates = resampled_accuracies(outcomes.correct, outcomes.group, seed, resamples)
    rows = [
        {
            "dataset": outcomes.dataset,
            **_sides(outcomes, a, b),
            **_numbers(outcomes, by_fold, a, b),
            **_bootstrap(replicates[:, a] - replicates[:, b]),
            "identical": False,
            "failure": None,
        }
        | (_UNTESTED if _same(outcomes, a, b) else {})
        for a, b in itertools.combinations(range(len(outcomes.rows)), 2)
    ]
    ran = list(zip(outcomes.rows, outcomes.selections, strict=True))
    reasons = {row: reason for row, _, reason in failures}
    failed = [(row, selection) for row, selection, _ in failures]
    for (a, how_a), (b, how_b) in itertools.combinations([*ran, *failed], 2):
        told = [f"{name}: {reasons[name]}" for name in (a, b) if name in reasons]
        if told:
            named = {"a": a, "b": b, "selection_a": how_a, "selection_b": how_b}
            rows.append({"dataset": outcomes.dataset, **named})
            rows[-1] |= {"identical": False, "failure": "; ".join(told)}
    return pd.DataFrame(rows, columns=list(PAIR_COLUMNS))


def _same(outcomes: Outcomes, a: int, b: int) -> bool:
    return bool(outcomes.predicted) and outcomes.predicted[a] == outcomes.predicted[b]


# What is left out of the pair of a row and its twin: there is nothing to test.
_UNTESTED = {
    "identical": True,
    "test": None,
    **dict.fromkeys(("p", "mcnemar_p", "t", "t_df", "t_p"), math.nan),
    **dict.fromkeys(("t_low_points", "t_high_points"), math.nan),
    **dict.fromkeys(("bootstrap_low_points", "bootstrap_high_points"), math.nan),
}


class _FoldAccuracies:
    """Accuracies of every row by repeat and by (repeat, fold), and the sizes of the folds."""

    def __init__(self, outcomes: Outcomes) -> None:
        self.repeats = np.unique(outcomes.repeat)
        keys = sorted(outcomes.train_sizes)
        place = {key: index for index, key in enumerate(keys)}
        mine = zip(outcomes.repeat.tolist(), outcomes.fold.tolist(), strict=True)
        codes = np.array([place[key] for key in mine])
        self.test_sizes = np.bincount(codes, minlength=len(keys))
        self.train_sizes = np.array([outcomes.train_sizes[key] for key in keys])
        columns = outcomes.correct.shape[1]
        counts = [
            np.bincount(codes, weights=outcomes.correct[:, column], minlength=len(keys))
            for column in range(columns)
        ]
        self.by_fold = np.column_stack(counts) / self.test_sizes[:, None]
        within = [outcomes.repeat == repeat for repeat in self.repeats]
        self.by_repeat = np.array([outcomes.correct[mask].mean(axis=0) for mask in within])
        self.masks = within


def _sides(outcomes: Outcomes, a: int, b: int) -> dict[str, Any]:
    return {
        "a": outcomes.rows[a],
        "b": outcomes.rows[b],
        "selection_a": outcomes.selections[a],
        "selection_b": outcomes.selections[b],
    }


def _numbers(outcomes: Outcomes, by_fold: _FoldAccuracies, a: int, b: int) -> dict[str, Any]:
    right_a, right_b = outcomes.correct[:, a], outcomes.correct[:, b]
    differences = by_fold.by_fold[:, a] - by_fold.by_fold[:, b]
    sizes = (by_fold.train_sizes, by_fold.test_sizes)
    by_repeat = [exact_mcnemar(right_a[mask], right_b[mask]) for mask in by_fold.masks]
    discordant = paired_table(right_a, right_b)
    only_a, only_b = int(discordant[0, 1]), int(discordant[1, 0])
    repeats, folds = len(by_fold.repeats), len(differences)
    decisive = decisive_test(differences, *sizes, lambda: (right_a, right_b))
    accuracy_a, accuracy_b = by_fold.by_repeat[:, a].mean(), by_fold.by_repeat[:, b].mean()
    return {
        "accuracy_a": accuracy_a,
        "accuracy_b": accuracy_b,
        "difference_points": 100 * (accuracy_a - accuracy_b),
        "documents": int(outcomes.document.max()) + 1,
        "groups": int(outcomes.group.max()) + 1,
        "repeats": repeats,
        "folds": folds // repeats,
        "mcnemar_only_a": only_a / repeats,
        "mcnemar_only_b": only_b / repeats,
        "mcnemar_p": float(np.median([test.p for test in by_repeat])),
        "mcnemar_approximate": folds > 1,
        **_resampled_t(corrected_resampled_t(differences, *sizes) if folds > 1 else None),
        **_effect_sizes(outcomes, right_a, right_b, only_a, only_b),
        "test": decisive.test,
        "p": decisive.p,
    }


def _resampled_t(found: Difference | None) -> dict[str, float]:
    names = ("t_mean_points", "t", "t_df", "t_p", "t_low_points", "t_high_points")
    if found is None:
        return dict.fromkeys(names, math.nan)
    low, high = found.interval()
    if found.error:
        t = found.mean / found.error
    else:
        t = 0.0 if found.p == 1.0 else math.copysign(math.inf, found.mean)
    values = (100 * found.mean, t, found.df, found.p, 100 * low, 100 * high)
    return dict(zip(names, values, strict=True))


def _bootstrap(replicates: NDArray[np.float64]) -> dict[str, float]:
    low, high = percentile_interval(replicates)
    return {"bootstrap_low_points": 100 * low, "bootstrap_high_points": 100 * high}


def _effect_sizes(
    outcomes: Outcomes,
    right_a: NDArray[np.bool_],
    right_b: NDArray[np.bool_],
    only_a: int,
    only_b: int,
) -> dict[str, float]:
    """Return Cohen's g, the odds ratio, and the standardised difference per document."""
    discordant = only_a + only_b
    nothing = {"cohens_g": 0.0, "odds_ratio": math.nan, "standardised_difference": 0.0}
    if discordant == 0:
        return nothing
    signs = right_a.astype(np.float64) - right_b
    tested = np.bincount(outcomes.document)
    means = np.bincount(outcomes.document, weights=signs) / tested
    spread = float(means.std(ddof=1)) if len(means) > 1 else 0.0
    return {
        "cohens_g": only_a / discordant - 0.5,
        "odds_ratio": only_a / only_b if only_b else math.inf,
        "standardised_difference": float(means.mean()) / spread if spread else math.nan,
    }


def compare_dataset(
    runs: Path,
    cells: pd.DataFrame,
    selections: pd.DataFrame,
    groups: pd.Series,
    resamples: int = RESAMPLES,
) -> pd.DataFrame:
    """Return every pair of rows of one dataset: :func:`read_outcomes`, :func:`compare_rows`.

    ``cells`` may have failed ones, and be empty; the other parameters are as there.
    """
    good = cells[cells["accuracy"].notna()]
    bad = cells[cells["accuracy"].isna()]
    failures = list(bad[["row", "selection", "failure"]].itertuples(index=False, name=None))
    if good.empty:
        return pd.DataFrame(columns=list(PAIR_COLUMNS))
    return compare_rows(read_outcomes(runs, good, selections, groups), failures, resamples)
