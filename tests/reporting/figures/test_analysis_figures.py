"""Figures of the analyses: lines are the numbers, words say them, bytes do not change."""

import pandas as pd
import pytest

from textbaselines.analysis.calibration import (
    BY_LENGTH_COLUMNS,
    CALIBRATION_COLUMNS,
    RELIABILITY_COLUMNS,
)
from textbaselines.analysis.lengths import LENGTH_COLUMNS
from textbaselines.reporting.figures.accuracy import write_figure
from textbaselines.reporting.figures.analysis_figures import (
    length_figure,
    overconfidence_figure,
    reliability_figure,
)
from textbaselines.reporting.figures.curve_figure import learning_curve_figure

STUDY = {
    "title": "A small study",
    "datasets": [{"name": "cr", "title": "CR"}, {"name": "imdb", "title": "IMDB"}],
}
CELL = {
    "n_classes": 2,
    "dataset": "cr",
    "representation": "bi",
    "method": "MNB",
    "selection": "nested",
}


def panels(figure) -> list:
    return [axis for axis in figure.axes if axis.get_visible()]


def test_accuracy_by_length() -> None:
    rows = [
        {**CELL, "method": method, "part": part, "accuracy": accuracy, "low": 0.5, "high": 0.9}
        | {"tokens_from": 10 * part, "tokens_to": 10 * part + 9, "documents": 9, "predictions": 9}
        for method, values in {"MNB": [0.7, 0.8], "SVM": [0.75, 0.85]}.items()
        for part, accuracy in enumerate(values, start=1)
    ]
    figure, words = length_figure(pd.DataFrame(rows, columns=list(LENGTH_COLUMNS)), STUDY)
    (axis,) = panels(figure)
    first, second = axis.get_lines()
    assert first.get_ydata() == pytest.approx([70, 80])
    assert second.get_ydata() == pytest.approx([75, 85])
    assert [text.get_text() for text in axis.get_xticklabels()] == ["10–19", "20–29"]
    assert "CR, MNB-bi: 10–19: 70.0 [50.0, 90.0], 20–29: 80.0 [50.0, 90.0]" in words


def test_overconfidence_shows_own_probabilities_alone() -> None:
    shared = {**CELL, "part": 1, "tokens_from": 1, "tokens_to": 1, "overconfidence": 0.12}
    bounds = {"overconfidence_low": 0.1, "overconfidence_high": 0.14}
    rows = [
        {**shared, **bounds, "calibration": "own"},
        {**shared, **bounds, "calibration": "platt"},
        {**shared, **bounds, "calibration": "own", "representation": "selected"},
    ]
    figure, words = overconfidence_figure(
        pd.DataFrame(rows, columns=list(BY_LENGTH_COLUMNS)), STUDY
    )
    (axis,) = panels(figure)
    assert len(axis.get_lines()) == 2  # zero, and one line
    assert words.endswith("CR, MNB-bi: 1: +12.0 [10.0, 14.0]\n")


def test_reliability_and_a_study_without_probabilities(tmp_path) -> None:
    measured = {**CELL, "calibration": "own", "ece": 0.101, "ece_low": 0.09, "ece_high": 0.11}
    table = pd.DataFrame(
        [{**measured, "overconfidence": 0.1}, {**CELL, "calibration": "platt", "reason": "none"}],
        columns=list(CALIBRATION_COLUMNS),
    )
    point = {"bin": 1, "mean_probability": 0.3, "share_positive": 0.4, "low": 0.2, "high": 0.6}
    curve = pd.DataFrame(
        [{**CELL, "calibration": "own", **point}], columns=list(RELIABILITY_COLUMNS)
    )
    figure, words = reliability_figure(curve, table, STUDY)
    titles = [axis.get_title(loc="left") for axis in panels(figure)]
    assert titles[0] == "CR: own probabilities"
    assert len(titles) == 1  # a panel without lines is left out
    assert panels(figure)[0].get_lines()[1].get_xydata().tolist() == [[0.3, 0.4]]
    assert "MNB-bi: ECE 10.1 [9.0, 11.0], confidence minus accuracy +10.0" in words
    written = [path.read_bytes() for path in write_figure(tmp_path / "r", figure, words)]
    figure, words = reliability_figure(curve, table, STUDY)
    assert written == [path.read_bytes() for path in write_figure(tmp_path / "r", figure, words)]

    figure, words = reliability_figure(curve.iloc[:0], table.iloc[1:], STUDY)
    assert "No cell of this study has probabilities to measure." in words
    assert figure.texts[-1].get_text() == "No cell of this study has probabilities to measure."


def test_learning_curves_say_sizes_failures_and_crossings() -> None:
    named = {"dataset": "cr", "representation": "bi"}
    values = {"accuracy": 0.7, "low": 0.6, "high": 0.8, "failure": None}
    failed = {"accuracy": float("nan"), "failure": "no memory"}
    curves = pd.DataFrame(
        [
            {**named, "method": "MNB", "training_documents": 1200.0, **values},
            {**named, "method": "MNB", "training_documents": 2400.4, **failed},
        ]
    )
    verdict = {"verdict": "SVM ahead from 1,500 documents on", "low": 1300.0, "high": 1700.0}
    crossings = pd.DataFrame(
        [{**named, "generative": "MNB", "discriminative": "SVM", **verdict, "share_crossing": 0.9}]
    )
    figure, words = learning_curve_figure(curves, crossings, STUDY)
    assert panels(figure)[0].get_lines()[0].get_xdata().tolist() == [1200.0, 2400.4]
    assert panels(figure)[0].get_xscale() == "log"
    assert "CR, bi, MNB: 1,200: 70.0 [60.0, 80.0]; 2,400: no result (no memory)" in words
    assert (
        "MNB against SVM: SVM ahead from 1,500 documents on [1,300, 1,700] among the resamples of "
        "folds that cross, 90 % of them"
    ) in words
