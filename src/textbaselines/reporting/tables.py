"""The comparison tables of a study, in the style of Wang & Manning (2012, Tables 2 to 4)."""

import io
import json
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import pandas as pd

from textbaselines.errors import UserError
from textbaselines.experiments.selection import ACROSS
from textbaselines.reporting.layout import DAGGER, DASH, Cell, Table

SELECTIONS = {
    "fixed": "Hyper-parameters were fixed before the run.",
    "nested": "Hyper-parameters were chosen inside each training part, by inner folds.",
    "oracle": "Hyper-parameters are those with the highest accuracy on the test folds.",
}
ACROSS_NOTE = f"Rows -{ACROSS} choose the representation there, too."
ORACLE_WARNING = "optimistic: chosen on the test folds"
_TITLES = {
    "fixed": "fixed hyper-parameters",
    "nested": "hyper-parameters chosen by inner folds",
    "oracle": ORACLE_WARNING,
}
NOT_CONVERGED = (
    "At least one fit behind this number did not converge; converged and n_iter in the scores of "
    "its run tell which."
)
_KEY = ["dataset", "representation", "method", "selection"]
_NUMBERS = ["accuracy", "sd", "draws", "documents", "low", "high", "macro_f1", "rmse"]


def percent(fraction: float, decimals: int) -> str:
    """Return a fraction in percent, halves rounded up as by hand: 0.83445 is 83.45, then 83.4.

    The binary error of a mean is taken off first (at 1e-10 points), so that the mean of 0.7 and
    0.8345 does not fall under its half for the way floats are stored.
    """
    exact = Decimal(f"{fraction * 100:.10f}")
    return str(exact.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP))


def best_three(shown: Sequence[str | None]) -> list[tuple[bool, bool]]:
    """Return for each number as shown whether it is among the best three, and whether the best.

    A number is among the best three when fewer than three are greater: equals share a place, so
    two at the second place leave no third. ``None`` (no number) is neither.
    """
    numbers = [None if text is None else Decimal(text) for text in shown]
    ranks: list[tuple[bool, bool]] = []
    for number in numbers:
        if number is None:
            ranks.append((False, False))
            continue
        greater = sum(other is not None and other > number for other in numbers)
        ranks.append((greater < 3, greater == 0))
    return ranks


def check_cells(cells: pd.DataFrame, study: Mapping[str, Any]) -> pd.DataFrame:
    """Return the cells, after making sure that they are this study's and can be shown.

    Raises
    ------
    UserError
        When a column is missing, a cell stands twice, a name is not the study's, or an accuracy
        is not a fraction.
    """
    missing = [name for name in [*_KEY, *_NUMBERS, "params", "converged"] if name not in cells]
    if missing:
        raise UserError(
            "the table of cells lacks columns",
            found=", ".join(map(str, cells.columns)),
            expected=", ".join(missing),
            fix=f"make results/cells/{study['name']}.parquet again",
        )
    twice = cells[cells.duplicated(_KEY, keep=False)]
    if len(twice):
        raise UserError(
            "a cell stands more than once in the table of cells",
            where=", ".join(f"{name} {twice.iloc[0][name]}" for name in _KEY),
            found=f"{len(twice)} rows that share their cell with another",
            expected="one row per dataset, representation, method and selection",
            fix=f"make results/cells/{study['name']}.parquet again",
        )
    for axis in ("dataset", "representation", "method"):
        known = [entry["name"] for entry in study[f"{axis}s"]]
        for name in cells[axis].unique():
            if name not in known:
                raise UserError(
                    f"a cell of a {axis} that is not in the study",
                    where=f"study {study['name']}",
                    found=name,
                    expected=", ".join(known),
                    fix=f"make results/cells/{study['name']}.parquet again from this study's runs",
                )
    for name in cells["selection"].unique():
        if name not in SELECTIONS:
            raise UserError("unknown selection", found=name, expected=", ".join(SELECTIONS))
    wrong = cells[~(cells["accuracy"].isna() | cells["accuracy"].between(0.0, 1.0))]
    if len(wrong):
        raise UserError(
            "an accuracy that is no fraction",
            where=", ".join(f"{name} {wrong.iloc[0][name]}" for name in _KEY),
            found=wrong.iloc[0]["accuracy"],
            expected="a number from 0 to 1",
        )
    return cells


def comparison_table(
    cells: pd.DataFrame,
    study: Mapping[str, Any],
    *,
    selection: str = "fixed",
    decimals: int = 1,
    interval: str,
) -> Table:
    """Return one comparison table: methods by datasets, accuracy in percent.

    Rows are the method-representation pairs that have a cell of this selection, columns the
    study's datasets, both in the study's order.

    Parameters
    ----------
    cells : pandas.DataFrame
        One row per (dataset, representation, method, selection); ``accuracy``, ``low`` and
        ``high`` are fractions. An optional column ``failure`` says why an accuracy is missing.
    study : mapping
        ``name``, ``title``, and ``datasets``, ``representations``, ``methods``: each a list of
        mappings with ``name`` and ``title``; a dataset's ``protocol`` says in words how it is
        divided.
    selection : {"fixed", "nested", "oracle"}
        How the hyper-parameters of these cells were chosen; ``oracle`` carries a warning.
    decimals : int
        Decimals of the percentages; ranks go by the number as shown.
    interval : str
        The method of the 95 % intervals, for the caption.
    """
    mine = check_cells(cells, study)
    mine = mine[mine["selection"] == selection]
    found = {
        (row["method"], row["representation"], row["dataset"]): row for _, row in mine.iterrows()
    }
    datasets = study["datasets"]
    reasons: dict[str, str] = {}

    def reason_mark(reason: str) -> str:
        return reasons.setdefault(reason, note_letters(len(reasons)))

    groups = []
    for method in study["methods"]:
        labels, columns = [], []
        for representation in study["representations"]:
            pair = (method["name"], representation["name"])
            if not any(key[:2] == pair for key in found):
                continue
            labels.append(f"{method['title']}-{representation['title']}")
            columns.append([found.get((*pair, dataset["name"])) for dataset in datasets])
        if labels:
            groups.append(list(zip(labels, columns, strict=True)))

    flat = [row for group in groups for _, row in group]
    shown = [[_shown(cell, decimals) for cell in row] for row in flat]
    ranks = [best_three(column) for column in zip(*shown, strict=True)]
    body, position, daggers = [], 0, False
    for group in groups:
        rows = []
        for label, row in group:
            line = [Cell(label)]
            for column, cell in enumerate(row):
                text = shown[position][column]
                if text is None:
                    line.append(Cell(DASH, marks=(reason_mark(_reason(cell, selection)),)))
                    continue
                assert cell is not None
                bold, underline = ranks[column][position]
                converged = bool(cell["converged"])
                daggers = daggers or not converged
                line.append(
                    Cell(
                        text,
                        bold=bold,
                        underline=underline,
                        below=_interval(cell, decimals),
                        marks=() if converged else (DAGGER,),
                    )
                )
            rows.append(tuple(line))
            position += 1
        body.append(tuple(rows))

    notes = [(DAGGER, NOT_CONVERGED)] if daggers else []
    notes += [(mark, reason) for reason, mark in reasons.items()]
    caption = " ".join(
        [
            "Accuracy in %, the 95 % interval with it.",
            describe_protocols(datasets),
            SELECTIONS[selection],
            *([ACROSS_NOTE] if (mine["representation"] == ACROSS).any() else []),
            f"Intervals: {interval}.",
        ]
    )
    return Table(
        name=f"comparison-{selection}",
        title=f"{study['title']} ({_TITLES[selection]})",
        caption=caption,
        header=("Method", *(dataset["title"] for dataset in datasets)),
        groups=tuple(body),
        notes=tuple(notes),
        warning=ORACLE_WARNING.capitalize() + ". Not a result to report."
        if selection == "oracle"
        else "",
    )


def comparison_tables(
    cells: pd.DataFrame,
    study: Mapping[str, Any],
    *,
    decimals: int = 1,
    interval: str,
) -> list[Table]:
    """Return one :func:`comparison_table` per selection that has cells; ``oracle`` comes last."""
    return [
        comparison_table(
            cells,
            study,
            selection=selection,
            decimals=decimals,
            interval=interval,
        )
        for selection in SELECTIONS
        if (cells["selection"] == selection).any()
    ]


def long_table(cells: pd.DataFrame, study: Mapping[str, Any], *, decimals: int = 1) -> pd.DataFrame:
    """Return every cell as one row, in the study's order, with all that stands behind the number.

    Accuracies, ``sd``, ``low`` and ``high`` are fractions at full precision; ``shown`` is the
    number of the comparison table in percent, empty where there is none. Times are left out: they
    differ from run to run, results do not.
    """
    rows = check_cells(cells, study).copy()
    for axis in ("method", "representation", "dataset"):
        order = {entry["name"]: place for place, entry in enumerate(study[f"{axis}s"])}
        rows[f"{axis}_place"] = rows[axis].map(order)
    rows["selection_place"] = rows["selection"].map({s: i for i, s in enumerate(SELECTIONS)})
    rows = rows.sort_values(
        ["selection_place", "method_place", "representation_place", "dataset_place"],
        kind="stable",
    )
    rows["shown"] = [_shown(row, decimals) or "" for _, row in rows.iterrows()]
    rows["optimistic"] = rows["selection"] == "oracle"
    rows["params"] = [json.dumps(json.loads(text), sort_keys=True) for text in rows["params"]]
    columns = [
        *["dataset", "method", "representation", "selection", "optimistic", "shown"],
        *[
            "accuracy",
            "low",
            "high",
            "sd",
            "draws",
            "documents",
            "macro_f1",
            "rmse",
            "converged",
            "params",
        ],
    ]
    if "failure" in rows:
        columns.append("failure")
    return rows[columns].reset_index(drop=True)


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


def describe_protocols(datasets: Sequence[Mapping[str, str]]) -> str:
    """Return one sentence: each protocol with the datasets that it holds for."""
    shared: dict[str, list[str]] = {}
    for dataset in datasets:
        shared.setdefault(dataset["protocol"], []).append(dataset["title"])
    if len(shared) == 1:
        return f"Protocol: {next(iter(shared))}."
    parts = [f"{words} ({', '.join(titles)})" for words, titles in shared.items()]
    return f"Protocol: {'; '.join(parts)}."


def _shown(cell: Any, decimals: int) -> str | None:
    if cell is None or np.isnan(cell["accuracy"]):
        return None
    return percent(cell["accuracy"], decimals)


def _interval(cell: Any, decimals: int) -> str:
    if np.isnan(cell["low"]) or np.isnan(cell["high"]):
        return ""
    return f"{percent(cell['low'], decimals)}–{percent(cell['high'], decimals)}"


def _reason(cell: Any, selection: str) -> str:
    if cell is None:
        return f"Not run in this study (selection {selection})."
    failure = cell.get("failure")
    if isinstance(failure, str) and failure:
        return f"Failed: {failure.rstrip('.')}."
    return "Failed: no accuracy; failure in the scores of its run tells why."


def note_letters(count: int) -> str:
    """Return the mark of the (count + 1)-th note: a, b, ..., z, aa, ab, ..."""
    name = ""
    count += 1
    while count:
        count, letter = divmod(count - 1, 26)
        name = chr(ord("a") + letter) + name
    return name
