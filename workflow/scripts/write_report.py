"""Write a study's report as one HTML page: see textbaselines.reporting.report."""

import argparse
import os
from pathlib import Path

from textbaselines import storage
from textbaselines.logs import run_script, run_to_end
from textbaselines.reporting.report.blocks import Results
from textbaselines.reporting.report.page import render
from textbaselines.reporting.report.sections import sections_of


def main() -> None:
    """Parse what the rule passes and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--files", type=Path, nargs="+", required=True, help="what it may use")
    parser.add_argument("--root", type=Path, required=True, help="the checkout")
    parser.add_argument("--pages", type=Path, nargs="+", required=True, help="written to each")
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("report", args.log):
        study = storage.read_json(args.study)
        files = frozenset(file.relative_to(args.results).as_posix() for file in args.files)
        sections = sections_of(Results(args.results, files), study, args.root)
        for page in args.pages:
            prefix = os.path.relpath(args.results, page.parent) + "/"
            lead = f"Report of the study {study['name']}."
            storage.write_text(
                page, render(study["title"], lead, sections, prefix.removeprefix("./"))
            )


if __name__ == "__main__":
    run_to_end(main)
