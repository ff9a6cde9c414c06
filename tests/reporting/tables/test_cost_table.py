"""The table of costs has the comparison table's rows, and readable numbers."""

import math

import pandas as pd
import pytest

from textbaselines.reporting.tables.cost_table import cost_table, significant, size


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.00123, "0.0012"), (0.1, "0.10"), (3.44, "3.4"), (12.3, "12"), (123.4, "123"), (0.0, "0")],
)
def test_two_significant_digits(value: float, text: str) -> None:
    assert significant(value) == text


def test_rows_columns_and_missing_cells() -> None:
    study = {
        "title": "T",
        "datasets": [{"name": "d1", "title": "D1"}, {"name": "d2", "title": "D2"}],
        "representations": [{"name": "uni", "title": "uni"}, {"name": "bi", "title": "bi"}],
        "methods": [{"name": "A", "title": "A"}, {"name": "B", "title": "B"}],
    }
    shared = {"representation": "bi", "fits": 1, "job_seconds": 1.0}
    costs = pd.DataFrame(
        [
            {
                **shared,
                "dataset": "d2",
                "method": "A",
                "fit_seconds": 0.5,
                "predict_microseconds": 12.0,
                "peak_mebibytes": 300.2,
                "model_bytes": 2048.0,
            },
            {
                **shared,
                "dataset": "d1",
                "method": "B",
                "fit_seconds": 2.0,
                "predict_microseconds": 1.0,
                "peak_mebibytes": math.nan,
                "model_bytes": math.nan,
            },
        ]
    )
    table = cost_table(costs, study)
    assert table.header == ("Method", "D1", "D2")
    rows = [[(cell.text, cell.below) for cell in row] for row in table.rows]
    assert rows == [
        [("A-bi", ""), ("–", ""), ("0.50", "12 µs · 300 MiB\n2.0 KiB")],
        [("B-bi", ""), ("2.0", "1.0 µs"), ("–", "")],
    ]


@pytest.mark.parametrize(
    ("value", "text"), [(88, "88 B"), (1024, "1.0 KiB"), (839_000, "819 KiB"), (2**21, "2.0 MiB")]
)
def test_sizes(value: float, text: str) -> None:
    assert size(value) == text
