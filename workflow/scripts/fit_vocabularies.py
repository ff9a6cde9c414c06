"""Fit the vocabulary of every fold and inner fold: see textbaselines.text.vocabulary."""

import argparse
from pathlib import Path

from textbaselines.experiments.folds import divisions, read_folds
from textbaselines.logs import run_script, run_to_end
from textbaselines.text.tokens import read_tokens
from textbaselines.text.vocabulary import fit_vocabulary, write_vocabularies


def main() -> None:
    """Parse what the rule passes and fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=Path, required=True)
    parser.add_argument("--folds", type=Path, required=True)
    parser.add_argument("--inner-folds", type=Path, required=True)
    parser.add_argument("--policy", required=True, help="the UNK policy")
    parser.add_argument("--min-count", type=int, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script(f"vocabularies {args.tokens.parent.name} {args.output.stem}", args.log) as log:
        tokens = read_tokens(args.tokens)
        folds, inner = read_folds(args.folds), read_folds(args.inner_folds)
        vocabularies = {
            division.key: fit_vocabulary(tokens, division.training, args.policy, args.min_count)
            for division in divisions(folds, tokens.documents, inner)
        }
        write_vocabularies(args.output, tokens.types, vocabularies)
        log.info("vocabularies of %d folds and inner folds", len(vocabularies))


if __name__ == "__main__":
    run_to_end(main)
