"""The tables of the error analysis, by hand."""

from pathlib import Path

import pytest

from textbaselines.reporting.report.blocks import Results, Sheet
from textbaselines.reporting.report.error_section import errors

STUDY = {
    "name": "s",
    "datasets": [{"name": "d", "title": "First"}, {"name": "e", "title": "Second"}],
    "representations": [{"name": "uni", "title": "uni"}],
    "methods": [{"name": name, "title": name} for name in ("A", "B", "C")],
}
FILES = {
    # 10 documents: 4 of no method, 1 of 1, 2 of 2, 3 of 3 of 4, none of all.
    "hardness": "dataset,wrong_methods,methods,documents,share,wrong_for,wrong_for_documents,"
    "wrong_for_share\n"
    "d,0,4,4,0.4,none,4,0.4\nd,1,4,1,0.1,some,3,0.3\nd,2,4,2,0.2,some,3,0.3\n"
    "d,3,4,3,0.3,most,3,0.3\nd,4,4,0,0.0,all,0,0.0\n",
    # B is right on 7 of 10, A on 6.
    "confusion": "dataset,representation,method,selection,label,predicted,predictions,"
    "share_of_label\n"
    "d,uni,A,fixed,neg,neg,3,0.75\nd,uni,A,fixed,neg,pos,1,0.25\n"
    "d,uni,A,fixed,pos,neg,3,0.5\nd,uni,A,fixed,pos,pos,3,0.5\n"
    "d,uni,B,fixed,neg,neg,1,0.25\nd,uni,B,fixed,neg,pos,3,0.75\n"
    "d,uni,B,fixed,pos,neg,0,0.0\nd,uni,B,fixed,pos,pos,6,1.0\n",
    "agreement": "dataset,representation_a,method_a,representation_b,method_b,predictions,equal,"
    "kappa,both_wrong,both_wrong_if_independent\n"
    "e,uni,A,uni,B,10,0.6,0.8,0.1,0.05\ne,uni,A,uni,C,10,0.7,-0.1,0.1,0.05\n"
    "d,uni,A,uni,B,10,0.8,0.6,0.2,0.12\n",
}


@pytest.fixture
def sheets(tmp_path: Path) -> dict[str, Sheet]:
    files = []
    for name, text in FILES.items():
        path = tmp_path / f"analysis/{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        files.append(f"analysis/{name}.csv")
    section = errors(Results(tmp_path, frozenset(files)), STUDY)
    assert [block.sources[0].file for block in section.blocks] == files
    return {block.table.name: block for block in section.blocks}


def _texts(sheet: Sheet) -> list[list[str]]:
    return [[cell.text for cell in row] for row in sheet.table.rows]


def test_documents_by_the_number_of_methods_that_get_them_wrong(sheets) -> None:
    # Half of 4 methods is some, not most.
    row = ["First", "4", "4", "40.0", "3", "30.0", "3", "30.0", "0", "0.0"]
    assert _texts(sheets["hardness"]) == [row]


def test_confusion_of_the_row_that_is_right_most_often(sheets) -> None:
    assert _texts(sheets["confusion"]) == [
        ["First", "B-uni", "neg", "25.0", "pos 3 (75.0 %), neg 1 (25.0 %)"],
        ["First", "B-uni", "pos", "100.0", "pos 6 (100.0 %)"],
    ]


def test_the_least_alike_methods_of_each_dataset_come_first(sheets) -> None:
    assert _texts(sheets["agreement"]) == [
        ["Second", "A-uni and C-uni", "70.0", "−0.100", "10.0", "5.0"],
        ["Second", "A-uni and B-uni", "60.0", "0.800", "10.0", "5.0"],
        ["First", "A-uni and B-uni", "80.0", "0.600", "20.0", "12.0"],
    ]


def test_without_files_the_section_says_so(tmp_path: Path) -> None:
    section = errors(Results(tmp_path), STUDY)
    assert not section.blocks
    assert "analysis/hard_documents.csv" in section.absent
