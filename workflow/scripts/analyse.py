"""Analyse what is behind the numbers of the tables: see textbaselines.analysis.study_analyses."""

from logging import Logger
from pathlib import Path

from textbaselines.analysis.study_analyses import StudyAnalyses
from textbaselines.core import storage
from textbaselines.core.csv_tables import to_csv
from textbaselines.core.result_paths import StudyFolder
from textbaselines.core.scripts import run
from textbaselines.study.plan import Plan


def main(log: Logger, study: StudyFolder, plan: Path) -> None:
    """Write the tables of errors, lengths, repeated texts, search and learning curves."""
    asked = storage.read_json(study.description)["analyses"]
    analyses = StudyAnalyses(study, log)
    tables = {**analyses.errors(), **analyses.lengths(), **analyses.overlap()}
    if "grouped" in asked:
        tables |= analyses.grouped(Plan.read(plan))
    if "search" in asked:
        tables |= analyses.search()
    if "learning_curves" in asked:
        tables |= analyses.learning_curves()
    for name, table in tables.items():
        storage.write_text(study.analysis(name), to_csv(table))


if __name__ == "__main__":
    run(main)
