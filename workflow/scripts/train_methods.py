"""Train methods on one dataset's counts: see textbaselines.experiments.training."""

import argparse
import time
from logging import Logger
from pathlib import Path
from typing import Any

import pandas as pd

from textbaselines import storage
from textbaselines.datasets.corpus import read_corpus
from textbaselines.errors import UserError
from textbaselines.experiments.folds import read_folds
from textbaselines.experiments.plan_file import read_part
from textbaselines.experiments.receipts import (
    MEASURES,
    digests_of,
    discard_receipt,
    is_trained,
    place,
    write_receipt,
)
from textbaselines.experiments.reductions import Reductions
from textbaselines.experiments.tasks import Task
from textbaselines.experiments.training import train, write_results
from textbaselines.experiments.training_jobs import RULE
from textbaselines.logs import run_script, run_to_end
from textbaselines.text.counts import read_counts
from textbaselines.text.vocabulary import read_vocabularies

SHARED = ("corpus", "audit", "folds", "inner_folds")


def main() -> None:
    """Parse what the rule passes, and train what is not trained from just this."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", type=Path, required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--job", required=True, help="its name in the plan")
    for name in SHARED:
        parser.add_argument(f"--{name.replace('_', '-')}", type=Path, required=True)
    parser.add_argument("--code", type=Path, nargs="+", required=True, help="what trains")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--kept", type=Path, required=True, help="what such jobs keep")
    parser.add_argument("--runs", type=Path, required=True, help="folder of the dataset's runs")
    parser.add_argument("--measures", type=Path, required=True, help="folder of time and memory")
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script(f"train {args.dataset} {args.job.removeprefix(RULE)}", args.log) as log:
        work = read_part(args.plan, "train", args.dataset, args.job)
        shared = digests_of([getattr(args, name) for name in SHARED] + args.code)
        corpus = None
        failed: list[UserError] = []
        for part in work:
            made = [part[name] for name in ("counts", "vocabularies", "reduced") if part[name]]
            digests = {**shared, **digests_of([Path(path) for path in made])}
            waiting = []
            for task in (Task(**fields) for fields in part["tasks"]):
                if is_trained(_kept(args, task), vars(task), digests):
                    name = f"{task.method} on {task.representation}"
                    log.info("%s is trained from just this: kept", name)
                    _place(args, task)
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


def _train(
    part: dict[str, Any],
    tasks: list[Task],
    corpus: pd.DataFrame,
    digests: dict[str, str],
    args: argparse.Namespace,
    log: Logger,
) -> None:
    """Train tasks on the same counts, and write their run folders."""
    counts = read_counts(part["counts"])
    reduced = None
    if tasks[0].reduction is not None:
        reduced = Reductions(part["reduced"], counts.documents, tasks[0].reduction["rank"])
    content_digest = storage.read_json(args.audit)["content_digest"]
    for task in tasks:
        discard_receipt(_kept(args, task))
    trained = train(
        tasks,
        counts,
        read_vocabularies(part["vocabularies"]),
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
        row = f"{seconds:.4f}\t{one.peak_mebibytes:.2f}"
        storage.write_text(folder / MEASURES, f"s\tmax_rss\n{row}\n")
        write_receipt(folder, vars(one.task), digests)
        _place(args, one.task)


def _kept(args: argparse.Namespace, task: Task) -> Path:
    return Path(args.kept, task.representation, task.method)


def _place(args: argparse.Namespace, task: Task) -> None:
    run_folder = Path(args.runs, task.representation, task.method)
    measures = Path(args.measures, task.representation, f"{task.method}.tsv")
    place(_kept(args, task), run_folder, measures)


if __name__ == "__main__":
    run_to_end(main)
