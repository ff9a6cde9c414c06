"""Train one batch on grouped folds: see textbaselines.analysis.grouped_runs."""

import tempfile
from collections.abc import Iterable
from logging import Logger
from pathlib import Path
from typing import TYPE_CHECKING

from textbaselines.analysis.grouped_runs import GroupedTasks, has_repeats, train_grouped
from textbaselines.core import storage
from textbaselines.core.result_paths import StudyFolder
from textbaselines.core.scripts import run
from textbaselines.datasets.corpus import read_corpus
from textbaselines.evaluation.runs import write_batch
from textbaselines.study.folds import Protocol, read_folds
from textbaselines.study.plan import Plan
from textbaselines.study.tasks import Task
from textbaselines.training.receipts import RECORD

if TYPE_CHECKING:
    from textbaselines.training.train import Trained


def main(log: Logger, plan: Path, dataset: str, batch: str, threads: int) -> None:
    """Train the tasks of a batch that has any; none where no text repeats."""
    folder = StudyFolder(plan.parents[1])
    output = folder.grouped_runs / dataset / batch
    columns = ["id", "label", "rating", "split", "group"]
    corpus = read_corpus(folder.results.corpus(dataset), columns)
    folds = read_folds(folder.folds(dataset))
    if not has_repeats(corpus, folds):
        log.info("no test document's text stands in training: nothing to compare")
        write_batch(output, [])
        return
    read = Plan.read(plan)
    of_dataset = read.content["datasets"][dataset]
    work = [
        GroupedTasks(
            folder.counts(dataset, part.counts),
            folder.tokens(dataset, part.tokenizer),
            part.policy,
            part.min_count,
            [Task(**task) for task in part.tasks],
        )
        for part in read.grouped(dataset, batch)
    ]
    trained = train_grouped(
        work,
        corpus,
        folds,
        read_folds(folder.inner_folds(dataset)),
        Protocol(**of_dataset["protocol"]),
        dataset,
        threads,
        log,
        of_dataset["max_documents"],
    )
    content_digest = storage.read_json(folder.results.audit(dataset))["content_digest"]
    _write(output, trained, content_digest)


def _write(output: Path, trained: "Iterable[Trained]", content_digest: str) -> None:
    # Here, for the datasets that end above: it takes a second.
    from textbaselines.training.train import write_results

    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output) as temporary:
        runs = []
        for one in trained:
            place = Path(temporary, one.task.representation, one.task.method)
            write_results(place, one.results, one.task, content_digest)
            runs.append((storage.read_json(place / RECORD), place))
        write_batch(output, runs)


if __name__ == "__main__":
    run(main)
