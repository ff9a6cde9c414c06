"""What a final run shows beside its numbers: figures, a report per class, predictions, origin."""

import io
import json
import math
import platform
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_fscore_support

from textbaselines.core.storage import canonical_json
from textbaselines.evaluation.cells import summarise_accuracy
from textbaselines.evaluation.metrics import confusion

MOST_ROWS = 1_000
"""The most rows of the predictions table that a run's page shows: a browser stalls on 10,000. All
are in a file beside it, and the run's description says so (:func:`cut_note`)."""

Artifact = bytes | pd.DataFrame
"""The content of a file, or a table to be shown page by page."""

_PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "threadpoolctl", "mlflow")
_MOST_LINES = 8  # of a tuning plot with a legend


def of_final_run(
    read_predictions: Callable[[], pd.DataFrame],
    run: Mapping[str, Any],
    scores: pd.DataFrame | None,
    code: Mapping[str, str],
    *,
    inner_scores: pd.DataFrame | None,
    choices: pd.DataFrame | None,
    command: str,
    note: str,
    metrics: Mapping[str, float],
) -> dict[str, Artifact]:
    """Return the artifacts of a cell by file name; a data frame is shown as a table.

    Parameters
    ----------
    read_predictions : callable
        Returns the predictions of the cell's test documents: repeat, fold, id, label, predicted,
        then scores.
    run, scores
        What its run's record and scores say; no scores, and no tuning plot, for
        a cell of several runs.
    code : mapping
        git_commit, git_dirty and lock of the code that made the results, where known.
    inner_scores : data frame, optional
        The run's scores on inner folds, when they chose the hyper-parameters.
    choices : data frame, optional
        What each fold chose.
    command, note : str
        What runs it again, and the first lines of the description.
    metrics : mapping
        The numbers of the cell.
    """
    made: dict[str, Artifact] = {
        "environment.json": _json(_environment(code)),
    }
    predictions = read_predictions()
    rows = len(predictions)
    if rows:
        classes = list(run["classes"])
        matrix = confusion_of(predictions, classes)
        made["confusion_matrix.png"] = _png(confusion_figure(matrix, classes))
        report = per_class_report(predictions, classes)
        made["per_class_report.json"] = _json(report.to_dict("records"))
        made["per_class_report.md"] = _report_markdown(report).encode()
        made["predictions.json"] = _predictions_table(predictions.head(MOST_ROWS))
        made["predictions.parquet"] = _parquet(_predictions_table(predictions))
    if choices is not None:
        made["selected_parameters.json"] = choices
    tuning = None if scores is None else tuning_figure(run, scores, inner_scores)
    if tuning is not None:
        made["tuning.png"] = _png(tuning)
    made["description.md"] = _description(note, metrics, command, code, rows).encode()
    return made


def cut_note(rows: int) -> str:
    """Return what to say of a predictions table of so many rows; nothing when it is shown whole."""
    if rows <= MOST_ROWS:
        return ""
    return (
        f"The table predictions.json shows the first {MOST_ROWS:,} of {rows:,} predictions; the "
        "artifact predictions.parquet has all."
    )


def confusion_of(predictions: pd.DataFrame, classes: Sequence[str]) -> NDArray[np.int64]:
    """Return the confusion matrix of a predictions table, all folds and repeats pooled.

    Shape (K, K): rows are true classes, columns predicted ones, in the order of ``classes``.
    """
    codes = {name: code for code, name in enumerate(classes)}
    truth = predictions["label"].map(codes).to_numpy(dtype=np.int64)
    predicted = predictions["predicted"].map(codes).to_numpy(dtype=np.int64)
    return confusion(truth, predicted, len(classes))


def per_class_report(predictions: pd.DataFrame, classes: Sequence[str]) -> pd.DataFrame:
    """Return precision, recall, F1 and support of each class from a predictions table.

    Precision is TP / predicted, recall TP / support, F1 = 2 TP / (predicted + support); each is 0
    where its denominator is. Each pools the folds of a repeat and is averaged over repeats, so that
    the mean of F1 over the classes is the macro-F1 of the cell. Support and predicted are numbers
    of documents, all repeats together.
    """
    names = list(classes)
    rates = [
        precision_recall_fscore_support(
            mine["label"], mine["predicted"], labels=names, zero_division=0.0
        )[:3]
        for _, mine in predictions.groupby("repeat")
    ]
    precision, recall, f1 = np.mean(rates, axis=0)
    matrix = confusion_of(predictions, classes)
    columns = {"class": names, "precision": precision, "recall": recall, "f1": f1}
    return pd.DataFrame({**columns, "support": matrix.sum(axis=1), "predicted": matrix.sum(axis=0)})


def confusion_figure(matrix: NDArray[np.int64], classes: Sequence[str]) -> Figure:
    """Return the confusion matrix as a figure: counts, and the share of each true class."""
    shares = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    size = 2.2 + 0.8 * len(classes)
    figure = Figure(figsize=(size + 0.4, size), layout="constrained")
    FigureCanvasAgg(figure)
    axis = figure.subplots()
    axis.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    if len(classes) <= 20:
        for row, column in np.ndindex(matrix.shape):
            colour = "white" if shares[row, column] > 0.55 else "black"
            text = f"{matrix[row, column]}\n{100 * shares[row, column]:.1f} %"
            axis.text(column, row, text, ha="center", va="center", color=colour, fontsize=9)
    axis.set_xticks(range(len(classes)), classes)
    axis.set_yticks(range(len(classes)), classes)
    axis.set_xlabel("predicted class")
    axis.set_ylabel("true class")
    axis.set_title("Documents, % of the true class", fontsize=10)
    return figure


def tuning_figure(
    run: Mapping[str, Any], scores: pd.DataFrame, inner_scores: pd.DataFrame | None = None
) -> Figure | None:
    """Return accuracy over the grid: one line for each setting of all but one hyper-parameter.

    On the inner folds, those of all folds pooled, where they are given, and otherwise on the test
    folds. The abscissa is the number with the most values on the grid, on a logarithmic axis when
    it spans a decade or more. None without a grid in which a number varies.
    """
    grid = [point for point in run["points"] if "grid" in point["origin"]]
    values: dict[str, list[Any]] = {}
    for point in grid:
        for name, value in point["params"].items():
            values.setdefault(name, []).append(value)
    varying = {n: v for n, v in values.items() if len({canonical_json(one) for one in v}) > 1}
    numbers = {
        name: len(set(found))
        for name, found in varying.items()
        if all(isinstance(one, int | float) and not isinstance(one, bool) for one in found)
    }
    if not numbers:
        return None
    across = max(numbers, key=lambda name: numbers[name])
    others = sorted(name for name in varying if name != across)
    lines: dict[str, list[tuple[float, float]]] = {}
    fixed: list[tuple[float, float]] = []
    accuracies: dict[Any, float]
    if inner_scores is None:
        by_point = dict(iter(scores.groupby("point")))
        accuracies = {name: summarise_accuracy(mine)["accuracy"] for name, mine in by_point.items()}
    else:
        sums = inner_scores.groupby("point")[["correct", "n_test"]].sum()
        accuracies = (sums["correct"] / sums["n_test"]).to_dict()
    for point in grid:
        accuracy = 100 * accuracies.get(point["point"], math.nan)
        place = (float(point["params"][across]), accuracy)
        setting = ", ".join(f"{name} = {point['params'].get(name)}" for name in others)
        lines.setdefault(setting, []).append(place)
        if "fixed" in point["origin"]:
            fixed.append(place)
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axis = figure.subplots()
    for setting, places in lines.items():
        axis.plot(*zip(*sorted(places), strict=True), marker="o", markersize=4, label=setting)
    if fixed:
        axis.plot(
            *zip(*fixed, strict=True),
            linestyle="none",
            marker="*",
            markersize=14,
            color="black",
            label="the fixed point",
        )
    low, high = min(values[across]), max(values[across])
    if low > 0 and high / low >= 10:
        axis.set_xscale("log")
    axis.set_xlabel(across)
    folds = "test folds" if inner_scores is None else "inner folds"
    axis.set_ylabel(f"accuracy on the {folds} (%)")
    axis.grid(color="0.88", linewidth=0.7)
    if len(lines) <= _MOST_LINES and (others or fixed):
        axis.legend(fontsize=8)
    note = "; one line for each " + ", ".join(others) if others else ""
    title = f"{run['method']}-{run['representation']} on {run['dataset']}{note}"
    warning = (
        "not a choice: made on the folds that are reported"
        if inner_scores is None
        else "all folds together; each chose by its own inner folds"
    )
    axis.set_title(f"{title}\n{warning}", fontsize=9)
    return figure


def _predictions_table(predictions: pd.DataFrame) -> pd.DataFrame:
    """Return the rows: which document, true and predicted class, whether right, the scores."""
    table = predictions.reset_index(drop=True)
    table.insert(5, "correct", table["label"] == table["predicted"])
    return table.astype(dict.fromkeys(("id", "label", "predicted"), "object"))


def _description(
    note: str, metrics: Mapping[str, float], command: str, code: Mapping[str, str], rows: int
) -> str:
    lines = [note, "", "| metric | value |", "| --- | ---: |"]
    lines += [f"| {name} | {value:.10g} |" for name, value in metrics.items()]
    lines += ["", "Run it again, in a checkout of the code:", "", "```"]
    commit = code.get("git_commit", "unknown")
    if commit != "unknown":
        lines.append(f"git checkout {commit}")
    lines += [command, "```", ""]
    if commit == "unknown":
        lines.append("The commit of the code is not known.")
    elif code.get("git_dirty") == "true":
        lines.append("The checkout had changes that were not committed: the commit is not all.")
    lines.append(f"Packages: requirements.lock with sha256 `{code.get('lock', 'unknown')}`.")
    if rows:
        lines.append(
            "\nThe confusion matrix counts the documents of all folds and repeats. Macro-F1 above, "
            "and the shares per class, pool the folds of a repeat and are the mean over repeats."
        )
    return "\n".join(lines) + "\n"


def _environment(code: Mapping[str, str]) -> dict[str, Any]:
    return {
        **code,
        "logged_with": {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "system": platform.system(),
            **{name: metadata.version(name) for name in _PACKAGES},
        },
    }


def _report_markdown(report: pd.DataFrame) -> str:
    lines = [
        "| class | precision % | recall % | F1 % | documents | predicted |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in report.to_dict("records"):
        rates = " | ".join(f"{100 * row[name]:.2f}" for name in ("precision", "recall", "f1"))
        lines.append(f"| {row['class']} | {rates} | {row['support']} | {row['predicted']} |")
    return "\n".join(lines) + "\n"


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _parquet(table: pd.DataFrame) -> bytes:
    stream = io.BytesIO()
    table.to_parquet(stream, index=False, compression="zstd")
    return stream.getvalue()


def _png(figure: Figure) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=110, metadata={"Software": None})
    return stream.getvalue()
