"""Results as a list to sort and filter, and two sets of results side by side."""

import ast
import io
import json
import re
from collections.abc import Sequence
from typing import Any

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from textbaselines.core.csv_tables import to_csv
from textbaselines.core.errors import UserError
from textbaselines.core.validation import closest
from textbaselines.evaluation.all_results import IDENTITY

_SHORT = 14
"""Characters of a column that is never folded."""

FORMS = ("table", "markdown", "csv", "json")
"""The forms of a list."""

_SHOWN = (
    *IDENTITY,
    *("accuracy", "low", "high", "sd", "macro_f1", "rmse", "documents", "above_majority"),
    *("params", "converged", "failure"),
)
MEASURES = ("accuracy", "low", "high", "macro_f1", "rmse")
"""The columns that say how well a row does on the test folds."""

SORTED_POINTS = (
    "sorted by a measure of the test folds: the point that comes first is chosen on them, so its "
    "number is optimistic; selection nested (without --points) chooses by inner folds"
)
_SHARES = ("accuracy", "low", "high", "sd", "macro_f1", "first", "second")
_KEY = list(IDENTITY[1:])


def select(
    cells: pd.DataFrame,
    *,
    where: Sequence[str] = (),
    sort: Sequence[str] = (),
    ascending: bool = False,
    top: int | None = None,
    columns: Sequence[str] = (),
) -> pd.DataFrame:
    """Return the rows and columns asked for.

    Parameters
    ----------
    cells : data frame
        As :func:`textbaselines.evaluation.all_results.cells_of_studies` gives.
    where : sequence of str
        Conditions of the pandas query language, all of which must hold; a column with a dot in its
        name stands in backticks.
    sort : sequence of str
        Columns to sort by, the first first; the order of the studies without.
    ascending : bool
        The smallest first.
    top : int, optional
        At most so many rows.
    columns : sequence of str
        The columns to return; without, those of a cell that are not empty in every row.

    Raises
    ------
    UserError
        For an unknown column or a condition that cannot be read.
    """
    for condition in where:
        try:
            _check_condition(condition, list(cells.columns))
            # No name but a column's is known.
            kept = cells.query(condition, engine="python", local_dict={}, global_dict={})
            if not isinstance(kept, pd.DataFrame):
                raise TypeError("not a condition")
            cells = kept
        except Exception as error:
            raise UserError(
                "a condition that cannot be used",
                where=f"--filter {condition!r}",
                found=str(error).splitlines()[0] if str(error) else type(error).__name__,
                expected="for instance \"method == 'NBSVM' and accuracy > 0.8\"",
                fix="columns: " + ", ".join(cells.columns),
            ) from error
    for option, names in (("--sort", sort), ("--columns", columns)):
        for name in names:
            if name not in cells:
                raise UserError(
                    "no such column",
                    where=option,
                    found=repr(name),
                    expected="one of " + ", ".join(cells.columns),
                    fix=closest(name, cells.columns),
                )
    if sort:
        cells = cells.sort_values(list(sort), ascending=ascending, kind="stable")
    if top is not None:
        cells = cells.head(top)
    if not columns:
        columns = [name for name in _SHOWN if name in cells and cells[name].notna().any()]
    return cells[list(columns)].reset_index(drop=True)


_IN_CONDITIONS = (
    *(ast.Expression, ast.Load, ast.Constant, ast.List, ast.Tuple, ast.Name),
    *(ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.Invert, ast.USub, ast.UAdd),
    *(ast.Compare, ast.cmpop, ast.BinOp, ast.BitAnd, ast.BitOr),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div),
)
_METHODS = {"isna", "notna", "str.contains", "str.startswith", "str.endswith"}


def _check_condition(condition: str, columns: Sequence[str]) -> None:
    """Refuse what is not a plain condition on columns: pandas would run any code in it.

    Raises
    ------
    ValueError, SyntaxError
        With what is not allowed.
    """
    named: dict[str, str] = {}

    def name_of(quoted: re.Match[str]) -> str:
        return named.setdefault(quoted[1], f"column_{len(named)}_")

    tree = ast.parse(re.sub("`([^`]*)`", name_of, condition), mode="eval")
    known = {named.get(column, column) for column in columns}
    back = {name: column for column, name in named.items()}
    allowed = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_method_of_column(node):
            allowed |= {id(node), *map(id, ast.walk(node.func))}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if node.id not in known:
                name = back.get(node.id, node.id)
                near = closest(name, columns)
                raise ValueError(f"no column {name!r}" + (f": {near}" if near else ""))
        elif not isinstance(node, _IN_CONDITIONS) and id(node) not in allowed:
            raise ValueError(
                f"not allowed: {ast.unparse(node)}; methods of columns that are: "
                + ", ".join(sorted(_METHODS))
            )


def _is_method_of_column(call: ast.Call) -> bool:
    """Return whether a call is one of the allowed methods, of a bare name, with constants."""
    parts: list[str] = []
    node = call.func
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    constants = all(isinstance(argument, ast.Constant) for argument in call.args)
    bare = isinstance(node, ast.Name) and not call.keywords
    return bare and constants and ".".join(parts) in _METHODS


def compare(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of two sets of results side by side.

    Cells belong together when dataset, representation, method and selection are equal; the study's
    name does not matter. ``change`` is the second accuracy minus the first, in percentage points.
    ``status``: ``same`` (accuracy and hyper-parameters equal), ``changed``, ``only first``,
    ``only second``; ``not comparable`` when the numbers of test documents differ.

    Raises :class:`UserError` when a set holds a cell twice, from two studies.
    """
    for place, cells in (("first", first), ("second", second)):
        twice = cells[cells.duplicated(_KEY, keep=False)]
        if len(twice):
            raise UserError(
                f"the {place} results hold one cell in two studies",
                where=" / ".join(map(str, twice.iloc[0][_KEY])),
                found=", ".join(twice["study"].unique()),
                fix="name one study: RESULTS:STUDY",
            )
    values = ["accuracy", "params", "documents"]
    joined = first[[*_KEY, *values]].merge(
        second[[*_KEY, *values]],
        on=_KEY,
        how="outer",
        suffixes=("_first", "_second"),
        sort=False,
        indicator="status",
    )
    joined["change"] = 100 * (joined["accuracy_second"] - joined["accuracy_first"])
    joined["status"] = [_status(row) for row in joined.to_dict("records")]
    order = [*_KEY, "accuracy_first", "accuracy_second", "change", "status"]
    rest = [name for name in joined.columns if name not in order]
    return joined[order + rest]


def _status(row: dict[Any, Any]) -> str:
    if row["status"] == "left_only":
        return "only first"
    if row["status"] == "right_only":
        return "only second"
    if row["documents_first"] != row["documents_second"]:
        return "not comparable"
    both_failed = pd.isna(row["accuracy_first"]) and pd.isna(row["accuracy_second"])
    equal = both_failed or row["accuracy_first"] == row["accuracy_second"]
    return "same" if equal and row["params_first"] == row["params_second"] else "changed"


def diff_list(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what :func:`compare` found in few columns: of what is equal, nothing twice.

    ``first`` and ``second`` are the accuracies, ``points`` is the change. Hyper-parameters and
    numbers of documents are shown where they differ; a column where none does is left out.
    """
    cells = [" / ".join(map(str, key)) for key in frame[_KEY].itertuples(index=False, name=None)]
    shown = pd.DataFrame(
        {
            "cell": pd.Series(cells, index=frame.index, dtype=str),
            "first": frame["accuracy_first"],
            "second": frame["accuracy_second"],
            "points": frame["change"],
            "status": frame["status"],
        }
    )
    both = frame["status"].isin(["same", "changed", "not comparable"])
    for name in ("params", "documents"):
        pair = frame[[f"{name}_first", f"{name}_second"]]
        differ = both & (pair.iloc[:, 0] != pair.iloc[:, 1])
        values = [
            " -> ".join(_shown(name, value) for value in row) if one else ""
            for row, one in zip(pair.itertuples(index=False, name=None), differ, strict=True)
        ]
        if differ.any():
            shown[f"{name} that differ"] = values
    return shown


def render(
    frame: pd.DataFrame, form: str, console: Console | None = None, width: int | None = None
) -> str:
    """Return the list in a form: a table for terminals, Markdown, CSV or JSON.

    CSV and JSON hold exact numbers; the other two show shares in percent with two decimals, under
    a head that says so.

    Parameters
    ----------
    console : Console, optional
        The terminal whose colours a table is for.
    width : int, optional
        How wide the lines of a table may be: text that is wider is folded, numbers never are.
        As wide as it must be without, for a pager.
    """
    if form == "csv":
        return to_csv(frame)
    if form == "json":
        text: str = frame.to_json(
            orient="records", indent=2, force_ascii=False, double_precision=15
        )
        return text + "\n"
    heads = [_head(name) for name in frame.columns]
    rows = [
        [_one_line(_shown(name, value)) for name, value in zip(frame.columns, row, strict=True)]
        for row in frame.itertuples(index=False, name=None)
    ]
    numeric = [pd.api.types.is_numeric_dtype(frame[name]) for name in frame.columns]
    if form == "markdown":
        lines = [_markdown(heads), _markdown("---:" if one else "---" for one in numeric)]
        return "\n".join([*lines, *map(_markdown, rows)]) + "\n"
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for place, (head, right) in enumerate(zip(heads, numeric, strict=True)):
        short = max([len(head), *(len(row[place]) for row in rows)]) <= _SHORT
        table.add_column(
            Text(head),
            justify="right" if right else "left",
            overflow="fold",
            no_wrap=right or short,
        )
    for row in rows:
        table.add_row(*map(Text, row))
    styled = console is not None and console.is_terminal
    if width is None and console is not None and styled:
        width = console.width
    wanted = Console(width=10_000).measure(table).maximum
    stream = io.StringIO()
    Console(
        file=stream, width=min(wanted, width or wanted), force_terminal=styled, highlight=False
    ).print(table)
    return stream.getvalue()


def _is_share(name: str) -> bool:
    return name in _SHARES or name.removesuffix("_first").removesuffix("_second") in _SHARES


def _head(name: str) -> str:
    if name == "change":
        return "change (points)"
    return f"{name} %" if _is_share(name) else name


def _shown(name: str, value: Any) -> str:
    if value is None or (isinstance(value, float) and pd.isna(value)) or value is pd.NaT:
        return ""
    if name in ("change", "points"):
        return f"{value:+.2f}"
    if name.startswith("params") and not name.endswith("differ"):
        return ", ".join(f"{key} = {one}" for key, one in json.loads(value).items())
    if _is_share(name):
        return f"{100 * value:.2f}"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def _one_line(text: str) -> str:
    """Level white space: a name or a message may have any character, also one that ends a line."""
    return " ".join(text.split())


def _markdown(cells: Any) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
