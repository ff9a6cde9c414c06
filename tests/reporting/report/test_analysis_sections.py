"""Calibration before and after, and over-confidence by length, by hand."""

from pathlib import Path

import pytest

from textbaselines.reporting.report.analysis_sections import calibration, lengths
from textbaselines.reporting.report.blocks import Results

STUDY = {
    "name": "s",
    "datasets": [{"name": "d", "title": "First"}],
    "representations": [{"name": "uni", "title": "uni"}],
    "methods": [{"name": "A", "title": "A"}, {"name": "B", "title": "B"}],
}
CALIBRATION = """\
dataset,representation,method,selection,calibration,predictions,accuracy,brier,log_loss,ece,\
ece_low,ece_high,mean_confidence,overconfidence,reason,n_classes
d,uni,A,fixed,own,9,0.8,0.15,0.6,0.11,0.104,0.118,0.9,0.1,,2
d,uni,A,fixed,platt,9,0.8,0.14,0.5,0.02,0.01,0.03,0.8,0.0,,2
d,uni,A,fixed,isotonic,9,0.8,0.13,0.4,0.01,0.0,0.02,0.8,0.0,,2
d,uni,B,fixed,own,9,,,,,,,,,no probabilities,2
d,uni,B,fixed,platt,9,0.8,0.12,0.3,0.03,0.02,0.04,0.79,-0.01,,2
"""
BY_LENGTH = """\
dataset,representation,method,selection,calibration,part,tokens_from,tokens_to,predictions,\
accuracy,mean_confidence,overconfidence,overconfidence_low,overconfidence_high,ece
d,uni,A,fixed,own,2,9,20,3,0.8,0.95,0.15,0.1,0.2,0.1
d,uni,A,fixed,own,1,1,8,3,0.8,0.78,-0.02,-0.03,-0.01,0.1
d,uni,A,fixed,platt,2,9,20,3,0.8,0.8,0.0,0.0,0.0,0.1
"""


@pytest.fixture
def tables(tmp_path: Path):
    folder = tmp_path / "analysis"
    folder.mkdir(parents=True)
    (folder / "calibration.csv").write_text(CALIBRATION)
    (folder / "calibration_by_length.csv").write_text(BY_LENGTH)
    files = frozenset({"analysis/calibration.csv", "analysis/calibration_by_length.csv"})
    blocks = calibration(Results(tmp_path, files), STUDY).blocks
    return [[[cell.text for cell in row] for row in block.table.rows] for block in blocks]


def test_each_cell_before_and_after(tables) -> None:
    ece = ["11.0 (10.4–11.8)", "2.0 (1.0–3.0)", "1.0 (0.0–2.0)"]
    numbers = ["0.150", "0.140", "0.130", "0.600", "0.500", "0.400"]
    assert tables[0] == [
        ["A-uni", "First", "+10.00", *ece, *numbers],
        ["B-uni", "First", "–", "–", "3.0 (2.0–4.0)", "–", "–", "0.120", "–", "–", "0.300", "–"],
    ]


def test_over_confidence_of_the_shortest_and_the_longest(tables) -> None:
    short = ["1–8", "−2.00", "−3.00 to −1.00"]
    assert tables[1] == [["A-uni", "First", *short, "9–20", "+15.00", "+10.00 to +20.00"]]


def test_a_study_without_probabilities_says_why_and_shows_no_picture(tmp_path: Path) -> None:
    folder = tmp_path / "analysis"
    folder.mkdir(parents=True)
    lines = CALIBRATION.splitlines()
    (folder / "calibration.csv").write_text(f"{lines[0]}\n{lines[4]}\n")
    (folder / "calibration_by_length.csv").write_text(BY_LENGTH.splitlines()[0] + "\n")
    files = {"analysis/calibration.csv", "analysis/calibration_by_length.csv"}
    (tmp_path / "figures").mkdir()
    for stem in ("reliability", "calibration-by-length"):
        for form in ("svg", "txt"):
            file = f"figures/{stem}.{form}"
            (tmp_path / file).write_text("<svg/>")
            files.add(file)
    section = calibration(Results(tmp_path, frozenset(files)), STUDY)
    assert section.blocks == ()
    assert section.absent == "No probabilities to measure: no probabilities."
    # With calibrated ones alone: no columns and no picture of a method's own.
    (folder / "calibration.csv").write_text("\n".join([lines[0], *lines[4:]]) + "\n")
    picture, sheet, words = calibration(Results(tmp_path, frozenset(files)), STUDY).blocks
    assert picture.name == "figure-reliability"
    assert sheet.table.header == (
        *("Row", "Dataset"),
        *("ECE %, Platt", "Brier, Platt", "Log-loss, Platt"),
    )
    assert words.sentences == (
        "Over-confidence by document length is left out: no method of this study has probabilities "
        "of its own.",
    )


def test_nothing_is_shown_of_files_without_rows(tmp_path: Path) -> None:
    table, stem = "analysis/accuracy_by_length.csv", "figures/accuracy-by-length"
    for folder in ("analysis", "figures"):
        (tmp_path / folder).mkdir()
    (tmp_path / table).write_text("dataset,part\n")
    (tmp_path / f"{stem}.svg").write_text("<svg/>")
    (tmp_path / f"{stem}.txt").write_text("words")
    files = frozenset({table, f"{stem}.svg", f"{stem}.txt"})
    section = lengths(Results(tmp_path, files), STUDY)
    assert (section.blocks, section.absent) == ((), "No row of this study has a result.")
