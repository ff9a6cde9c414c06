import numpy as np
import pandas as pd
import pytest

from textbaselines.analysis.search_curves import CURVE_COLUMNS
from textbaselines.reporting.figures.accuracy import write_figure
from textbaselines.reporting.figures.search_figure import search_figure

STUDY = {
    "title": "A small study",
    "datasets": [{"name": "cr", "title": "CR"}, {"name": "imdb", "title": "IMDB"}],
    "representations": [{"name": "uni", "title": "uni"}, {"name": "bi", "title": "bi"}],
    "methods": [{"name": f"M{place}", "title": f"M{place}"} for place in range(30)],
}


def curve(dataset, method, values, failed=0):
    return pd.DataFrame(
        {
            **{"dataset": dataset, "representation": "bi", "method": method},
            "trials": np.arange(1, len(values) + 1),
            "expected_accuracy": values,
            **{"points": len(values), "failed_points": failed, "folds": 10},
        }
    )


def test_lines_are_the_curves_and_words_say_them():
    curves = pd.concat(
        [
            curve("imdb", "M1", [0.8]),
            curve("cr", "M1", [0.5, 0.6, 0.65], failed=1),
            curve("cr", "M0", [0.70, 0.71, 0.72, 0.73, 0.74, 0.75]),
        ]
    )
    figure, words = search_figure(curves, STUDY)
    panels = [axis for axis in figure.axes if axis.get_visible()]
    assert [axis.get_title(loc="left") for axis in panels] == ["CR", "IMDB"]
    first, second = panels[0].get_lines()
    assert first.get_xdata().tolist() == [1, 2, 3, 4, 5, 6]
    assert first.get_ydata() == pytest.approx([70, 71, 72, 73, 74, 75])
    assert second.get_ydata() == pytest.approx([50, 60, 65])
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["M0-bi", "M1-bi"]
    assert "  M0-bi: 70.00 with 1, 71.00 with 2, 73.00 with 4, 75.00 with 6\n" in words
    assert "  M1-bi: 50.00 with 1, 60.00 with 2, 65.00 with 3; 1 of 3 grid points failed" in words
    assert "IMDB:\n  M1-bi: 80.00 with 1\n" in words
    assert panels[1].get_lines()[0].get_color() == second.get_color()


def test_lines_differ_without_colour():
    curves = pd.concat([curve("cr", f"M{place}", [0.5, 0.6]) for place in range(20)])
    lines = search_figure(curves, STUDY)[0].axes[0].get_lines()
    # How dashes are drawn, and the marker at the end.
    looks = {(str(line._unscaled_dash_pattern), line.get_marker()) for line in lines}
    assert len(looks) == 20


def test_a_study_without_search_says_so(tmp_path):
    figure, words = search_figure(pd.DataFrame(columns=list(CURVE_COLUMNS)), STUDY)
    assert "no search to show" in words
    assert "no search to show" in figure.texts[-1].get_text()
    assert write_figure(tmp_path / "curves", figure, words)[0].is_file()


def test_same_bytes_twice(tmp_path):
    curves = curve("cr", "M1", [0.5, 0.6, 0.65])
    written = [
        write_figure(tmp_path / folder / "curves", *search_figure(curves, STUDY))
        for folder in ("one", "two")
    ]
    for first, second in zip(*written, strict=True):
        assert first.read_bytes() == second.read_bytes()
