"""Train learning curves: see textbaselines.analysis.learning_curves."""

from logging import Logger
from pathlib import Path

from textbaselines.analysis.learning_curves import CurveTask, train_curves
from textbaselines.core import storage
from textbaselines.core.scripts import run
from textbaselines.datasets.corpus import read_corpus
from textbaselines.study.folds import read_folds
from textbaselines.study.plan import Plan
from textbaselines.text.counts import read_counts
from textbaselines.text.tokens import read_tokens


def main(
    log: Logger,
    plan: Path,
    dataset: str,
    representation: str,
    corpus: Path,
    folds: Path,
    counts: Path,
    tokens: Path,
    threads: int,
    output: Path,
) -> None:
    """Train on nested parts of each fold's training documents."""
    scores = train_curves(
        CurveTask(**Plan.read(plan).curve(dataset, representation)),
        read_counts(counts),
        read_tokens(tokens),
        read_folds(folds),
        read_corpus(corpus, ["id", "label"]),
        threads,
        log,
    )
    storage.write_parquet(output, scores)


if __name__ == "__main__":
    run(main)
