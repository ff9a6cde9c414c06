"""Train one batch on grouped folds: see textbaselines.experiments.grouped_runs."""

import argparse
import tempfile
from pathlib import Path
from typing import Any

from textbaselines import storage
from textbaselines.datasets.corpus import read_corpus
from textbaselines.experiments.folds import Protocol, read_folds
from textbaselines.experiments.grouped_runs import GroupedTasks, has_repeats, train_grouped
from textbaselines.experiments.plan import Plan
from textbaselines.experiments.runs import write_batch
from textbaselines.experiments.tasks import Task
from textbaselines.logs import run_script, run_to_end


def main() -> None:
    """Parse what the rule passes and train; nothing where no text repeats."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", type=Path, required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--batch", required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--audit", type=Path, required=True)
    parser.add_argument("--folds", type=Path, required=True)
    parser.add_argument("--inner-folds", type=Path, required=True)
    parser.add_argument("--counts", type=Path, required=True, help="folder of the dataset's")
    parser.add_argument("--tokens", type=Path, required=True, help="folder of the dataset's")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True, help="folder of the batch")
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script(f"grouped {args.dataset} {args.batch}", args.log) as log:
        corpus = read_corpus(args.corpus, ["id", "label", "rating", "split", "group"])
        folds = read_folds(args.folds)
        if not has_repeats(corpus, folds):
            log.info("no test document's text stands in training: nothing to compare")
            write_batch(args.output, [])
            return
        plan = Plan.read(args.plan)
        of_dataset = plan.content["datasets"][args.dataset]
        work = [
            GroupedTasks(
                args.counts / part.counts / "matrix.npz",
                args.tokens / f"{part.tokenizer}.npz",
                part.policy,
                part.min_count,
                [Task(**task) for task in part.tasks],
            )
            for part in plan.grouped(args.dataset, args.batch)
        ]
        trained = train_grouped(
            work,
            corpus,
            folds,
            read_folds(args.inner_folds),
            Protocol(**of_dataset["protocol"]),
            args.dataset,
            args.threads,
            log,
            of_dataset["max_documents"],
        )
        _write(args, trained)


def _write(args: argparse.Namespace, trained: Any) -> None:
    # Here, for the datasets that end above: it takes a second.
    from textbaselines.experiments.training import write_results

    content_digest = storage.read_json(args.audit)["content_digest"]
    args.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=args.output) as temporary:
        runs = []
        for one in trained:
            folder = Path(temporary, one.task.representation, one.task.method)
            write_results(folder, one.results, one.task, content_digest)
            runs.append((storage.read_json(folder / "run.json"), folder))
        write_batch(args.output, runs)


if __name__ == "__main__":
    run_to_end(main)
