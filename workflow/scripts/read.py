"""Read a dataset's documents: see textbaselines.datasets.corpus and audit."""

from logging import Logger
from pathlib import Path

from textbaselines.core import storage
from textbaselines.core.scripts import run
from textbaselines.datasets.audit import audit as audit_of
from textbaselines.datasets.catalog import load_dataset
from textbaselines.datasets.corpus import build_corpus, write_corpus


def main(
    log: Logger,
    dataset: str,
    dataset_file: Path,
    raw: list[Path],
    corpus: Path,
    audit: Path,
) -> None:
    """Read the documents and refuse any that are not the expected ones."""
    documents = build_corpus(load_dataset(dataset_file), raw[0].parent)
    write_corpus(corpus, documents)
    storage.write_json(audit, audit_of(documents))
    log.info("%d documents", len(documents.frame))


if __name__ == "__main__":
    run(main)
