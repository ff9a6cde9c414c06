"""Register kept models in the MLflow store: see reporting.tracking.registered_models."""

from logging import Logger
from pathlib import Path

from textbaselines.core import storage
from textbaselines.core.result_paths import StudyFolder
from textbaselines.core.scripts import run
from textbaselines.reporting.tracking.registered_models import register_best
from textbaselines.reporting.tracking.store import Location, open_store
from textbaselines.study.plan import Plan

PATIENCE = 600.0  # seconds to wait for another logger


def main(
    log: Logger, study: StudyFolder, plan: Path, suffix: str = "", server: str | None = None
) -> None:
    """Register the best kept model of each dataset and make it the dataset's champion."""
    folders = [study.model(*names) for names in Plan.read(plan).content["models"]]
    location = Location(study.results.database, study.results.artifacts, server)
    with open_store(location, patience=PATIENCE) as client:
        receipt = register_best(client, study.name, folders, suffix)
    storage.write_json(study.tracked_models, receipt)
    log.info("the best kept models of %d datasets are registered", len(receipt))


if __name__ == "__main__":
    run(main)
