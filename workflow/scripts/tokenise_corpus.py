"""Tokenise a corpus: see textbaselines.text.tokenising and word_boundaries."""

import argparse
import json
from pathlib import Path

from textbaselines.datasets.corpus import read_corpus
from textbaselines.logs import run_script, run_to_end
from textbaselines.text.tokenising import tokenise
from textbaselines.text.tokens import write_tokens
from textbaselines.text.word_boundaries import check_word_boundaries


def main() -> None:
    """Parse what the rule passes and tokenise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--tokenizer", type=json.loads, required=True)
    parser.add_argument("--language", required=True, help="as the dataset file has it")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script(f"tokenise {args.corpus.parent.name}", args.log) as log:
        corpus = read_corpus(args.corpus, columns=["id", "text"])
        tokens = tokenise(
            corpus["id"].to_list(), corpus["text"].to_list(), args.tokenizer, args.threads
        )
        check_word_boundaries(
            tokens, args.tokenizer, args.corpus.parent.name, args.output.stem, args.language
        )
        write_tokens(args.output, tokens)
        log.info(
            "%d documents, %d tokens, %d distinct",
            len(tokens.documents),
            len(tokens.ids),
            len(tokens.types),
        )


if __name__ == "__main__":
    run_to_end(main)
