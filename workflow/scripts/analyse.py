"""Analyse what is behind the numbers of the tables: see textbaselines.experiments.analyses."""

from logging import Logger
from pathlib import Path

from textbaselines import storage
from textbaselines.experiments.analyses import StudyAnalyses
from textbaselines.experiments.plan import Plan
from textbaselines.reporting.tables import to_csv
from textbaselines.result_paths import StudyFolder
from textbaselines.scripts import run


def main(log: Logger, study: StudyFolder, plan: Path) -> None:
    """Write the tables of errors, lengths, repeated texts, search and learning curves."""
    described = storage.read_json(study.description)
    analyses = StudyAnalyses(study, log)
    tables = {**analyses.errors(), **analyses.lengths(), **analyses.overlap()}
    if described["grouped"]:
        tables |= analyses.grouped(Plan.read(plan))
    if described["chooses"]:
        tables |= analyses.search()
    if described["curve_runs"]:
        tables |= analyses.learning_curves()
    for name, table in tables.items():
        storage.write_text(study.analysis(name), to_csv(table))


if __name__ == "__main__":
    run(main)
