"""Train one batch of a study's plan: see textbaselines.experiments.plan and training."""

import argparse
import time
from logging import Logger
from pathlib import Path

import pandas as pd

from textbaselines import storage
from textbaselines.datasets.corpus import read_corpus
from textbaselines.errors import UserError
from textbaselines.experiments.folds import read_folds
from textbaselines.experiments.plan import Part, Plan
from textbaselines.experiments.receipts import (
    MEASURES,
    RECORD,
    digests_of,
    discard_receipt,
    is_trained,
    write_receipt,
)
from textbaselines.experiments.reductions import Reductions
from textbaselines.experiments.runs import write_batch
from textbaselines.experiments.tasks import Task
from textbaselines.experiments.training import train, write_results
from textbaselines.logs import run_script, run_to_end
from textbaselines.text.counts import read_counts
from textbaselines.text.vocabulary import read_vocabularies

SHARED = ("corpus", "audit", "folds", "inner_folds")


def main() -> None:
    """Parse what the rule passes, and train what is not trained from just this."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", type=Path, required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--batch", required=True)
    for name in SHARED:
        parser.add_argument(f"--{name.replace('_', '-')}", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True, help="folder of the dataset's")
    parser.add_argument("--vocabularies", type=Path, required=True, help="folder of the dataset's")
    parser.add_argument("--reductions", type=Path, required=True, help="folder of the dataset's")
    parser.add_argument("--code", type=Path, nargs="+", required=True, help="what trains")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--kept", type=Path, required=True, help="what such jobs keep")
    parser.add_argument("--output", type=Path, required=True, help="folder of the batch")
    parser.add_argument("--measures", type=Path, required=True, help="time and memory")
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    parts = Plan.read(args.plan).batch(args.dataset, args.batch)
    representations = dict.fromkeys(t["representation"] for part in parts for t in part.tasks)
    with run_script(f"train {args.dataset} {' '.join(representations)}", args.log) as log:
        shared = digests_of([getattr(args, name) for name in SHARED] + args.code)
        corpus = None
        failed: list[UserError] = []
        for part in parts:
            digests = {**shared, **digests_of(_files(args, part))}
            waiting = []
            for task in (Task(**fields) for fields in part.tasks):
                if is_trained(_kept(args, task), vars(task), digests):
                    name = f"{task.method} on {task.representation}"
                    log.info("%s is trained from just this: kept", name)
                else:
                    waiting.append(task)
            if not waiting:
                continue
            if corpus is None:
                corpus = read_corpus(args.corpus, columns=["id", "label", "rating"])
            try:
                _train(part, waiting, corpus, digests, args, log)
            except UserError as error:
                failed.append(error)
        for other in failed[1:]:
            log.error("%s", other)
        if failed:
            raise failed[0]
        _write_batch(args, [Task(**fields) for part in parts for fields in part.tasks])


def _files(args: argparse.Namespace, part: Part) -> list[Path]:
    files = [
        args.counts / part.counts / "matrix.npz",
        args.vocabularies / f"{part.vocabularies}.npz",
    ]
    return files if part.reduced is None else [*files, args.reductions / f"{part.reduced}.npz"]


def _train(
    part: Part,
    tasks: list[Task],
    corpus: pd.DataFrame,
    digests: dict[str, str],
    args: argparse.Namespace,
    log: Logger,
) -> None:
    """Train tasks on the same counts, and keep what they give."""
    counts_file, vocabularies_file, *reduced_file = _files(args, part)
    counts = read_counts(counts_file)
    reduced = None
    if tasks[0].reduction is not None:
        reduced = Reductions(reduced_file[0], counts.documents, tasks[0].reduction["rank"])
    content_digest = storage.read_json(args.audit)["content_digest"]
    for task in tasks:
        discard_receipt(_kept(args, task))
    trained = train(
        tasks,
        counts,
        read_vocabularies(vocabularies_file),
        read_folds(args.folds),
        read_folds(args.inner_folds),
        corpus,
        args.threads,
        log,
        reduced,
    )
    for one in trained:
        folder = _kept(args, one.task)
        started = time.perf_counter()
        write_results(folder, one.results, one.task, content_digest)
        seconds = one.seconds + time.perf_counter() - started
        measures = {"s": round(seconds, 4), "max_rss": round(one.peak_mebibytes, 2)}
        storage.write_json(folder / MEASURES, measures)
        write_receipt(folder, vars(one.task), digests)


def _write_batch(args: argparse.Namespace, tasks: list[Task]) -> None:
    """Write the files of the batch from what its tasks gave."""
    folders = [_kept(args, task) for task in tasks]
    write_batch(args.output, [(storage.read_json(one / RECORD), one) for one in folders])
    lines = ["representation\tmethod\ts\tmax_rss"]
    for task, folder in zip(tasks, folders, strict=True):
        took = storage.read_json(folder / MEASURES)
        line = f"{task.representation}\t{task.method}\t{took['s']:.4f}\t{took['max_rss']:.2f}"
        lines.append(line)
    storage.write_text(args.measures, "\n".join([*lines, ""]))


def _kept(args: argparse.Namespace, task: Task) -> Path:
    return Path(args.kept, task.representation, task.method)


if __name__ == "__main__":
    run_to_end(main)
