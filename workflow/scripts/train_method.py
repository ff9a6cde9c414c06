"""Train one method on one representation of one dataset: see textbaselines.experiments.training."""

import argparse
import json
from pathlib import Path

from textbaselines import storage
from textbaselines.datasets.corpus import read_corpus
from textbaselines.experiments.folds import read_folds
from textbaselines.experiments.reductions import Reductions
from textbaselines.experiments.training import Task, train, write_results
from textbaselines.logs import run_script
from textbaselines.text.counts import read_counts
from textbaselines.text.vocabulary import read_vocabularies


def main() -> None:
    """Parse what the rule passes and train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", type=json.loads, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--audit", type=Path, required=True)
    parser.add_argument("--folds", type=Path, required=True)
    parser.add_argument("--inner-folds", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True)
    parser.add_argument("--vocabularies", type=Path, required=True)
    parser.add_argument("--reduced", type=Path, nargs="?", help="under a reduction")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    task = Task(**args.task)
    with run_script(f"train {task.dataset} {task.representation} {task.method}", args.log) as log:
        corpus = read_corpus(args.corpus, columns=["id", "label", "rating"])
        counts = read_counts(args.counts)
        reduced = None
        if task.reduction is not None:
            reduced = Reductions(args.reduced, counts.documents, task.reduction["rank"])
        results = train(
            task,
            counts,
            read_vocabularies(args.vocabularies),
            read_folds(args.folds),
            read_folds(args.inner_folds),
            corpus,
            args.threads,
            log,
            reduced,
        )
        digest = storage.read_json(args.audit)["content_digest"]
        write_results(args.run.parent, results, task, digest)


if __name__ == "__main__":
    main()
