import csv
import io
import json
import re
from decimal import Decimal
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from textbaselines.core.csv_tables import read_csv, to_csv
from textbaselines.core.errors import UserError
from textbaselines.core.storage import write_text
from textbaselines.reporting.report.page import to_html
from textbaselines.reporting.tables.comparison import (
    best_three,
    comparison_table,
    comparison_tables,
    describe_protocols,
    long_table,
    percent,
)
from textbaselines.reporting.tables.layout import print_table, to_latex, to_markdown

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


def cell(dataset, representation, method, accuracy, selection="fixed", **more):
    row = {
        "dataset": dataset,
        "representation": representation,
        "method": method,
        "selection": selection,
        "point": "0123456789ab",
        "params": json.dumps({"alpha": 1.0}),
        "accuracy": accuracy,
        "sd": 0.001,
        "draws": 10,
        "documents": 3775,
        "low": accuracy - 0.01,
        "high": accuracy + 0.01,
        "macro_f1": accuracy,
        "macro_f1_low": float("nan"),
        "macro_f1_high": float("nan"),
        "above_majority": True,
        "rmse": float("nan"),
        "fit_seconds": 0.1,
        "predict_seconds": 0.1,
        "converged": True,
    }
    return row | more


# The two columns of CR and RT-2k in Tables 2 and 3 of the paper, MNB and SVM.
PAPER = [
    cell("cr", "uni", "mnb", 0.7976),
    cell("cr", "bi", "mnb", 0.7997),
    cell("cr", "uni", "svm", 0.7902),
    cell("cr", "bi", "svm", 0.8085),
    cell("rt-2k", "uni", "mnb", 0.8345),
    cell("rt-2k", "bi", "mnb", 0.8585),
    cell("rt-2k", "uni", "svm", 0.8625),
    cell("rt-2k", "bi", "svm", 0.8740),
]


def table_of(rows, **more):
    options = {"interval": "Wilson"} | more
    return comparison_table(pd.DataFrame(rows), STUDY, **options)


def column(table, place):
    return [row[place] for row in table.rows]


@pytest.mark.parametrize(
    ("fraction", "decimals", "text"),
    [
        (0.7938, 1, "79.4"),
        (0.8175, 1, "81.8"),  # a half goes up
        (0.8625, 1, "86.3"),  # ... also where round-half-even would go down
        (0.83445, 2, "83.45"),  # ... and where the float lies under the half
        (0.83444, 2, "83.44"),
        (1.0, 1, "100.0"),
        (0.0, 2, "0.00"),
        (0.99995, 2, "100.00"),
    ],
)
def test_percent_rounds_as_by_hand(fraction, decimals, text):
    assert percent(fraction, decimals) == text


@given(st.integers(0, 10**6))
def test_percent_is_exact_where_no_rounding_is_needed(millionths):
    assert Decimal(percent(millionths / 10**6, 4)) == Decimal(millionths) / 10**4


def test_best_three_by_hand():
    assert best_three(["79.8", "80.0", "79.0", "80.9", "80.5", "81.8"]) == [
        (False, False),
        (False, False),
        (False, False),
        (True, False),
        (True, False),
        (True, True),
    ]


def test_ties_share_a_place():
    # two at the third place are both bold; two at the first are both underlined
    assert best_three(["9", "8", "7", "7", "6"]) == [
        (True, True),
        (True, False),
        (True, False),
        (True, False),
        (False, False),
    ]
    assert best_three(["9", "9", "8", "7"]) == [
        (True, True),
        (True, True),
        (True, False),
        (False, False),
    ]


def test_numbers_are_compared_as_numbers():
    assert best_three(["100.0", "99.9", "98.0", "9.0", None])[0] == (True, True)
    assert best_three(["100.0", "99.9", "98.0", "9.0", None])[3:] == [(False, False)] * 2


@given(st.lists(st.one_of(st.none(), st.integers(0, 6)), max_size=12))
def test_best_three_properties(numbers):
    ranks = best_three([None if n is None else str(n) for n in numbers])
    there = [n for n in numbers if n is not None]
    for number, (bold, best) in zip(numbers, ranks, strict=True):
        assert best == (number is not None and number == max(there))
        assert bold == (number is not None and number >= sorted(there, reverse=True)[:3][-1])


def test_ranks_go_by_the_number_as_shown():
    rows = [
        cell("cr", "uni", "mnb", 0.80041),
        cell("cr", "bi", "mnb", 0.80039),
        cell("cr", "uni", "svm", 0.7),
        cell("cr", "bi", "svm", 0.6),
    ]
    one = column(table_of(rows), 1)
    assert [c.underline for c in one] == [True, True, False, False]
    four = column(table_of(rows, decimals=4), 1)
    assert [c.underline for c in four] == [True, False, False, False]


def test_paper_columns():
    table = table_of(PAPER, decimals=2)
    assert table.header == ("Method", "CR", "RT-2k")
    assert [c.text for c in column(table, 0)] == ["MNB-uni", "MNB-bi", "SVM-uni", "SVM-bi"]
    assert [len(group) for group in table.groups] == [2, 2]
    assert [c.text for c in column(table, 2)] == ["83.45", "85.85", "86.25", "87.40"]
    assert [c.bold for c in column(table, 2)] == [False, True, True, True]
    assert [c.underline for c in column(table, 2)] == [False, False, False, True]
    assert column(table, 2)[3].below == "86.40–88.40"


def test_order_of_the_rows_of_cells_does_not_matter():
    shuffled = pd.DataFrame(PAPER).sample(frac=1.0, random_state=3)
    assert table_of(shuffled.to_dict("records")) == table_of(PAPER)


def test_missing_and_failed_cells_show_a_dash_and_the_reason():
    rows = [dict(row) for row in PAPER[1:]]
    rows[0] |= {"accuracy": np.nan, "low": np.nan, "high": np.nan, "failure": "alpha = 0"}
    rows[1] |= {"accuracy": np.nan, "low": np.nan, "high": np.nan, "failure": None}
    table = table_of(rows)
    assert [c.text for c in column(table, 1)][:3] == ["–", "–", "–"]
    assert [c.marks for c in column(table, 1)][:3] == [("a",), ("b",), ("c",)]
    notes = dict(table.notes)
    assert notes["a"] == "Not run in this study (selection fixed)."
    assert notes["b"] == "Failed: alpha = 0."
    assert notes["c"].startswith("Failed: no accuracy")
    assert column(table, 1)[3].underline  # the only number of the column


def test_a_fit_that_did_not_converge_is_marked():
    rows = [dict(row) for row in PAPER]
    rows[3]["converged"] = False
    table = table_of(rows)
    assert [c.marks for c in column(table, 1)] == [(), (), (), ("†",)]
    assert [mark for mark, _ in table.notes] == ["†"]
    for text in (to_markdown(table), to_html([table], "t")):
        assert "80.9" in text
        assert text.count("†") == 2
    assert to_latex(table).count(r"\textdagger{}") == 2


def test_oracle_stands_apart_and_is_marked_in_every_form():
    rows = [*PAPER, *(dict(row) | {"selection": "oracle", "accuracy": 0.99} for row in PAPER)]
    fixed, oracle = comparison_tables(pd.DataFrame(rows), STUDY, interval="Wilson")
    assert (fixed.name, oracle.name) == ("comparison-fixed", "comparison-oracle")
    assert {c.text for c in column(oracle, 1)} == {"99.0"}
    assert "99.0" not in to_markdown(fixed)
    for text in (to_markdown(oracle), to_latex(oracle), to_html([oracle], "t")):
        assert "ptimistic: chosen on the test folds" in text
    for text in (to_markdown(fixed), to_latex(fixed), to_html([fixed], "t")):
        assert "ptimistic" not in text
    long = long_table(pd.DataFrame(rows), STUDY)
    assert (long["optimistic"] == (long["selection"] == "oracle")).all()


def majority(dataset, accuracy, **more):
    return cell(dataset, "", "majority", accuracy, selection="majority") | {
        "above_majority": False,
        **more,
    }


FLOOR = [majority("cr", 0.9), majority("rt-2k", 0.5)]


def in_every_form(table):
    stream = io.StringIO()
    print_table(table, Console(file=stream, width=80))
    return to_markdown(table), to_latex(table), to_html([table], "t"), stream.getvalue()


def test_the_majority_class_is_the_first_row_and_has_no_rank():
    rows = [*PAPER, *FLOOR, *(dict(row) | {"selection": "oracle"} for row in PAPER)]
    plain = table_of(PAPER)
    for selection in ("fixed", "oracle"):
        table = table_of(rows, selection=selection)
        assert [c.text for c in table.rows[0]] == ["Majority class", "90.0", "50.0"]
        assert table.rows[0][1].below == "89.0–91.0"
        # 90.0 is the highest number of CR: the best three are those that they are without it.
        assert not any(c.bold or c.underline or c.marks for c in table.rows[0])
        assert table.groups[1:] == plain.groups
        assert "it has no rank" in table.caption
        for text in in_every_form(table):
            assert "Majority class" in text
    long = long_table(pd.DataFrame(rows), STUDY)
    first = long.iloc[:2][["method", "selection", "dataset", "shown", "optimistic"]]
    assert first.to_numpy().tolist() == [
        ["majority", "majority", "cr", "90.0", False],
        ["majority", "majority", "rt-2k", "50.0", False],
    ]
    assert long["selection"].tolist()[-8:] == ["oracle"] * 8


def test_a_method_called_majority_is_another_row():
    study = STUDY | {"methods": [{"name": "majority", "title": "majority"}, *STUDY["methods"]]}
    rows = [*PAPER, *FLOOR, cell("cr", "uni", "majority", 0.1)]
    table = comparison_table(pd.DataFrame(rows), study, interval="Wilson")
    assert [row[0].text for row in table.rows[:3]] == ["Majority class", "majority-uni", "MNB-uni"]


def test_a_cell_that_is_not_above_the_majority_is_marked_in_every_form():
    rows = [dict(row) for row in [*PAPER, *FLOOR]]
    rows[2] |= {"above_majority": False}
    rows[3] |= {"above_majority": False, "converged": False}
    table = table_of(rows)
    assert [c.marks for c in column(table, 1)] == [(), (), (), ("‡",), ("†", "‡")]
    assert [mark for mark, _ in table.notes] == ["†", "‡"]
    assert "Not above the majority class" in table.notes[1][1]
    markdown, latex, html, terminal = in_every_form(table)
    assert [text.count("‡") for text in (markdown, html, terminal)] == [3, 3, 3]
    assert latex.count(r"\textdaggerdbl{}") == 3
    assert "79.0<sup>‡</sup>" in markdown
    long = long_table(pd.DataFrame(rows), STUDY)
    below = long[~long["above_majority"] & (long["selection"] == "fixed")]
    assert below["representation"].tolist() == ["uni", "bi"]
    assert set(below["method"]) == {"svm"}


def test_macro_f1_follows_accuracy_for_the_datasets_that_need_it():
    skewed = {"macro_f1": 0.183, "macro_f1_low": 0.171, "macro_f1_high": 0.196}
    rows = [dict(row) | (skewed if row["dataset"] == "cr" else {}) for row in [*PAPER, *FLOOR]]
    rows[1] |= {"macro_f1": 0.5}
    rows += [dict(row) | {"selection": "oracle"} for row in rows[:8]]
    tables = comparison_tables(pd.DataFrame(rows), STUDY, interval="Wilson")
    assert [table.name for table in tables] == [
        "comparison-fixed",
        "comparison-fixed-macro-f1",
        "comparison-oracle",
        "comparison-oracle-macro-f1",
    ]
    table = tables[1]
    assert table.title == "A small study (macro-F1, fixed hyper-parameters)"
    assert table.header == ("Method", "CR")
    assert [c.text for c in column(table, 1)] == ["18.3", "18.3", "50.0", "18.3", "18.3"]
    assert column(table, 1)[2].underline
    assert column(table, 1)[0].below == "17.1–19.6"
    assert "resamples of groups of identical text" in table.caption
    assert "RT-2k" not in table.caption
    assert tables[3].warning
    assert [c.text for c in column(tables[0], 1)][1:] == [
        c.text for c in column(table_of(PAPER), 1)
    ]


def test_train_test_overlap_above_one_percent_is_a_note_in_every_form():
    overlap = pd.DataFrame({"dataset": ["cr", "rt-2k"], "share": [0.1174, 0.01]})
    table = table_of(PAPER, overlap=overlap)
    ((mark, note),) = table.notes
    assert mark == ""
    assert "Train-test overlap" in note
    assert "CR 11.7 %" in note
    assert "RT-2k" not in note
    assert "{grouped: true}" in note
    markdown, latex, html, terminal = in_every_form(table)
    for text in (markdown, html, terminal.replace("\n", " ")):
        assert "CR 11.7 %" in text
    assert "<sup></sup>" not in markdown + html
    assert r"CR 11.7 \%" in latex
    assert r"\textsuperscript{}" not in latex
    long = long_table(pd.DataFrame(PAPER), STUDY, overlap=overlap)
    assert set(long.loc[long["dataset"] == "cr", "train_test_overlap"]) == {0.1174}
    assert table_of(PAPER, overlap=overlap.assign(share=0.01)).notes == ()


def test_caption_says_all_that_a_reader_needs():
    table = table_of(PAPER)
    for words in (
        "10-fold cross-validation, 10 repeats (CR); 20 random halves (RT-2k)",
        "fixed before the run",
        "Intervals: Wilson.",
    ):
        assert words in table.caption
    assert "best three" in to_markdown(table)


def test_a_protocol_shared_by_all_is_said_once():
    same = [dict(dataset, protocol="official split") for dataset in STUDY["datasets"]]
    assert describe_protocols(same) == "Protocol: official split."


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows[0].update(accuracy=79.76), "an accuracy that is no fraction"),
        (lambda rows: rows[0].update(dataset="imdb"), "cr, rt-2k"),
        (lambda rows: rows[0].update(method="knn"), "mnb, svm"),
        (lambda rows: rows[0].update(selection="best"), "fixed, nested, oracle"),
        (lambda rows: rows.append(dict(rows[0])), "more than once"),
        (lambda rows: [row.pop("low") for row in rows], "low"),
    ],
)
def test_wrong_cells_are_refused(change, words):
    rows = [dict(row) for row in PAPER]
    change(rows)
    with pytest.raises(UserError, match=re.escape(words)):
        table_of(rows)


def test_long_table_reads_back_to_the_same_numbers():
    frame = pd.DataFrame(PAPER)
    text = to_csv(long_table(frame, STUDY))
    back = pd.read_csv(io.StringIO(text), keep_default_na=False)
    assert list(back["method"]) == ["mnb"] * 4 + ["svm"] * 4
    assert list(back["dataset"][:2]) == ["cr", "rt-2k"]
    key = ["dataset", "representation", "method", "selection"]
    merged = back.merge(frame, on=key, suffixes=("", "_before"))
    assert len(merged) == len(PAPER)
    for name in ("accuracy", "low", "high", "sd", "draws", "documents"):
        assert (merged[name].astype(float) == merged[f"{name}_before"]).all()
    assert "fit_seconds" not in back
    assert back["shown"].astype(str).iloc[0] == "79.8"


class TableText(HTMLParser):
    """The text of every cell, row by row."""

    def __init__(self):
        super().__init__()
        self.rows, self.inside, self.open = [], False, []

    def handle_starttag(self, tag, attributes):
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.inside = True
            self.rows[-1].append("")
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag in ("td", "th"):
            self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.rows[-1][-1] += data


@pytest.mark.parametrize(
    "end", ["\r", "\n", "\r\n", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\x1c"]
)
def test_no_character_of_a_text_makes_or_loses_a_row(end, tmp_path):
    text = f"great{end}film"
    frame = pd.DataFrame(
        {
            "id": [f"a{end}", "b"],
            "text": [text, f"{end}x"],
            "class": ["p", f"n{end}{end}"],
            "n": [0.1, 2],
        }
    )
    write_text(tmp_path / "t.csv", to_csv(frame))
    pd.testing.assert_frame_equal(read_csv(tmp_path / "t.csv"), frame, check_dtype=False)
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows == [
        ["id", "text", "class", "n"],
        [f"a{end}", text, "p", "0.1"],
        ["b", f"{end}x", f"n{end}{end}", "2.0"],
    ]
    assert to_csv(pd.DataFrame({"a": ["x", "y,z"]})) == 'a\nx\n"y,z"\n'


def test_html_is_whole_and_shows_numbers_with_intervals():
    text = to_html([table_of(PAPER)], "Two sets")
    page = TableText()
    page.feed(text)
    assert page.open == []
    assert page.rows[0] == ["Method", "CR", "RT-2k"]
    assert page.rows[1] == ["MNB-uni", "79.878.8–80.8", "83.582.5–84.5"]
    assert "<u><b>80.9</b></u><small>" in text
    assert not re.search(r'(src|href)="(?!#|data:)', text)  # nothing is fetched


HOSTILE = '<b>A|B*_$%#{}~^\\ & "q"</b> `c`'


def test_titles_are_escaped_in_every_form():
    study = STUDY | {
        "datasets": [{"name": "cr", "title": HOSTILE, "protocol": "split"}],
        "title": HOSTILE,
    }
    table = comparison_table(pd.DataFrame(PAPER[:4]), study, interval="Wilson")
    html = to_html([table], HOSTILE)
    assert "<b>A|B" not in html
    assert "&lt;b&gt;A|B" in html
    head = next(line for line in to_markdown(table).splitlines() if line.startswith("| Method"))
    assert len(re.findall(r"(?<!\\)\|", head)) == 3
    assert "&lt;b&gt;A\\|B\\*\\_" in head
    latex = to_latex(table)
    assert r"\textless{}b\textgreater{}A\textbar{}B*\_\$\%\#\{\}\textasciitilde{}" in latex
    assert r"\textasciicircum{}\textbackslash{} \&" in latex


def test_latex_braces_and_columns_balance():
    rows = [dict(row) for row in PAPER]
    rows[3]["converged"] = False
    text = to_latex(table_of(rows[1:]))
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert text.count(r"\begin{") == text.count(r"\end{")
    body = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
    for line in body.splitlines():
        if line.endswith(r"\\"):
            assert len(re.findall(r"(?<!\\)&", line)) == 2
    assert all(ord(character) < 128 for character in text)
