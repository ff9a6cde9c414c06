"""The comparison tables of a study, in the style of Wang & Manning (2012, Tables 2 to 4)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import pandas as pd

from textbaselines.core.errors import UserError
from textbaselines.evaluation.cells import MACRO_F1_INTERVAL, MAJORITY
from textbaselines.evaluation.selection import ACROSS
from textbaselines.reporting.tables.layout import DAGGER, DASH, DOUBLE_DAGGER, Cell, Table

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
NOT_ABOVE_MAJORITY = (
    "Not above the majority class: the 95 % interval of the difference of the two accuracies on "
    "the same documents (Tango's score interval, as Wilson's is that of one) includes 0 or less."
)
MAJORITY_TITLE = "Majority class"
MAJORITY_WORDS = (
    f"{MAJORITY_TITLE}: the most frequent class of each training part, predicted for every test "
    "document; it has no rank."
)
MOST_OVERLAP = 0.01
"""The share of test documents with a text in training above which the tables say so."""

_KEY = ["dataset", "representation", "method", "selection"]
_NUMBERS = [
    *("accuracy", "sd", "draws", "documents", "low", "high"),
    *("macro_f1", "macro_f1_low", "macro_f1_high", "rmse"),
]


@dataclass(frozen=True)
class Measure:
    """What a comparison table shows: the columns of the cells, and the words for it."""

    name: str
    column: str
    low: str
    high: str
    title: str
    words: str
    interval: str = ""
    """The method of its interval, where it is always the same."""


ACCURACY = Measure("", "accuracy", "low", "high", "", "Accuracy in %")
MACRO_F1 = Measure(
    "-macro-f1",
    "macro_f1",
    "macro_f1_low",
    "macro_f1_high",
    "macro-F1, ",
    "Macro-F1 in % (F1 of the pooled out-of-fold predictions of a repeat, averaged over the "
    "classes that are true or predicted of a document, then over repeats), for datasets of more "
    "than two classes or with one above 70 %",
    MACRO_F1_INTERVAL,
)


def percent(fraction: float, decimals: int) -> str:
    """Return a fraction in percent, halves rounded up as by hand: 0.83445 is 83.45, then 83.4.

    The binary error of a mean is taken off first (at 1e-10 points), so that the mean of 0.7 and
    0.8345 does not fall under its half for the way floats are stored.
    """
    exact = Decimal(f"{fraction * 100:.10f}")
    return str(exact.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP))


def signed(points: float) -> str:
    """Return points with their sign, a true minus, and two decimals; 0.00 has none."""
    text = percent(abs(points) / 100, 2)
    return text if float(text) == 0 else ("−" if points < 0 else "+") + text


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

    Raises :class:`UserError` when a column is missing, a cell stands twice, a name is not the
    study's, or an accuracy is not a fraction.
    """
    wanted = [*_KEY, *_NUMBERS, "params", "above_majority", "converged"]
    missing = [name for name in wanted if name not in cells]
    if missing:
        raise UserError(
            "the table of cells lacks columns",
            found=", ".join(map(str, cells.columns)),
            expected=", ".join(missing),
            fix=f"make results/{study['name']}/evaluation/cells.parquet again",
        )
    twice = cells[cells.duplicated(_KEY, keep=False)]
    if len(twice):
        raise UserError(
            "a cell stands more than once in the table of cells",
            where=", ".join(f"{name} {twice.iloc[0][name]}" for name in _KEY),
            found=f"{len(twice)} rows that share their cell with another",
            expected="one row per dataset, representation, method and selection",
            fix=f"make results/{study['name']}/evaluation/cells.parquet again",
        )
    methods = cells[cells["selection"] != MAJORITY]
    for axis in ("dataset", "representation", "method"):
        known = [entry["name"] for entry in study[f"{axis}s"]]
        for name in methods[axis].unique():
            if name not in known:
                raise UserError(
                    f"a cell of a {axis} that is not in the study",
                    where=f"study {study['name']}",
                    found=name,
                    expected=", ".join(known),
                    fix=f"make results/{study['name']}/evaluation/cells.parquet again from this "
                    "study's runs",
                )
    for name in methods["selection"].unique():
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
    measure: Measure = ACCURACY,
    overlap: pd.DataFrame | None = None,
) -> Table:
    """Return one comparison table: methods by datasets, a measure in percent.

    The first row is that of the majority class, without a rank. Then come the
    method-representation pairs that have a cell of this selection, in the study's order. Columns
    are the study's datasets; of macro-F1 those that it is shown for. An accuracy that is not above
    that of the majority class is marked.

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
        The method of the 95 % intervals of accuracy, for the caption.
    measure : Measure
        :data:`ACCURACY` or :data:`MACRO_F1`.
    overlap : data frame, optional
        Columns dataset, share: of the test documents with a text that stands in training.
    """
    every = check_cells(cells, study)
    mine = every[every["selection"] == selection]
    found = {
        (row["method"], row["representation"], row["dataset"]): row for _, row in mine.iterrows()
    }
    datasets = study["datasets"]
    if measure is MACRO_F1:
        shown_for = macro_f1_datasets(every)
        datasets = [dataset for dataset in datasets if dataset["name"] in shown_for]
    body = _Body(measure, decimals, selection)
    groups = []
    for method in study["methods"]:
        rows = []
        for representation in study["representations"]:
            pair = (method["name"], representation["name"])
            if any(key[:2] == pair for key in found):
                label = f"{method['title']}-{representation['title']}"
                rows.append((label, [found.get((*pair, dataset["name"])) for dataset in datasets]))
        if rows:
            groups.append(rows)
    methods = body.ranked(groups)
    floor = every[every["selection"] == MAJORITY]
    if len(floor):
        by_dataset = {row["dataset"]: row for _, row in floor.iterrows()}
        row = [by_dataset.get(dataset["name"]) for dataset in datasets]
        methods = [(body.row(MAJORITY_TITLE, row, [(False, False)] * len(row)),), *methods]
    caption = " ".join(
        [
            f"{measure.words}, the 95 % interval with it.",
            describe_protocols(datasets),
            SELECTIONS[selection],
            *([ACROSS_NOTE] if (mine["representation"] == ACROSS).any() else []),
            *([MAJORITY_WORDS] if len(floor) else []),
            f"Intervals: {measure.interval or interval}.",
        ]
    )
    return Table(
        name=f"comparison-{selection}{measure.name}",
        title=f"{study['title']} ({measure.title}{_TITLES[selection]})",
        caption=caption,
        header=("Method", *(dataset["title"] for dataset in datasets)),
        groups=tuple(methods),
        notes=(*body.notes(), *overlap_notes(overlap, datasets)),
        warning=ORACLE_WARNING.capitalize() + ". Not a result to report."
        if selection == "oracle"
        else "",
    )


class _Body:
    """The rows of a comparison table, and the notes that their marks ask for."""

    def __init__(self, measure: Measure, decimals: int, selection: str) -> None:
        self._measure, self._decimals, self._selection = measure, decimals, selection
        self._marks: dict[str, str] = {}
        self._reasons: dict[str, str] = {}

    def ranked(self, groups: Sequence[Sequence[tuple[str, list[Any]]]]) -> list[Any]:
        """Return groups of named rows as cells, the best three of each column marked."""
        flat = [row for group in groups for _, row in group]
        shown = [[self._shown(cell) for cell in row] for row in flat]
        columns = [best_three(column) for column in zip(*shown, strict=True)]
        ranks = iter(zip(*columns, strict=True))
        return [
            tuple(self.row(label, row, next(ranks)) for label, row in group) for group in groups
        ]

    def row(
        self, label: str, cells: Sequence[Any], ranks: Sequence[tuple[bool, bool]]
    ) -> tuple[Cell, ...]:
        """Return a row: its name, then a cell for each dataset."""
        line = [Cell(label)]
        for cell, (bold, underline) in zip(cells, ranks, strict=True):
            text = self._shown(cell)
            if text is None:
                mark = note_mark(_reason(cell, self._selection), self._reasons)
                line.append(Cell(DASH, marks=(mark,)))
                continue
            marks = []
            if not cell["converged"]:
                marks.append(DAGGER)
                self._marks[DAGGER] = NOT_CONVERGED
            accuracy = self._measure is ACCURACY
            if accuracy and not cell["above_majority"] and cell["selection"] != MAJORITY:
                marks.append(DOUBLE_DAGGER)
                self._marks[DOUBLE_DAGGER] = NOT_ABOVE_MAJORITY
            line.append(
                Cell(
                    text,
                    bold=bold,
                    underline=underline,
                    below=self._interval(cell),
                    marks=tuple(marks),
                )
            )
        return tuple(line)

    def notes(self) -> list[tuple[str, str]]:
        """Return the notes of the marks given so far."""
        marks = [(mark, self._marks[mark]) for mark in sorted(self._marks)]
        return [*marks, *((mark, reason) for reason, mark in self._reasons.items())]

    def _shown(self, cell: Any) -> str | None:
        return _shown(cell, self._decimals, self._measure.column)

    def _interval(self, cell: Any) -> str:
        low, high = cell[self._measure.low], cell[self._measure.high]
        if np.isnan(low) or np.isnan(high):
            return ""
        return f"{percent(low, self._decimals)}–{percent(high, self._decimals)}"


def macro_f1_datasets(cells: pd.DataFrame) -> set[str]:
    """Return the datasets that macro-F1 is shown for: those whose cells have its interval."""
    return set(cells.loc[cells["macro_f1_low"].notna(), "dataset"])


def overlap_notes(
    overlap: pd.DataFrame | None, datasets: Sequence[Mapping[str, Any]]
) -> list[tuple[str, str]]:
    """Return the note on train-test overlap, without a mark: none where it is 1 % or less.

    Parameters
    ----------
    overlap : data frame, optional
        Columns dataset, share.
    datasets : sequence of mappings
        ``name`` and ``title`` of those that the table shows.
    """
    if overlap is None:
        return []
    shares = dict(zip(overlap["dataset"], overlap["share"], strict=True))
    found = [
        f"{dataset['title']} {percent(shares[dataset['name']], 1)} %"
        for dataset in datasets
        if shares.get(dataset["name"], 0.0) > MOST_OVERLAP
    ]
    if not found:
        return []
    return [
        (
            "",
            "Train-test overlap, the share of test documents whose text also stands in the "
            f"training part of their fold: {', '.join(found)}. On new texts the accuracy may be "
            "lower. With protocol: {grouped: true} in the study file identical texts stay on one "
            "side; {grouped: both} measures what the overlap is worth.",
        )
    ]


def comparison_tables(
    cells: pd.DataFrame,
    study: Mapping[str, Any],
    *,
    decimals: int = 1,
    interval: str,
    overlap: pd.DataFrame | None = None,
    selections: Sequence[str] = tuple(SELECTIONS),
) -> list[Table]:
    """Return the tables of each of the selections that has cells.

    The selections come in the order given. Of each the :func:`comparison_table` of accuracy, then
    the one of macro-F1 where a dataset has more than two classes or one above 70 %.
    """
    measures = [ACCURACY, MACRO_F1] if macro_f1_datasets(cells) else [ACCURACY]
    return [
        comparison_table(
            cells,
            study,
            selection=selection,
            decimals=decimals,
            interval=interval,
            measure=measure,
            overlap=overlap,
        )
        for selection in selections
        if (cells["selection"] == selection).any()
        for measure in measures
    ]


def long_table(
    cells: pd.DataFrame,
    study: Mapping[str, Any],
    *,
    decimals: int = 1,
    overlap: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return every cell as one row, in the study's order, with all that stands behind the number.

    The rows of the majority class come first, those that are optimistic last. Accuracies, ``sd``,
    ``low`` and ``high``, macro-F1 with its interval, and ``train_test_overlap`` of the dataset are
    fractions at full precision; ``shown`` is the number of the comparison table in percent, empty
    where there is none. Times are left out: they differ from run to run, results do not.
    """
    rows = check_cells(cells, study).copy()
    for axis in ("method", "representation", "dataset"):
        order = {entry["name"]: place for place, entry in enumerate(study[f"{axis}s"])}
        rows[f"{axis}_place"] = rows[axis].map(order)
    rows["selection_place"] = rows["selection"].map(
        {name: place for place, name in enumerate((MAJORITY, *SELECTIONS))}
    )
    rows = rows.sort_values(
        ["selection_place", "method_place", "representation_place", "dataset_place"],
        kind="stable",
    )
    rows["shown"] = [_shown(row, decimals, "accuracy") or "" for _, row in rows.iterrows()]
    rows["optimistic"] = rows["selection"] == "oracle"
    rows["params"] = [json.dumps(json.loads(text), sort_keys=True) for text in rows["params"]]
    columns = [
        *["dataset", "method", "representation", "selection", "optimistic", "shown"],
        *["accuracy", "low", "high", "sd", "draws", "documents", "above_majority"],
        *["macro_f1", "macro_f1_low", "macro_f1_high", "rmse", "converged", "params"],
    ]
    if overlap is not None:
        shares = dict(zip(overlap["dataset"], overlap["share"], strict=True))
        rows["train_test_overlap"] = rows["dataset"].map(shares)
        columns.append("train_test_overlap")
    if "failure" in rows:
        columns.append("failure")
    return rows[columns].reset_index(drop=True)


def describe_protocols(datasets: Sequence[Mapping[str, str]]) -> str:
    """Return one sentence: each protocol with the datasets that it holds for."""
    shared: dict[str, list[str]] = {}
    for dataset in datasets:
        shared.setdefault(dataset["protocol"], []).append(dataset["title"])
    if len(shared) == 1:
        return f"Protocol: {next(iter(shared))}."
    parts = [f"{words} ({', '.join(titles)})" for words, titles in shared.items()]
    return f"Protocol: {'; '.join(parts)}."


def _shown(cell: Any, decimals: int, column: str) -> str | None:
    if cell is None or np.isnan(cell[column]):
        return None
    return percent(cell[column], decimals)


def _reason(cell: Any, selection: str) -> str:
    if cell is None:
        return f"Not run in this study (selection {selection})."
    failure = cell.get("failure")
    if isinstance(failure, str) and failure:
        return f"Failed: {failure.rstrip('.')}."
    return "Failed: no accuracy; failure in the scores of its run tells why."


def note_mark(note: str, notes: dict[str, str]) -> str:
    """Return the mark of a note, which joins ``notes`` if it is not there: a, b, ..., z, aa, ..."""
    name = ""
    count = len(notes) + 1
    while count:
        count, letter = divmod(count - 1, 26)
        name = chr(ord("a") + letter) + name
    return notes.setdefault(note, name)
