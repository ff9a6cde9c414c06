"""Race on IMDB, from raw text to test accuracy: NBSVM on bigrams against fastText.

Both read the same two text files, one labelled document a line (fastText's format), each in a
fresh process with two threads, by turns. Prints a Markdown table and the ratio of the medians, and
writes every round to a CSV file. With ``--tokenised`` the files hold the tokens of the family
``words``, joined by spaces, which fastText itself does not make: it splits at white space.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from process import run_as_a_job

if TYPE_CHECKING:
    import pandas as pd

RACERS = ("textbaselines", "fasttext")
THREADS = 2
LABEL = "__label__"


def write_files(frame: "pd.DataFrame", folder: Path) -> None:
    """Write train.txt and test.txt; fastText learns by passing over the file, so shuffle it."""
    for split in ("train", "test"):
        some = frame[frame["split"] == split]
        lines = [
            f"{LABEL}{label} {' '.join(text.splitlines())}\n"
            for label, text in zip(some["label"], some["text"], strict=True)
        ]
        random.Random(0).shuffle(lines)
        (folder / f"{split}.txt").write_text("".join(lines), encoding="utf-8")


def read_lines(path: Path) -> tuple[list[str], list[str]]:
    """Return the labels and the texts of a file."""
    pairs = [line.split(" ", 1) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    return [label for label, _ in pairs], [text for _, text in pairs]


def run_textbaselines(folder: Path) -> dict[str, float]:
    """Train and test as the workflow does: its tokens, counts, vocabulary, features, method."""
    import numpy as np

    from textbaselines.models.nbsvm import NBSVM
    from textbaselines.text.counts import count_tokens
    from textbaselines.text.features import fold_features
    from textbaselines.text.tokenising import tokenise
    from textbaselines.text.vocabulary import fit_vocabulary

    seconds = {}
    began = time.perf_counter()

    def lap(stage: str) -> None:
        nonlocal began
        seconds[stage], began = time.perf_counter() - began, time.perf_counter()

    labels, texts = read_lines(folder / "train.txt")
    n_train = len(labels)
    for whole, more in zip((labels, texts), read_lines(folder / "test.txt"), strict=True):
        whole.extend(more)
    training = np.arange(len(labels)) < n_train
    y = np.array(labels)
    lap("read")
    tokenizer = {"family": "words"}
    tokens = tokenise([str(row) for row in range(len(texts))], texts, tokenizer, THREADS)
    lap("tokenise")
    counts = count_tokens(tokens, tokenizer, 1, 2, THREADS)
    lap("count")
    vocabulary = fit_vocabulary(tokens, training, "drop", 1)
    features = fold_features(counts, vocabulary, training, ~training, "binary")
    lap("features")
    model = NBSVM().fit(features.training, y[training])
    lap("fit")
    predicted = model.predict(features.test)
    lap("predict")
    return {**seconds, "accuracy": 100 * float(np.mean(predicted == y[~training]))}


def run_fasttext(folder: Path) -> dict[str, float]:
    """Train with bigrams and five passes, the rest as it is by default, and test."""
    import fasttext

    began = time.perf_counter()
    model = fasttext.train_supervised(
        str(folder / "train.txt"), wordNgrams=2, epoch=5, thread=THREADS, verbose=0
    )
    fit = time.perf_counter() - began
    _, precision, _ = model.test(str(folder / "test.txt"))
    return {
        "fit": fit,
        "predict": time.perf_counter() - began - fit,
        "accuracy": 100 * float(precision),
    }


def race(racer: str, folder: Path) -> dict[str, float]:
    """Run one racer in a fresh process; wall-clock and CPU seconds are the whole process's."""
    before = os.times()
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, __file__, "--racer", racer, "--files", str(folder)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": str(THREADS)},
    )
    process = time.perf_counter() - began
    after = os.times()
    cpu = sum(after[2:4]) - sum(before[2:4])
    found = json.loads(done.stdout.splitlines()[-1])
    within = sum(value for stage, value in found.items() if stage != "accuracy")
    return {"process": process, "cpu": cpu, "work": within, **found}


def main() -> None:
    """Run the rounds and print the table."""
    run_as_a_job()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, help="IMDB's corpus file, where there is one")
    parser.add_argument("--tokenised", action="store_true", help="race on text that is tokenised")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks/imdb.csv"))
    parser.add_argument("--racer", choices=RACERS, help=argparse.SUPPRESS)
    parser.add_argument("--files", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.racer is not None:
        run = run_textbaselines if args.racer == "textbaselines" else run_fasttext
        print(json.dumps(run(args.files)))
        return
    import pandas as pd

    from corpora import read_dataset, tokenised

    imdb = pd.read_parquet(args.corpus) if args.corpus else read_dataset("imdb")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(tokenised(imdb) if args.tokenised else imdb, folder)
        for turn in range(args.rounds):
            for racer in RACERS:
                rows.append({"round": turn, "racer": racer, **race(racer, folder)})
                print(", ".join(f"{key} {_shown(value)}" for key, value in rows[-1].items()))
    frame = pd.DataFrame(rows)
    args.output.parent.mkdir(parents=True, exist_ok=True)
    frame.to_csv(args.output, index=False)
    print("\n| | whole process, s | CPU, s | from reading to accuracy, s | accuracy, % |")
    print("| --- | ---: | ---: | ---: | ---: |")
    medians = frame.groupby("racer").median(numeric_only=True)
    for racer in RACERS:
        row = medians.loc[racer]
        print(
            f"| {racer} | {row['process']:.2f} | {row['cpu']:.2f} | {row['work']:.2f}"
            f" | {row['accuracy']:.2f} |"
        )
    ours, theirs = (frame[frame["racer"] == racer].reset_index() for racer in RACERS)
    for measure, what in (("process", "whole process"), ("work", "from reading to accuracy")):
        ratios = (ours[measure] / theirs[measure]).tolist()
        print(
            f"\ntime ratio textbaselines / fastText, {what}: median {statistics.median(ratios):.2f}"
            f" (rounds {', '.join(f'{ratio:.2f}' for ratio in ratios)})"
        )


def _shown(value: float | str) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
