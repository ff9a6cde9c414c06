"""Fit the vocabulary of every fold and inner fold: see textbaselines.text.vocabulary."""

from logging import Logger
from pathlib import Path

from textbaselines.core.scripts import run
from textbaselines.study.folds import divisions, read_folds
from textbaselines.text.tokens import read_tokens
from textbaselines.text.vocabulary import fit_vocabulary, write_vocabularies


def main(
    log: Logger,
    dataset: str,
    tokens: Path,
    folds: Path,
    inner_folds: Path,
    policy: str,
    min_count: int,
    output: Path,
) -> None:
    """Fit vocabularies under an UNK policy on training documents alone."""
    read = read_tokens(tokens)
    vocabularies = {
        division.key: fit_vocabulary(read, division.training, policy, min_count)
        for division in divisions(read_folds(folds), read.documents, read_folds(inner_folds))
    }
    write_vocabularies(output, read.types, vocabularies)
    log.info("vocabularies of %d folds and inner folds", len(vocabularies))


if __name__ == "__main__":
    run(main)
