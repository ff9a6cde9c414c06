"""Count n-grams and fit vocabularies: see textbaselines.text.counts and text.vocabulary."""

import argparse
from pathlib import Path

from textbaselines.experiments.folds import divisions, read_folds
from textbaselines.experiments.plan_file import read_part
from textbaselines.logs import run_script, run_to_end
from textbaselines.text.counts import count_tokens, write_counts
from textbaselines.text.tokens import read_tokens
from textbaselines.text.vocabulary import fit_vocabulary, write_vocabularies


def main() -> None:
    """Parse what the rule passes, count and fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=Path, required=True)
    parser.add_argument("--folds", type=Path, required=True)
    parser.add_argument("--inner", type=Path, required=True)
    parser.add_argument("--plan", type=Path, required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--job", required=True, help="its name in the plan")
    parser.add_argument("--counts", type=Path, required=True, help="folder of the dataset's")
    parser.add_argument("--vocabularies", type=Path, required=True, help="folder of the dataset's")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script(f"count {args.dataset}", args.log) as log:
        counting = read_part(args.plan, "count", args.dataset, args.job)
        tokens = read_tokens(args.tokens)
        for name, (lowest, highest) in counting["counts"].items():
            counts = count_tokens(
                tokens, counting["tokenizer"], lowest, highest, threads=args.threads
            )
            write_counts(args.counts / name, counts)
            n_documents, n_features = counts.matrix.shape
            log.info(
                *("%s: %d documents, %d features, %d non-zeros", name, n_documents, n_features),
                counts.matrix.nnz,
            )
            del counts
        folds, inner = read_folds(args.folds), read_folds(args.inner)
        work = list(divisions(folds, tokens.documents, inner))
        for name, (policy, min_count) in counting["vocabularies"].items():
            vocabularies = {
                division.key: fit_vocabulary(tokens, division.training, policy, min_count)
                for division in work
            }
            write_vocabularies(args.vocabularies / f"{name}.npz", tokens.types, vocabularies)
            log.info("%s: vocabularies of %d folds and inner folds", name, len(work))


if __name__ == "__main__":
    run_to_end(main)
