"""The sections of a report, each from the files it needs, or a sentence where they are absent."""

import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from textbaselines.core import provenance, storage
from textbaselines.reporting.report import (
    analysis_sections,
    comparison_sections,
    data_sections,
    error_section,
)
from textbaselines.reporting.report.blocks import (
    Commands,
    Prose,
    Results,
    Section,
    Sheet,
    Source,
    absent,
    picture_of,
)
from textbaselines.reporting.tables.cost_table import cost_table

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "statsmodels", "snakemake", "mlflow")


def sections_of(results: Results, study: Mapping[str, Any], root: Path) -> list[Section]:
    """Return the sections of a study's report, the answer first.

    Parameters
    ----------
    results : Results
        The files; ``cells/<study>.parquet`` must be among them.
    study : mapping
        The study's description.
    root : Path
        The checkout, whose commit and lock the report names.
    """
    cells = storage.read_parquet(results.folder / "evaluation" / "cells.parquet")
    sections = [
        comparison_sections.answer(results, study, cells),
        comparison_sections.accuracy(results, study, cells),
        comparison_sections.difference(results, study),
        comparison_sections.search(results, study),
        analysis_sections.learning_curves(results, study),
        analysis_sections.calibration(results, study),
        analysis_sections.lengths(results, study),
        error_section.errors(results, study),
        comparison_sections.paper(results, study),
        data_sections.duplicates(results, study),
        _costs(results, study),
        data_sections.data(results, study),
        _environment(study, root),
        _reproduce(study),
    ]
    return [section for section in sections if section is not None]


def _costs(results: Results, study: Mapping[str, Any]) -> Section:
    costs = results.table("tables/costs.csv")
    if costs is None:
        return absent("costs", "What it costs", "tables/costs.csv")
    figure = picture_of(
        results,
        "figures/cost-front",
        "cost-front",
        "Accuracy against the seconds of one fit, one panel for each dataset. Filled markers are "
        "on the front: no other row is as accurate and faster, or as fast and more accurate.",
        Source("tables/cost_front.csv", "write_tables"),
    )
    table = Sheet(cost_table(costs, study), (Source("tables/costs.csv", "write_tables"),))
    return Section("costs", "What it costs", (*figure, table))


def _environment(study: Mapping[str, Any], root: Path) -> Section:
    tags = provenance.code_tags(root)
    changed = " with uncommitted changes" if tags["git_dirty"] == "true" else ""
    lines = [
        f"Code: commit {tags['git_commit']}{changed}.",
        f"Packages: requirements.lock, sha256 {tags['lock']}." if "lock" in tags else "",
        f"Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in _LIBRARIES)
        + ".",
        f"Machine: {platform.system()} {platform.machine()}, {os.cpu_count()} processors.",
        "This was the state when the page was written; "
        + (
            f"results/{study['name']}/tracking/runs.json says which commit logged the runs."
            if study["tracking"] == "mlflow"
            else "the runs were not logged to MLflow."
        ),
    ]
    return Section("environment", "Environment", (Prose(tuple(filter(None, lines)), listed=True),))


def _reproduce(study: Mapping[str, Any]) -> Section:
    words = Prose(
        (
            "Run this in a checkout of the commit above (make sets up the environment, with every "
            "package pinned by its digest):",
        )
    )
    commands = Commands(("make .venv/.ready", ". .venv/bin/activate", study["command"]))
    note = Prose(
        (
            "The same study gives the same bytes on any number of cores, except for times. Each "
            "table and figure names its file and the rule that made it. The same command makes "
            "a deleted file again.",
        )
    )
    return Section("reproduce", "How to reproduce", (words, commands, note))
