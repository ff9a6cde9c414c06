"""The files of a study's tables: the same tables as Markdown, LaTeX, HTML and plain text."""

import io
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from textbaselines.core.storage import write_text
from textbaselines.reporting.report.page import to_html
from textbaselines.reporting.tables.layout import Table, print_table, to_latex, to_markdown


def write_tables(stem: Path, tables: Sequence[Table], title: str, **others: str) -> None:
    """Write ``stem``.md, .tex and .html, and the text of each other ending (``csv="..."``)."""
    forms = {
        "md": "\n".join(map(to_markdown, tables)),
        "tex": "\n".join(map(to_latex, tables)),
        "html": to_html(tables, title),
        **others,
    }
    for ending, text in forms.items():
        write_text(stem.with_suffix(f".{ending}"), text)


def plain_text(tables: Sequence[Table]) -> str:
    """Return the tables as a terminal without styles shows them."""
    stream = io.StringIO()
    for table in tables:
        print_table(table, Console(file=stream))
    return stream.getvalue()
