"""Time and peak memory against the number of documents, of features and of grid points.

Documents of 100 tokens are drawn, with a seed, from the sentences of IMDB's reviews of one class.
Each stage (tokenise, count, then features, fit and test of one method) is a process of its own, as
in the workflow, so its peak memory is its own too. Prints a Markdown table of each axis with the
exponents b of time and memory ~ size^b (least squares on logarithms), and writes a CSV file and a
figure.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from corpora import read_dataset
from process import run_as_a_job
from textbaselines.core.storage import whole_file, write_text

LENGTH = 100
THREADS = 2
NGRAMS = {"uni": (1, 1), "bi": (1, 2), "tri": (1, 3)}
METHODS = {"mnb": {"alpha": 1.0}, "nbsvm": {"C": 1.0, "beta": 0.25}}
TOKENIZER = {"family": "whitespace"}


def draw_documents(imdb: pd.DataFrame, n: int, path: Path) -> None:
    """Write n documents: sentences of one class, drawn with replacement, cut at 100 tokens."""
    from textbaselines.core.seeds import seed_from
    from textbaselines.text.tokenizers import words
    from textbaselines.text.tokens import SENTENCE_END

    random = np.random.default_rng(seed_from("growth", n))
    frames = []
    for label, reviews in imdb.groupby("label"):
        pool = []
        for text in reviews["text"].iloc[:: max(len(reviews) // 5000, 1)]:
            tokens = words(text, boundaries="sentence")
            pool += " ".join(tokens).split(f" {SENTENCE_END}")
        sentences = [sentence.split() for sentence in pool]
        share = n // 2
        texts = []
        while len(texts) < share:
            tokens: list[str] = []
            for place in random.integers(0, len(sentences), 64):
                tokens += sentences[place]
                if len(tokens) >= LENGTH:
                    break
            texts.append(" ".join(tokens[:LENGTH]))
        frames.append(pd.DataFrame({"text": texts, "label": label}))
    frame = pd.concat(frames, ignore_index=True).sample(frac=1, random_state=0)
    frame.insert(0, "id", [f"{row:07d}" for row in range(len(frame))])
    frame.to_parquet(path, index=False)


def tokenise_stage(folder: Path) -> dict[str, Any]:
    """Texts to token ids."""
    from textbaselines.text.tokenising import tokenise
    from textbaselines.text.tokens import write_tokens

    corpus = pd.read_parquet(folder / "corpus.parquet", columns=["id", "text"])
    tokens = tokenise(corpus["id"].to_list(), corpus["text"].to_list(), TOKENIZER, THREADS)
    write_tokens(folder / "tokens.npz", tokens)
    return {"tokens": len(tokens.ids)}


def count_stage(folder: Path, ngrams: str) -> dict[str, Any]:
    """Token ids to counts."""
    from textbaselines.text.counts import count_ngrams, write_counts
    from textbaselines.text.tokens import read_tokens

    counts = count_ngrams(read_tokens(folder / "tokens.npz"), *NGRAMS[ngrams], THREADS)
    write_counts(folder / "counts", counts)
    return {"features": counts.matrix.shape[1], "non_zeros": counts.matrix.nnz}


def train_stage(folder: Path, method: str, points: int) -> dict[str, Any]:
    """Counts to the accuracy on every fifth document, with 1 or more values of alpha or C."""
    from textbaselines.models.registry import fit_grid
    from textbaselines.text.counts import read_counts
    from textbaselines.text.features import fold_features
    from textbaselines.text.tokens import read_tokens
    from textbaselines.text.vocabulary import fit_vocabulary

    labels = pd.read_parquet(folder / "corpus.parquet", columns=["id", "label"])
    counts = read_counts(folder / "counts" / "matrix.npz")
    y = labels.set_index("id")["label"].loc[counts.documents].eq("pos").to_numpy(dtype=np.int64)
    test = np.arange(len(y)) % 5 == 0
    vocabulary = fit_vocabulary(read_tokens(folder / "tokens.npz"), ~test, "drop", 1)
    features = fold_features(counts, vocabulary, ~test, test, "binary")
    del counts
    axis = next(iter(METHODS[method]))
    values = [1.0] if points == 1 else np.geomspace(0.01, 1.0, points).tolist()
    grid = [{**METHODS[method], axis: value} for value in values]
    accuracy = 0.0
    for _, fitted in fit_grid(method, features.training, y[~test], grid, positive=1, seed=0):
        if fitted.failure is not None:
            raise SystemExit(fitted.failure)
        predicted = fitted.estimator.predict(features.test)
        accuracy = max(accuracy, 100 * float(np.mean(predicted == y[test])))
    return {"features": features.training.shape[1], "accuracy": accuracy}


def peak_memory() -> float:
    """Return this process's peak resident memory in GiB.

    Not getrusage's, which on Linux starts from what the parent had when it forked.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 2**20


def run_stage(stage: str, folder: Path, *options: object) -> dict[str, Any]:
    """Run a stage in a fresh process and return its seconds, its peak memory and what it found."""
    command = [sys.executable, __file__, "--stage", stage, "--files", str(folder)]
    done = subprocess.run(
        [*command, *map(str, options)], check=True, stdout=subprocess.PIPE, text=True
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def exponent(sizes: pd.Series, values: pd.Series) -> float:
    """Return b of values ~ sizes^b."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def show(frame: pd.DataFrame, axis: str) -> None:
    """Print the table of an axis and the exponents of each stage."""
    mine = frame[frame["axis"] == axis]
    print(f"\n| {axis} | stage | size | seconds | CPU, s | peak, GiB | features | accuracy, % |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in mine.to_dict("records"):
        accuracy = "" if np.isnan(row["accuracy"]) else f"{row['accuracy']:.2f}"
        features = "" if np.isnan(row["features"]) else f"{row['features']:,.0f}"
        print(
            f"| | {row['stage']} | {row['size']:,} | {row['seconds']:.2f} | {row['cpu']:.2f}"
            f" | {row['peak']:.2f} | {features} | {accuracy} |"
        )
    for stage, some in mine.groupby("stage", sort=False):
        if some["size"].nunique() > 1:
            time_exponent = exponent(some["size"], some["seconds"])
            memory_exponent = exponent(some["size"], some["peak"])
            print(f"{stage}: time ~ n^{time_exponent:.2f}, memory ~ n^{memory_exponent:.2f}")


def draw(frame: pd.DataFrame, path: Path) -> None:
    """Draw seconds and peak memory over the size, a column of panels for each axis."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter

    from textbaselines.reporting.figures.accuracy import COLOURS, MARKERS

    axes = list(dict.fromkeys(frame["axis"]))
    figure = Figure(figsize=(3.6 * len(axes), 5.4), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(2, len(axes), squeeze=False, sharex="col", sharey="row")
    stages = list(dict.fromkeys(frame["stage"]))
    for column, axis in enumerate(axes):
        for row, measure in enumerate(("seconds", "peak")):
            panel = panels[row][column]
            for place, stage in enumerate(stages):
                some = frame[(frame["axis"] == axis) & (frame["stage"] == stage)]
                if len(some):
                    panel.plot(
                        some["size"],
                        some[measure],
                        color=COLOURS[place],
                        marker=MARKERS[place],
                        label=stage,
                    )
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            panel.yaxis.set_major_formatter("{x:g}")
            panel.yaxis.set_minor_formatter(NullFormatter())
            if row == 1:
                panel.set_xlabel(axis)
            if column == 0:
                panel.set_ylabel("seconds" if row == 0 else "peak memory, GiB")
            if row == 0:
                panel.legend(fontsize=8, frameon=False)
    with whole_file(path) as part:
        figure.savefig(part, dpi=150, format="png")


def measure(imdb: pd.DataFrame, sizes: list[int], middle: int, points: list[int]) -> pd.DataFrame:
    """Measure the three axes: documents; n-grams at the middle size; grid points there too."""
    rows: list[dict[str, Any]] = []

    def add(axis: str, size: int | None, stage: str, found: dict[str, Any]) -> None:
        row = {"axis": axis, "size": found["features"] if size is None else size, "stage": stage}
        rows.append({"accuracy": np.nan, "features": np.nan, **row, **found})
        print(json.dumps(rows[-1]), flush=True)

    for size in sorted({*sizes, middle}):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            draw_documents(imdb, size, folder / "corpus.parquet")
            tokenising = run_stage("tokenise", folder)
            for ngrams in NGRAMS if size == middle else ("bi",):
                counting = run_stage("count", folder, "--ngrams", ngrams)
                training = {
                    method: run_stage("train", folder, "--method", method, "--points", 1)
                    for method in METHODS
                }
                if ngrams == "bi" and size in sizes:
                    add("documents", size, "tokenise", tokenising)
                    add("documents", size, "count", counting)
                    for method, found in training.items():
                        add("documents", size, method, found)
                if size == middle:
                    add("features", None, "count", counting)
                    for method, found in training.items():
                        add("features", counting["features"], method, found)
                if ngrams == "bi" and size == middle:
                    for method in METHODS:
                        for n in points:
                            more = ("--method", method, "--points", n)
                            add("grid points", n, method, run_stage("train", folder, *more))
    return pd.DataFrame(rows)


def main() -> None:
    """Measure, print the tables, write the CSV file and the figure."""
    run_as_a_job()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--documents", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000]
    )
    parser.add_argument("--middle", type=int, default=10_000)
    parser.add_argument("--points", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--corpus", type=Path, help="IMDB's corpus file, where there is one")
    parser.add_argument("--output", type=Path, default=Path("results/benchmarks/growth"))
    parser.add_argument("--stage", choices=("tokenise", "count", "train"), help=argparse.SUPPRESS)
    parser.add_argument("--files", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--ngrams", choices=NGRAMS, default="bi", help=argparse.SUPPRESS)
    parser.add_argument("--method", choices=METHODS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.stage is not None:
        began = time.perf_counter()
        if args.stage == "tokenise":
            found = tokenise_stage(args.files)
        elif args.stage == "count":
            found = count_stage(args.files, args.ngrams)
        else:
            found = train_stage(args.files, args.method, args.points[0])
        seconds = time.perf_counter() - began
        spent = {"seconds": seconds, "cpu": time.process_time(), "peak": peak_memory()}
        print(json.dumps({**spent, **found}))
        return
    imdb = pd.read_parquet(args.corpus) if args.corpus else read_dataset("imdb")
    frame = measure(imdb, args.documents, args.middle, args.points)
    args.output.parent.mkdir(parents=True, exist_ok=True)
    write_text(args.output.with_suffix(".csv"), frame.to_csv(index=False))
    draw(frame, args.output.with_suffix(".png"))
    for axis in dict.fromkeys(frame["axis"]):
        show(frame, axis)


if __name__ == "__main__":
    main()
