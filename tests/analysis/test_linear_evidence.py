"""Weights explain scores exactly; r by hand; a model that is not the tested one is refused."""

import math

import numpy as np
import pandas as pd
import pytest

from textbaselines.analysis import linear_evidence as evidence
from textbaselines.core.errors import UserError
from textbaselines.study.folds import OUTER, Division
from textbaselines.text.counts import count_ngrams
from textbaselines.text.tokens import encode
from textbaselines.text.vocabulary import fit_vocabulary

TEXTS = {
    "a": "good good film",
    "b": "good story",
    "c": "bad film",
    "d": "bad bad story film",
    "e": "good film but bad",
    "f": "bad but good unseen",
}
LABELS = {"a": "pos", "b": "pos", "c": "neg", "d": "neg", "e": "neg", "f": "pos"}


def fold_model(family: str, params: dict, weighting: str, classes=("pos", "neg"), labels=LABELS):
    tokens = encode(list(TEXTS), [text.split() for text in TEXTS.values()])
    counts = count_ngrams(tokens, 1, 2)
    training = np.array([True, True, True, True, False, False])
    division = Division(0, 0, OUTER, training, ~training)
    codes = np.array([list(reversed(classes)).index(labels[name]) for name in TEXTS])
    run = {
        "dataset": "x",
        "representation": "bi",
        "method": "M",
        "family": family,
        "weighting": weighting,
        "scope": "training",
        "classes": list(classes),
    }
    vocabulary = fit_vocabulary(tokens, training, "drop", 1)
    return evidence.fit_fold(run, params, counts, vocabulary, division, codes)


@pytest.mark.parametrize(
    ("family", "params"),
    [
        ("mnb", {"alpha": 1.0}),
        ("bnb", {"alpha": 1.0}),
        ("svm", {"C": 1.0, "bias": 1.0}),
        ("nbsvm", {"alpha": 1.0, "C": 1.0, "beta": 0.25}),
        ("lr", {"C": 1.0}),
    ],
)
@pytest.mark.parametrize("weighting", ["binary", "count", "tfidf"])
def test_contributions_sum_to_the_score(family: str, params: dict, weighting: str) -> None:
    model = fold_model(family, params, weighting)
    scores = pd.Series(model.estimator.decision_function(model.test), index=["e", "f"])
    predicted = ["pos" if score > 0 else "neg" for score in scores]
    errors = pd.DataFrame({"id": ["e", "f"], "label": "pos", "predicted": predicted})
    table = evidence.explain_errors(errors, model, pd.Series(TEXTS), scores)
    for document, rows in table.groupby("id"):
        assert rows["contribution"].sum() == pytest.approx(abs(scores[document]), abs=1e-12)
        assert rows["margin"].iloc[0] == pytest.approx(abs(scores[document]))
        assert rows["ngram"].tolist()[-2:] == [evidence.REST, evidence.INTERCEPT]
        told = rows.iloc[:-2]
        np.testing.assert_allclose(told["contribution"], told["value"] * told["weight"])
        # Each listed n-gram stands in the text.
        assert all(ngram in TEXTS[document] for ngram in told["ngram"])


def test_another_model_than_the_tested_one_is_refused() -> None:
    model = fold_model("mnb", {"alpha": 1.0}, "binary")
    errors = pd.DataFrame({"id": ["e"], "label": ["neg"], "predicted": ["pos"]})
    with pytest.raises(UserError, match="not the one whose predictions are stored"):
        evidence.explain_errors(errors, model, pd.Series(TEXTS), pd.Series({"e": 0.123}))


def test_strongest_ngrams_by_hand() -> None:
    model = fold_model("mnb", {"alpha": 1.0}, "binary")
    table = evidence.strongest_ngrams(model)
    # In training, by presence: pos has good 2, "good good" 1, film 1, "good film" 1, story 1 and
    # "good story" 1; neg bad 2, film 2, story 1, "bad film", "bad bad", "bad story", "story film".
    # The n-grams are 11; p sums to 7 + 11, q to 9 + 11.
    good = math.log((2 + 1) / 18) - math.log((0 + 1) / 20)
    by_r = table[(table["by"] == "r") & (table["class"] == "pos")]
    first = by_r.iloc[0]
    assert (first["ngram"], first["documents_of_class"], first["documents_of_others"]) == (
        "good",
        2,
        0,
    )
    assert first["weight"] == pytest.approx(good)
    # The weights of multinomial naive Bayes on presence are r itself.
    by_w = table[(table["by"] == "w") & (table["class"] == "pos")]
    np.testing.assert_allclose(by_w["weight"], by_r["weight"])
    negative = table[(table["by"] == "r") & (table["class"] == "neg")]
    assert negative.iloc[0]["ngram"] == "bad"
    assert (table["weight"] > 0).all()


def test_three_classes_are_explained_against_the_true_one() -> None:
    labels = {**LABELS, "d": "odd", "e": "odd"}
    model = fold_model("mnb", {"alpha": 1.0}, "count", ("pos", "neg", "odd"), labels)
    errors = pd.DataFrame({"id": ["e"], "label": ["odd"], "predicted": ["pos"]})
    table = evidence.explain_errors(errors, model, pd.Series(TEXTS), None)
    scores = model.estimator.decision_function(model.test)[0]
    # Codes: odd 0, neg 1, pos 2.
    assert table["contribution"].sum() == pytest.approx(scores[2] - scores[0])


def test_the_explained_cell_is_the_best_whose_score_is_a_sum() -> None:
    rows = [
        ("selected", "SVM", 0.99),
        ("svd", "SVM", 0.95),
        ("uni", "ELM", 0.94),
        ("uni", "SVM", 0.80),
        ("bi", "SVM", 0.81),
        ("bi", "MNB", 0.81),
        ("bi", "LR", math.nan),
    ]
    cells = pd.DataFrame(rows, columns=["representation", "method", "accuracy"])
    family = {"SVM": "svm", "ELM": "elm", "MNB": "mnb", "LR": "lr"}
    runs = {
        (representation, method): {
            "family": family[method],
            "reduction": {"kind": "svd"} if representation == "svd" else None,
        }
        for representation, method, _ in rows
    }
    best = evidence.explained_cell(cells, runs)
    assert (best["representation"], best["method"]) == ("bi", "SVM")
    assert evidence.explained_cell(cells.iloc[:3], runs) is None


def test_the_most_confident_errors_of_each_label_come_first() -> None:
    n = 30
    frame = pd.DataFrame(
        {
            "repeat": [0] * n + [1] * n,
            "fold": 0,
            "id": [f"d{row:02}" for row in range(n)] * 2,
            "label": ["neg", "pos"] * n,
            "predicted": "pos",
            "confidence_rank": np.tile(np.arange(n) / n, 2),
        }
    )
    chosen = evidence.most_confident_errors(frame)
    assert chosen["id"].tolist() == [f"d{row:02}" for row in range(28, 8, -2)]
    assert (chosen["repeat"] == 0).all()
