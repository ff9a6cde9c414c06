"""Log finished runs to the MLflow store: see textbaselines.reporting.tracking."""

import argparse
from pathlib import Path

from textbaselines import provenance, storage
from textbaselines.experiments.runs import runs_of_study
from textbaselines.logs import run_script
from textbaselines.reporting.tracking.writer import log_runs

PATIENCE = 600.0  # seconds to wait for another logger


def main() -> None:
    """Parse what the rule passes and log."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, required=True, help="the study's folder of runs")
    parser.add_argument("--cells", type=Path, required=True)
    parser.add_argument("--study", type=Path, required=True)
    parser.add_argument("--store", type=Path, required=True, help="the SQLite file")
    parser.add_argument("--artifacts", type=Path, required=True)
    parser.add_argument("--server", help="the address of a tracking server, instead of --store")
    parser.add_argument("--benchmarks", type=Path, help="measures of the training tasks")
    parser.add_argument("--root", type=Path, required=True, help="the folder of the Snakefile")
    parser.add_argument("--receipt", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("track", args.log) as log:
        study = storage.read_json(args.study)
        receipt = log_runs(
            runs_of_study(args.runs, study),
            storage.read_parquet(args.cells),
            study,
            database=args.store,
            artifact_root=args.artifacts,
            receipt=args.receipt,
            server=args.server,
            benchmarks=args.benchmarks,
            code=provenance.code_tags(args.root),
            patience=PATIENCE,
        )
        counts = ", ".join(
            f"{number} {what.replace('_', ' ')}"
            for what, number in receipt["counts"].items()
            if number
        )
        log.info("%s", counts)


if __name__ == "__main__":
    main()
