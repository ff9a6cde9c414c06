"""Train on grouped folds beside the plain ones: see textbaselines.experiments.grouped_runs."""

import argparse
import json
from pathlib import Path

from textbaselines import storage
from textbaselines.datasets.corpus import read_corpus
from textbaselines.experiments.folds import Protocol, read_folds
from textbaselines.experiments.grouped_runs import GroupedTasks, compare_with_grouped
from textbaselines.experiments.plan_file import read_part
from textbaselines.experiments.tasks import Task
from textbaselines.logs import run_script, run_to_end


def main() -> None:
    """Parse what the rule passes, train and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plan", type=Path, required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--protocol", type=json.loads, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--folds", type=Path, required=True)
    parser.add_argument("--inner-folds", type=Path, required=True)
    parser.add_argument("--runs", type=Path, required=True, help="run folders of the study")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script(f"grouped {args.dataset}", args.log) as log:
        max_documents = args.protocol.pop("max_documents")
        work = [
            GroupedTasks(
                Path(part["counts"]),
                Path(part["tokens"]),
                part["policy"],
                part["min_count"],
                [Task(**task) for task in part["tasks"]],
            )
            for part in read_part(args.plan, "grouped", args.dataset)
        ]
        compared = compare_with_grouped(
            work,
            read_corpus(args.corpus, ["id", "label", "rating", "split", "group"]),
            read_folds(args.folds),
            read_folds(args.inner_folds),
            Protocol(**args.protocol),
            args.dataset,
            args.runs,
            args.threads,
            log,
            max_documents,
        )
        storage.write_parquet(args.output, compared)


if __name__ == "__main__":
    run_to_end(main)
