"""Own CSV files: every column has a stated type, so that words stay the words they are."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from textbaselines.core.csv_tables import TRUTHS, WORDS, read_csv, to_csv
from textbaselines.core.errors import UserError

NAMES = ["nan", "NA", "null", "None", "007", "2016", "True", "1e5", "-inf", "N/A", "1_000", " x "]


@pytest.mark.parametrize("column", sorted(WORDS))
def test_words_stay_words(column: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(to_csv(pd.DataFrame({column: NAMES})))
    assert read_csv(path)[column].tolist() == NAMES
    # One name alone, which a reader that guesses takes for a number or nothing.
    for name in NAMES:
        path.write_text(to_csv(pd.DataFrame({column: [name]})))
        assert read_csv(path)[column].tolist() == [name]


def test_numbers_truths_and_what_is_missing(tmp_path: Path) -> None:
    numbers = [0.1 + 0.2, 1e-300, float("inf"), float("nan"), -3.0]
    frame = pd.DataFrame(
        {
            "p": numbers,
            "documents": [1, 2, 3, 4, -5],
            "declared": [True, False, True, False, False],
            "failure": ["x", None, "nan", None, "1"],
        }
    )
    path = tmp_path / "x.csv"
    path.write_text(to_csv(frame))
    back = read_csv(path)
    np.testing.assert_array_equal(back["p"], numbers)
    assert back["documents"].tolist() == [1, 2, 3, 4, -5]
    assert back["documents"].dtype == np.int64
    assert back["declared"].tolist() == [True, False, True, False, False]
    assert back["failure"].isna().tolist() == [False, True, False, True, False]
    path.write_text(to_csv(frame.iloc[:0]))
    assert list(read_csv(path).columns) == list(frame)


@pytest.mark.parametrize("column", ["p", *sorted(TRUTHS)])
def test_a_cell_of_another_type_is_named(column: str, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"{column}\nperhaps\n")
    with pytest.raises(UserError, match=rf"x\.csv, column {column}"):
        read_csv(path)


def test_no_other_module_reads_csv_with_guessed_types(repository: Path) -> None:
    readers = [
        str(path.relative_to(repository))
        for folder in ("src", "workflow")
        for path in sorted((repository / folder).rglob("*"))
        if path.suffix in (".py", ".smk")
        and re.search(r"pd\.read_(csv|table|fwf)|genfromtxt|loadtxt", path.read_text())
    ]
    assert readers == ["src/textbaselines/core/csv_tables.py"]
