"""Register kept models in the MLflow store: see textbaselines.reporting.registered_models."""

import argparse
from pathlib import Path

from textbaselines import storage
from textbaselines.experiments.plan import Plan
from textbaselines.logs import run_script
from textbaselines.reporting.registered_models import register_best
from textbaselines.reporting.tracking.store import Location, open_store

PATIENCE = 600.0  # seconds to wait for another logger


def main() -> None:
    """Parse what the rule passes and register."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", required=True, help="the study's name")
    parser.add_argument("--suffix", default="", help="follows the dataset's name")
    parser.add_argument("--store", type=Path, required=True, help="the SQLite file")
    parser.add_argument("--artifacts", type=Path, required=True)
    parser.add_argument("--server", help="the address of a tracking server, instead of --store")
    parser.add_argument("--plan", type=Path, required=True)
    parser.add_argument("--models", type=Path, required=True, help="the study's folder of models")
    parser.add_argument("--receipt", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("models", args.log) as log:
        kept = Plan.read(args.plan).content["models"]
        folders = [args.models.joinpath(*names) for names in kept]
        location = Location(args.store, args.artifacts, args.server)
        with open_store(location, patience=PATIENCE) as client:
            receipt = register_best(client, args.study, folders, args.suffix)
        storage.write_json(args.receipt, receipt)
        log.info("the best kept models of %d datasets are registered", len(receipt))


if __name__ == "__main__":
    main()
