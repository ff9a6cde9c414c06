"""Train methods on one representation of one dataset: see textbaselines.experiments.training."""

import argparse
import json
import time
from pathlib import Path

from textbaselines import storage
from textbaselines.datasets.corpus import read_corpus
from textbaselines.experiments.folds import read_folds
from textbaselines.experiments.receipts import (
    digests_of,
    discard_receipt,
    is_trained,
    write_receipt,
)
from textbaselines.experiments.reductions import Reductions
from textbaselines.experiments.training import Task, train, write_results
from textbaselines.logs import run_script
from textbaselines.peak_memory import peak_mebibytes, reset_peak
from textbaselines.text.counts import read_counts
from textbaselines.text.vocabulary import read_vocabularies

INPUTS = ("corpus", "audit", "folds", "inner_folds", "counts", "vocabularies", "reduced")


def main() -> None:
    """Parse what the rule passes, and train what is not trained from just this."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=json.loads, required=True, help="a list")
    for name in INPUTS[:-1]:
        parser.add_argument(f"--{name.replace('_', '-')}", type=Path, required=True)
    parser.add_argument("--reduced", type=Path, nargs="?", help="under a reduction")
    parser.add_argument("--code", type=Path, nargs="+", required=True, help="what trains")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=Path, required=True, help="of the representation")
    parser.add_argument("--measures", required=True, help="time and memory, {} for the method")
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    first = args.tasks[0]
    words = [first["dataset"], first["representation"]]
    if len(args.tasks) == 1:
        words.append(first["method"])
    with run_script(f"train {' '.join(words)}", args.log) as log:
        inputs = [getattr(args, name) for name in INPUTS]
        digests = digests_of([path for path in inputs if path is not None] + args.code)
        waiting = []
        for task in (Task(**fields) for fields in args.tasks):
            measured = Path(args.measures.format(task.method)).is_file()
            if measured and is_trained(args.runs / task.method, vars(task), digests):
                log.info("%s is trained from just this: kept", task.method)
            else:
                waiting.append(task)
        if not waiting:
            return
        corpus = read_corpus(args.corpus, columns=["id", "label", "rating"])
        counts = read_counts(args.counts)
        vocabularies = read_vocabularies(args.vocabularies)
        folds, inner_folds = read_folds(args.folds), read_folds(args.inner_folds)
        content_digest = storage.read_json(args.audit)["content_digest"]
        for task in waiting:
            told = log if len(args.tasks) == 1 else log.getChild(task.method)
            folder = args.runs / task.method
            discard_receipt(folder)
            reset_peak()
            began = time.perf_counter()
            reduced = None
            if task.reduction is not None:
                reduced = Reductions(args.reduced, counts.documents, task.reduction["rank"])
            results = train(
                task,
                counts,
                vocabularies,
                folds,
                inner_folds,
                corpus,
                args.threads,
                told,
                reduced,
            )
            write_results(folder, results, task, content_digest)
            seconds = time.perf_counter() - began
            storage.write_text(
                Path(args.measures.format(task.method)),
                f"s\tmax_rss\n{seconds:.4f}\t{peak_mebibytes():.2f}\n",
            )
            write_receipt(folder, vars(task), digests)


if __name__ == "__main__":
    main()
