"""Reduce every division's features: see textbaselines.experiments.reductions."""

from logging import Logger
from pathlib import Path
from typing import Any

from textbaselines.experiments.folds import read_folds
from textbaselines.experiments.reductions import ReductionTask, write_reductions
from textbaselines.scripts import run
from textbaselines.text.counts import read_counts
from textbaselines.text.vocabulary import read_vocabularies


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
