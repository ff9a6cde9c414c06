"""Read a dataset's documents: see textbaselines.datasets.corpus and audit."""

import argparse
from pathlib import Path

from textbaselines import storage
from textbaselines.datasets.audit import audit
from textbaselines.datasets.catalog import load_dataset
from textbaselines.datasets.corpus import build_corpus, write_corpus
from textbaselines.logs import run_script, run_to_end


def main() -> None:
    """Parse what the rule passes, read, audit and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", type=Path, required=True)
    parser.add_argument("--raw", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--audit", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script(f"read {args.dataset.stem}", args.log) as log:
        corpus = build_corpus(load_dataset(args.dataset), args.raw)
        write_corpus(args.corpus, corpus)
        storage.write_json(args.audit, audit(corpus))
        log.info("%d documents", len(corpus.frame))


if __name__ == "__main__":
    run_to_end(main)
