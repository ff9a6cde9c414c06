"""Set published numbers beside ours: see textbaselines.reporting.paper.fidelity and claims."""

from logging import Logger
from pathlib import Path
from typing import Any

import pandas as pd

from textbaselines.core import storage
from textbaselines.core.csv_tables import to_csv
from textbaselines.core.result_paths import StudyFolder
from textbaselines.core.scripts import run
from textbaselines.evaluation.runs import runs_of_study
from textbaselines.reporting.paper import claims, fidelity
from textbaselines.reporting.tables.table_files import write_tables


def main(log: Logger, study: StudyFolder, published: Path) -> None:
    """Write the published cells beside ours, the paper's tables and its claims with verdicts."""
    described = storage.read_json(study.description)
    numbers = fidelity.load_published(published)
    judged = fidelity.fidelity(storage.read_parquet(study.cells), numbers)
    comparisons = claims.judge_claims(claims.read_points(runs_of_study(study.runs, described)))
    verdict = fidelity.verdict_lines(judged)
    tables = [
        fidelity.statistics_table(_statistics(study, described), numbers),
        *fidelity.paper_tables(judged, numbers),
        fidelity.logs_table(judged, numbers),
        claims.claims_table(comparisons, described),
    ]
    storage.write_text(study.table("fidelity"), to_csv(judged[judged["source"] == "paper"]))
    storage.write_text(study.table("claims"), to_csv(comparisons))
    storage.write_text(study.table("claim_verdicts"), to_csv(claims.verdicts(comparisons)))
    lines = "".join(f"{line}\n" for line in verdict)
    write_tables(study.table("paper"), tables, described["title"], txt=lines)
    log.info("%s", verdict[-1])


def _statistics(study: StudyFolder, described: dict[str, Any]) -> pd.DataFrame:
    names = [dataset["name"] for dataset in described["datasets"]]
    of = {entry["name"]: entry.get("counts") for entry in described["representations"]}

    def summaries(representation: str) -> dict[str, Any]:
        return {
            name: storage.read_json(study.counts_summary(name, of[representation]))
            for name in names
        }

    return fidelity.corpus_statistics(
        {name: storage.read_json(study.results.audit(name)) for name in names},
        {dataset["name"]: dataset["positive"] for dataset in described["datasets"]},
        summaries("uni"),
        summaries("bi"),
    )


if __name__ == "__main__":
    run(main)
