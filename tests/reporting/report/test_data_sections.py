"""The section of the data: what is odd is listed, and only where something is."""

from pathlib import Path

import pandas as pd

from textbaselines.core.csv_tables import to_csv
from textbaselines.datasets.audit import audit
from textbaselines.datasets.corpus import Corpus
from textbaselines.reporting.report.blocks import Results, Sheet
from textbaselines.reporting.report.data_sections import data
from textbaselines.reporting.tables.data_table import data_table

STUDY = {
    "name": "s",
    "datasets": [
        {"name": "odd", "title": "Odd", "protocol": "10 folds"},
        {"name": "plain", "title": "Plain", "protocol": "10 folds"},
    ],
}


def corpus(last: str, skipped: dict[str, int]) -> Corpus:
    frame = pd.DataFrame({"id": ["1", "2"], "text": ["good", last], "label": ["p", "n"]})
    frame = frame.assign(rating=float("nan"), split="", group=["a", "b"])
    return Corpus(frame, {}, 0, 0, "", skipped)


def sheets(folder: Path, corpora: dict[str, Corpus]) -> dict[str, Sheet]:
    path = folder / "tables/data.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(to_csv(data_table({name: audit(one) for name, one in corpora.items()})))
    section = data(Results(folder, frozenset({"tables/data.csv"})), STUDY)
    return {one.table.name: one for one in section.blocks if isinstance(one, Sheet)}


def test_what_is_odd_is_listed(tmp_path: Path) -> None:
    plain = corpus("bad", {})
    found = sheets(tmp_path, {"odd": corpus("b\x85\ufffd", {"file of macOS": 3}), "plain": plain})
    (row,) = found["odd"].table.rows
    assert [cell.text for cell in row] == ["Odd", "1", "1", "3", "0"]
    assert "odd" not in sheets(tmp_path, {"plain": plain})
