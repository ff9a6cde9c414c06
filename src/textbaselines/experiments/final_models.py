"""Final models: which of a study's are kept, and their fit on every document that it used."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textbaselines.errors import UserError
from textbaselines.experiments.calibration import fit_slope
from textbaselines.experiments.folds import LEFT_OUT, NEVER_TEST
from textbaselines.experiments.predictions import rating_threshold
from textbaselines.experiments.training import class_codes, no_ratings
from textbaselines.models.registry import METHODS, fit_grid
from textbaselines.portable import make_model, save_failure
from textbaselines.scorers import scorer_of
from textbaselines.seeds import seed_from
from textbaselines.text.counts import Counts
from textbaselines.text.reduction import make_reduction
from textbaselines.text.tokens import Tokens
from textbaselines.text.vocabulary import fit_vocabulary, map_columns
from textbaselines.text.weighting import WEIGHTINGS

_EVALUATED = ("accuracy", "sd", "draws", "documents", "low", "high", "macro_f1", "rmse")


def fixed_cell(
    cells: pd.DataFrame, dataset: str, representation: str, method: str
) -> dict[str, Any]:
    """Return the cell of fixed hyper-parameters of one run.

    Raises
    ------
    UserError
        When the study has no such cell.
    """
    wanted = {"dataset": dataset, "representation": representation, "method": method}
    found = cells[cells["selection"] == "fixed"]
    for column, value in wanted.items():
        found = found[found[column] == value]
    if found.empty:
        raise UserError(
            "no cell of fixed hyper-parameters for a model that is to be kept",
            where=f"dataset {dataset}, representation {representation}, method {method}",
            fix="give the method a fixed point, or keep another model",
        )
    return {str(column): value for column, value in found.iloc[0].items()}


def best_cell(cells: pd.DataFrame, dataset: str) -> dict[str, Any]:
    """Return the most accurate cell of fixed hyper-parameters of a dataset.

    Where every one failed, the first of them.

    Parameters
    ----------
    cells : data frame
        The study's cells, in its order; of equal ones the first is taken.
    dataset : str

    Raises
    ------
    UserError
        When there is none.
    """
    mine = cells[(cells["selection"] == "fixed") & (cells["dataset"] == dataset)]
    if mine.empty:
        raise UserError(
            "no cell whose model could be kept",
            where=f"dataset {dataset}",
            found="no method with fixed hyper-parameters",
            fix="set keep_models: none, or give a method a fixed point",
        )
    best = mine.iloc[int(mine["accuracy"].fillna(-1.0).argmax())]
    return {str(column): value for column, value in best.items()}


def training_documents(folds: pd.DataFrame, kind: str, documents: list[str]) -> NDArray[np.bool_]:
    """Return which documents a final model is trained on, shape (n,).

    Under an official split its training documents; otherwise all that the study used.

    Parameters
    ----------
    folds : data frame
        The dataset's fold table.
    kind : str
        The protocol's kind.
    documents : list of str
        The n document ids.
    """
    first = folds[folds["repeat"] == folds["repeat"].min()]
    fold_of = first.set_index("id")["fold"].reindex(documents)
    if fold_of.isna().any():
        raise UserError(
            "a document has no fold",
            where=f"document {fold_of.index[fold_of.isna()][0]}",
            fix="delete the dataset's folds file and run again",
        )
    column = fold_of.to_numpy()
    return np.asarray(column == NEVER_TEST if kind == "split" else column != LEFT_OUT)


def calibration_table(run: Mapping[str, Any]) -> str:
    """Return the table of a run with the predictions that a calibration may be fitted to.

    Out-of-fold predictions; under an official split those of the inner folds, since its test
    documents must not be seen.
    """
    split = run["protocol"]["kind"] == "split"
    return "inner_predictions" if split else "predictions"


def store_final_model(
    folder: str | Path,
    run: Mapping[str, Any],
    cell: Mapping[str, Any],
    choice: Mapping[str, Any],
    tokens: Tokens,
    counts: Counts,
    folds: pd.DataFrame,
    corpus: pd.DataFrame,
    predictions: pd.DataFrame,
) -> str | None:
    """Fit a run's fixed point on all documents and write it as a portable model.

    Parameters
    ----------
    folder : path
        Where the model goes (see :mod:`textbaselines.portable`).
    run : mapping
        The record of the run.
    cell : mapping
        The run's cell of fixed hyper-parameters, whose numbers the model carries.
    choice : mapping
        Why this model is kept.
    tokens, counts : Tokens, Counts
        Of all documents of the dataset.
    folds : data frame
        The dataset's fold table.
    corpus : data frame
        Columns id, label and rating.
    predictions : data frame
        Of documents that did not train: :func:`calibration_table`'s. Where a method of two classes
        has no probabilities of its own, those of the fixed point turn its scores into some.

    Returns
    -------
    str or None
        Why the model could not be fitted; the folder says so too.

    Raises
    ------
    UserError
        When the files are not of one corpus.
    """
    ((point, params),) = [
        (point["point"], point["params"]) for point in run["points"] if "fixed" in point["origin"]
    ]
    training = training_documents(folds, run["protocol"]["kind"], counts.documents)
    description = _description(run, params, cell, choice, int(training.sum()))
    by_id = corpus.set_index("id")
    codes = class_codes(by_id["label"], counts.documents, run["classes"])[training]
    target: NDArray[Any] = codes
    threshold = None
    if "numeric_target" in METHODS[run["family"]].needs:
        every = by_id["rating"].loc[counts.documents].to_numpy(dtype=np.float64)
        ratings = every[training]
        reason = no_ratings(every, codes, len(run["classes"]))
        if reason is not None:
            save_failure(folder, description, reason)
            return reason
        target, threshold = ratings, rating_threshold(ratings, codes)
    vocabulary = fit_vocabulary(tokens, training, run["unk"]["policy"], run["unk"]["min_count"])
    columns = map_columns(counts, training, vocabulary, run["scope"])
    training_counts = columns.apply(counts.matrix, training)
    weighting = WEIGHTINGS[run["weighting"]]().fit(training_counts)
    features = weighting.transform(training_counts)
    reduction = None
    if run["reduction"] is not None:
        seed = seed_from(run["dataset"], "reduction", "final")
        reduction = make_reduction(run["reduction"], seed).fit(features)
        features = reduction.transform(features)
    (fitted,) = [
        point
        for _, point in fit_grid(
            run["family"],
            features,
            target,
            [params],
            positive=len(run["classes"]) - 1 if threshold is None else None,
            seed=seed_from(run["dataset"], run["family"], "final"),
        )
    ]
    if fitted.failure is not None:
        save_failure(folder, description, fitted.failure)
        return fitted.failure
    names = list(reversed(run["classes"]))
    trained = [0, 1] if threshold is not None else fitted.estimator.classes_.tolist()
    description |= {
        "classes": [names[code] for code in trained],
        "converged": fitted.converged,
        "rating_threshold": threshold,
    }
    scorer = scorer_of(fitted.estimator, threshold)
    # A fold of a dataset of more classes may have known two alone: its scores are one for each.
    if scorer.probability is None and len(trained) == len(run["classes"]) == 2:
        mine = predictions[predictions["point"] == point]
        description["calibration"] = _calibration(mine, description["classes"][1])
    if reduction is not None:
        scorer = scorer.through(reduction.directions)
    make_model(description, counts, columns, vocabulary, weighting, scorer).save(folder)
    return None


def _calibration(predictions: pd.DataFrame, positive: str) -> dict[str, Any] | None:
    """Return how scores become probabilities, or None where they say nothing of the class."""
    truth = (predictions["label"] == positive).to_numpy()
    if len(truth) == 0:
        return None
    slope = fit_slope(predictions["score"].to_numpy(dtype=np.float64), truth)
    if slope <= 0:
        return None
    return {"slope": slope, "documents": int(predictions["id"].nunique())}


def _description(
    run: Mapping[str, Any],
    params: Mapping[str, Any],
    cell: Mapping[str, Any],
    choice: Mapping[str, Any],
    n_documents: int,
) -> dict[str, Any]:
    same = ("dataset", "representation", "method", "family", "tokenizer", "ngrams", "unk")
    evaluation = {name: cell[name] for name in _EVALUATED}
    return {
        **{name: run[name] for name in (*same, "weighting", "scope", "reduction", "positive")},
        "params": dict(params),
        "choice": dict(choice),
        "training": {
            "content_digest": run["content_digest"],
            "documents": n_documents,
            "which": (
                "the official training documents"
                if run["protocol"]["kind"] == "split"
                else "all documents of the study"
            ),
        },
        "evaluation": {
            "protocol": run["protocol"],
            **{
                name: None if isinstance(value, float) and math.isnan(value) else value
                for name, value in evaluation.items()
            },
        },
    }
