"""Count the n-grams of every document: see textbaselines.text.counts."""

import argparse
import json
from pathlib import Path

from textbaselines.logs import run_script, run_to_end
from textbaselines.text.counts import count_tokens, write_counts
from textbaselines.text.tokens import read_tokens


def main() -> None:
    """Parse what the rule passes and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=Path, required=True)
    parser.add_argument("--tokenizer", type=json.loads, required=True)
    parser.add_argument("--ngrams", type=int, nargs=2, required=True, help="the shortest, longest")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", type=Path, required=True, help="folder of the counts")
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    name = f"{args.tokens.parent.name} {args.output.name}"
    with run_script(f"count {name}", args.log) as log:
        tokens = read_tokens(args.tokens)
        counts = count_tokens(tokens, args.tokenizer, *args.ngrams, threads=args.threads)
        write_counts(args.output, counts)
        n_documents, n_features = counts.matrix.shape
        non_zeros = counts.matrix.nnz
        log.info("%d documents, %d features, %d non-zeros", n_documents, n_features, non_zeros)


if __name__ == "__main__":
    run_to_end(main)
