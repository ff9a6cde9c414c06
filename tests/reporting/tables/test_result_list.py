"""Lists of results in every form: a row each, whatever characters a cell has."""

import csv
import io
import json

import pandas as pd
import pytest

from textbaselines.reporting.tables.result_list import render

ODD = "a\rb\nc\x0bd\x0ce\x85f\u2028g|h"


@pytest.mark.parametrize("form", ["table", "markdown", "csv", "json"])
def test_a_line_end_in_a_cell_makes_no_row(form: str) -> None:
    text = render(pd.DataFrame({"dataset": [ODD, "x"], "failure": ["y", ODD]}), form)
    if form == "csv":
        rows = list(csv.reader(io.StringIO(text, newline="")))
        assert rows == [["dataset", "failure"], [ODD, "y"], ["x", ODD]]
    elif form == "json":
        assert [row["dataset"] for row in json.loads(text)] == [ODD, "x"]
    else:
        assert len(text.splitlines()) == 4  # heads, rule, rows
        bar = "\\|" if form == "markdown" else "|"
        assert text.count(f"a b c d e f g{bar}h") == 2
