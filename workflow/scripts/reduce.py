"""Reduce every division's features: see textbaselines.experiments.reductions."""

import argparse
import json
from pathlib import Path

from textbaselines.experiments.folds import read_folds
from textbaselines.experiments.reductions import ReductionTask, write_reductions
from textbaselines.logs import run_script, run_to_end
from textbaselines.text.counts import read_counts
from textbaselines.text.vocabulary import read_vocabularies


def main() -> None:
    """Parse what the rule passes and reduce."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", type=json.loads, required=True)
    parser.add_argument("--folds", type=Path, required=True)
    parser.add_argument("--inner-folds", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True)
    parser.add_argument("--vocabularies", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    task = ReductionTask(**args.task)
    with run_script(f"reduce {task.dataset} {args.output.stem}", args.log) as log:
        write_reductions(
            args.output,
            task,
            read_counts(args.counts),
            read_vocabularies(args.vocabularies),
            read_folds(args.folds),
            read_folds(args.inner_folds),
            args.threads,
            log,
        )


if __name__ == "__main__":
    run_to_end(main)
