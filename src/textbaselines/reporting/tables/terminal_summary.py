"""What a run of the workflow ends with on the terminal: the tables and where everything lies."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from textbaselines.core.result_paths import Results
from textbaselines.core.storage import read_parquet
from textbaselines.evaluation.cells import INTERVAL
from textbaselines.evaluation.failed_points import failed_points, failure_lines
from textbaselines.reporting.tables.comparison import comparison_tables
from textbaselines.reporting.tables.layout import print_table
from textbaselines.reporting.tracking.ui import links_of_study


def print_summary(results: Path, study: Mapping[str, Any], console: Console | None = None) -> None:
    """Print the tables of fixed and of chosen hyper-parameters, and the places of all results.

    Parameters
    ----------
    results : Path
        The folder of results; nothing is printed when the study's cells are not there.
    study : mapping
        The study's description: name, titles, order, tables, tracking.
    console : Console, optional
        Standard output by default.
    """
    name = study["name"]
    of_study = Results(results).study(name)
    if not of_study.cells.is_file():
        return
    console = console or Console()
    frame = read_parquet(of_study.cells)
    for table in comparison_tables(
        frame,
        study,
        decimals=study["tables"]["decimals"],
        interval=INTERVAL,
        overlap=read_parquet(of_study.overlap) if of_study.overlap.is_file() else None,
        selections=("fixed", "nested"),
    ):
        print_table(table, console)
    if "oracle" in set(frame["selection"]):
        console.print(
            "Another table, marked as optimistic, has the best grid points on the test folds.",
            soft_wrap=True,
        )
    failed = failed_points(results, study)
    if len(failed):
        console.print(f"Grid points that failed on some folds: {len(failed)}")
        for line in failure_lines(failed):
            console.print(f"  {line}", soft_wrap=True, highlight=False, markup=False)
    paper = of_study.table("paper", "txt")
    places = {
        "tables": f"{of_study.folder}/tables/ (comparison.md, .tex, .csv, .html)",
        "figures": f"{of_study.folder}/figures/ (accuracy.svg, .png)",
        "runs": f"{of_study.runs}/ (scores, predictions and times of every run)",
        "report": f"{of_study.report} (opens offline)",
    }
    if of_study.models.is_dir():
        places["models"] = f"{of_study.models}/ (textbaselines.load, make serve DATASET=...)"
    if study["tables"]["published"]:
        places["paper"] = f"{of_study.table('paper', 'html')}, {of_study.table('fidelity')}"
    if study["tracking"] == "mlflow":
        places["tracking"] = study["tracking_uri"] or "make ui, then open one of these:"
    for what, where in places.items():
        console.print(Text(f"{what + ':':<10}{where}"), soft_wrap=True)
    for what, where in links_of_study(results, study) if "tracking" in places else ():
        console.print(Text(f"  {what:<26} {where}"), soft_wrap=True)
    if paper.is_file():
        console.print(Text(paper.read_text(encoding="utf-8").rstrip()))
