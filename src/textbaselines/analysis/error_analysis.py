"""What methods get wrong: hard documents, suspect labels, confusions, and agreement of methods.

Each method stands for itself with one cell where the study chose among its representations, so
that a method with many representations has no more votes than another.
"""

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score

from textbaselines.evaluation.reported_cells import KEY
from textbaselines.evaluation.selection import cell_predictions

LISTED = 50
"""At most so many documents of a dataset are listed; hardness.csv counts them all."""

EXCERPT = 240
"""Characters of a text, at most."""

HARD_COLUMNS = (
    "dataset",
    "id",
    "label",
    "predicted",
    "wrong_methods",
    "methods",
    "share_wrong",
    "text",
)
HARDNESS_COLUMNS = (
    "dataset",
    "wrong_methods",
    "methods",
    "documents",
    "share",
    "wrong_for",
    "wrong_for_documents",
    "wrong_for_share",
)
SUSPECT_COLUMNS = (
    "dataset",
    "id",
    "label",
    "predicted",
    "methods",
    "least_confidence_rank",
    "mean_confidence_rank",
    "same_text",
    "same_text_other_label",
    "text",
)
CONFUSION_COLUMNS = (*KEY, "label", "predicted", "predictions", "share_of_label")
AGREEMENT_COLUMNS = (
    "dataset",
    "representation_a",
    "method_a",
    "representation_b",
    "method_b",
    "predictions",
    "equal",
    "kappa",
    "both_wrong",
    "both_wrong_if_independent",
)


def excerpt(text: str) -> str:
    """Return a text on one line, cut after :data:`EXCERPT` characters."""
    line = " ".join(text.split())
    return line if len(line) <= EXCERPT else line[: EXCERPT - 1] + "…"


def predictions_of_cells(
    runs_folder: str | Path, cells: pd.DataFrame, selections: pd.DataFrame
) -> pd.DataFrame:
    """Return the test predictions of some cells of one dataset, one below the other.

    ``cells``: rows of the study's cells, none failed.

    Returns
    -------
    data frame with columns cell, repeat, fold, id, label, predicted, confidence_rank
        ``cell`` is the place of the cell. ``confidence_rank`` is the share of the predictions of
        the same model (cell, repeat, fold) whose score is no farther from the decision: scores of
        different models have different units, ranks have not.
    """
    frames = []
    for place, cell in enumerate(cells.to_dict("records")):
        frame = cell_predictions(
            Path(runs_folder), {str(name): value for name, value in cell.items()}, selections
        )
        wanted = frame[["repeat", "fold", "id", "label", "predicted"]]
        frames.append(wanted.assign(cell=place, margin=_margin(frame)))
    together = pd.concat(frames, ignore_index=True)
    ranks = together.groupby(["cell", "repeat", "fold"])["margin"].rank(method="max", pct=True)
    return together.assign(confidence_rank=ranks).drop(columns="margin")


def _margin(frame: pd.DataFrame) -> NDArray[np.float64]:
    """Return how far each score is from the decision; several classes: largest minus second."""
    if "score" in frame:
        return np.asarray(np.abs(frame["score"].to_numpy(dtype=np.float64)))
    names = [name for name in frame if str(name).startswith("score_")]
    scores = np.nan_to_num(frame[names].to_numpy(dtype=np.float64), nan=-np.inf)
    largest = np.sort(scores, axis=1)
    return np.asarray(largest[:, -1] - largest[:, -2])


def documents_by_outcome(predictions: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each document: how many cells get it wrong, how often, how surely.

    ``predictions``: what :func:`predictions_of_cells` returned.

    Returns
    -------
    data frame with columns id, label, predicted, wrong_methods, methods, share_wrong, \
    least_confidence_rank, mean_confidence_rank
        ``wrong_methods``: cells that are wrong in more than half of the repeats. ``share_wrong``:
        of all predictions, each cell with the same weight. ``predicted``: the class that most
        predictions say, the first in order of names among equals. The ranks are over cells, of
        the mean over repeats.
    """
    frame = predictions.assign(wrong=predictions["label"] != predictions["predicted"])
    by_cell = (
        frame.groupby(["id", "cell"], sort=True)
        .agg(label=("label", "first"), wrong=("wrong", "mean"), rank=("confidence_rank", "mean"))
        .reset_index()
    )
    by_cell["mostly"] = by_cell["wrong"] > 0.5
    rows = by_cell.groupby("id", sort=True).agg(
        label=("label", "first"),
        wrong_methods=("mostly", "sum"),
        methods=("cell", "size"),
        share_wrong=("wrong", "mean"),
        least_confidence_rank=("rank", "min"),
        mean_confidence_rank=("rank", "mean"),
    )
    votes = frame.groupby(["id", "predicted"], sort=True).size().reset_index(name="votes")
    votes = votes.sort_values(["id", "votes", "predicted"], ascending=[True, False, True])
    winners = votes.drop_duplicates("id").set_index("id")["predicted"]
    return rows.assign(predicted=winners).reset_index()


def hard_documents(outcomes: pd.DataFrame, corpus: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return the documents that most methods get wrong, the hardest first.

    ``outcomes``: what :func:`documents_by_outcome` returned; ``corpus``: columns id, text. Returns
    a data frame with the columns :data:`HARD_COLUMNS`, :data:`LISTED` rows at most.
    """
    hard = outcomes[2 * outcomes["wrong_methods"] > outcomes["methods"]]
    hard = hard.sort_values(
        ["wrong_methods", "share_wrong", "mean_confidence_rank", "id"],
        ascending=[False, False, False, True],
    )
    return _listed(hard, corpus, dataset, HARD_COLUMNS)


def hardness(outcomes: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return how many documents 0, 1, 2, ... methods get wrong: :data:`HARDNESS_COLUMNS`.

    ``wrong_for`` puts these numbers of methods in classes: none; some, one to half of them; most;
    all. Its documents and their share are those of the whole class.
    """
    methods = int(outcomes["methods"].max())
    numbers = np.arange(methods + 1)
    counts = np.bincount(outcomes["wrong_methods"].to_numpy(dtype=np.int64), minlength=methods + 1)
    table = pd.DataFrame(
        {
            "dataset": dataset,
            "wrong_methods": numbers,
            "methods": methods,
            "documents": counts,
            "share": counts / len(outcomes),
            "wrong_for": np.select(
                [numbers == 0, numbers == methods, 2 * numbers > methods],
                ["none", "all", "most"],
                "some",
            ),
        }
    )
    of_class = table.groupby("wrong_for")["documents"].transform("sum")
    table["wrong_for_documents"], table["wrong_for_share"] = of_class, of_class / len(outcomes)
    return table[list(HARDNESS_COLUMNS)]


def suspect_labels(outcomes: pd.DataFrame, corpus: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return documents whose label a reader should look at again, the most suspect first.

    Those that every method gets wrong in every repeat, each surer of it than of half of its
    predictions. ``same_text`` counts other documents of the same text, and
    ``same_text_other_label`` those of them with another label: there no method can be right.

    ``outcomes``: what :func:`documents_by_outcome` returned; ``corpus``: columns id, text, label,
    group. Returns a data frame with the columns :data:`SUSPECT_COLUMNS`, :data:`LISTED` rows at
    most.
    """
    suspects = outcomes[
        (outcomes["share_wrong"] == 1.0) & (outcomes["least_confidence_rank"] > 0.5)
    ].sort_values(["mean_confidence_rank", "id"], ascending=[False, True])
    of_text = corpus.groupby("group")["id"].transform("size")
    of_label = corpus.groupby(["group", "label"])["id"].transform("size")
    told = corpus.assign(same_text=of_text - 1, same_text_other_label=of_text - of_label)
    extra = told.set_index("id")[["same_text", "same_text_other_label"]]
    return _listed(suspects.join(extra, on="id"), corpus, dataset, SUSPECT_COLUMNS)


def _listed(
    rows: pd.DataFrame, corpus: pd.DataFrame, dataset: str, columns: tuple[str, ...]
) -> pd.DataFrame:
    first = rows.head(LISTED)
    texts = corpus.set_index("id")["text"].loc[first["id"]]
    text = pd.array([excerpt(one) for one in texts], dtype="str")
    return first.assign(dataset=dataset, text=text)[list(columns)].reset_index(drop=True)


def confusion_matrices(predictions: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the confusion matrix of each cell in long form: :data:`CONFUSION_COLUMNS`.

    Every pair of label and predicted class has a row, also with 0 predictions; repeats are pooled.

    ``predictions``: what :func:`predictions_of_cells` returned for these cells.
    """
    classes = sorted(set(predictions["label"]) | set(predictions["predicted"]))
    rows: list[dict[str, Any]] = []
    found = predictions.groupby(["cell", "label", "predicted"]).size().to_dict()
    for place, cell in enumerate(cells.to_dict("records")):
        for label in classes:
            line = [int(found.get((place, label, predicted), 0)) for predicted in classes]
            rows += [
                {
                    **{name: cell[name] for name in KEY},
                    "label": label,
                    "predicted": predicted,
                    "predictions": count,
                    "share_of_label": count / sum(line) if sum(line) else np.nan,
                }
                for predicted, count in zip(classes, line, strict=True)
            ]
    return pd.DataFrame(rows, columns=list(CONFUSION_COLUMNS))


def agreement(predictions: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return how far each pair of cells agrees: :data:`AGREEMENT_COLUMNS`.

    ``equal``: the share of equal predictions. ``kappa``: Cohen's (1960), which takes off the
    agreement of chance. ``both_wrong``: the share of predictions where both are wrong, beside the
    product of the two error rates, which it would be if errors were independent.

    ``predictions``: what :func:`predictions_of_cells` returned for these cells.
    """
    codes, _ = pd.factorize(pd.concat([predictions["label"], predictions["predicted"]]), sort=True)
    frame = predictions[["cell", "repeat", "fold", "id"]].assign(
        label=codes[: len(predictions)], predicted=codes[len(predictions) :]
    )
    places = ["repeat", "fold", "id"]
    by_cell: dict[Any, pd.DataFrame] = {
        place: rows.set_index(places) for place, rows in frame.groupby("cell")
    }
    named = cells.to_dict("records")
    rows = []
    for a, b in itertools.combinations(sorted(by_cell), 2):
        # Joined by repeat, fold and document id; both were tested on all of them.
        other = by_cell[b].loc[by_cell[a].index]
        first, second = by_cell[a]["predicted"].to_numpy(), other["predicted"].to_numpy()
        truth = other["label"].to_numpy()
        wrong_a, wrong_b = first != truth, second != truth
        rows.append(
            {
                "dataset": named[a]["dataset"],
                **_named(named[a], "a"),
                **_named(named[b], "b"),
                "predictions": len(truth),
                "equal": float((first == second).mean()),
                "kappa": _kappa(first, second),
                "both_wrong": float((wrong_a & wrong_b).mean()),
                "both_wrong_if_independent": float(wrong_a.mean() * wrong_b.mean()),
            }
        )
    return pd.DataFrame(rows, columns=list(AGREEMENT_COLUMNS))


def _kappa(first: Any, second: Any) -> float:
    """Return Cohen's kappa; 1 where both always say the same one class, for which it is 0 / 0."""
    if len(np.unique(np.concatenate([first, second]))) == 1:
        return 1.0
    return float(cohen_kappa_score(first, second))


def _named(cell: Mapping[Any, Any], side: str) -> dict[str, Any]:
    return {f"{name}_{side}": cell[name] for name in ("representation", "method")}
