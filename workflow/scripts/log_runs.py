"""Log the runs of a study to MLflow: see textbaselines.reporting.tracking.writer."""

from logging import Logger
from pathlib import Path

from textbaselines.core import provenance, storage
from textbaselines.core.result_paths import StudyFolder
from textbaselines.core.scripts import run
from textbaselines.evaluation.runs import runs_of_study
from textbaselines.reporting.tracking.writer import log_runs

PATIENCE = 600.0  # seconds to wait for another logger


def main(log: Logger, study: StudyFolder, root: Path, server: str | None = None) -> None:
    """Log every run; what is logged already stays as it is."""
    described = storage.read_json(study.description)
    receipt = log_runs(
        runs_of_study(study.runs, described),
        storage.read_parquet(study.cells),
        described,
        database=study.results.database,
        artifact_root=study.results.artifacts,
        receipt=study.tracked_runs,
        server=server,
        benchmarks=study.training_benchmarks,
        code=provenance.code_tags(root),
        patience=PATIENCE,
    )
    counts = (
        f"{number} {what.replace('_', ' ')}" for what, number in receipt["counts"].items() if number
    )
    log.info("%s", ", ".join(counts))


if __name__ == "__main__":
    run(main)
