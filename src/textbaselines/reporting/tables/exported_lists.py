"""Lists of results as files for other programs: Parquet, CSV or JSON Lines."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from textbaselines.core import storage
from textbaselines.core.errors import UserError

SUFFIXES = (".parquet", ".csv", ".jsonl")
"""What the name of an exported file may end with; it says the form."""


def check_suffix(path: Path) -> None:
    """Refuse a file name whose end does not say one of the forms."""
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(
            "a file name that does not say the form of the export",
            where=str(path),
            found=repr(path.suffix) if path.suffix else "no suffix",
            expected="a name that ends with " + ", ".join(SUFFIXES),
        )


def write_frame(path: Path, frame: pd.DataFrame) -> None:
    """Write a data frame in the form that the file's name says, whole or not at all.

    In CSV text is in quotes and a number is not, so that the two are never mixed up: a dataset
    named ``007`` is ``"007"``. A missing number is ``nan``, missing text ``""``, lists are JSON and
    truth values ``true`` and ``false`` in quotes. Numbers have all their digits. In JSON Lines,
    one object a row, what is missing is ``null``.

    Raises :class:`UserError` for a file name with another suffix.
    """
    check_suffix(path)
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        storage.write_parquet(path, frame)
        return
    rows = frame.itertuples(index=False, name=None)
    if suffix == ".jsonl":
        lines = (
            storage.canonical_json(dict(zip(frame.columns, map(_json_value, row), strict=True)))
            for row in rows
        )
        storage.write_text(path, "".join(f"{line}\n" for line in lines))
        return
    numeric = [
        pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)
        for kind in frame.dtypes
    ]
    with storage.whole_file(path) as part, part.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerow(frame.columns)
        for row in rows:
            writer.writerow(
                _number(value) if number else _text(value)
                for value, number in zip(row, numeric, strict=True)
            )


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and bool(np.isnan(value)))


def _json_value(value: Any) -> Any:
    return None if _is_missing(value) else value


def _number(value: Any) -> Any:
    if _is_missing(value):
        return float("nan")
    return value.item() if isinstance(value, np.generic) else value


def _text(value: Any) -> str:
    if _is_missing(value):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return json.dumps(bool(value))
    return storage.canonical_json(value)
