"""Train learning curves: see textbaselines.experiments.learning_curves."""

import argparse
from pathlib import Path

from textbaselines import storage
from textbaselines.datasets.corpus import read_corpus
from textbaselines.experiments.folds import read_folds
from textbaselines.experiments.learning_curves import CurveTask, train_curves
from textbaselines.experiments.plan import Plan
from textbaselines.logs import run_script, run_to_end
from textbaselines.text.counts import read_counts
from textbaselines.text.tokens import read_tokens


def main() -> None:
    """Parse what the rule passes and train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", type=Path, required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--representation", required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--folds", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True)
    parser.add_argument("--tokens", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    task = CurveTask(**Plan.read(args.plan).curve(args.dataset, args.representation))
    with run_script(f"curves {task.dataset} {task.representation}", args.log) as log:
        scores = train_curves(
            task,
            read_counts(args.counts),
            read_tokens(args.tokens),
            read_folds(args.folds),
            read_corpus(args.corpus, ["id", "label"]),
            args.threads,
            log,
        )
        storage.write_parquet(args.output, scores)


if __name__ == "__main__":
    run_to_end(main)
