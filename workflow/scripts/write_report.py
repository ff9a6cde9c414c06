"""Write the report of a study: see textbaselines.reporting.report."""

import os
from logging import Logger
from pathlib import Path

from textbaselines.core import storage
from textbaselines.core.result_paths import StudyFolder
from textbaselines.core.scripts import run
from textbaselines.reporting.report.blocks import Results
from textbaselines.reporting.report.page import render
from textbaselines.reporting.report.sections import sections_of


def main(log: Logger, study: StudyFolder, files: list[Path], root: Path) -> None:
    """Write the page, beside the study's results and as that of the study run last."""
    described = storage.read_json(study.description)
    names = frozenset(file.relative_to(study.folder).as_posix() for file in files)
    sections = sections_of(Results(study.folder, names), described, root)
    lead = f"Report of the study {described['name']}."
    for page in (study.report, study.results.report):
        prefix = os.path.relpath(study.folder, page.parent) + "/"
        text = render(described["title"], lead, sections, prefix.removeprefix("./"))
        storage.write_text(page, text)


if __name__ == "__main__":
    run(main)
