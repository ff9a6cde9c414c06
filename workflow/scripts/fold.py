"""Draw the folds of a dataset: see textbaselines.study.folds."""

from logging import Logger
from pathlib import Path
from typing import Any

from textbaselines.core.scripts import run
from textbaselines.datasets.corpus import read_corpus
from textbaselines.study.folds import Protocol, draw_folds, draw_inner_folds, write_folds
from textbaselines.study.small_classes import lines_of_folds


def main(
    log: Logger,
    dataset: str,
    corpus: Path,
    protocol: dict[str, Any],
    folds: Path,
    inner_folds: Path,
) -> None:
    """Draw the folds, and the inner folds that choose hyper-parameters."""
    max_documents = protocol.pop("max_documents")
    drawn_by = Protocol(**protocol)
    documents = read_corpus(corpus, columns=["id", "label", "split", "group"])
    drawn = draw_folds(documents, drawn_by, dataset, max_documents)
    inner = draw_inner_folds(documents, drawn, drawn_by, dataset)
    write_folds(inner_folds, inner)
    write_folds(folds, drawn)
    log.info(drawn_by.caption)
    for line in lines_of_folds(documents, drawn, inner, drawn_by):
        log.warning("%s", line)


if __name__ == "__main__":
    run(main)
