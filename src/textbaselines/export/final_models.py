"""Final models: which of a study's are kept, and their fit on every document that it used."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textbaselines.analysis.calibration import (
    confidence_error,
    fit_inverse_temperature,
    fit_slope,
)
from textbaselines.core.errors import UserError
from textbaselines.core.seeds import seed_from
from textbaselines.evaluation.metrics import log_loss
from textbaselines.export.portable import make_model, save_failure
from textbaselines.export.scorers import scorer_of, softmax_of
from textbaselines.models.registry import METHODS, fit_grid
from textbaselines.study.class_placement import NEVER_TEST
from textbaselines.study.folds import LEFT_OUT
from textbaselines.text.counts import Counts
from textbaselines.text.reduction import make_reduction
from textbaselines.text.tokens import Tokens
from textbaselines.text.vocabulary import fit_vocabulary, map_columns
from textbaselines.text.weighting import WEIGHTINGS
from textbaselines.training.predictions import class_order, rating_threshold
from textbaselines.training.train import class_codes, no_ratings

_EVALUATED = ("accuracy", "sd", "draws", "documents", "low", "high", "macro_f1", "rmse")


def fixed_cell(
    cells: pd.DataFrame, dataset: str, representation: str, method: str
) -> dict[str, Any]:
    """Return the cell of fixed hyper-parameters of one run.

    Raises :class:`UserError` when the study has no such cell.
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

    ``cells``: the study's cells, in its order; of equal ones the first is taken. Raises
    :class:`UserError` when there is none.
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

    ``kind``: the protocol's kind.
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
        Where the model goes (see :mod:`textbaselines.export.portable`).
    run : mapping
        The record of the run.
    cell : mapping
        The run's cell of fixed hyper-parameters, whose numbers the model carries.
    choice : mapping
        Why this model is kept.
    corpus : data frame
        Columns id, label and rating.
    predictions : data frame
        Of documents that did not train: :func:`calibration_table`'s. Those of the fixed point say
        by what the scores are multiplied to become calibrated probabilities.

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
    frequency = np.bincount(codes, minlength=len(names))
    trained = np.flatnonzero(frequency).tolist()
    order = class_order(frequency[trained], run["ties"])
    description |= {
        "classes": [names[code] for code in trained],
        "tie_order": [names[trained[place]] for place in order],
        "converged": fitted.converged,
        "rating_threshold": threshold,
    }
    scorer = scorer_of(fitted.estimator, threshold)
    # Scores of folds that knew other classes than the model are of another size.
    if len(trained) == len(names) > 1:
        mine = predictions[predictions["point"] == point]
        description["calibration"] = _calibration(mine, names)
    if reduction is not None:
        scorer = scorer.through(reduction.directions)
    make_model(description, counts, columns, vocabulary, weighting, scorer).save(folder)
    return None


def _calibration(predictions: pd.DataFrame, names: list[str]) -> dict[str, Any] | None:
    """Return how scores become calibrated probabilities; None without predictions.

    Parameters
    ----------
    predictions : data frame
        Of one point, of documents that did not train. A document whose class its fold did not know
        is left out.
    names : list of str
        The classes by their codes.

    Returns
    -------
    dict
        ``slope``, by which scores are multiplied before the softmax; how many ``documents`` and
        ``predictions`` it was fitted to; and for these ``log_loss`` (nats) and
        ``calibration_error``, each of the method's ``own`` probabilities (None where it has none)
        and of the ``calibrated`` ones.
    """
    codes = pd.Index(names).get_indexer(pd.Index(predictions["label"])).astype(np.int64)
    if len(names) == 2:
        scores = predictions["score"].to_numpy(dtype=np.float64)
        columns = np.column_stack([np.zeros(len(scores)), scores])
    else:
        columns = _columns(predictions, "score", names)
    known = ~np.isnan(columns[np.arange(len(codes)), codes])
    if not known.any():
        return None
    predictions, codes, columns = predictions[known], codes[known], columns[known]
    if len(names) == 2:
        slope = max(0.0, fit_slope(columns[:, 1], codes == 1))
    else:
        slope = fit_inverse_temperature(columns, codes)
    weights = np.where(np.isnan(columns), -np.inf, slope * columns)
    found = {"own": _own_probabilities(predictions, names), "calibrated": softmax_of(weights)}
    return {
        "slope": slope,
        "documents": int(predictions["id"].nunique()),
        "predictions": len(predictions),
        "log_loss": {
            name: None if values is None else log_loss(codes, values)
            for name, values in found.items()
        },
        "calibration_error": {
            name: None if values is None else confidence_error(values, codes)
            for name, values in found.items()
        },
    }


def _own_probabilities(predictions: pd.DataFrame, names: list[str]) -> NDArray[np.float64] | None:
    """Return the method's probabilities by code, shape (n, classes), or None where it has none."""
    if len(names) == 2:
        if "probability" not in predictions:
            return None
        positive = predictions["probability"].to_numpy(dtype=np.float64)
        found = np.column_stack([1 - positive, positive])
    elif f"probability_{names[0]}" not in predictions:
        return None
    else:
        found = _columns(predictions, "probability", names)
    return None if np.isnan(found).any() else found


def _columns(predictions: pd.DataFrame, what: str, names: list[str]) -> NDArray[np.float64]:
    columns = [f"{what}_{name}" for name in names]
    return predictions[columns].to_numpy(dtype=np.float64)


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
