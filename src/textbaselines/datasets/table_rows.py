"""Rows of CSV, TSV and JSON-lines files as text, with the line of each: no value's type is guessed.

"NA", "null", "007" and an empty cell stay what they are.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from textbaselines.core.errors import UserError
from textbaselines.core.validation import closest
from textbaselines.datasets.decoding import Decoder, numbered_lines


class Row(NamedTuple):
    """One row: where it stands (file and line) and its values by column."""

    where: str
    values: dict[str, str]


def csv_rows(
    content: bytes, columns: Sequence[str], decoder: Decoder, place: str, quotes: bool = True
) -> Iterator[Row]:
    """Yield the rows of a CSV with a header (RFC 4180), the named columns alone.

    Parameters
    ----------
    content : bytes
        In an encoding in which comma, tab, quote, CR and LF are single bytes.
    decoder : Decoder
        Decodes field by field.
    place : str
        The file, for errors.
    quotes : bool
        Whether a field may stand in quotes, with quotes doubled and line ends inside; otherwise a
        quote is a character like another.

    Raises
    ------
    UserError
        For a header without a column or with one twice, a row of more or fewer fields than the
        header, a quote that is not closed or stands amid a field; with the line.
    """
    return _delimited(content, columns, decoder, place, ",", quotes)


def tsv_rows(
    content: bytes, columns: Sequence[str], decoder: Decoder, place: str, quotes: bool = True
) -> Iterator[Row]:
    """Yield rows as :func:`csv_rows`, of fields with tabs between them."""
    return _delimited(content, columns, decoder, place, "\t", quotes)


def jsonl_rows(
    content: bytes, columns: Sequence[str], decoder: Decoder, place: str, quotes: bool = True
) -> Iterator[Row]:
    """Yield the rows of JSON lines: an object on each line; blank lines are passed over.

    A value is text or a whole number, which becomes its digits; true and false become words.

    Raises :class:`UserError` for a line that is no JSON object or has a key twice, for a column
    that is missing or whose value is of another kind; with the line.
    """
    for number, line in numbered_lines(content):
        where = f"{place}, line {number}"
        text = decoder.text(line, where)
        if not text.strip():
            continue
        try:
            value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise UserError("not a line of JSON", where=where, found=error) from None
        if not isinstance(value, dict):
            raise UserError(
                "a line that is not a JSON object",
                where=where,
                found=_shown(value),
                expected="{...}",
            )
        _check_columns(columns, list(value), where)
        yield Row(where, {name: _as_text(value[name], name, where) for name in columns})


FORMATS: Mapping[str, Callable[..., Iterator[Row]]] = {
    "csv": csv_rows,
    "tsv": tsv_rows,
    "jsonl": jsonl_rows,
}


def _delimited(
    content: bytes,
    columns: Sequence[str],
    decoder: Decoder,
    place: str,
    delimiter: str,
    quotes: bool,
) -> Iterator[Row]:
    # A byte becomes a character here: so each field is decoded by itself, and a fault has a line.
    lines = (line + "\n" for line in content.decode("latin-1").removesuffix("\n").split("\n"))
    # Each field may be as long as the file.
    csv.field_size_limit(max(csv.field_size_limit(), len(content)))
    reader = csv.reader(
        lines,
        delimiter=delimiter,
        strict=True,
        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
    )
    header: list[str] | None = None
    places: dict[str, int] = {}
    while True:
        first = reader.line_num + 1
        where = f"{place}, line {first}"
        try:
            fields = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            raise UserError(
                "not a row: a quote that is not closed or is amid a field, or a CR without LF",
                where=f"{where} to {reader.line_num}" if reader.line_num > first else where,
                found=error,
                expected='fields as in "one ""quoted"" word, and a comma"',
                fix="double each quote inside a field and put a field with a line end into quotes; "
                "set quotes: false in the reader if quotes are characters like others",
            ) from None
        if not fields:
            continue
        if header is None:
            header = [decoder.text(field.encode("latin-1"), where, strict=True) for field in fields]
            _check_columns(columns, header, where)
            places = {name: header.index(name) for name in columns}
            continue
        if len(fields) != len(header):
            raise UserError(
                "a row with another number of fields than the header",
                where=where,
                found=f"{len(fields)}: {_shown([field[:30] for field in fields])}",
                expected=f"{len(header)}: {', '.join(header)}",
                fix="put a field with the delimiter in it into quotes",
            )
        yield Row(
            where,
            {
                name: decoder.text(fields[column].encode("latin-1"), f"{where}, column {name}")
                for name, column in places.items()
            },
        )
    if header is None:
        raise UserError("a table without a header", where=place, expected=", ".join(columns))


def _check_columns(wanted: Sequence[str], there: Sequence[str], where: str) -> None:
    for name in wanted:
        if there.count(name) != 1:
            raise UserError(
                f"there is no column {name!r}"
                if name not in there
                else f"the column {name!r} is there {there.count(name)} times",
                where=where,
                found=", ".join(there),
                expected=", ".join(wanted),
                fix=closest(name, there) if name not in there else None,
            )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        twice = [key for n, (key, _) in enumerate(pairs) if key in dict(pairs[:n])]
        raise ValueError(f"the key {twice[0]!r} is there twice")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def _as_text(value: Any, name: str, where: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return str(value)
    if not isinstance(value, str):
        raise UserError(
            f"a value of {name!r} that is not text",
            where=where,
            found=_shown(value),
            expected="text or a number",
        )
    if _NOT_STORED.search(value):
        raise UserError(
            f"a value of {name!r} with a NUL character or half a surrogate pair",
            where=where,
            found=ascii(value)[:200],
        )
    return value


_NOT_STORED = re.compile("[\0\ud800-\udfff]")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else text[:197] + "..."
