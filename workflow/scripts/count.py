"""Count the n-grams of every document: see textbaselines.text.counts."""

from logging import Logger
from pathlib import Path
from typing import Any

from textbaselines.core.scripts import run
from textbaselines.text.counts import count_tokens, write_counts
from textbaselines.text.tokens import read_tokens


def main(
    log: Logger,
    dataset: str,
    tokens: Path,
    tokenizer: dict[str, Any],
    lowest: int,
    highest: int,
    threads: int,
    matrix: Path,
) -> None:
    """Count n-grams of ``lowest`` to ``highest`` tokens."""
    counts = count_tokens(read_tokens(tokens), tokenizer, lowest, highest, threads=threads)
    write_counts(matrix.parent, counts)
    log.info("%d documents, %d features, %d non-zeros", *counts.matrix.shape, counts.matrix.nnz)


if __name__ == "__main__":
    run(main)
