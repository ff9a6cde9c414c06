"""Final models: the right cell, the right documents, and the fit that a hand-made loop gives."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from textbaselines.core.errors import UserError
from textbaselines.core.seeds import seed_from
from textbaselines.export.final_models import (
    best_cell,
    calibration_table,
    fixed_cell,
    store_final_model,
    training_documents,
)
from textbaselines.export.portable import load
from textbaselines.models.registry import METHODS
from textbaselines.study.folds import Protocol, draw_folds
from textbaselines.text.counts import count_tokens
from textbaselines.text.tokenizers import tokenize_all
from textbaselines.text.tokens import encode


def cells(*rows: tuple) -> pd.DataFrame:
    columns = ["dataset", "representation", "method", "selection", "accuracy"]
    return pd.DataFrame(rows, columns=columns)


CELLS = cells(
    ("d", "uni", "MNB", "fixed", 0.80),
    ("d", "uni", "MNB", "oracle", 0.99),
    ("d", "bi", "MNB", "fixed", 0.85),
    ("d", "bi", "SVM", "fixed", 0.85),
    ("d", "bi", "LIN", "fixed", np.nan),
    ("d", "bi", "GP", "fixed", 0.90),
    ("d", "uni", "GP", "fixed", 0.84),
    ("e", "bi", "SVM", "fixed", 0.95),
)


def test_the_best_fixed_cell() -> None:
    cell = best_cell(CELLS, "d")
    assert (cell["representation"], cell["method"], cell["accuracy"]) == ("bi", "GP", 0.9)
    cell = best_cell(CELLS[CELLS["method"] != "GP"], "d")
    assert (cell["representation"], cell["method"], cell["accuracy"]) == ("bi", "MNB", 0.85)
    assert best_cell(CELLS, "e")["accuracy"] == 0.95


def test_where_every_cell_failed_the_first_is_taken() -> None:
    cell = best_cell(CELLS.assign(accuracy=np.nan), "d")
    assert (cell["representation"], cell["method"]) == ("uni", "MNB")


def test_no_cell() -> None:
    with pytest.raises(UserError, match="dataset f"):
        best_cell(CELLS, "f")
    with pytest.raises(UserError, match="method GP"):
        fixed_cell(CELLS, "e", "bi", "GP")
    assert fixed_cell(CELLS, "d", "uni", "GP")["accuracy"] == 0.84


def corpus() -> pd.DataFrame:
    n, draw = 40, np.random.default_rng(5)
    words = ["fine", "film", "dull", "long", "warm", "cold", "the", "cast"]
    texts = []
    for row in range(n):
        lean = np.linspace(1, 4, 8)
        chances = lean / lean.sum() if row % 2 else lean[::-1] / lean.sum()
        texts.append(" ".join(draw.choice(words, size=draw.integers(2, 9), p=chances)))
    return pd.DataFrame(
        {
            "id": [f"d{row}" for row in range(n)],
            "text": texts,
            "label": ["neg", "pos"] * (n // 2),
            "rating": [-1.5, 2.0] * (n // 2),
            "split": ["train", "train", "train", "test"] * (n // 4),
            "group": [f"g{row}" for row in range(n)],
        }
    )


def store(folder: Path, frame: pd.DataFrame, family: str, params: dict, **changes):
    """Store a final model and return why it failed; ``changes`` go into the run's record."""
    tokenizer = {"family": "whitespace"}
    tokens = encode(frame["id"].tolist(), tokenize_all(frame["text"], tokenizer))
    kind = changes.pop("kind", "cv")
    predictions = changes.pop("predictions", None)
    protocol = Protocol(kind, 5)
    run = {
        "dataset": "d",
        "representation": "uni",
        "method": "M",
        "family": family,
        "classes": ["pos", "neg"],
        "positive": "pos",
        "tokenizer": tokenizer,
        "ngrams": [1, 1],
        "unk": {"policy": "drop", "min_count": 1},
        "weighting": "count",
        "scope": "training",
        "reduction": None,
        "protocol": vars(protocol),
        "content_digest": "abc",
        "ties": "majority",
        "points": [
            {"point": "p1", "params": {}, "origin": ["grid"]},
            {"point": "p2", "params": params, "origin": ["fixed", "grid"]},
        ],
        **changes,
    }
    cell = dict.fromkeys(("sd", "rmse"), np.nan) | {"accuracy": 0.8, "low": 0.7, "high": 0.9}
    cell |= {"macro_f1": 0.8, "documents": 40, "draws": 1}
    folds = draw_folds(frame, protocol, "d")
    counts = count_tokens(tokens, tokenizer, 1, 1)
    if predictions is None:
        predictions = pd.DataFrame(columns=["point", "id", "label", "score"])
    documents = frame.drop(columns="text")
    return store_final_model(
        folder, run, cell, {"rule": "named"}, tokens, counts, folds, documents, predictions
    )


def test_it_is_the_fit_of_scikit_learn_on_all_documents(tmp_path: Path) -> None:
    frame = corpus()
    assert store(tmp_path, frame, "mnb", {"alpha": 0.5}) is None
    model = load(tmp_path)
    vectorizer = CountVectorizer(token_pattern=r"\S+")
    other = MultinomialNB(alpha=0.5).fit(vectorizer.fit_transform(frame["text"]), frame["label"])
    assert model.classes == other.classes_.tolist()[::-1] == ["pos", "neg"]
    new = ["a warm film", "dull dull cast", "", "the cold fine long film"]
    np.testing.assert_allclose(
        model.predict_proba(new)[:, ::-1],
        other.predict_proba(vectorizer.transform(new)),
        rtol=1e-12,
    )
    described = model.description
    assert described["training"] == {
        "content_digest": "abc",
        "documents": 40,
        "which": "all documents of the study",
    }
    assert described["params"] == {"alpha": 0.5}
    assert described["evaluation"]["accuracy"] == 0.8
    assert described["evaluation"]["sd"] is None


def test_under_an_official_split_test_documents_are_not_seen(tmp_path: Path) -> None:
    frame = corpus()
    assert store(tmp_path / "a", frame, "nbsvm", {}, kind="split") is None
    changed = frame.copy()
    changed.loc[changed["split"] == "test", "text"] = "dull unseen"
    changed.loc[changed["split"] == "test", "label"] = "pos"
    assert store(tmp_path / "b", changed, "nbsvm", {}, kind="split") is None
    for name in ("model.json", "arrays.npz"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert load(tmp_path / "a").description["training"]["documents"] == 30


def test_scores_become_probabilities_by_predictions_of_documents_that_did_not_train(
    tmp_path: Path,
) -> None:
    # 40 scores of size 2: 30 speak for the true class. With Platt's targets, 21/22 for each of the
    # 20 positive documents and 1/22 for the others, the weight of what the score says is
    # 30 * 21/22 + 10 * 1/22 of 40, and the slope is half of its log-odds.
    frame = corpus()
    right = np.arange(40) % 4 != 0
    score = np.where(frame["label"] == "pos", 2.0, -2.0) * np.where(right, 1, -1)
    told = pd.DataFrame({"point": "p2", "id": frame["id"], "label": frame["label"], "score": score})
    other = told.assign(point="p1", score=1.0)
    told = pd.concat([other, told])
    assert store(tmp_path, frame, "nbsvm", {}, predictions=told) is None
    model = load(tmp_path)
    share = (30 * 21 / 22 + 10 / 22) / 40
    slope = np.log(share / (1 - share)) / 2
    assert model.description["calibration"]["slope"] == pytest.approx(slope, rel=1e-6)
    assert model.description["calibration"]["documents"] == 40
    assert model.has_probabilities
    scores = model.scores(frame["text"])
    found = model.predict_proba(frame["text"])
    np.testing.assert_allclose(found[:, 0], 1 / (1 + np.exp(-slope * scores)), rtol=1e-6)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert [model.classes[code] for code in found.argmax(axis=1)] == model.predict(frame["text"])
    # By hand: 30 documents, 20 of them positive, have the probability p, 10 negative ones 1 - p.
    p = 1 / (1 + np.exp(-2 * slope))
    loss = -(30 * np.log(p) + 10 * np.log(1 - p)) / 40
    assert model.description["calibration"]["log_loss"]["calibrated"] == pytest.approx(loss)
    assert model.description["calibration"]["log_loss"]["own"] is None
    assert model.description["calibration"]["calibration_error"] == {
        "own": None,
        "calibrated": pytest.approx((30 * (p - 20 / 30) + 10 * (1 - p)) / 40),
    }
    with pytest.raises(UserError, match="has no probabilities of its own"):
        model.predict_proba([""], calibrated=False)
    # A method's own probabilities are calibrated too, and are there when they are wanted.
    told["probability"] = 1 / (1 + np.exp(-told["score"]))
    assert store(tmp_path / "own", frame, "mnb", {"alpha": 1.0}, predictions=told) is None
    own = load(tmp_path / "own")
    calibration = own.description["calibration"]
    assert calibration["slope"] == pytest.approx(slope, rel=1e-6)
    sure = 1 / (1 + np.exp(-2))
    assert calibration["log_loss"]["own"] == pytest.approx(
        -(30 * np.log(sure) + 10 * np.log(1 - sure)) / 40
    )
    assert calibration["log_loss"]["own"] > calibration["log_loss"]["calibrated"]
    assert calibration["calibration_error"]["own"] == pytest.approx(
        (30 * (sure - 20 / 30) + 10 * (1 - sure)) / 40
    )
    scores = own.scores(frame["text"])
    for calibrated, factor in ((True, slope), (False, 1.0)):
        found = own.predict_proba(frame["text"], calibrated=calibrated)
        np.testing.assert_allclose(found[:, 0], 1 / (1 + np.exp(-factor * scores)), rtol=1e-6)
    # Scores that say the contrary say nothing: every class is as probable, the predicted one wins.
    told["score"] = -told["score"]
    assert store(tmp_path / "none", frame, "svm", {}, predictions=told) is None
    nothing = load(tmp_path / "none")
    assert nothing.description["calibration"]["slope"] == 0
    found = nothing.predict_proba(frame["text"])
    np.testing.assert_allclose(found, 0.5)
    assert [nothing.classes[code] for code in found.argmax(axis=1)] == nothing.predict(
        frame["text"]
    )
    # Without predictions there is no calibration: the method's own, or none.
    empty = told.iloc[:0]
    assert store(tmp_path / "svm", frame, "svm", {}, predictions=empty) is None
    assert not load(tmp_path / "svm").has_probabilities
    assert store(tmp_path / "mnb", frame, "mnb", {"alpha": 1.0}, predictions=empty) is None
    model = load(tmp_path / "mnb")
    assert model.description["calibration"] is None
    np.testing.assert_array_equal(
        model.predict_proba(frame["text"]), model.predict_proba(frame["text"], calibrated=False)
    )


@pytest.mark.parametrize("family", ["mnb", "lr", "svm"])
def test_three_classes_are_calibrated_by_a_temperature(family: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    frame = corpus()
    codes = np.arange(40) % 3
    frame["label"] = np.array(["a", "b", "c"])[codes]
    scores = rng.normal(size=(40, 3)) * 3
    scores[np.arange(40), codes] += 2
    told = pd.DataFrame({"point": "p2", "id": frame["id"], "label": frame["label"]})
    for place, name in enumerate("abc"):
        told[f"score_{name}"] = scores[:, place]
    told.loc[0, "score_b"] = np.nan  # a fold without the class b
    told.loc[1, "score_b"] = np.nan  # whose own class is b: left out
    if family != "svm":
        for place, name in enumerate("abc"):
            told[f"probability_{name}"] = softmax(scores, axis=1)[:, place]
    changes = {"classes": ["a", "b", "c"], "positive": None, "predictions": told}
    assert store(tmp_path, frame, family, {}, **changes) is None
    model = load(tmp_path)
    kept = np.delete(np.arange(40), 1)
    values, truth = told[[f"score_{name}" for name in "abc"]].to_numpy()[kept], codes[kept]
    known = ~np.isnan(values)
    counts = np.bincount(truth)[truth]
    targets = known / (counts + known.sum(axis=1))[:, None]
    targets[np.arange(39), truth] += counts / (counts + known.sum(axis=1))

    def loss(a):
        logs = log_softmax(np.where(known, a * np.nan_to_num(values), -np.inf), axis=1)
        return -(targets * np.where(known, logs, 0)).sum()

    wanted = minimize_scalar(loss, bounds=(0, 10), method="bounded", options={"xatol": 1e-10}).x
    calibration = model.description["calibration"]
    assert calibration["slope"] == pytest.approx(wanted, rel=1e-6)
    assert (calibration["documents"], calibration["predictions"]) == (39, 39)
    assert (calibration["log_loss"]["own"] is None) == (family == "svm")
    # The documents of the test are not those of the scores: what is stored is what is applied.
    assert model.classes == ["a", "b", "c"]
    found = model.predict_proba(frame["text"])
    np.testing.assert_allclose(
        found, softmax(wanted * model.scores(frame["text"]), axis=1), rtol=1e-5
    )
    assert [model.classes[code] for code in found.argmax(axis=1)] == model.predict(frame["text"])


def test_a_calibration_sees_no_test_document_of_an_official_split() -> None:
    assert calibration_table({"protocol": {"kind": "split"}}) == "inner_predictions"
    assert calibration_table({"protocol": {"kind": "cv"}}) == "predictions"


def test_only_the_documents_that_the_study_used() -> None:
    frame = corpus().assign(split="")
    for kind in ("cv", "halves"):
        folds = draw_folds(frame, Protocol(kind, 5, 2 if kind == "halves" else 1), "d", 12)
        assert training_documents(folds, kind, frame["id"].tolist()).sum() == 24
    with pytest.raises(UserError, match="document other"):
        training_documents(folds, "cv", ["other"])


def test_a_regression_has_the_side_of_its_rating(tmp_path: Path) -> None:
    frame = corpus()
    assert store(tmp_path, frame, "linreg", {"alpha": 1.0}) is None
    model = load(tmp_path)
    assert model.description["rating_threshold"] == 0.25
    vectorizer = CountVectorizer(token_pattern=r"\S+")
    X = vectorizer.fit_transform(frame["text"]).toarray()
    centred, target = X - X.mean(axis=0), frame["rating"].to_numpy()
    w = np.linalg.solve(centred.T @ centred + np.eye(8), centred.T @ (target - target.mean()))
    wanted = centred @ w + target.mean() - 0.25
    np.testing.assert_allclose(model.scores(frame["text"]), wanted, atol=1e-5)
    assert model.predict(frame["text"]) == np.where(wanted > 0, "pos", "neg").tolist()


def test_a_fit_that_failed_is_told(tmp_path: Path) -> None:
    frame = corpus().assign(rating=np.nan)
    reason = store(tmp_path / "a", frame, "linreg", {})
    assert "has no ratings" in reason
    frame.loc[0, "text"] = "a word of one class alone"
    assert "alpha" in store(tmp_path / "b", frame, "mnb", {"alpha": 0.0})
    for folder in ("a", "b"):
        assert json.loads((tmp_path / folder / "model.json").read_text())["failure"]
        with pytest.raises(UserError, match="could not be fitted"):
            load(tmp_path / folder)


@pytest.mark.parametrize("family", ["gda", "ksvm", "elm", "gp", "gpr"])
def test_what_is_not_linear_is_the_fit_on_all_documents(family: str, tmp_path: Path) -> None:
    frame = corpus()
    reduction = {"kind": "svd", "rank": 3}
    assert store(tmp_path, frame, family, {}, reduction=reduction) is None
    model = load(tmp_path)
    vectorizer = CountVectorizer(token_pattern=r"\S+")
    X = vectorizer.fit_transform(frame["text"]).toarray().astype(float)
    X = X @ model.scorer.directions.T
    estimator = METHODS[family].estimator()
    if family == "elm":
        estimator.set_params(seed=seed_from("d", "elm", "final"))
    if family == "gpr":
        wanted = estimator.fit(X, frame["rating"]).predict(X) - 0.25
    else:
        wanted = estimator.fit(X, frame["label"] == "pos").decision_function(X)
    np.testing.assert_allclose(model.scores(frame["text"]), wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("family", ["svm", "lr"])
def test_a_reduction_needs_no_reduction_to_predict(family: str, tmp_path: Path) -> None:
    frame = corpus()
    reduction = {"kind": "svd", "rank": 3}
    assert store(tmp_path, frame, family, {}, reduction=reduction, weighting="tfidf") is None
    model = load(tmp_path)
    assert model.scorer.coefficients.shape == (1, 8)
    right = np.array(model.predict(frame["text"])) == frame["label"]
    assert right.mean() > 0.7
