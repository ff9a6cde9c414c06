"""Register kept models in the MLflow store: see textbaselines.reporting.registered_models."""

import argparse
from pathlib import Path

from textbaselines import storage
from textbaselines.logs import run_script
from textbaselines.reporting.registered_models import MlflowClient, register_best
from textbaselines.reporting.tracking.addresses import sqlite_address


def main() -> None:
    """Parse what the rule passes and register."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", required=True, help="the study's name")
    parser.add_argument("--suffix", default="", help="follows the dataset's name")
    parser.add_argument("--models", type=Path, nargs="+", required=True, help="model.json files")
    parser.add_argument("--store", required=True, help="the SQLite file, or a server's address")
    parser.add_argument("--receipt", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("models", args.log) as log:
        server = "://" in args.store
        address = args.store if server else sqlite_address(args.store)
        client = MlflowClient(tracking_uri=address)
        folders = [model.parent for model in args.models]
        receipt = register_best(client, args.study, folders, args.suffix)
        storage.write_json(args.receipt, receipt)
        log.info("the best kept models of %d datasets are registered", len(receipt))


if __name__ == "__main__":
    main()
