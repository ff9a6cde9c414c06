"""Input that no estimator can take: what is said of it."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from textbaselines import models
from textbaselines.models import NBSVM, MultinomialNB, SemiSupervisedNB

Y = ["p", "n", "p", "n"]
TEXTS = ["good film", "bad film", "nice", "poor"]
SPARSE_NAN = sp.csr_array(np.array([[1, 1], [0, np.nan], [1, 0], [np.inf, 0]]))


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("name", models.__all__)
@pytest.mark.parametrize(
    "texts",
    [
        TEXTS,
        tuple(TEXTS),
        "good film",
        ["1", "2", "3", "4"],
        np.array(TEXTS),
        np.array([TEXTS]).T,
        np.array([TEXTS], dtype=object).T,
        pd.Series(TEXTS),
        pd.DataFrame({"text": TEXTS}),
        [text.split() for text in TEXTS],
    ],
    ids=[
        "list",
        "tuple",
        "one",
        "digits",
        "array",
        "column",
        "object",
        "series",
        "frame",
        "tokens",
    ],
)
def test_texts_in_place_of_features(name, texts) -> None:
    estimator = getattr(models, name)()
    y = [0.5, 1.5, 2.5, 3.5] if not hasattr(estimator, "decision_function") else Y
    wanted = (
        rf"{name} takes a matrix of numbers .* X holds text .*CountVectorizer.*textbaselines\.load"
    )
    with pytest.raises(ValueError, match=wanted):
        estimator.fit(texts, y)
    estimator.fit(np.eye(4) + np.arange(16).reshape(4, 4) % 3, y)
    with pytest.raises(ValueError, match=wanted):
        estimator.predict(texts)


@pytest.mark.parametrize(
    ("X", "y", "wanted"),
    [
        ([1.0, 2.0, 3.0, 4.0], Y, r"X has the shape \(4,\), and must have a row for each document"),
        ([], [], r"X has the shape \(0,\)"),
        (None, Y, "X is None"),
        (np.eye(4), None, "y is None"),
        (np.eye(4), Y[:3], "X has 4 rows and y 3 labels"),
        (sp.eye_array(3, format="csr"), Y, "X has 3 rows and y 4 labels"),
        (SPARSE_NAN, Y, r"NaN \(row 1, column 1, of 2 such values\)"),
        (np.array([[0, 1], [np.inf, 1]]), ["p", "n"], r"infinity .* \(row 1, column 0\)"),
        (np.eye(4), [0.5, 0.7, 0.5, 1.3], "names no classes, for instance 0.5"),
        (np.eye(4), ["p", None, "n", None], "2 documents have no label, the first in row 1"),
        (np.eye(4), np.array(["p", 3, "n", "p"], dtype=object), r"several types \(int, str\)"),
        (np.eye(4), [1.0, np.nan, 1.0, 2.0], "y contains NaN"),
        (np.eye(2), np.array([{}, {}], dtype=object), "names no classes, for instance {}"),
    ],
)
@pytest.mark.parametrize("estimator", [NBSVM, MultinomialNB, SemiSupervisedNB])
def test_what_is_no_training_set(estimator, X, y, wanted) -> None:
    with pytest.raises(ValueError, match=wanted) as error:
        estimator().fit(X, y)
    assert "HistGradientBoosting" not in str(error.value)


@pytest.mark.parametrize("kind", [float, object, bool, str])
def test_whole_numbers_of_any_type_are_classes(kind) -> None:
    y = np.array([1, 0, 1, 0]).astype(kind)
    assert NBSVM().fit(np.eye(4), y).predict(np.eye(4)).tolist() == y.tolist()


def test_rows_of_another_width() -> None:
    with pytest.raises(ValueError, match="X has 3 features, but NBSVM is expecting 4"):
        NBSVM().fit(np.eye(4), Y).predict(np.eye(3))


def test_the_pipeline_that_is_advised() -> None:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(CountVectorizer(binary=True), NBSVM()).fit(TEXTS, Y)
    assert pipeline.predict(["good", "poor film"]).tolist() == ["p", "n"]
