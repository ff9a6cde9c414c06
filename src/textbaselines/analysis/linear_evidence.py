"""Which n-grams decide: weights of linear models, exact to the score, and log-count ratios.

Weights are not stored with the results, so the model of a fold is fitted again, from the same
documents with the same seed, and its scores are compared with those stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from textbaselines.analysis.error_analysis import excerpt
from textbaselines.core.errors import UserError
from textbaselines.evaluation.reported_cells import KEY
from textbaselines.evaluation.selection import ACROSS
from textbaselines.models.classifier import LinearClassifier
from textbaselines.models.log_count_ratio import log_count_ratio
from textbaselines.models.matrices import presence
from textbaselines.models.naive_bayes import BernoulliNB
from textbaselines.models.registry import METHODS, fit_grid
from textbaselines.study.folds import Division, divisions
from textbaselines.text.counts import Counts
from textbaselines.text.features import fold_features
from textbaselines.text.vocabulary import Vocabulary, feature_terms
from textbaselines.training.reductions import division_seed
from textbaselines.training.train import class_codes

ERRORS_PER_CLASS = 10
"""The most confident errors listed for each true class."""

N_GRAMS_PER_ERROR = 8
N_GRAMS_PER_CLASS = 25

REST, INTERCEPT = "(all other n-grams)", "(intercept)"
"""In place of an n-gram: with these rows the contributions of a document sum to its margin."""

CONFIDENT_COLUMNS = (
    *KEY,
    "fold",
    "id",
    "label",
    "predicted",
    "margin",
    "place",
    "ngram",
    "value",
    "weight",
    "contribution",
    "text",
)
NGRAM_COLUMNS = (
    *KEY,
    "fold",
    "by",
    "class",
    "place",
    "ngram",
    "weight",
    "documents_of_class",
    "documents_of_others",
)


def explained_cell(
    cells: pd.DataFrame, runs: Mapping[tuple[str, str], Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Return the most accurate cell of one dataset whose score is a sum over n-grams.

    That is a linear classifier on a representation without reduction; the first of equals, None
    where there is none.

    ``cells``: the compared cells of the dataset.
    """
    best: dict[str, Any] | None = None
    for cell in cells.to_dict("records"):
        if cell["representation"] == ACROSS or not cell["accuracy"] >= 0:
            continue
        run = runs[cell["representation"], cell["method"]]
        linear = issubclass(METHODS[run["family"]].estimator, LinearClassifier)
        if not linear or run["reduction"] is not None:
            continue
        if best is None or cell["accuracy"] > best["accuracy"]:
            best = {str(name): value for name, value in cell.items()}
    return best


@dataclass(frozen=True)
class FoldModel:
    """A linear model of one fold, fitted again.

    Attributes
    ----------
    classes : list of str
        By class code.
    estimator : LinearClassifier
    training, test : csr_array, shapes (n_train, m) and (n_test, m)
        What the weights are multiplied with.
    test_rows : dict by document id
        The row of each test document.
    codes : int array, shape (n_train,)
        The class codes of the training documents.
    terms : list of str
        The m n-grams.
    """

    classes: list[str]
    estimator: Any
    training: sp.csr_array
    test: sp.csr_array
    test_rows: dict[str, int]
    codes: NDArray[np.int64]
    terms: list[str]

    def weights(self, code: int) -> tuple[NDArray[np.float64], float]:
        """Return the weights, shape (m,), and the intercept of a class's score."""
        known = self.estimator.classes_.tolist()
        if len(known) <= 2:
            sign = 1.0 if code == known[-1] else -1.0
            return sign * self.estimator.coef_[0], sign * float(self.estimator.intercept_[0])
        place = known.index(code)
        return self.estimator.coef_[place], float(self.estimator.intercept_[place])

    def margin_weights(self, predicted: int, label: int) -> tuple[NDArray[np.float64], float]:
        """Return weights and intercept of the margin by which ``predicted`` is preferred.

        With two classes the score of the predicted one; with more, its score minus the label's.
        """
        weights, intercept = self.weights(predicted)
        if len(self.estimator.classes_) <= 2 or label not in self.estimator.classes_:
            return weights, intercept
        other, other_intercept = self.weights(label)
        return weights - other, intercept - other_intercept


def fit_fold(
    run: Mapping[str, Any],
    params: Mapping[str, Any],
    counts: Counts,
    vocabulary: Vocabulary,
    division: Division,
    codes: NDArray[np.int64],
) -> FoldModel:
    """Fit the model of one outer fold again, as training did.

    Parameters
    ----------
    run : mapping
        The record of the run.
    params : mapping
        Of the grid point.
    vocabulary : Vocabulary
        Of the division.
    codes : int array, shape (n,)
        The class code of each document of the counts.
    """
    features = fold_features(
        counts, vocabulary, division.training, division.test, run["weighting"], run["scope"]
    )
    seed = division_seed(run["dataset"], run["family"], division)
    ((_, fitted),) = fit_grid(
        run["family"],
        features.training,
        codes[division.training],
        [params],
        positive=len(run["classes"]) - 1,
        seed=seed,
    )
    if fitted.failure is not None:
        raise UserError(
            "a model that was trained could not be fitted again",
            where=f"dataset {run['dataset']}, representation {run['representation']}, "
            f"method {run['method']}, repeat {division.repeat}, fold {division.fold}",
            found=fitted.failure,
            fix="delete the batch's folder and train again",
        )
    training, test = features.training, features.test
    if isinstance(fitted.estimator, BernoulliNB):
        training, test = presence(training), presence(test)
    rows = np.flatnonzero(division.test)
    return FoldModel(
        classes=list(reversed(run["classes"])),
        estimator=fitted.estimator,
        training=training,
        test=test,
        test_rows={counts.documents[row]: place for place, row in enumerate(rows)},
        codes=codes[division.training],
        terms=feature_terms(counts, features.columns, vocabulary),
    )


def most_confident_errors(predictions: pd.DataFrame) -> pd.DataFrame:
    """Return the errors of the first repeat whose scores are farthest from the decision.

    ``predictions``: of the explained cell: repeat, fold, id, label, predicted, confidence_rank.

    Returns
    -------
    data frame
        :data:`ERRORS_PER_CLASS` of each label at most, the most confident first.
    """
    first = predictions[predictions["repeat"] == predictions["repeat"].min()]
    wrong = first[first["label"] != first["predicted"]]
    wrong = wrong.sort_values(["label", "confidence_rank", "id"], ascending=[True, False, True])
    listed: pd.DataFrame = wrong[wrong.groupby("label").cumcount() < ERRORS_PER_CLASS]
    return listed


def explain_errors(
    errors: pd.DataFrame, model: FoldModel, texts: pd.Series, stored: pd.Series | None
) -> pd.DataFrame:
    """Return the n-grams behind some errors of one fold: weight times value, exact to the score.

    Parameters
    ----------
    errors : data frame
        Columns id, label, predicted: test documents of the model's fold.
    texts : series
        Of each document, by its id.
    stored : series or None
        The stored score of each document by its id, for two classes: of the positive one.

    Returns
    -------
    data frame with columns of :data:`CONFIDENT_COLUMNS` from ``id`` on
        For each document the n-grams that speak most for the wrong class, one row each with their
        ``place``, then :data:`REST` and :data:`INTERCEPT`; the contributions of a document sum to
        its ``margin``.

    Raises
    ------
    UserError
        When a margin is not that of the stored score: the model is not the one that was tested.
    """
    code_of = {name: code for code, name in enumerate(model.classes)}
    rows: list[dict[str, Any]] = []
    for error in errors.to_dict("records"):
        label, predicted = code_of[error["label"]], code_of[error["predicted"]]
        weights, intercept = model.margin_weights(predicted, label)
        row = model.test_rows[error["id"]]
        begin, end = model.test.indptr[row : row + 2]
        features, values = model.test.indices[begin:end], model.test.data[begin:end]
        contributions = values * weights[features]
        margin = float(contributions.sum() + intercept)
        if stored is not None:
            _check_margin(margin, float(stored[error["id"]]), error["id"])
        order = np.lexsort((features, -contributions))
        strongest = [k for k in order[:N_GRAMS_PER_ERROR] if contributions[k] > 0]
        shared = {
            **{name: error[name] for name in ("id", "label", "predicted")},
            "margin": margin,
            "text": excerpt(texts[error["id"]]),
        }
        told = [
            (model.terms[features[k]], values[k], weights[features[k]], contributions[k])
            for k in strongest
        ]
        rest = float(np.delete(contributions, strongest).sum())
        told += [(REST, np.nan, np.nan, rest), (INTERCEPT, np.nan, np.nan, intercept)]
        rows += [
            {
                **shared,
                "place": place,
                "ngram": ngram,
                "value": value,
                "weight": weight,
                "contribution": contribution,
            }
            for place, (ngram, value, weight, contribution) in enumerate(told, start=1)
        ]
    return pd.DataFrame(rows, columns=list(CONFIDENT_COLUMNS[5:]))


def _check_margin(margin: float, stored: float, document: str) -> None:
    if abs(margin - abs(stored)) > 1e-6 * max(1.0, abs(stored)):
        raise UserError(
            "a model fitted again is not the one whose predictions are stored",
            where=f"document {document}",
            found=f"score {margin!r}",
            expected=f"{abs(stored)!r}, towards the predicted class",
            fix="delete the batch's folder and train again",
        )


def strongest_ngrams(model: FoldModel) -> pd.DataFrame:
    """Return the n-grams that speak most for each class: by r, and by the model's weight w.

    r is the log-count ratio of the class against the rest, of presence in training documents with
    alpha 1 (Wang & Manning 2012, section 2.1); w the weight in the class's score.

    Returns
    -------
    data frame with columns of :data:`NGRAM_COLUMNS` from ``by`` on
        :data:`N_GRAMS_PER_CLASS` of each class and measure at most, with the training documents
        of the class and of the others that have the n-gram.
    """
    present = presence(model.training)
    rows: list[dict[str, Any]] = []
    for code in model.estimator.classes_.tolist():
        of_class = model.codes == code
        inside = np.asarray(present[of_class].sum(axis=0)).ravel()
        outside = np.asarray(present[~of_class].sum(axis=0)).ravel()
        for by, weights in (
            ("r", log_count_ratio(present, of_class)),
            ("w", model.weights(code)[0]),
        ):
            order = np.argsort(-weights, kind="stable")[:N_GRAMS_PER_CLASS]
            rows += [
                {
                    "by": by,
                    "class": model.classes[code],
                    "place": place,
                    "ngram": model.terms[k],
                    "weight": float(weights[k]),
                    "documents_of_class": int(inside[k]),
                    "documents_of_others": int(outside[k]),
                }
                for place, k in enumerate(order, start=1)
                if weights[k] > 0
            ]
    return pd.DataFrame(rows, columns=list(NGRAM_COLUMNS[5:]))


def explain_cell(
    cell: Mapping[str, Any],
    run: Mapping[str, Any],
    selections: pd.DataFrame,
    predictions: pd.DataFrame,
    counts: Counts,
    vocabularies: Mapping[tuple[int, int, int], Vocabulary],
    folds: pd.DataFrame,
    corpus: pd.DataFrame,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Explain a cell: its most confident errors, and the strongest n-grams of its first fold.

    Parameters
    ----------
    cell : mapping
        Of :func:`explained_cell`.
    run : mapping
        The record of the run.
    selections : data frame
        What nested selection chose.
    predictions : data frame
        Of the cell: repeat, fold, id, label, predicted, confidence_rank, and with two classes
        score.
    corpus : data frame
        Columns id, text, label.

    Returns
    -------
    confident_errors, ngrams : data frames
        With the columns :data:`CONFIDENT_COLUMNS` and :data:`NGRAM_COLUMNS`.
    """
    by_id = corpus.set_index("id")
    codes = class_codes(by_id["label"], counts.documents, list(run["classes"]))
    params_of = {point["point"]: point["params"] for point in run["points"]}
    points = _points_of_folds(cell, selections)
    errors = most_confident_errors(predictions)
    first = predictions["repeat"].min()
    mine = predictions[predictions["repeat"] == first].set_index("id")
    stored = mine.get("score")
    wanted = dict(iter(errors.groupby("fold")))
    explained, ngrams = [], pd.DataFrame(columns=list(NGRAM_COLUMNS))
    named = {name: cell[name] for name in KEY}
    for division in divisions(folds[folds["repeat"] == first], counts.documents):
        if division.fold not in wanted and not ngrams.empty:
            continue
        point = points.get((division.repeat, division.fold), cell["point"])
        model = fit_fold(run, params_of[point], counts, vocabularies[division.key], division, codes)
        named["fold"] = division.fold
        if ngrams.empty:
            ngrams = strongest_ngrams(model).assign(**named)[list(NGRAM_COLUMNS)]
        if division.fold in wanted:
            part = explain_errors(wanted[division.fold], model, by_id["text"], stored)
            explained.append(part.assign(**named))
    if not explained:
        return pd.DataFrame(columns=list(CONFIDENT_COLUMNS)), ngrams
    together = pd.concat(explained, ignore_index=True)
    # The most confident of each label first, in the order of the errors.
    order = {document: place for place, document in enumerate(errors["id"])}
    together["order"] = together["id"].map(order)
    together = together.sort_values(["order", "place"], ignore_index=True)
    return together[list(CONFIDENT_COLUMNS)], ngrams


def _points_of_folds(
    cell: Mapping[str, Any], selections: pd.DataFrame
) -> dict[tuple[int, int], str]:
    """Return the point that each (repeat, fold) chose; empty for a cell of fixed parameters."""
    if cell["selection"] != "nested":
        return {}
    mine = selections
    for name in ("dataset", "representation", "method"):
        mine = mine[mine[name] == cell[name]]
    rows = mine[["repeat", "fold", "point"]].to_numpy().tolist()
    return {(repeat, fold): point for repeat, fold, point in rows}
