"""Measure whole grids against their points one by one, with their outputs on test rows.

Made-up documents (Zipf's law, two classes that lean to other words) and dense coordinates of them;
both ways are the project's own code, and CPU seconds are counted, the least of some rounds taken
in turn. Prints a Markdown table: the ratio is what sharing work over the grid saves.
"""

import argparse
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from process import run_as_a_job
from textbaselines.models.registry import METHODS, fit_grid
from textbaselines.text.reduction import SVD

SMOOTHING = np.geomspace(0.01, 100, 20).tolist()
COSTS = np.geomspace(0.01, 100, 5).tolist()
GRIDS: dict[str, list[dict[str, Any]]] = {
    "mnb": [{"alpha": alpha} for alpha in SMOOTHING],
    "bnb": [{"alpha": alpha} for alpha in SMOOTHING],
    "cnb": [{"alpha": alpha, "norm": norm} for alpha in SMOOTHING[::2] for norm in (False, True)],
    "lm": [
        *({"smoothing": "jelinek_mercer", "mixture": share} for share in (0.1, 0.3, 0.5, 0.7, 0.9)),
        *({"smoothing": "dirichlet", "mu": mu} for mu in (100.0, 500.0, 1000.0, 2000.0, 5000.0)),
        *({"smoothing": "absolute_discounting", "delta": d} for d in (0.1, 0.3, 0.5, 0.7, 0.9)),
    ],
    "tlm": [
        {"mixture": mixture, "self_translation": own}
        for mixture in (0.3, 0.5, 0.7)
        for own in (0.1, 0.5, 0.9)
    ],
    "gnb": [{"var_smoothing": share} for share in np.geomspace(1e-9, 1e-1, 9).tolist()],
    "gda": [
        {"covariance": covariance, "shrinkage": shrinkage}
        for covariance in ("shared", "per_class")
        for shrinkage in (0.01, 0.1, 0.3, 0.5, 1.0)
    ],
    "ridge": [{"solver": "closed_form", "alpha": alpha} for alpha in SMOOTHING[::2]],
    "elm": [
        {"scale": scale, "ridge": ridge} for scale in (0.1, 1.0) for ridge in (0.01, 0.1, 1.0, 10.0)
    ],
    "ksvm": [
        {"kernel": kernel, "C": C} for kernel in ("linear", "polynomial", "rbf") for C in COSTS
    ],
    "gp": [
        {"kernel": kernel, "variance": variance}
        for kernel in ("linear", "rbf")
        for variance in (0.1, 1.0, 10.0, 100.0)
    ],
    "gpr": [
        {"kernel": "rbf", "variance": variance, "noise": noise}
        for variance in (0.1, 1.0, 10.0)
        for noise in (0.1, 1.0, 10.0)
    ],
}
DENSE = {"gnb", "gda", "ridge", "elm", "ksvm", "gp", "gpr"}


def make_documents(n: int, features: int) -> tuple[sp.csr_matrix, np.ndarray]:
    """Return 0/1 documents of some 40 features each, and their classes."""
    draw = np.random.default_rng(0)
    y = draw.integers(0, 2, n)
    shares = 1 / np.arange(1, features + 1)
    lean = np.where(draw.random(features) < 0.5, 1.3, 1 / 1.3)
    rows = []
    for positive in y:
        chances = shares * (lean if positive else 1 / lean)
        rows.append(draw.choice(features, size=40, p=chances / chances.sum()))
    counts = sp.csr_matrix(
        (np.ones(40 * n), (np.repeat(np.arange(n), 40), np.concatenate(rows))), (n, features)
    )
    counts.data[:] = 1.0
    return counts, y


def seconds_and_outputs(
    family: str, data: Sequence[Any], parts: Sequence[Sequence[Mapping[str, Any]]]
) -> tuple[float, list[np.ndarray]]:
    """Return the CPU seconds of fitting parts of a grid after each other, and all outputs."""
    X, y, X_test = data
    began = time.process_time()
    outputs = []
    for part in parts:
        found = {
            index: point.outputs for index, point in fit_grid(family, X, y, part, X_test=X_test)
        }
        outputs += [found[index] for index in range(len(part))]
    return time.process_time() - began, outputs


def main() -> None:
    """Parse, measure and print."""
    run_as_a_job()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=5000, help="a fifth of them tests")
    parser.add_argument("--features", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--families", nargs="*", default=list(GRIDS), choices=list(GRIDS))
    args = parser.parse_args()
    sparse, y = make_documents(args.documents, args.features)
    n = args.documents * 4 // 5
    dense = SVD(100, seed=0).fit(sparse[:n]).transform(sparse)
    print("| family | points | grid, s | one by one, s | ratio | largest difference |")
    print("| --- | --- | --- | --- | --- | --- |")
    with threadpool_limits(1):
        for family in args.families:
            X = dense if family in DENSE else sparse
            target = y.astype(float) if "numeric_target" in METHODS[family].needs else y
            data, grid = (X[:n], target[:n], X[n:]), GRIDS[family]
            together, alone = [], []
            for _ in range(args.rounds):
                together.append(seconds_and_outputs(family, data, [grid]))
                alone.append(seconds_and_outputs(family, data, [[point] for point in grid]))
            difference = max(
                float(np.abs(a - b).max()) for a, b in zip(together[0][1], alone[0][1], strict=True)
            )
            fast, slow = (min(one[0] for one in runs) for runs in (together, alone))
            print(
                f"| {family} | {len(grid)} | {fast:.3f} | {slow:.3f} | {slow / fast:.1f} "
                f"| {difference:.1e} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
