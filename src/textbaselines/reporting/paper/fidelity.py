"""Our numbers beside those of Wang & Manning (2012): what is reproduced, and the paper's tables."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from textbaselines.core import validation
from textbaselines.core.errors import UserError
from textbaselines.reporting.tables.comparison import NOT_CONVERGED, best_three, percent, signed
from textbaselines.reporting.tables.layout import DAGGER, DASH, Cell, Table

NOT_REPRODUCED = "✗"
_ROUNDING = 1e-9


def load_published(path: str | Path) -> dict[str, Any]:
    """Read the file of published values.

    Raises :class:`UserError` when a number is no percentage, or stands for a dataset that the file
    does not describe.
    """
    published: dict[str, Any] = validation.load_yaml(Path(path))
    for section in ("cells", "logs"):
        for method, by_representation in published[section].items():
            for representation, numbers in by_representation.items():
                for dataset, number in numbers.items():
                    where = f"{path}, key {section}.{method}.{representation}.{dataset}"
                    if dataset not in published["datasets"]:
                        raise UserError(
                            "a published value of an unknown dataset",
                            where=where,
                            found=dataset,
                            expected=", ".join(published["datasets"]),
                        )
                    if not isinstance(number, int | float) or not 0 <= number <= 100:
                        raise UserError(
                            "a published accuracy that is no percentage",
                            where=where,
                            found=number,
                            expected="a number from 0 to 100",
                        )
    return published


def fidelity(cells: pd.DataFrame, published: Mapping[str, Any]) -> pd.DataFrame:
    """Judge each published cell by our repeats.

    The published value is from one repeat. It counts as reproduced when it is plausible as a
    single repeat of ours: |paper - mean| <= max(sds x sd, floor), in points of accuracy, with the
    numbers of ``published["rule"]``. Where the protocol draws nothing at random, it must lie
    within ``floor_without_draws``.

    ``cells``: the cells; those of selection ``fixed`` are compared.

    Returns
    -------
    pandas.DataFrame
        One row per published cell in the order of the file: ``dataset``, ``method``,
        ``representation``, ``source`` (paper, or logs: not counted), ``paper``, ``mean``, ``sd``,
        ``draws``, ``difference`` (mean - paper), ``tolerance``, all in percent; ``reproduced``:
        yes, no, too few repeats, not comparable (other folds or test documents), failed or not
        run; ``converged``; ``cause`` for a no.

    Raises
    ------
    UserError
        When a cell has other hyper-parameters than those behind the published value.
    """
    ours = {
        (cell["method"], cell["representation"], cell["dataset"]): cell
        for cell in cells[cells["selection"] == "fixed"].to_dict("records")
    }
    causes = {
        (one["method"], one["representation"], one["dataset"]): " ".join(one["text"].split())
        for one in published["causes"]
    }
    rows = []
    for source, section in (("paper", "cells"), ("logs", "logs")):
        for method, by_representation in published[section].items():
            for representation, numbers in by_representation.items():
                for dataset, paper in numbers.items():
                    key = (method, representation, dataset)
                    judged = _judge(ours.get(key), float(paper), published, key)
                    if judged["reproduced"] == "no":
                        judged["cause"] = causes.get(key, "No cause known.")
                    rows.append(
                        {
                            "dataset": dataset,
                            "method": method,
                            "representation": representation,
                            "source": source,
                            "paper": float(paper),
                            **judged,
                        }
                    )
    return pd.DataFrame(rows)


def _judge(
    cell: Mapping[Any, Any] | None,
    paper: float,
    published: Mapping[str, Any],
    key: tuple[str, str, str],
) -> dict[str, Any]:
    nothing = {
        "mean": math.nan,
        "sd": math.nan,
        "draws": 0,
        "difference": math.nan,
        "tolerance": math.nan,
        "reproduced": "not run",
        "converged": True,
        "cause": "",
    }
    if cell is None:
        return nothing
    _check_params(cell, published["params"].get(key[0], {}), key)
    if math.isnan(cell["accuracy"]):
        return nothing | {"reproduced": "failed", "cause": str(cell.get("failure") or "")}
    rule = published["rule"]
    wanted = published["datasets"][key[2]]["draws"]
    mean, sd = 100 * float(cell["accuracy"]), 100 * float(cell["sd"])
    difference = mean - paper
    judged = nothing | {
        "mean": mean,
        "sd": sd,
        "draws": int(cell["draws"]),
        "difference": difference,
        "converged": bool(cell["converged"]),
    }
    protocol = published["datasets"][key[2]]
    folds = int(protocol["cv"]) if protocol["cv"].isdigit() else 1
    # A half of an odd number of documents may have one more.
    if cell["folds"] != folds or abs(cell["documents"] - protocol["tested"]) > 1:
        return judged | {
            "reproduced": "not comparable",
            "cause": f"{cell['folds']} folds and {cell['documents']} test documents, the paper has "
            f"{folds} and {protocol['tested']}",
        }
    if wanted == 0:
        tolerance = float(rule["floor_without_draws"])
    elif cell["draws"] < wanted:
        return judged | {
            "reproduced": "too few repeats",
            "cause": f"{int(cell['draws'])} repeats of at least {wanted}",
        }
    else:
        tolerance = max(rule["sds"] * sd, float(rule["floor"]))
    near = abs(difference) <= tolerance + _ROUNDING
    return judged | {"tolerance": tolerance, "reproduced": "yes" if near else "no"}


def _check_params(
    cell: Mapping[Any, Any], wanted: Mapping[str, Any], key: tuple[str, str, str]
) -> None:
    params = json.loads(cell["params"])
    for name, value in wanted.items():
        if params.get(name) != value:
            raise UserError(
                "a cell with other hyper-parameters than the published value's",
                where=" / ".join(key),
                found=f"{name} = {params.get(name)}",
                expected=f"{name} = {value}",
                fix="give the study these fixed values, or no file of published values",
            )


def verdict_lines(frame: pd.DataFrame) -> list[str]:
    """Return a line for each cell of the paper that is not reproduced, then the count of all.

    The last line is such as "reproduced 53 of 54".
    """
    paper = frame[frame["source"] == "paper"]
    lines = []
    for cell in paper[paper["reproduced"] != "yes"].to_dict("records"):
        line = f"{cell['dataset']} {cell['method']}-{cell['representation']}: "
        if cell["reproduced"] == "no":
            draws = "" if math.isnan(cell["sd"]) else f" (sd {cell['sd']:.2f})"
            line += f"not reproduced, paper {cell['paper']:.2f}, ours {cell['mean']:.2f}{draws}"
        else:
            line += cell["reproduced"]
        lines.append(line)
    yes = int((paper["reproduced"] == "yes").sum())
    return [*lines, f"reproduced {yes} of {len(paper)}"]


def paper_tables(frame: pd.DataFrame, published: Mapping[str, Any]) -> list[Table]:
    """Return Tables 2 to 4 in the paper's layout and decimals, the published value under ours.

    Bold and underline are ours: over our means and the rows that the paper takes from others.
    """
    tables = []
    for spec in published["tables"]:
        rows = _method_rows(frame[frame["source"] == "paper"], published["cells"], spec)
        tables.append(_paper_table(rows, spec, published, frame))
    return tables


def logs_table(frame: pd.DataFrame, published: Mapping[str, Any]) -> Table:
    """Return what stands in the authors' logs only (Bernoulli naive Bayes), ours above theirs."""
    spec: dict[str, Any] = {"number": "logs", "columns": list(published["datasets"]), "decimals": 2}
    rows = _method_rows(frame[frame["source"] == "logs"], published["logs"], spec)
    return Table(
        name="paper-logs",
        title="Bernoulli naive Bayes: in the authors' logs, not in the paper's tables",
        caption=f"Accuracy in %: {_OURS} {_rule_words(published)} These cells are not counted "
        "among the paper's.",
        header=("Method", *(published["datasets"][name]["title"] for name in spec["columns"])),
        groups=(tuple(rows),),
        notes=_notes(frame[frame["source"] == "logs"], rows, published),
        emphasis=False,
    )


_OURS = (
    "the mean over our repeats; below it their standard deviation, the published value and in "
    "brackets ours minus the published one."
)


def _rule_words(published: Mapping[str, Any]) -> str:
    rule = published["rule"]
    return (
        f"Reproduced: the published value lies within {rule['sds']} standard deviations of our "
        f"repeats or {rule['floor']} points, whichever is wider; for an official split, within "
        f"{rule['floor_without_draws']} points. {NOT_REPRODUCED} marks a cell that is not."
    )


def _method_rows(
    frame: pd.DataFrame, methods: Mapping[str, Any], spec: Mapping[str, Any]
) -> list[tuple[Cell, ...]]:
    found = {
        (row["method"], row["representation"], row["dataset"]): row
        for row in frame.to_dict("records")
    }
    rows = []
    for method, representations in methods.items():
        for representation in representations:
            line = [Cell(f"{method}-{representation}")]
            for dataset in spec["columns"]:
                row = found[method, representation, dataset]
                gain = ""
                if spec.get("gains") and representation == "bi":
                    gain = _gain(row, found[method, "uni", dataset])
                line.append(_ours(row, gain, spec["decimals"]))
            rows.append(tuple(line))
    return rows


def _gain(bigrams: Mapping[Any, Any], unigrams: Mapping[Any, Any]) -> str:
    difference = bigrams["mean"] - unigrams["mean"]
    return "" if math.isnan(difference) else signed(difference)


def _ours(row: Mapping[Any, Any], gain: str, decimals: int) -> Cell:
    paper = percent(row["paper"] / 100, 2)
    if math.isnan(row["mean"]):
        return Cell(DASH, below=f"{row['reproduced']}; paper {paper}")
    spread = "" if math.isnan(row["sd"]) else f"± {row['sd']:.2f}\n"
    marks = [gain] if gain else []
    if row["reproduced"] == "no":
        marks.append(NOT_REPRODUCED)
    if not row["converged"]:
        marks.append(DAGGER)
    return Cell(
        percent(row["mean"] / 100, decimals),
        below=f"{spread}paper {paper} ({signed(row['difference'])})",
        marks=tuple(marks),
    )


def _paper_table(
    rows: list[tuple[Cell, ...]],
    spec: Mapping[str, Any],
    published: Mapping[str, Any],
    frame: pd.DataFrame,
) -> Table:
    others = []
    for name, numbers in spec["others"].items():
        line = [Cell(name)]
        for dataset in spec["columns"]:
            line.append(Cell(str(numbers[dataset]) if dataset in numbers else DASH))
        others.append(tuple(line))
    together = [*rows, *others]
    ranks = [
        best_three([None if row[place].text == DASH else row[place].text for row in together])
        for place in range(1, len(spec["columns"]) + 1)
    ]
    ranked = [
        (
            row[0],
            *(
                Cell(cell.text, *ranks[place][position], cell.below, cell.marks)
                for place, cell in enumerate(row[1:])
            ),
        )
        for position, row in enumerate(together)
    ]
    mine = frame[(frame["source"] == "paper") & frame["dataset"].isin(spec["columns"])]
    gains = (
        " The superscript with a sign is the gain of bigrams over unigrams."
        if spec.get("gains")
        else ""
    )
    return Table(
        name=f"paper-table-{spec['number']}",
        title=f"Table {spec['number']} of Wang & Manning (2012): {spec['title'].lower()}",
        caption=f"Accuracy in %: {_OURS}{gains} Lower rows: results of others as the paper prints "
        f"them. {_rule_words(published)}",
        header=("Method", *(published["datasets"][name]["title"] for name in spec["columns"])),
        groups=(tuple(ranked[: len(rows)]), tuple(ranked[len(rows) :])),
        notes=_notes(mine, rows, published),
    )


def _notes(
    frame: pd.DataFrame, rows: Sequence[tuple[Cell, ...]], published: Mapping[str, Any]
) -> tuple[tuple[str, str], ...]:
    notes = []
    marks = {mark for row in rows for cell in row for mark in cell.marks}
    if DAGGER in marks:
        notes.append((DAGGER, NOT_CONVERGED))
    for row in frame[frame["reproduced"] == "no"].to_dict("records"):
        title = published["datasets"][row["dataset"]]["title"]
        notes.append(
            (NOT_REPRODUCED, f"{row['method']}-{row['representation']} on {title}: {row['cause']}")
        )
    return tuple(notes)


def statistics_table(statistics: pd.DataFrame, published: Mapping[str, Any]) -> Table:
    """Return Table 1 of the paper: what each dataset holds, the published value under ours.

    Parameters
    ----------
    statistics : pandas.DataFrame
        One row per dataset: ``dataset``, ``positive`` and ``negative`` (documents), ``tokens``
        (of all documents), ``uni`` and ``bi`` (entries of the dictionaries of unigrams, and of
        unigrams and bigrams). A dataset without a row is shown by the paper's numbers alone.
    """
    ours = {row["dataset"]: row for row in statistics.to_dict("records")}
    rows = []
    for name, paper in published["datasets"].items():
        row = ours.get(name)
        if row is None:
            length = (DASH, DASH)
        else:
            documents = row["positive"] + row["negative"]
            length = (f"{row['tokens'] / documents:.1f}", "")
        counts = [
            Cell(
                DASH if row is None else f"{int(row[what])}",
                below=f"paper {paper[what]}" if row is None or row[what] != paper[what] else "",
            )
            for what in ("positive", "negative", "uni", "bi")
        ]
        rows.append(
            (
                Cell(paper["title"]),
                counts[0],
                counts[1],
                Cell(length[0], below=f"paper {paper['length']}"),
                Cell(str(paper["cv"])),
                counts[2],
                counts[3],
                Cell(str(paper["delta"])),
            )
        )
    return Table(
        name="paper-table-1",
        title="Table 1 of Wang & Manning (2012): the datasets",
        caption="N+ and N−: documents of the positive and the negative class. l: mean number of "
        "tokens of a document. CV: folds, or N for a train/test split. |V| uni, |V| bi: entries of "
        "the dictionary of unigrams, and of unigrams and bigrams in one. Δ: the paper's bound of "
        "significance at p = 0.05, about 1.96 √(p (1 − p) / n) of one proportion: no paired test. "
        "The published value is under ours where the two differ, and for l.",
        header=("Dataset", "N+", "N−", "l", "CV", "|V| uni", "|V| bi", "Δ"),
        groups=(tuple(rows),),
        emphasis=False,
    )


def corpus_statistics(
    audits: Mapping[str, Mapping[str, Any]],
    positives: Mapping[str, str],
    unigrams: Mapping[str, Mapping[str, Any]],
    bigrams: Mapping[str, Mapping[str, Any]],
) -> pd.DataFrame:
    """Return the input of :func:`statistics_table` from what the stages left.

    Parameters
    ----------
    audits : mapping
        Each dataset's audit; ``documents_by_class`` is read.
    positives : mapping
        Each dataset's positive class.
    unigrams, bigrams : mapping
        Each dataset's summary of the counts of unigrams (``occurrences`` is the number of tokens)
        and of unigrams and bigrams; ``features`` is read.
    """
    rows = []
    for dataset, audit in audits.items():
        classes = dict(audit["documents_by_class"])
        positive = classes.pop(positives[dataset])
        rows.append(
            {
                "dataset": dataset,
                "positive": positive,
                "negative": sum(classes.values()),
                "tokens": unigrams[dataset]["occurrences"],
                "uni": unigrams[dataset]["features"],
                "bi": bigrams[dataset]["features"],
            }
        )
    return pd.DataFrame(rows)
