"""Which class a study predicts where scores tie, and what its probabilities say then."""

import numpy as np
import pytest

from textbaselines.models import NBSVM, LogisticRegression
from textbaselines.training.predictions import class_order, predict_classes, predict_ratings


def test_the_order_of_the_dataset_file_decides_between_equally_frequent_classes() -> None:
    # Codes count from the class listed last.
    assert class_order(np.array([4, 4, 4]), "majority") == [2, 1, 0]
    assert class_order(np.array([4, 5, 4]), "majority") == [1, 2, 0]
    assert class_order(np.array([4, 5, 4]), "last") == [0, 1, 2]


@pytest.mark.parametrize(
    ("negative", "ties", "wanted"), [(6, "majority", 0), (4, "majority", 1), (5, "majority", 1)]
)
def test_a_document_without_known_words(negative, ties, wanted) -> None:
    X, y = np.eye(10), np.repeat([0, 1], [negative, 10 - negative])
    model = NBSVM(positive=1).fit(X, y)
    scores = model.decision_function(np.zeros((1, 10)))
    columns, _ = predict_classes(model, scores, ["pos", "neg"], ties)
    assert columns["predicted"].tolist() == [wanted]
    columns, _ = predict_classes(model, scores, ["pos", "neg"], "last")
    assert columns["predicted"].tolist() == [0]


def test_of_many_classes_the_first_listed_wins_and_one_that_training_lacks_never() -> None:
    X, y = np.eye(6), np.array([0, 0, 1, 1, 3, 3])
    model = LogisticRegression(bias=None).fit(X, y)
    scores = model.decision_function(np.zeros((1, 6)))
    for ties, wanted in (("majority", 3), ("last", 0)):
        columns, probabilities = predict_classes(model, scores, ["a", "b", "c", "d"], ties)
        assert columns["predicted"].tolist() == probabilities.argmax(axis=1).tolist() == [wanted]
        np.testing.assert_allclose(probabilities, [[1 / 3, 1 / 3, 0, 1 / 3]])
        assert np.isnan(columns["score_b"]).all()


def test_a_rating_on_the_threshold() -> None:
    ratings = np.array([0.5, 0.6, 0.4])
    assert predict_ratings(ratings, 0.5, [1, 0])["predicted"].tolist() == [1, 1, 0]
    assert predict_ratings(ratings, 0.5, [0, 1])["predicted"].tolist() == [0, 1, 0]
