"""Write the tables and figures of a study: see textbaselines.reporting."""

from logging import Logger
from typing import Any

from textbaselines.core import storage
from textbaselines.core.csv_tables import read_csv, to_csv
from textbaselines.core.result_paths import StudyFolder
from textbaselines.core.scripts import run
from textbaselines.evaluation.cells import INTERVAL
from textbaselines.evaluation.costs import costs_of_runs
from textbaselines.evaluation.runs import runs_of_study
from textbaselines.reporting.figures.accuracy import accuracy_figure, draw_figure
from textbaselines.reporting.figures.analysis_figures import (
    length_figure,
    overconfidence_figure,
    reliability_figure,
)
from textbaselines.reporting.figures.confusion_figure import confusion_figure
from textbaselines.reporting.figures.cost_front import cost_front, cost_front_figure
from textbaselines.reporting.figures.critical_difference import critical_difference_figure
from textbaselines.reporting.figures.curve_figure import learning_curve_figure
from textbaselines.reporting.figures.search_figure import search_figure
from textbaselines.reporting.tables import comparison, contrast_tables
from textbaselines.reporting.tables.cost_table import cost_table
from textbaselines.reporting.tables.data_table import data_table, near_duplicates_table
from textbaselines.reporting.tables.table_files import plain_text, write_tables


def main(log: Logger, study: StudyFolder) -> None:
    """Write the comparison, the contrasts, the costs and the data, and draw all figures."""
    described = storage.read_json(study.description)
    _comparison(study, described)
    _contrasts(study, described)
    _costs(study, described)
    _data(study, described)
    _analyses(study, described)


def _comparison(study: StudyFolder, described: dict[str, Any]) -> None:
    cells, overlap = storage.read_parquet(study.cells), storage.read_parquet(study.overlap)
    decimals = described["tables"]["decimals"]
    shown = comparison.comparison_tables(
        cells, described, decimals=decimals, interval=INTERVAL, overlap=overlap
    )
    long = comparison.long_table(cells, described, decimals=decimals, overlap=overlap)
    stem = study.table("comparison")
    write_tables(stem, shown, described["title"], txt=plain_text(shown), csv=to_csv(long))
    draw_figure(study.figure("accuracy"), accuracy_figure, cells, described, interval=INTERVAL)


def _contrasts(study: StudyFolder, described: dict[str, Any]) -> None:
    names = ("contrasts", "across", "ranks", "omnibus", "nemenyi")
    read = {name: read_csv(study.significance(name)) for name in names}
    shown = [contrast_tables.contrast_table(read["contrasts"], described)]
    if len(described["datasets"]) > 1:
        shown += [
            contrast_tables.across_table(read["across"], described),
            contrast_tables.rank_table(read["ranks"], read["omnibus"], described),
        ]
    write_tables(study.table("contrasts"), shown, described["title"], txt=plain_text(shown))
    tests = read["ranks"], read["nemenyi"], read["omnibus"]
    figure = study.figure("critical-difference")
    draw_figure(figure, critical_difference_figure, *tests, described)


def _costs(study: StudyFolder, described: dict[str, Any]) -> None:
    runs = runs_of_study(study.runs, described)
    costs = costs_of_runs(runs, study.training_benchmarks)
    shown, csv = [cost_table(costs, described)], to_csv(costs)
    write_tables(study.table("costs"), shown, described["title"], csv=csv)
    front = cost_front(storage.read_parquet(study.cells), costs)
    storage.write_text(study.table("cost_front"), to_csv(front))
    draw_figure(study.figure("cost-front"), cost_front_figure, front, described)


def _data(study: StudyFolder, described: dict[str, Any]) -> None:
    names = [dataset["name"] for dataset in described["datasets"]]
    audits = {name: storage.read_json(study.results.audit(name)) for name in names}
    storage.write_text(study.table("data"), to_csv(data_table(audits)))
    storage.write_text(study.table("near_duplicates"), to_csv(near_duplicates_table(audits)))


def _analyses(study: StudyFolder, described: dict[str, Any]) -> None:
    """Draw what calibration and analysis found."""

    def draw(figure: str, make: Any, *names: str) -> None:
        read = [read_csv(study.analysis(name)) for name in names]
        draw_figure(study.figure(figure), make, *read, described)

    draw("reliability", reliability_figure, "reliability", "calibration")
    draw("calibration-by-length", overconfidence_figure, "calibration_by_length")
    draw("accuracy-by-length", length_figure, "accuracy_by_length")
    if "search" in described["figures"]:
        draw("search", search_figure, "search")
    if "learning-curves" in described["figures"]:
        draw("learning-curves", learning_curve_figure, "learning_curves", "crossings")
    if "confusion" in described["figures"]:
        draw("confusion", confusion_figure, "confusion")


if __name__ == "__main__":
    run(main)
