"""Tables of contrasts and the critical-difference diagram say what the numbers say."""

import math

import numpy as np
import pandas as pd
import pytest

from textbaselines.reporting.figures.accuracy import write_figure
from textbaselines.reporting.figures.critical_difference import critical_difference_figure
from textbaselines.reporting.report.page import to_html
from textbaselines.reporting.tables.comparison import signed
from textbaselines.reporting.tables.contrast_tables import (
    across_table,
    contrast_table,
    omnibus_words,
    p_text,
    rank_table,
)
from textbaselines.reporting.tables.layout import to_latex, to_markdown
from textbaselines.significance.across_datasets import compare_across

STUDY = {
    "title": "Small",
    "datasets": [{"name": "cr", "title": "CR", "protocol": "10-fold"}],
    "methods": [{"name": "MNB", "title": "MNB"}, {"name": "SVM", "title": "SVM"}],
    "control": "MNB-uni",
    "contrasts_declared": True,
    "contrasts": [["MNB-bi", "MNB-uni"], ["SVM-uni", "MNB-uni"], ["SVM-bi", "MNB-uni"]],
}


def row(a, points, p, outcome, test="corrected resampled t", failure=None):
    return {
        "dataset": "cr",
        "a": a,
        "b": "MNB-uni",
        "selection_a": "fixed",
        "selection_b": "fixed",
        "difference_points": points,
        "t_low_points": points - 1,
        "t_high_points": points + 1,
        "bootstrap_low_points": points - 0.5,
        "bootstrap_high_points": points + 0.5,
        "p_holm": p,
        "test": test,
        "outcome": outcome,
        "failure": failure,
    }


def test_a_cell_says_that_a_row_is_not_better_than_the_control():
    rows = [
        row("MNB-bi", 1.234, 0.0001, "better"),
        row("SVM-uni", -0.4, 0.2, "not better"),
        row("SVM-bi", math.nan, math.nan, "failed", failure="SVM-bi: too large"),
    ]
    table = contrast_table(pd.DataFrame(rows), STUDY)
    cells = {line[0].text: line[1] for line in table.rows}
    assert cells["MNB-bi"].text == "+1.23"
    assert cells["MNB-bi"].below.splitlines() == ["+0.23 to +2.23", "p < 0.001", "better"]
    assert cells["SVM-uni"].below.splitlines() == [
        *("−1.40 to +0.60", "p = 0.200"),
        "not better than the control",
    ]
    assert (cells["SVM-bi"].text, cells["SVM-bi"].marks) == ("–", ("a",))
    assert table.notes == (("a", "Failed: SVM-bi: too large"),)
    assert [len(group) for group in table.groups] == [1, 2]
    for write in (to_markdown, to_latex):
        assert "not better than the control" in write(table)
    assert "not better than the control" in to_html([table], "x")


def test_one_split_shows_the_interval_of_the_bootstrap():
    rows = [row("MNB-bi", 1.0, 0.04, "better", test="exact McNemar")]
    table = contrast_table(pd.DataFrame(rows), STUDY)
    assert table.rows[0][1].below.startswith("+0.50 to +1.50")
    assert "exact McNemar" in table.caption
    assert "resampled t" not in table.caption
    assert table.rows[1][1].marks == ("a",)  # declared, and no row of it


def test_a_control_by_default_is_not_called_declared():
    study = {**STUDY, "contrasts_declared": False}
    table = contrast_table(pd.DataFrame([row("MNB-bi", 1.0, 0.04, "better")]), study)
    assert table.title == "Small: against the first row, MNB-uni"
    sentence = (
        "The study file declares no comparison (contrasts: null), so the first row that every "
        "dataset has, MNB-uni, was taken as the control by default."
    )
    assert sentence in table.caption
    assert "declared before" not in table.caption
    assert sentence in across_table(across(9).contrasts, study).caption
    declared = contrast_table(pd.DataFrame([row("MNB-bi", 1.0, 0.04, "better")]), STUDY)
    assert "by default" not in declared.caption
    assert "all declared before the run" in declared.caption


def test_a_twin_of_the_control_has_no_result():
    twin = row("MNB-bi", 0.0, math.nan, "identical")
    table = contrast_table(pd.DataFrame([twin]), STUDY)
    assert (table.rows[0][1].text, table.rows[0][1].below) == ("–", "")
    assert table.notes[0] == (
        "a",
        "Predicts the same class of every test document: one model, not tested.",
    )


@pytest.mark.parametrize(
    ("p", "text"), [(0.0004, "<0.001"), (0.0005, "0.001"), (0.05, "0.050"), (1.0, "1.000")]
)
def test_p_values(p, text):
    assert p_text(p) == text


def test_signs():
    assert [signed(x) for x in (0.5, -0.5, 0.001, -0.001)] == ["+0.50", "−0.50", "0.00", "0.00"]


def across(n, seed=0):
    rng = np.random.default_rng(seed)
    values = 0.8 + rng.normal(0, 0.002, (n, 4)) + np.array([0, 0.01, 0.02, 0.03])
    columns = ["MNB-uni", "MNB-bi", "SVM-uni", "SVM-bi"]
    accuracy = pd.DataFrame(values, columns=columns, index=[f"d{i}" for i in range(n)])
    return compare_across(accuracy, [tuple(pair) for pair in STUDY["contrasts"]], "s")


def test_tables_over_datasets():
    found = across(9)
    table = across_table(found.contrasts, STUDY)
    line = next(line for line in table.rows if line[0].text.startswith("SVM-bi"))
    assert [cell.text for cell in line[1:2]] == ["9"]
    assert line[3].text == "9 / 0 / 0"
    assert line[4].text == f"{3 / 256:.3f}"
    assert line[5].text == "1.000"
    ranks = rank_table(found.ranks, found.omnibus, STUDY)
    assert ranks.rows[0][0].text == "SVM-bi"
    assert "4 rows on 9 datasets" in ranks.caption


def test_what_was_not_tested_is_said():
    found = across(4)
    table = across_table(found.contrasts, STUDY)
    # No columns of dashes.
    assert table.header == ("Comparison", "Datasets", "Mean", "Won / tied / lost")
    assert {len(line) for line in table.rows} == {4}
    ranks = rank_table(found.ranks, found.omnibus, STUDY)
    assert ranks.header == ("Row", "Mean accuracy", "Datasets")
    assert ranks.title == "Small: mean accuracies"
    assert table.notes == (("a", "not tested: 4 datasets, at least 5 needed"),)
    assert omnibus_words(found.omnibus).startswith("All rows at once were not tested: 4 datasets")


def test_the_diagram_and_its_words(tmp_path):
    found = across(9)
    figure, words = critical_difference_figure(found.ranks, found.nemenyi, found.omnibus, STUDY)
    lines = {
        line.split(":")[0].strip(): line for line in words.splitlines() if line.startswith("  ")
    }
    assert list(lines) == ["SVM-bi", "SVM-uni", "MNB-bi", "MNB-uni"]
    p = found.nemenyi.set_index(["a", "b"])["p"]
    for (a, b), value in p.items():
        assert (b in lines[a].split(";")[1]) == (value >= 0.05)
        assert (a in lines[b].split(";")[1]) == (value >= 0.05)
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert {"SVM-bi 1.00", "4.00 MNB-uni"} <= texts
    # black on white: every line and text is grey or black
    colours = {line.get_color() for line in figure.axes[0].lines}
    assert colours <= {"black", "k"}
    first = [path.read_bytes() for path in write_figure(tmp_path / "cd", figure, words)]
    again, _ = critical_difference_figure(found.ranks, found.nemenyi, found.omnibus, STUDY)
    assert [path.read_bytes() for path in write_figure(tmp_path / "cd", again, words)] == first


def test_without_a_test_the_diagram_says_why():
    found = across(4)
    figure, words = critical_difference_figure(found.ranks, found.nemenyi, found.omnibus, STUDY)
    assert "No diagram" in figure.texts[0].get_text()
    assert "not tested: 4 datasets" in words
