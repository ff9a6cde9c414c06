"""Log a study to MLflow: see reporting.tracking.writer and registered_models."""

from logging import Logger
from pathlib import Path

from textbaselines.core import provenance, storage
from textbaselines.core.result_paths import StudyFolder
from textbaselines.core.scripts import run
from textbaselines.evaluation.runs import runs_of_study
from textbaselines.reporting.tracking.registered_models import register_best
from textbaselines.reporting.tracking.store import Location, open_store
from textbaselines.reporting.tracking.writer import log_runs
from textbaselines.study.plan import Plan

PATIENCE = 600.0  # seconds to wait for another logger


def main(
    log: Logger,
    study: StudyFolder,
    plan: Path,
    root: Path,
    suffix: str = "",
    server: str | None = None,
) -> None:
    """Log every run, and register the best kept model of each dataset; what is there stays."""
    described = storage.read_json(study.description)
    results = study.results
    receipt = log_runs(
        runs_of_study(study.runs, described),
        storage.read_parquet(study.cells),
        described,
        database=results.database,
        artifact_root=results.artifacts,
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
    folders = [study.model(*names) for names in Plan.read(plan).content["models"]]
    if folders:
        with open_store(
            Location(results.database, results.artifacts, server), patience=PATIENCE
        ) as client:
            models = register_best(client, study.name, folders, suffix)
        storage.write_json(study.tracked_models, models)
        log.info("the best kept models of %d datasets are registered", len(models))


if __name__ == "__main__":
    run(main)
