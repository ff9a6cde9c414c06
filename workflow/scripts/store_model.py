"""Train a final model and store it: see textbaselines.experiments.final_models."""

import argparse
from pathlib import Path

from textbaselines import storage
from textbaselines.datasets.corpus import read_corpus
from textbaselines.experiments.final_models import (
    best_cell,
    calibration_table,
    fixed_cell,
    store_final_model,
)
from textbaselines.experiments.folds import read_folds
from textbaselines.experiments.runs import run_of
from textbaselines.logs import run_script, run_to_end
from textbaselines.text.counts import read_counts
from textbaselines.text.tokens import read_tokens


def main() -> None:
    """Parse what the rule passes, choose, train and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--representation", help="without it, the best cell's")
    parser.add_argument("--method", help="without it, the best cell's")
    parser.add_argument("--study", type=Path, required=True)
    parser.add_argument("--cells", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--folds", type=Path, required=True)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script(f"model {args.dataset}", args.log) as log:
        study = storage.read_json(args.study)
        cells = storage.read_parquet(args.cells)
        if args.method is None:
            cell = best_cell(cells, args.dataset)
            choice = {"rule": "best"}
        else:
            cell = fixed_cell(cells, args.dataset, args.representation, args.method)
            choice = {"rule": "named"}
        representation = {one["name"]: one for one in study["representations"]}[
            cell["representation"]
        ]
        place = Path(study["name"], args.dataset)
        one = run_of(
            args.results / "runs" / study["name"],
            args.dataset,
            cell["representation"],
            cell["method"],
        )
        run = one.record
        failure = store_final_model(
            args.model.parent,
            run,
            cell,
            choice,
            read_tokens(args.results / "tokens" / place / f"{representation['tokenizer']}.npz"),
            read_counts(args.results / "counts" / place / representation["counts"] / "matrix.npz"),
            read_folds(args.folds),
            read_corpus(args.corpus, columns=["id", "label", "rating"]),
            one.table(calibration_table(run)),
        )
        name = f"{cell['method']}-{cell['representation']}"
        if failure is None:
            log.info("%s, accuracy %.4f", name, cell["accuracy"])
        else:
            log.warning("%s has no model: %s", name, failure)


if __name__ == "__main__":
    run_to_end(main)
