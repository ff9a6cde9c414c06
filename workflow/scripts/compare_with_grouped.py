"""Set grouped runs beside the plain ones: see textbaselines.experiments.grouped_runs."""

import argparse
from pathlib import Path

import pandas as pd

from textbaselines import storage
from textbaselines.datasets.corpus import read_corpus
from textbaselines.experiments.folds import read_folds
from textbaselines.experiments.grouped_runs import (
    GROUPED_COLUMNS,
    compare_with_grouped,
    has_repeats,
)
from textbaselines.experiments.plan import Plan
from textbaselines.experiments.runs import Run, run_of
from textbaselines.logs import run_script, run_to_end


def main() -> None:
    """Parse what the rule passes and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", type=Path, required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--folds", type=Path, required=True)
    parser.add_argument("--runs", type=Path, required=True, help="the study's folder of runs")
    parser.add_argument("--grouped", type=Path, required=True, help="the same on grouped folds")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script(f"grouped {args.dataset}", args.log) as log:
        corpus = read_corpus(args.corpus, ["id", "group"])
        if has_repeats(corpus, read_folds(args.folds)):
            names = Plan.read(args.plan).grouped_runs(args.dataset)
            plain = [run_of(args.runs, args.dataset, *name) for name in names]
            compared = compare_with_grouped(
                plain,
                [
                    Run(args.grouped / args.dataset / run.batch.name, *name)
                    for run, name in zip(plain, names, strict=True)
                ],
                corpus.set_index("id")["group"],
                args.runs,
            )
        else:
            log.info("no test document's text stands in training: nothing to compare")
            compared = pd.DataFrame(columns=list(GROUPED_COLUMNS))
        storage.write_parquet(args.output, compared)


if __name__ == "__main__":
    run_to_end(main)
