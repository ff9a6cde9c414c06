"""Tokenise a corpus: see textbaselines.text.tokenising and word_boundaries."""

from logging import Logger
from pathlib import Path
from typing import Any

from textbaselines.core.scripts import run
from textbaselines.datasets.corpus import read_corpus
from textbaselines.text.tokenising import tokenise
from textbaselines.text.tokens import write_tokens
from textbaselines.text.word_boundaries import check_word_boundaries


def main(
    log: Logger,
    dataset: str,
    corpus: Path,
    tokenizer: dict[str, Any],
    language: str,
    threads: int,
    output: Path,
) -> None:
    """Split every document into tokens and number them."""
    documents = read_corpus(corpus, columns=["id", "text"])
    tokens = tokenise(documents["id"].to_list(), documents["text"].to_list(), tokenizer, threads)
    check_word_boundaries(tokens, tokenizer, dataset, output.stem, language)
    write_tokens(output, tokens)
    found = len(tokens.documents), len(tokens.ids), len(tokens.types)
    log.info("%d documents, %d tokens, %d distinct", *found)


if __name__ == "__main__":
    run(main)
