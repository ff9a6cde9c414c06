"""What a report is made of: sections of paragraphs, tables and figures, each with its sources."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from textbaselines.core.csv_tables import read_csv
from textbaselines.reporting.tables.layout import DASH, Cell, Table


@dataclass(frozen=True)
class Source:
    """Where the numbers of a block are.

    Attributes
    ----------
    file : str
        Path under the folder of the study.
    rule : str
        The rule of the workflow that makes the file.
    """

    file: str
    rule: str


@dataclass(frozen=True)
class Prose:
    """Sentences: one paragraph, or a list of them."""

    sentences: tuple[str, ...]
    sources: tuple[Source, ...] = ()
    listed: bool = False
    warning: bool = False

    kind = "prose"


@dataclass(frozen=True)
class Sheet:
    """A table, and how many rows its source has beyond those shown."""

    table: Table
    sources: tuple[Source, ...] = ()
    left_out: int = 0

    kind = "sheet"


@dataclass(frozen=True)
class Picture:
    """A figure.

    Attributes
    ----------
    name : str
        Unique on the page.
    caption : str
    path : Path
        The SVG; a PNG of the same stem lies beside it.
    words : str
        What the figure shows, for readers who cannot see it.
    narrow : Path, optional
        The SVG that a phone shows instead.
    """

    name: str
    caption: str
    path: Path
    words: str
    sources: tuple[Source, ...] = ()
    narrow: Path | None = None

    kind = "picture"


@dataclass(frozen=True)
class Commands:
    """Lines to type at a terminal."""

    lines: tuple[str, ...]

    kind = "commands"


Block = Prose | Sheet | Picture | Commands


@dataclass(frozen=True)
class Section:
    """A part of the report; without blocks, ``absent`` says why there is nothing."""

    name: str
    title: str
    blocks: tuple[Block, ...] = ()
    absent: str = ""


@dataclass(frozen=True)
class Results:
    """The files that a report may use.

    Attributes
    ----------
    folder : Path
        The folder of the study's results.
    files : frozenset of str
        Paths under it; what is not among them is not looked for, so that a file left behind by
        another run cannot get into the page.
    """

    folder: Path
    files: frozenset[str] = field(default_factory=frozenset)

    def path(self, file: str) -> Path | None:
        """Return the path of a file, None when it is none of the report's."""
        return self.folder / file if file in self.files else None

    def table(self, file: str) -> pd.DataFrame | None:
        """Return a CSV as a data frame, None when it is none of the report's."""
        path = self.path(file)
        if path is None:
            return None
        return read_csv(path)


Format = Callable[[Any], str]


def sheet_of_frame(
    frame: pd.DataFrame,
    columns: Mapping[str, tuple[str, Format | None]],
    *,
    name: str,
    title: str,
    caption: str,
    sources: Sequence[Source] = (),
    at_most: int | None = None,
    of_each: int | None = None,
) -> Sheet:
    """Return a data frame as a table of the page.

    Parameters
    ----------
    columns : mapping of column to (head, format)
        What is shown, in this order. Without a format it is a column of words.
    at_most : int, optional
        Show only so many rows; the others are counted.
    of_each : int, optional
        Show only so many rows of each dataset (column ``dataset``); the others are counted.
    """
    shown = frame if at_most is None else frame.head(at_most)
    if of_each is not None:
        shown = shown.groupby("dataset", sort=False).head(of_each)
    formats = [form for _, form in columns.values()]
    rows = [
        tuple(Cell(_text(value, form)) for value, form in zip(row, formats, strict=True))
        for row in shown[list(columns)].itertuples(index=False, name=None)
    ]
    table = Table(
        name=name,
        title=title,
        caption=caption,
        header=tuple(head for head, _ in columns.values()),
        groups=(tuple(rows),),
        emphasis=False,
        text_columns=frozenset(i for i, form in enumerate(formats) if form is None),
    )
    return Sheet(table, tuple(sources), len(frame) - len(shown))


def _text(value: Any, form: Format | None) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return DASH
    return str(value) if form is None else form(value)


_NUMBER = re.compile(r"[+−-]?\d[\d,]*\.?\d*(?:e[+-]?\d+)?")


def sort_key(text: str) -> str:
    """Return the number that a cell is sorted by, as JavaScript reads it; empty for none.

    The first number of the text counts: "<0.001" sorts as 0.001, "12,345" as 12345, "−0.3" as
    -0.3.
    """
    found = _NUMBER.search(text)
    return found.group().replace(",", "").replace("−", "-") if found else ""


def picture_of(
    results: Results, stem: str, name: str, caption: str, *sources: Source
) -> list[Block]:
    """Return the figure of the files ``stem``.svg and .txt; nothing when they are not there."""
    path, words = results.path(f"{stem}.svg"), results.path(f"{stem}.txt")
    if path is None or words is None:
        return []
    text = words.read_text(encoding="utf-8")
    narrow = results.path(f"{stem}-narrow.svg")
    return [Picture(f"figure-{name}", caption, path, text, sources, narrow)]


def absent(name: str, title: str, file: str) -> Section:
    """Return a section that says which file it lacks."""
    return Section(name, title, absent=f"Not made in this study (no {file}).")
