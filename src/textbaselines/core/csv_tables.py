"""The workflow's own CSV files: written, and read with the type of each column stated, not guessed.

A dataset, a class or an n-gram may be called ``nan``, ``NA``, ``007``, ``True`` or ``1e5``: it
stays that word.
"""

import io
from pathlib import Path

import numpy as np
import pandas as pd

from textbaselines.core.errors import UserError
from textbaselines.core.storage import named_if_broken

WORDS = frozenset(
    {
        *("a", "b", "by", "calibration", "cause", "claim", "class", "classes", "dataset"),
        *("ahead_at_least", "ahead_at_most", "discriminative", "failure", "generative", "id"),
        *("kind", "label", "method", "method_a", "method_b", "ngram", "note", "outcome", "params"),
        *("predicted", "reason", "representation", "representation_a", "representation_b"),
        *("reproduced", "row", "selection", "selection_a", "selection_b", "source", "test", "text"),
        *("text_a", "text_b", "verdict", "wrong_for", "h:m:s"),
    }
)
"""Columns of text, by name. An empty cell is missing (NaN)."""

TRUTHS = frozenset(
    {
        *(
            "above_majority",
            "converged",
            "declared",
            "identical",
            "mcnemar_approximate",
            "on_front",
            "optimistic",
        ),
    }
)
"""Columns of True and False; an empty cell is False. Every other column holds numbers."""


def to_csv(frame: pd.DataFrame) -> str:
    """Return a data frame as CSV: comma, LF, floats that read back to the same number.

    A field with CR or LF in it is quoted. Python's csv module quotes only the characters of the
    line terminator in some of its versions, so it is told to end rows with CR LF.
    """
    rows = _RowsEndWithLineFeed()
    frame.to_csv(rows, index=False, lineterminator="\r\n")
    return rows.getvalue()


class _RowsEndWithLineFeed(io.StringIO):
    """A stream to which a CSV writer writes row by row."""

    def write(self, row: str) -> int:
        return super().write(row.removesuffix("\r\n") + "\n")


def read_csv(path: str | Path, separator: str = ",", blanks: tuple[str, ...] = ()) -> pd.DataFrame:
    """Read a CSV file that the workflow wrote.

    ``blanks``: what stands for a missing number, besides an empty cell.

    Returns
    -------
    data frame
        :data:`WORDS` as str, :data:`TRUTHS` as bool, other columns as int64 where every cell is a
        whole number, else as float64.

    Raises
    ------
    UserError
        When the file is absent, empty or broken, or a cell is not of its column's type.
    """
    with named_if_broken(path, "CSV"):
        raw = pd.read_csv(path, sep=separator, dtype="str", keep_default_na=False, na_values=[])
    return pd.DataFrame(
        {name: _typed(raw[name], str(name), path, blanks) for name in raw.columns}, index=raw.index
    )


def _typed(cells: pd.Series, name: str, path: str | Path, blanks: tuple[str, ...]) -> pd.Series:
    if name in WORDS:
        return cells.mask(cells == "")
    if name in TRUTHS:
        wrong = ~cells.isin(["True", "False", ""])
        if wrong.any():
            raise _mistyped(path, name, cells[wrong].iloc[0], "True or False")
        return cells == "True"
    if len(cells) and cells.str.fullmatch(r"-?[0-9]{1,18}").all():
        return cells.astype(np.int64)
    numbers = []
    for cell in cells:
        try:
            # Python's own parser: floats read back to the same number.
            numbers.append(float(cell) if cell and cell not in blanks else np.nan)
        except ValueError:
            raise _mistyped(path, name, cell, "a number") from None
    return pd.Series(numbers, index=cells.index, dtype=np.float64)


def _mistyped(path: str | Path, name: str, found: str, expected: str) -> UserError:
    return UserError(
        "a broken CSV file",
        where=f"{path}, column {name}",
        found=repr(found[:80]),
        expected=expected,
        fix="delete it, and run again what makes it",
    )
