"""Sorting keys, words that look like numbers or nothing, and SVG that does not collide."""

import io
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from matplotlib.figure import Figure

from textbaselines.reporting.figures.accuracy import write_figure
from textbaselines.reporting.report.blocks import Results, sheet_of_frame, sort_key
from textbaselines.reporting.report.inline_svg import inline_svg


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("82.3", "82.3"),
        ("<0.001", "0.001"),
        ("−0.30", "-0.30"),
        ("+1.5", "+1.5"),
        ("12,345", "12345"),
        ("–", ""),
        ("3 / 0 / 1", "3"),
        ("", ""),
    ],
)
def test_the_number_that_a_cell_is_sorted_by(text: str, key: str) -> None:
    assert sort_key(text) == key


def test_words_of_a_csv_stay_words(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("id,ngram,share\n007,null,0.5\nNA,nan,\n")
    frame = Results(tmp_path, frozenset({"e.csv"})).table("e.csv")
    assert frame is not None
    assert frame["id"].tolist() == ["007", "NA"]
    assert frame["ngram"].tolist() == ["null", "nan"]
    assert frame["share"].isna().tolist() == [False, True]


def test_a_file_that_is_not_the_reports_is_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("a\n1\n")
    assert Results(tmp_path).table("e.csv") is None


def test_rows_beyond_the_limit_are_counted(tmp_path: Path) -> None:
    frame = pd.DataFrame({"name": ["x", "y", "z"], "value": [1.0, float("nan"), 3.0]})
    sheet = sheet_of_frame(
        frame,
        {"name": ("Name", None), "value": ("Value", "{:.1f}".format)},
        name="n",
        title="t",
        caption="c",
        at_most=2,
    )
    assert sheet.left_out == 1
    assert [[cell.text for cell in row] for row in sheet.table.rows] == [["x", "1.0"], ["y", "–"]]
    assert sheet.table.text_columns == {0}


def test_some_rows_of_each_dataset() -> None:
    frame = pd.DataFrame({"dataset": list("aaabb"), "value": [1.0, 2.0, 3.0, 4.0, 5.0]})
    columns = {"dataset": ("Dataset", None), "value": ("Value", "{:.0f}".format)}
    sheet = sheet_of_frame(frame, columns, name="n", title="t", caption="c", of_each=2)
    assert sheet.left_out == 1
    assert [row[1].text for row in sheet.table.rows] == ["1", "2", "4", "5"]


@pytest.fixture
def svg(tmp_path: Path) -> str:
    figure = Figure(figsize=(2, 2))
    axis = figure.subplots()
    axis.plot([1, 2], [3, 4], marker="o")
    axis.set_title("A & B")
    return write_figure(tmp_path / "f", figure, "words")[0].read_text(encoding="utf-8")


def test_ids_of_two_figures_do_not_collide(svg: str) -> None:
    first, second = (
        ElementTree.fromstring(inline_svg(svg, prefix, "caption")) for prefix in ("one", "two")
    )
    ids = [{e.get("id") for e in root.iter() if e.get("id")} for root in (first, second)]
    assert ids[0]
    assert not ids[0] & ids[1]
    for root, known in zip((first, second), ids, strict=True):
        used = [e.get("href") for e in root.iter("use")]
        clips = [e.get("clip-path") for e in root.iter() if e.get("clip-path")]
        assert used
        assert clips
        assert {href.removeprefix("#") for href in used} <= known
        assert {clip[len("url(#") : -1] for clip in clips} <= known


def test_an_inlined_figure_has_a_name_and_no_style_sheet(svg: str) -> None:
    root = ElementTree.parse(io.StringIO(inline_svg(svg, "f", "the-caption"))).getroot()
    assert root.tag == "svg"  # without a namespace: part of a page
    assert (root.get("role"), root.get("aria-labelledby")) == ("img", "the-caption")
    assert not list(root.iter("style"))
    assert not list(root.iter("metadata"))
    assert "stroke-linejoin: round" in root.get("style", "")


def test_another_file_is_refused() -> None:
    with pytest.raises(ValueError, match="not an SVG file"):
        inline_svg("<html></html>", "f", "c")
    with pytest.raises(ValueError, match="not an SVG file"):
        inline_svg("no markup", "f", "c")
