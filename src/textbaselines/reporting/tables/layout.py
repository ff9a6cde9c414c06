"""A table ready to be shown, and its forms: Markdown, LaTeX and terminal text; cells as HTML.

What a table means (which numbers, which are bold, what the notes say) is settled before it comes
here; this module only writes it down, so that every form shows the same. A page of tables is the
report's (:mod:`textbaselines.reporting.report.page`).
"""

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import jinja2
from markupsafe import Markup
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table as RichTable
from rich.text import Text

DASH = "–"
DAGGER = "†"
DOUBLE_DAGGER = "‡"


@dataclass(frozen=True)
class Cell:
    """One cell: its text, how it is emphasised, its note marks, and smaller lines under it."""

    text: str
    bold: bool = False
    underline: bool = False
    below: str = ""
    marks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table with its caption and notes.

    Attributes
    ----------
    name : str
        A short name for anchors and labels, such as ``"comparison-fixed"``.
    title, caption : str
        The heading, and all that a reader must know to read the numbers.
    header : tuple of str
        The column heads, that of the row names first.
    groups : tuple of tuple of rows
        The body: groups of rows, a rule between two groups; a row is a tuple of as many cells as
        there are heads, the row's name first.
    notes : tuple of (mark, text)
        The notes that the marks of the cells refer to; one with an empty mark is about the table.
    warning : str
        What a reader must not miss, shown before everything else; empty for none.
    emphasis : bool
        Whether bold and underline stand for the best three and the best.
    text_columns : frozenset of int
        Columns of words, set to the left; the others hold numbers, set to the right.
    """

    name: str
    title: str
    caption: str
    header: tuple[str, ...]
    groups: tuple[tuple[tuple[Cell, ...], ...], ...]
    notes: tuple[tuple[str, str], ...] = ()
    warning: str = ""
    emphasis: bool = True
    text_columns: frozenset[int] = frozenset({0})

    def __post_init__(self) -> None:
        """Refuse a row that does not fit under the heads."""
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(f"a row of {len(row)} cells under {len(self.header)} heads")

    @property
    def rows(self) -> list[tuple[Cell, ...]]:
        """All rows, group after group."""
        return [row for group in self.groups for row in group]


EMPHASIS = (
    "The best three of each column are bold and the best is also underlined, by the number as "
    "shown; ties share."
)
PLAIN_EMPHASIS = (
    "** the best of a column, * the other two of the best three, by the number as shown; ties "
    "share."
)


def full_caption(table: Table, emphasis: str = EMPHASIS) -> str:
    """Return the caption with the sentence on bold and underline, where the table uses them."""
    return f"{table.caption} {emphasis}" if table.emphasis else table.caption


# Markdown ------------------------------------------------------------------------------------


def to_markdown(table: Table) -> str:
    """Return the table as GitHub Markdown; underline is ``<ins>``, the form that GitHub keeps."""
    lines = [f"### {_markdown_escape(table.title)}", ""]
    if table.warning:
        lines += [f"> **{_markdown_escape(table.warning)}**", ""]
    lines.append("| " + " | ".join(_markdown_escape(head) for head in table.header) + " |")
    aligned = [
        ":---" if column in table.text_columns else "---:" for column in range(len(table.header))
    ]
    lines.append("| " + " | ".join(aligned) + " |")
    for row in table.rows:
        lines.append("| " + " | ".join(_markdown_cell(cell) for cell in row) + " |")
    lines += ["", _markdown_escape(full_caption(table))]
    for mark, text in table.notes:
        sign = f"<sup>{mark}</sup> " if mark else ""
        lines += ["", sign + _markdown_escape(text)]
    return "\n".join(lines) + "\n"


def _markdown_cell(cell: Cell) -> str:
    text = _markdown_escape(cell.text)
    if cell.bold:
        text = f"**{text}**"
    if cell.underline:
        text = f"<ins>{text}</ins>"
    if cell.marks:
        text += f"<sup>{' '.join(cell.marks)}</sup>"
    for line in cell.below.splitlines():
        text += f"<br><sub>{_markdown_escape(line)}</sub>"
    return text


def _markdown_escape(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~$])", r"\\\1", " ".join(text.split()))


# LaTeX ---------------------------------------------------------------------------------------

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "–": "--",
    "—": "---",
    "’": "'",
    "“": "``",
    "”": "''",
    "…": r"\dots{}",
    "†": r"\textdagger{}",
    "‡": r"\textdaggerdbl{}",
    "±": r"$\pm$",
    "−": "$-$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "Δ": r"$\Delta$",
    "√": r"$\surd$",
    "✗": r"$\times$",
    "\N{NO-BREAK SPACE}": "~",
}


def to_latex(table: Table) -> str:
    r"""Return the table as a LaTeX ``table`` float for ``booktabs`` (``\usepackage{booktabs}``).

    The file needs ``\usepackage[T1]{fontenc}`` for quotation marks. Characters outside a small
    list of symbols are left as they are: they need a UTF-8 engine and a font that has them.
    """
    columns = "".join(
        "r" if i not in table.text_columns else r"p{0.24\linewidth}" if i else "l"
        for i in range(len(table.header))
    )
    heads = [
        _latex_escape(head)
        if i in table.text_columns
        else rf"\multicolumn{{1}}{{c}}{{{_latex_escape(head)}}}"
        for i, head in enumerate(table.header)
    ]
    lines = [
        r"% needs \usepackage{booktabs} and \usepackage[T1]{fontenc}",
        r"\begin{table}",
        r"\centering",
    ]
    if table.warning:
        lines.append(rf"\textbf{{{_latex_escape(table.warning)}}}\par\smallskip")
    lines += [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", " & ".join(heads) + r" \\"]
    for group in table.groups:
        lines.append(r"\midrule")
        for row in group:
            lines.append(" & ".join(_latex_cell(cell) for cell in row) + r" \\")
            below = [cell.below.splitlines() for cell in row]
            for texts in itertools.zip_longest(*below, fillvalue=""):
                small = [
                    rf"{{\scriptsize {_latex_escape(text)}}}" if text else "" for text in texts
                ]
                lines.append(" & ".join(small) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    for mark, text in table.notes:
        sign = rf"\textsuperscript{{{_latex_escape(mark)}}} " if mark else ""
        lines.append(rf"\par{{\footnotesize {sign}{_latex_escape(text)}}}")
    lines += [
        rf"\caption{{{_latex_escape(table.title)}. {_latex_escape(full_caption(table))}}}",
        rf"\label{{tab:{re.sub('[^A-Za-z0-9:.-]', '-', table.name)}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _latex_cell(cell: Cell) -> str:
    text = _latex_escape(cell.text)
    if cell.bold:
        text = rf"\textbf{{{text}}}"
    if cell.underline:
        text = rf"\underline{{{text}}}"
    if cell.marks:
        text += rf"\textsuperscript{{{_latex_escape(' '.join(cell.marks))}}}"
    return text


def _latex_escape(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in " ".join(text.split()))


# HTML ----------------------------------------------------------------------------------------

_SHOW = jinja2.Environment(autoescape=True, trim_blocks=True).from_string(
    "{% if cell.underline %}<u>{% endif %}{% if cell.bold %}<b>{% endif %}{{ cell.text }}"
    "{% if cell.bold %}</b>{% endif %}{% if cell.underline %}</u>{% endif %}"
    '{% if cell.marks %}<sup>{{ cell.marks | join(" ") }}</sup>{% endif %}'
    "{% for line in cell.below.splitlines() %}<small>{{ line }}</small>{% endfor %}"
)


def html_cell(cell: Cell) -> str:
    """Return a cell as HTML, its texts escaped."""
    return Markup(_SHOW.render(cell=cell))


# Terminal ------------------------------------------------------------------------------------


def print_table(table: Table, console: Console | None = None) -> None:
    """Print the table; where the output shows no bold (a pipe, a file), stars stand for it.

    No number is cut: on a terminal that is too narrow the columns follow each other in blocks,
    each with the names of the rows; a pipe gets the whole width.
    """
    console = console or Console()
    styled = console.is_terminal and not console.no_color
    texts = [[_terminal_cell(cell, styled) for cell in row] for row in table.rows]
    widths = [
        max(cell_len(head), *(_width(row[column]) for row in texts), 1)
        for column, head in enumerate(table.header)
    ]
    caption = full_caption(table, EMPHASIS if styled else PLAIN_EMPHASIS)
    with _wide_enough(console, sum(widths) + _GAP * len(widths)):
        if table.warning:
            console.print(Text(table.warning, style="bold"), soft_wrap=True)
        console.print(Text(table.title, style="bold" if styled else ""), soft_wrap=True)
        for block in _blocks(widths, console.width):
            console.print(_terminal_grid(table, texts, block))
        for line in [caption, *(f"{mark} {text}".strip() for mark, text in table.notes)]:
            console.print(Text(line), soft_wrap=not console.is_terminal)


@contextmanager
def _wide_enough(console: Console, needed: int) -> Iterator[None]:
    """Give a console that is no terminal the width needed: a pipe has none of its own."""
    before = console.width
    if not console.is_terminal:
        console.width = max(before, needed)
    try:
        yield
    finally:
        console.width = before


_GAP = 3  # between two columns of a terminal table


def _blocks(widths: list[int], room: int) -> list[list[int]]:
    """Split the columns into blocks that fit into ``room``, each with the column of row names."""
    blocks: list[list[int]] = []
    used = room
    for column in range(1, len(widths)):
        if used + widths[column] + _GAP > room:
            blocks.append([0])
            used = widths[0]
        blocks[-1].append(column)
        used += widths[column] + _GAP
    return blocks or [[0]]


def _terminal_grid(table: Table, texts: list[list[Text]], columns: list[int]) -> RichTable:
    grid = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        justify: JustifyMethod = "left" if column in table.text_columns else "right"
        grid.add_column(Text(table.header[column]), justify=justify, no_wrap=True)
    position = 0
    for group in table.groups:
        for _ in group:
            grid.add_row(*(texts[position][column] for column in columns))
            position += 1
        grid.add_section()
    return grid


def _terminal_cell(cell: Cell, styled: bool) -> Text:
    style = " ".join(
        name for name, on in (("bold", cell.bold), ("underline", cell.underline)) if on and styled
    )
    text = Text(cell.text, style=style)
    if not styled and cell.bold:
        text.append("**" if cell.underline else "*")
    if cell.marks:
        text.append(" " + " ".join(cell.marks))
    for line in cell.below.splitlines():
        text.append("\n" + line, style="not bold not underline dim")
    return text


def _width(text: Text) -> int:
    return max((cell_len(line) for line in text.plain.splitlines()), default=0)
