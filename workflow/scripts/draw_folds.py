"""Draw the folds of a dataset: see textbaselines.experiments.folds."""

import argparse
import json
from pathlib import Path

from textbaselines.datasets.corpus import read_corpus
from textbaselines.experiments.folds import Protocol, draw_folds, draw_inner_folds, write_folds
from textbaselines.experiments.small_classes import lines_of_folds
from textbaselines.logs import run_script, run_to_end


def main() -> None:
    """Parse what the rule passes and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--protocol", type=json.loads, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--inner", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script(f"folds {args.dataset}", args.log) as log:
        max_documents = args.protocol.pop("max_documents")
        protocol = Protocol(**args.protocol)
        corpus = read_corpus(args.corpus, columns=["id", "label", "split", "group"])
        folds = draw_folds(corpus, protocol, args.dataset, max_documents)
        inner_folds = draw_inner_folds(corpus, folds, protocol, args.dataset)
        write_folds(args.inner, inner_folds)
        write_folds(args.output, folds)
        log.info(protocol.caption)
        for line in lines_of_folds(corpus, folds, inner_folds, protocol):
            log.warning("%s", line)


if __name__ == "__main__":
    run_to_end(main)
