"""Count the n-grams of a corpus: see textbaselines.text.counts."""

import argparse
import json
from pathlib import Path

from textbaselines.logs import run_script
from textbaselines.text.counts import count_tokens, write_counts
from textbaselines.text.tokens import read_tokens


def main() -> None:
    """Parse what the rule passes and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=Path, required=True)
    parser.add_argument("--counting", type=json.loads, required=True)
    parser.add_argument("--matrix", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script(f"count {args.tokens.parent.name}", args.log) as log:
        counts = count_tokens(read_tokens(args.tokens), **args.counting, threads=args.threads)
        write_counts(args.matrix.parent, counts)
        n_documents, n_features = counts.matrix.shape
        log.info(
            "%d documents, %d features, %d non-zeros", n_documents, n_features, counts.matrix.nnz
        )


if __name__ == "__main__":
    main()
