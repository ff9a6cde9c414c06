"""Measure what a training job spends outside LIBLINEAR: from counts on disk to scores on disk.

SVM and NBSVM, each in a job of its own and both in one as the workflow has them, with their default
grids on bigrams, present or absent, ten folds (IMDB: its split).
The start of Python is left out; inside the solver is its compiled call. Seconds are of the
processor, so that other work on the machine does not count. Prints a Markdown table; with --output
writes jobs.csv there.
"""

import argparse
import logging
import tempfile
from pathlib import Path

import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from clocks import Stopwatch, solver_clock
from corpora import read_dataset, tokenised
from process import run_as_a_job
from textbaselines.core.storage import whole_file, write_text
from textbaselines.datasets.corpus import read_corpus
from textbaselines.models.registry import METHODS
from textbaselines.study.folds import (
    Protocol,
    divisions,
    draw_folds,
    draw_inner_folds,
    read_folds,
    write_folds,
)
from textbaselines.study.grids import expand
from textbaselines.study.tasks import Task
from textbaselines.text.counts import count_ngrams, read_counts, write_counts
from textbaselines.text.tokens import encode
from textbaselines.text.vocabulary import fit_vocabulary, read_vocabularies, write_vocabularies
from textbaselines.training.train import train, write_results


def prepare(folder: Path, name: str) -> None:
    """Write what a training job reads."""
    documents = read_dataset(name)
    lists = map(str.split, tokenised(documents)["text"])
    tokens = encode(documents["id"].to_list(), lists)
    protocol = Protocol("split") if name == "imdb" else Protocol("cv", folds=10)
    folds = draw_folds(documents, protocol, name)
    vocabularies = {
        division.key: fit_vocabulary(tokens, division.training, "drop", 1)
        for division in divisions(folds, tokens.documents)
    }
    documents.drop(columns="text").to_parquet(folder / "corpus.parquet")
    write_folds(folder / "folds.parquet", folds)
    write_folds(folder / "inner.parquet", draw_inner_folds(documents, folds, protocol, name))
    write_counts(folder, count_ngrams(tokens, 1, 2))
    write_vocabularies(folder / "vocabularies.npz", tokens.types, vocabularies)


def run(folder: Path, name: str, families: tuple[str, ...], tolerance: float) -> dict[str, object]:
    """Run one training job and return how its time divides."""
    with solver_clock() as clock, Stopwatch() as watch:
        corpus = read_corpus(folder / "corpus.parquet", columns=["id", "label", "rating"])
        classes = sorted(corpus["label"].unique(), reverse=True)
        tasks = [task_of(name, classes, family, tolerance) for family in families]
        trained = train(
            tasks,
            read_counts(folder / "matrix.npz"),
            read_vocabularies(folder / "vocabularies.npz"),
            read_folds(folder / "folds.parquet"),
            read_folds(folder / "inner.parquet"),
            corpus,
            1,
            logging.getLogger("bench"),
        )
        fits = 0
        for one in trained:
            write_results(folder / one.task.family, one.results, one.task, "0" * 16)
            fits += len(one.results.scores)
    return {
        "set": name,
        "methods": " + ".join(METHODS[family].title for family in families),
        "fits": fits,
        "solved": clock.calls,
        "seconds": watch.seconds,
        "cpu": watch.cpu,
        "solver": clock.cpu,
        "outside": 1 - clock.cpu / watch.cpu,
    }


def task_of(name: str, classes: list[str], family: str, tolerance: float) -> Task:
    """Return a task with the default grid of a family."""
    known = METHODS[family]
    points = expand(
        family,
        known.parameters,
        known.defaults,
        {"tol": tolerance},
        known.default_fixed,
        {axis: list(values) for axis, values in known.default_grid.items()},
        family,
        family,
    )
    return Task(
        dataset=name,
        representation="bi",
        method=known.title,
        family=family,
        classes=classes,
        weighting="binary",
        scope="training",
        reduction=None,
        points=[vars(point) for point in points],
        chooses=False,
        details={},
    )


def draw(table: pd.DataFrame, path: Path) -> None:
    """Draw each job's seconds, those of the solver and the others end to end."""
    names = (table["set"] + ", " + table["methods"])[::-1]
    solver, whole = table["solver"][::-1], table["cpu"][::-1]
    figure = Figure(figsize=(8, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axis = figure.subplots()
    axis.barh(names, solver, color="#0072B2", label="in LIBLINEAR")
    axis.barh(names, whole - solver, left=solver, color="#E69F00", hatch="//", label="outside")
    for place, (seconds, share) in enumerate(zip(whole, table["outside"][::-1], strict=True)):
        axis.annotate(f" {share:.0%} outside", (seconds, place), va="center", fontsize=8)
    axis.set_xlim(right=float(whole.max()) * 1.2)
    axis.set_xlabel("seconds of the processor")
    axis.legend(frameon=False)
    with whole_file(path) as part:
        figure.savefig(part, format="svg", metadata={"Date": None})


def main() -> None:
    """Run the jobs and print the table."""
    run_as_a_job()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=["rt-s", "subj", "imdb"])
    parser.add_argument("--tolerance", type=float, default=0.1)
    parser.add_argument("--rounds", type=int, default=3, help="the quickest of so many is shown")
    parser.add_argument("--output", type=Path, help="folder of jobs.csv and jobs.svg")
    args = parser.parse_args()
    rows = []
    for name in args.sets:
        with tempfile.TemporaryDirectory() as temporary:
            prepare(Path(temporary), name)
            for families in (("svm",), ("nbsvm",), ("svm", "nbsvm")):
                tries = [
                    run(Path(temporary), name, families, args.tolerance) for _ in range(args.rounds)
                ]
                rows.append(min(tries, key=lambda each: each["cpu"]))
    table = pd.DataFrame(rows)
    print(f"Tolerance {args.tolerance:g}, the quickest of {args.rounds}.\n")
    print("| set | methods | fits | solved | wall, s | CPU, s | in LIBLINEAR, s | outside |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for each in table.itertuples():
        print(
            f"| {each.set} | {each.methods} | {each.fits} | {each.solved} | {each.seconds:.2f} | "
            f"{each.cpu:.2f} | {each.solver:.2f} | {each.outside:.0%} |"
        )
    if args.output:
        write_text(args.output / "jobs.csv", table.to_csv(index=False, float_format="%.6g"))
        draw(table, args.output / "jobs.svg")


if __name__ == "__main__":
    main()
