"""Train one batch of a study's plan: see textbaselines.study.plan and training."""

import time
from logging import Logger
from pathlib import Path

import pandas as pd

from textbaselines.core import storage
from textbaselines.core.errors import UserError
from textbaselines.core.result_paths import StudyFolder
from textbaselines.core.scripts import run
from textbaselines.datasets.corpus import read_corpus
from textbaselines.evaluation.runs import write_batch
from textbaselines.study.folds import read_folds
from textbaselines.study.plan import Part, Plan
from textbaselines.study.tasks import Task
from textbaselines.text.counts import read_counts
from textbaselines.text.vocabulary import read_vocabularies
from textbaselines.training.receipts import (
    MEASURES,
    RECORD,
    digests_of,
    discard_receipt,
    is_trained,
    write_receipt,
)
from textbaselines.training.reductions import Reductions
from textbaselines.training.train import train, write_results


def main(
    log: Logger,
    plan: Path,
    dataset: str,
    batch: str,
    code: list[Path],
    threads: int,
    measures: Path,
) -> None:
    """Train what is not trained from just this, and write the batch of all its tasks."""
    folder = StudyFolder(plan.parents[1])
    results = folder.results
    parts = Plan.read(plan).batch(dataset, batch)
    every = results.corpus(dataset), results.audit(dataset)
    divided = folder.folds(dataset), folder.inner_folds(dataset)
    shared = digests_of([*every, *divided, *code])
    kept = folder.kept(dataset)
    corpus: pd.DataFrame | None = None
    failed: list[UserError] = []
    for part in parts:
        digests = {**shared, **digests_of(_features(folder, dataset, part))}
        waiting = []
        for task in (Task(**fields) for fields in part.tasks):
            if is_trained(_place(kept, task), vars(task), digests):
                name = f"{task.method} on {task.representation}"
                log.info("%s is trained from just this: kept", name)
            else:
                waiting.append(task)
        if not waiting:
            continue
        if corpus is None:
            corpus = read_corpus(results.corpus(dataset), columns=["id", "label", "rating"])
        try:
            _train(folder, part, waiting, corpus, digests, threads, log)
        except UserError as error:
            failed.append(error)
    for other in failed[1:]:
        log.error("%s", other)
    if failed:
        raise failed[0]
    tasks = [Task(**fields) for part in parts for fields in part.tasks]
    _write_batch(folder.runs / dataset / batch, measures, kept, tasks)


def _features(folder: StudyFolder, dataset: str, part: Part) -> list[Path]:
    """Return the counts, the vocabularies and, under a reduction, the coordinates of a part."""
    files = [
        folder.counts(dataset, part.counts),
        folder.vocabularies(dataset, part.vocabularies),
    ]
    if part.reduced is not None:
        files.append(folder.reductions(dataset, part.reduced))
    return files


def _train(
    folder: StudyFolder,
    part: Part,
    tasks: list[Task],
    corpus: pd.DataFrame,
    digests: dict[str, str],
    threads: int,
    log: Logger,
) -> None:
    """Train tasks on the same counts, and keep what they give."""
    dataset = tasks[0].dataset
    counts_file, vocabularies_file, *reduced_file = _features(folder, dataset, part)
    counts = read_counts(counts_file)
    reduced = None
    if tasks[0].reduction is not None:
        reduced = Reductions(reduced_file[0], counts.documents, tasks[0].reduction["rank"])
    content_digest = storage.read_json(folder.results.audit(dataset))["content_digest"]
    kept = folder.kept(dataset)
    for task in tasks:
        discard_receipt(_place(kept, task))
    trained = train(
        tasks,
        counts,
        read_vocabularies(vocabularies_file),
        read_folds(folder.folds(dataset)),
        read_folds(folder.inner_folds(dataset)),
        corpus,
        threads,
        log,
        reduced,
    )
    for one in trained:
        place = _place(kept, one.task)
        started = time.perf_counter()
        write_results(place, one.results, one.task, content_digest)
        seconds = one.seconds + time.perf_counter() - started
        measures = {"s": round(seconds, 4), "max_rss": round(one.peak_mebibytes, 2)}
        storage.write_json(place / MEASURES, measures)
        write_receipt(place, vars(one.task), digests)


def _write_batch(output: Path, measures: Path, kept: Path, tasks: list[Task]) -> None:
    """Write the files of the batch from what its tasks gave."""
    places = [_place(kept, task) for task in tasks]
    write_batch(output, [(storage.read_json(one / RECORD), one) for one in places])
    lines = ["representation\tmethod\ts\tmax_rss"]
    for task, place in zip(tasks, places, strict=True):
        took = storage.read_json(place / MEASURES)
        line = f"{task.representation}\t{task.method}\t{took['s']:.4f}\t{took['max_rss']:.2f}"
        lines.append(line)
    storage.write_text(measures, "\n".join([*lines, ""]))


def _place(kept: Path, task: Task) -> Path:
    return kept / task.representation / task.method


if __name__ == "__main__":
    run(main)
