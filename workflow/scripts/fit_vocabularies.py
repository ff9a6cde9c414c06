"""Fit the vocabulary of every fold: see textbaselines.text.vocabulary."""

import argparse
import json
from pathlib import Path

from textbaselines.experiments.folds import divisions, read_folds
from textbaselines.logs import run_script
from textbaselines.text.tokens import read_tokens
from textbaselines.text.vocabulary import fit_vocabulary, write_vocabularies


def main() -> None:
    """Parse what the rule passes and fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=Path, required=True)
    parser.add_argument("--folds", type=Path, required=True)
    parser.add_argument("--inner", type=Path, required=True)
    parser.add_argument("--policy", type=json.loads, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script(f"vocabulary {args.tokens.parent.name}", args.log) as log:
        tokens = read_tokens(args.tokens)
        folds, inner = read_folds(args.folds), read_folds(args.inner)
        vocabularies = {
            division.key: fit_vocabulary(tokens, division.training, **args.policy)
            for division in divisions(folds, tokens.documents, inner)
        }
        write_vocabularies(args.output, tokens.types, vocabularies)
        log.info("%d folds and inner folds", len(vocabularies))


if __name__ == "__main__":
    main()
