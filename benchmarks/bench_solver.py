"""Race solvers of the linear SVM on bigrams: time, distance from the optimum, accuracy.

Each tolerance is a run of its own, on the training documents of the first fold. The features are
those of the SVM (present or absent, C = 0.1) and of NBSVM (scaled by the log-count ratio, C = 1).
``above`` is by what share of itself the objective is above the lowest that any run found; ``gap``
the duality gap that every fit reports. Seconds are of the processor. The primal's warm start is
from the solution at C / 10, or from that of the second fold at C; the time of either is left out.
L-BFGS is scipy's, on the same objective; its tolerance is the share of the first gradient's
largest part that is left, LIBLINEAR's primal has that of the length. SGD is scikit-learn's, whose
rate falls when five passes in a row lower the mean loss by less than the tolerance, down to 1e-6.
Then the accuracy over all folds at each tolerance of the dual, with the fits that did not converge.
Prints Markdown tables; with --output writes solver.csv, its figure and tolerances.csv there.
"""

import argparse
import ctypes
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from liblinear import liblinearutil
from matplotlib.ticker import NullFormatter
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier

from clocks import Stopwatch
from corpora import read_dataset, tokenised
from textbaselines.core.storage import write_text
from textbaselines.models.duality import relative_gap
from textbaselines.models.liblinear import LinearSolution, solve_linear
from textbaselines.models.log_count_ratio import log_count_ratio
from textbaselines.models.matrices import scale_columns
from textbaselines.models.nbsvm import interpolated
from textbaselines.reporting.figures.accuracy import COLOURS, MARKERS
from textbaselines.study.folds import Protocol, divisions, draw_folds
from textbaselines.text.counts import count_ngrams
from textbaselines.text.features import fold_features
from textbaselines.text.tokens import encode
from textbaselines.text.vocabulary import fit_vocabulary

COST = {"SVM": 0.1, "NBSVM": 1.0}
ITERATIONS = 1000


@dataclass(frozen=True)
class Problem:
    """What is solved: rows, which of them are positive, the cost.

    ``neighbour`` is the second fold's solution over these features, None where there is one fold.
    """

    X: Any
    positive: NDArray[np.bool_]
    C: float
    neighbour: NDArray[np.float64] | None = None


Solved = tuple[NDArray[np.float64], float]


def solve_by_scikit_learn(problem: Problem, tol: float, dual: bool) -> LinearSolution:
    """Solve by LIBLINEAR as this project calls it."""
    return solve_linear(
        problem.X,
        problem.positive,
        C=problem.C,
        loss="squared_hinge",
        dual=dual,
        tol=tol,
        max_iter=ITERATIONS,
        bias=None,
        seed=0,
    )


def by_scikit_learn(dual: bool) -> Callable[[Problem, float], Solved]:
    """Return a solver: LIBLINEAR as this project calls it."""

    def solve(problem: Problem, tol: float) -> Solved:
        with Stopwatch() as watch:
            solution = solve_by_scikit_learn(problem, tol, dual)
        return solution.weights, watch.cpu

    return solve


def by_its_own_binding(solver: int, warm: str | None = None) -> Callable[[Problem, float], Solved]:
    """Return a solver: LIBLINEAR's own, its copy of the matrix included."""

    def solve(problem: Problem, tol: float) -> Solved:
        start = None
        if warm == "C":
            start = by_its_own_binding(solver)(replace(problem, C=problem.C / 10), tol)[0]
        elif warm == "fold":
            start = problem.neighbour
        y = np.where(problem.positive, 1.0, -1.0)
        with Stopwatch() as watch:
            ready = liblinearutil.problem(y, csr_matrix(problem.X))
            options = liblinearutil.parameter(f"-s {solver} -c {problem.C!r} -e {tol!r} -B -1 -q")
            if start is not None:
                # Its first class is that of the first row, and the weights are oriented to it.
                held = np.ascontiguousarray(start if problem.positive[0] else -start)
                options.init_sol = held.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
            model = liblinearutil.train(ready, options)
        sign = 1.0 if model.get_labels()[0] == 1 else -1.0
        return sign * np.ctypeslib.as_array(model.w, (problem.X.shape[1],)).copy(), watch.cpu

    return solve


def by_lbfgs(problem: Problem, tol: float) -> Solved:
    """Minimise the primal by scipy's L-BFGS."""
    X, C, signs = problem.X, problem.C, np.where(problem.positive, 1.0, -1.0)

    def objective(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        slack = np.maximum(0.0, 1.0 - signs * (X @ weights))
        gradient = weights - 2 * C * (X.T @ (signs * slack))
        return float(0.5 * weights @ weights + C * slack @ slack), gradient

    start = np.zeros(X.shape[1])
    with Stopwatch() as watch:
        largest = float(np.abs(objective(start)[1]).max())
        found = minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            options={"gtol": tol * largest, "ftol": 0.0, "maxiter": ITERATIONS},
        )
    return found.x, watch.cpu


def by_sgd(problem: Problem, tol: float) -> Solved:
    """Minimise the primal by scikit-learn's stochastic gradient descent.

    The first rate is that of the largest curvature of a document's loss; the default one diverges.
    """
    largest = float(problem.X.multiply(problem.X).sum(axis=1).max())
    model = SGDClassifier(
        loss="squared_hinge",
        alpha=1 / (problem.C * problem.X.shape[0]),
        fit_intercept=False,
        learning_rate="adaptive",
        eta0=1 / (2 * largest),
        tol=tol,
        max_iter=ITERATIONS,
        random_state=0,
    )
    with Stopwatch() as watch, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(problem.X, problem.positive)
    return model.coef_[0], watch.cpu


SOLVERS: dict[str, tuple[Callable[[Problem, float], Solved], tuple[float, ...]]] = {
    "dual, scikit-learn": (by_scikit_learn(True), (1e-1, 1e-2, 1e-3, 1e-4)),
    "dual, own binding": (by_its_own_binding(1), (1e-1, 1e-2, 1e-3, 1e-4)),
    "primal, scikit-learn": (by_scikit_learn(False), (1e-2, 1e-3, 1e-4)),
    "primal, own binding": (by_its_own_binding(2), (1e-2, 1e-3, 1e-4)),
    "primal, own binding, warm along C": (by_its_own_binding(2, "C"), (1e-2, 1e-3, 1e-4)),
    "primal, own binding, warm across folds": (by_its_own_binding(2, "fold"), (1e-2, 1e-3, 1e-4)),
    "L-BFGS, scipy": (by_lbfgs, (1e-2, 1e-3, 1e-4)),
    "SGD, scikit-learn": (by_sgd, (1e-2, 1e-3, 1e-4)),
}


class Fold:
    """The features of one division, and what an SVM and NBSVM see of them."""

    def __init__(self, counts: Any, tokens: Any, division: Any, positive: NDArray[np.bool_]):
        vocabulary = fit_vocabulary(tokens, division.training, "drop", 1)
        features = fold_features(counts, vocabulary, division.training, division.test, "binary")
        self.target = features.columns.target
        self.test = features.test
        self.training, self.truth = positive[division.training], positive[division.test]
        self.ratio = log_count_ratio(features.training, self.training, 1.0)
        self.rows = {
            "SVM": features.training,
            "NBSVM": scale_columns(features.training, self.ratio),
        }

    def problem(self, kind: str, neighbour: NDArray[np.float64] | None = None) -> Problem:
        """Return the problem of one kind of features at its cost."""
        return Problem(self.rows[kind], self.training, COST[kind], neighbour)

    def carried(self, other: "Fold", weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return another fold's weights over this fold's features, 0 where it has none."""
        shared = (self.target >= 0) & (other.target >= 0)
        carried = np.zeros(int(self.target.max()) + 1)
        carried[self.target[shared]] = weights[other.target[shared]]
        return carried

    def accuracy(self, kind: str, weights: NDArray[np.float64]) -> float:
        """Return the accuracy on the test documents, in per cent."""
        if kind == "NBSVM":
            mean = float(np.mean(np.abs(weights)))
            weights = self.ratio * interpolated(weights, mean, 0.25)
        return float(100 * np.mean((self.test @ weights > 0) == self.truth))


def read(name: str) -> list[Fold]:
    """Return every fold of a dataset."""
    documents = read_dataset(name)
    tokens = encode(documents["id"].to_list(), map(str.split, tokenised(documents)["text"]))
    protocol = Protocol("split") if name == "imdb" else Protocol("cv", folds=10)
    work = list(divisions(draw_folds(documents, protocol, name), tokens.documents))
    counts = count_ngrams(tokens, 1, 2)
    positive = (documents["label"] == documents["label"].max()).to_numpy()
    return [Fold(counts, tokens, division, positive) for division in work]


def race(name: str, folds: list[Fold]) -> list[dict[str, Any]]:
    """Return one row for each kind of features, solver and tolerance, on the first fold."""
    fold, *others = folds[:2]
    rows = []
    for kind in COST:
        neighbour = None
        for other in others:
            neighbour = fold.carried(other, by_its_own_binding(2)(other.problem(kind), 1e-3)[0])
        problem = fold.problem(kind, neighbour)
        found = []
        for solver, (solve, tolerances) in SOLVERS.items():
            if "folds" in solver and neighbour is None:
                continue
            for tol in tolerances:
                weights, seconds = solve(problem, tol)
                signs = np.where(problem.positive, 1.0, -1.0)
                slack = np.maximum(0.0, 1.0 - signs * (problem.X @ weights))
                found.append(
                    {
                        "set": name,
                        "features": kind,
                        "solver": solver,
                        "tolerance": tol,
                        "cpu": seconds,
                        "objective": 0.5 * weights @ weights + problem.C * slack @ slack,
                        "gap": relative_gap(
                            problem.X,
                            problem.positive,
                            weights,
                            C=problem.C,
                            loss="squared_hinge",
                        ),
                        "accuracy": fold.accuracy(kind, weights),
                    }
                )
        lowest = min(row["objective"] for row in found)
        rows += [{**row, "above": row["objective"] / lowest - 1} for row in found]
    return rows


def compare_tolerances(name: str, folds: list[Fold]) -> list[dict[str, Any]]:
    """Return the mean accuracy of all folds for each kind of features and tolerance of the dual."""
    rows = []
    for kind in COST:
        for tol in SOLVERS["dual, scikit-learn"][1]:
            accuracies, limited, seconds = [], 0, 0.0
            for fold in folds:
                with Stopwatch() as watch:
                    solution = solve_by_scikit_learn(fold.problem(kind), tol, dual=True)
                accuracies.append(fold.accuracy(kind, solution.weights))
                limited += not solution.converged
                seconds += watch.cpu
            rows.append(
                {
                    "set": name,
                    "features": kind,
                    "tolerance": tol,
                    "cpu": seconds,
                    "accuracy": float(np.mean(accuracies)),
                    "unconverged": limited,
                }
            )
    return rows


def draw(table: pd.DataFrame, path: Path) -> None:
    """Draw seconds against the distance from the lowest objective, a panel for each problem."""
    problems = list(table.groupby(["set", "features"], sort=False))
    figure, axes = plt.subplots(
        2, (len(problems) + 1) // 2, figsize=(11, 6.5), sharey=True, layout="constrained"
    )
    looks = {
        solver: {"marker": marker, "color": colour, "linewidth": 1}
        for solver, marker, colour in zip(SOLVERS, MARKERS, (*COLOURS, "#7F7F7F"), strict=False)
    }
    for axis, ((name, kind), rows) in zip(axes.T.flat, problems, strict=True):
        for solver, points in rows.groupby("solver", sort=False):
            above = points["above"].clip(lower=1e-10)
            axis.plot(points["cpu"], above, label=solver, **looks[str(solver)])
        axis.set(xscale="log", yscale="log", title=f"{name}, {kind} features")
        axis.xaxis.set_minor_formatter(NullFormatter())
    figure.supxlabel("seconds of the processor")
    figure.supylabel("share of the objective above the lowest found")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Measure each set and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=["rt-s", "rt-2k", "imdb"])
    parser.add_argument("--output", type=Path, help="folder of solver.csv and solver.svg")
    args = parser.parse_args()
    print("| set | features | solver | tolerance | CPU, s | above | gap | accuracy, % |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |")
    rows, scores = [], []
    for name in args.sets:
        folds = read(name)
        for row in race(name, folds):
            rows.append(row)
            print(
                f"| {row['set']} | {row['features']} | {row['solver']} | {row['tolerance']:g} | "
                f"{row['cpu']:.3f} | {row['above']:.0e} | {row['gap']:.0e} | "
                f"{row['accuracy']:.2f} |",
                flush=True,
            )
        scores += compare_tolerances(name, folds)
    print("\n| set | features | tolerance | CPU, s | accuracy, % | not converged |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for row in scores:
        print(
            f"| {row['set']} | {row['features']} | {row['tolerance']:g} | {row['cpu']:.2f} | "
            f"{row['accuracy']:.3f} | {row['unconverged']} |"
        )
    if args.output:
        table = pd.DataFrame(rows)
        write_text(args.output / "solver.csv", table.to_csv(index=False, float_format="%.6g"))
        draw(table, args.output / "solver.svg")
        text = pd.DataFrame(scores).to_csv(index=False, float_format="%.6g")
        write_text(args.output / "tolerances.csv", text)


if __name__ == "__main__":
    main()
