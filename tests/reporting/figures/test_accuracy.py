import json
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from textbaselines.core.errors import UserError
from textbaselines.reporting.figures.accuracy import (
    accuracy_figure,
    set_title,
    shortened,
    write_figure,
)

STUDY = {
    "name": "small",
    "title": "A small study",
    "datasets": [
        {"name": "cr", "title": "CR", "protocol": "10-fold cross-validation, 10 repeats"},
        {"name": "rt-2k", "title": "RT-2k", "protocol": "20 random halves"},
    ],
    "representations": [{"name": "uni", "title": "uni"}, {"name": "bi", "title": "bi"}],
    "methods": [{"name": "mnb", "title": "MNB"}, {"name": "svm", "title": "SVM"}],
}


def cells(**accuracies):
    rows = []
    for dataset in ("cr", "rt-2k"):
        for representation in ("uni", "bi"):
            for method in ("mnb", "svm"):
                accuracy = accuracies.get(f"{method}_{representation}", 0.8)
                rows.append(
                    {
                        "dataset": dataset,
                        "representation": representation,
                        "method": method,
                        "selection": "fixed",
                        "params": json.dumps({}),
                        "accuracy": accuracy,
                        "sd": 0.0,
                        "draws": 1,
                        "documents": 100,
                        "low": accuracy - 0.05,
                        "high": accuracy + 0.04,
                        "macro_f1": accuracy,
                        "macro_f1_low": float("nan"),
                        "macro_f1_high": float("nan"),
                        "above_majority": True,
                        "rmse": float("nan"),
                        "converged": (dataset, method) != ("cr", "svm"),
                    }
                )
    return pd.DataFrame(rows)


def drawn(axis):
    """The points and the intervals of a panel: {row: (low, middle, high)}."""
    points, intervals = {}, {}
    for line in axis.get_lines():
        x, y = line.get_xdata(), line.get_ydata()
        if line.get_marker() not in ("None", None, ""):
            points[int(y[0])] = float(x[0])
        elif len(x) == 2 and y[0] == y[1] and float(y[0]).is_integer():
            intervals[int(y[0])] = (float(x[0]), float(x[1]))
    return {row: (intervals[row][0], points[row], intervals[row][1]) for row in points}


def test_what_is_drawn_is_what_the_cells_say():
    figure, words = accuracy_figure(cells(svm_bi=0.875, mnb_uni=0.75), STUDY, interval="Wilson")
    panels = [axis for axis in figure.axes if axis.get_visible()]
    assert [axis.get_title(loc="left") for axis in panels] == ["CR", "RT-2k"]
    assert [t.get_text() for t in panels[0].get_yticklabels()] == [
        "MNB-uni",
        "MNB-bi",
        "SVM-uni",
        "SVM-bi",
    ]
    for axis in panels:
        assert drawn(axis)[0] == pytest.approx((70.0, 75.0, 79.0))
        assert drawn(axis)[3] == pytest.approx((82.5, 87.5, 91.5))
    assert "  SVM-bi: 87.50 [82.50, 91.50] †" in words
    assert "  SVM-bi: 87.50 [82.50, 91.50]\n" in words
    daggers = [[t.get_text() for t in axis.texts] for axis in panels]
    assert daggers == [["†", "†"], []]


def test_a_missing_number_is_said_and_not_drawn():
    figure, words = accuracy_figure(cells(mnb_bi=np.nan), STUDY, interval="Wilson")
    assert sorted(drawn(figure.axes[0])) == [0, 2, 3]
    assert "  MNB-bi: no result" in words
    assert "no result" in [t.get_text() for t in figure.axes[0].texts]


def test_same_bytes_twice(tmp_path):
    written = []
    for folder in ("one", "two"):
        figure, words = accuracy_figure(cells(), STUDY, interval="Wilson")
        written.append(write_figure(tmp_path / folder / "accuracy", figure, words))
    for first, second in zip(*written, strict=True):
        assert first.read_bytes() == second.read_bytes()
    svg, png, text = written[0]
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")
    assert b"<dc:date>" not in svg.read_bytes()
    assert png.read_bytes().startswith(b"\x89PNG")
    assert text.read_text(encoding="utf-8").startswith("A small study: accuracy in %")


def test_cells_tuned_on_the_test_folds_are_not_drawn():
    with pytest.raises(UserError, match="nested or fixed"):
        accuracy_figure(cells().assign(selection="oracle"), STUDY, interval="Wilson")


def test_what_inner_folds_chose_goes_before_fixed_hyper_parameters():
    fixed, nested = cells(svm_uni=0.7), cells(svm_uni=0.9).assign(selection="nested")
    nested = nested[nested["method"] == "svm"]
    figure, words = accuracy_figure(pd.concat([fixed, nested]), STUDY, interval="Wilson")
    middles = [middle for _, (_, middle, _) in sorted(drawn(figure.axes[0]).items())]
    assert middles == pytest.approx([80.0, 80.0, 90.0, 80.0])
    assert "SVM-uni: 90.00 [85.00, 94.00] †" in words
    assert "MNB-uni: 80.00 [75.00, 84.00], fixed" in words
    assert "Those of rows without a choice were fixed" in words
    _, words = accuracy_figure(nested, STUDY, interval="Wilson")
    assert "chosen inside each training part" in words
    assert "fixed" not in words


def test_a_long_title_stays_within_the_figure() -> None:
    figure = Figure(figsize=(4, 2), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    figure.subplots()
    title = "Wide Methods on Many Corpora Measured With Intervals: over-confidence by length"
    set_title(figure, title)
    canvas.draw()
    assert figure.get_suptitle().replace("\n", " ") == title
    box = figure._suptitle.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width


def test_a_dollar_sign_in_a_title_is_no_formula(tmp_path):
    figure = Figure(figsize=(4, 2))
    set_title(figure, r"Costs $5 {AR} and $\foo$")
    write_figure(tmp_path / "f", figure, "words")
    assert (tmp_path / "f.svg").is_file()


def test_long_names_are_cut_in_the_middle_and_stay_apart():
    names = [f"{'x' * 100}-{number}" for number in range(30)]
    short = [shortened(name) for name in names]
    assert len(set(short)) == 30
    assert {len(name) for name in short} == {24}
    assert shortened("two\nlines") == "two lines"


def majority(accuracy):
    """Cells with the majority class of each dataset, of one accuracy."""
    floor = cells().drop_duplicates("dataset")
    floor = floor.assign(
        representation="", method="majority", selection="majority", accuracy=accuracy
    )
    return pd.concat([floor, cells()], ignore_index=True)


def test_the_majority_class_is_told_and_drawn_where_the_axis_reaches_it():
    plain, _ = accuracy_figure(cells(), STUDY, interval="Wilson")
    for accuracy, lines in ((0.8, 1), (0.5, 0)):
        figure, words = accuracy_figure(majority(accuracy), STUDY, interval="Wilson")
        assert words.count(f"  majority class: {100 * accuracy:.2f}") == 2
        for axis, before in zip(figure.axes, plain.axes, strict=True):
            dashed = [line for line in axis.get_lines() if line.get_linestyle() == "--"]
            assert len(dashed) == lines
            assert axis.get_xlabel() == f"majority class {100 * accuracy:.1f}"
            assert axis.get_xlim() == before.get_xlim()
            assert len(drawn(axis)) == 4
