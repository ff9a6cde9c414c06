"""Reduce every division's features: see textbaselines.training.reductions."""

from logging import Logger
from pathlib import Path
from typing import Any

from textbaselines.core.scripts import run
from textbaselines.study.folds import read_folds
from textbaselines.text.counts import read_counts
from textbaselines.text.vocabulary import read_vocabularies
from textbaselines.training.reductions import ReductionTask, write_reductions


def main(
    log: Logger,
    dataset: str,
    task: dict[str, Any],
    folds: Path,
    inner_folds: Path,
    counts: Path,
    vocabularies: Path,
    threads: int,
    output: Path,
) -> None:
    """Fit a reduction on the training documents of every fold and inner fold."""
    write_reductions(
        output,
        ReductionTask(**task),
        read_counts(counts),
        read_vocabularies(vocabularies),
        read_folds(folds),
        read_folds(inner_folds),
        threads,
        log,
    )


if __name__ == "__main__":
    run(main)
