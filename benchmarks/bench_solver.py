"""Race solvers of the linear SVM on bigrams: time, distance from the optimum, accuracy.

Each tolerance is a run of its own, on the training documents of the first fold. The features are
those of the SVM (present or absent, C = 0.1) and of NBSVM (scaled by the log-count ratio, C = 1).
``above`` is by what share of itself the objective is above the lowest that any run found; ``gap``
the duality gap that every fit reports. Seconds are of the processor. The primal's warm start is
from the solution at C / 10, whose own time is left out. Prints a Markdown table; with --output
writes solver.csv there.
"""

import argparse
import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from liblinear.liblinearutil import parameter, problem
from liblinear.liblinearutil import train as train_liblinear
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from clocks import Stopwatch
from corpora import read_dataset, tokenised
from textbaselines.experiments.folds import Protocol, divisions, draw_folds
from textbaselines.models.duality import relative_gap
from textbaselines.models.liblinear import solve_linear
from textbaselines.models.log_count_ratio import log_count_ratio
from textbaselines.models.matrices import scale_columns
from textbaselines.models.nbsvm import interpolated
from textbaselines.storage import write_text
from textbaselines.text.counts import count_ngrams
from textbaselines.text.features import fold_features
from textbaselines.text.tokens import encode
from textbaselines.text.vocabulary import fit_vocabulary

COST = {"SVM": 0.1, "NBSVM": 1.0}
Solved = tuple[NDArray[np.float64], float]


def by_scikit_learn(dual: bool) -> Callable[..., Solved]:
    """Return a solver: LIBLINEAR as this project calls it."""

    def solve(X: Any, positive: NDArray[np.bool_], C: float, tol: float) -> Solved:
        with Stopwatch() as watch:
            solution = solve_linear(
                X,
                positive,
                C=C,
                loss="squared_hinge",
                dual=dual,
                tol=tol,
                max_iter=1000,
                bias=None,
                seed=0,
            )
        return solution.weights, watch.cpu

    return solve


def by_its_own_binding(solver: int, warm: bool = False) -> Callable[..., Solved]:
    """Return a solver: LIBLINEAR's own, its copy of the matrix included."""

    def solve(X: Any, positive: NDArray[np.bool_], C: float, tol: float) -> Solved:
        y = np.where(positive, 1.0, -1.0)
        start = by_its_own_binding(solver)(X, positive, C / 10, tol)[0] if warm else None
        with Stopwatch() as watch:
            ready = problem(y, csr_matrix(X))
            options = parameter(f"-s {solver} -c {C!r} -e {tol!r} -B -1 -q")
            if start is not None:
                # Its first class is that of the first row, and the weights are oriented to it.
                held = np.ascontiguousarray(start if positive[0] else -start)
                options.init_sol = held.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
            model = train_liblinear(ready, options)
        sign = 1.0 if model.get_labels()[0] == 1 else -1.0
        return sign * np.ctypeslib.as_array(model.w, (X.shape[1],)).copy(), watch.cpu

    return solve


SOLVERS: dict[str, tuple[Callable[..., Solved], tuple[float, ...]]] = {
    "dual, scikit-learn": (by_scikit_learn(True), (1e-1, 1e-2, 1e-3)),
    "dual, own binding": (by_its_own_binding(1), (1e-1, 1e-2, 1e-3)),
    "primal, scikit-learn": (by_scikit_learn(False), (1e-2, 1e-3, 1e-4)),
    "primal, own binding": (by_its_own_binding(2), (1e-2, 1e-3, 1e-4)),
    "primal, own binding, warm": (by_its_own_binding(2, warm=True), (1e-2, 1e-3, 1e-4)),
}


def measure(name: str) -> list[dict[str, Any]]:
    """Return one row for each feature set, solver and tolerance."""
    documents = read_dataset(name)
    tokens = encode(documents["id"].to_list(), map(str.split, tokenised(documents)["text"]))
    protocol = Protocol("split") if name == "imdb" else Protocol("cv", folds=10)
    division = next(divisions(draw_folds(documents, protocol, name), tokens.documents))
    vocabulary = fit_vocabulary(tokens, division.training, "drop", 1)
    counts = count_ngrams(tokens, 1, 2)
    features = fold_features(counts, vocabulary, division.training, division.test, "binary")
    positive = (documents["label"] == documents["label"].max()).to_numpy()
    training, truth = positive[division.training], positive[division.test]
    ratio = log_count_ratio(features.training, training, 1.0)
    rows = []
    for kind, C in COST.items():
        X = features.training if kind == "SVM" else scale_columns(features.training, ratio)
        found = []
        for solver, (solve, tolerances) in SOLVERS.items():
            for tol in tolerances:
                weights, seconds = solve(X, training, C, tol)
                slack = np.maximum(0.0, 1.0 - np.where(training, 1.0, -1.0) * (X @ weights))
                used = weights if kind == "SVM" else ratio * interpolated(weights, 0.25)
                found.append(
                    {
                        "set": name,
                        "features": kind,
                        "solver": solver,
                        "tolerance": tol,
                        "cpu": seconds,
                        "objective": 0.5 * weights @ weights + C * slack @ slack,
                        "gap": relative_gap(X, training, weights, C=C, loss="squared_hinge"),
                        "accuracy": 100 * np.mean((features.test @ used > 0) == truth),
                    }
                )
        lowest = min(row["objective"] for row in found)
        rows += [{**row, "above": row["objective"] / lowest - 1} for row in found]
    return rows


def main() -> None:
    """Measure each set and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=["rt-s", "rt-2k", "imdb"])
    parser.add_argument("--output", type=Path, help="folder of solver.csv")
    args = parser.parse_args()
    print("| set | features | solver | tolerance | CPU, s | above | gap | accuracy, % |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |")
    rows = []
    for name in args.sets:
        for row in measure(name):
            rows.append(row)
            print(
                f"| {row['set']} | {row['features']} | {row['solver']} | {row['tolerance']:g} | "
                f"{row['cpu']:.3f} | {row['above']:.0e} | {row['gap']:.0e} | "
                f"{row['accuracy']:.2f} |",
                flush=True,
            )
    if args.output:
        table = pd.DataFrame(rows)
        write_text(args.output / "solver.csv", table.to_csv(index=False, float_format="%.6g"))


if __name__ == "__main__":
    main()
