"""A fit gives the same bits in a thread beside others as alone."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

from textbaselines.models import (
    NBSVM,
    ExtremeLearningMachine,
    GaussianProcessClassifier,
    KernelSVM,
    LinearSVM,
    LogisticRegression,
    MultinomialNB,
    RidgeClassifier,
    liblinear,
)

THREADS, FITS = 4, 40


def documents(n: int = 600, features: int = 300) -> tuple[sp.csr_array, np.ndarray]:
    """Return sparse 0/1 rows whose classes overlap, so that the solver takes many steps."""
    draw = np.random.default_rng(5)
    rows = sp.csr_array((draw.random((n, features)) < 0.05).astype(np.float64))
    return rows, (rows @ draw.standard_normal(features) + draw.standard_normal(n) > 0).astype(int)


def alone_and_in_threads(make, X, y) -> tuple[list[bytes], list[bytes]]:
    """Return each fit's scores with one seed after the other, and in a pool of threads."""

    def fit(seed: int) -> bytes:
        return np.asarray(make(seed).fit(X, y).decision_function(X)).tobytes()

    seeds = [seed % 5 for seed in range(FITS)]
    alone = [fit(seed) for seed in seeds]
    with ThreadPoolExecutor(THREADS) as pool:
        return alone, list(pool.map(fit, seeds))


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: LinearSVM(C=1.0, seed=seed),
        lambda seed: LinearSVM(C=1.0, loss="hinge", seed=seed),
        lambda seed: NBSVM(seed=seed),
        lambda seed: LogisticRegression(dual=True, tol=0.1, seed=seed),
        lambda seed: LogisticRegression(penalty="l1", seed=seed),
    ],
    ids=["LinearSVM", "LinearSVM-hinge", "NBSVM", "LogisticRegression-dual", "LR-l1"],
)
def test_the_coordinate_solvers(make) -> None:
    X, y = documents()
    alone, threaded = alone_and_in_threads(make, X, y)
    assert sum(one != other for one, other in zip(alone, threaded, strict=True)) == 0
    assert len(set(alone)) == 5, "the order of visits matters here, or the test shows nothing"


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: KernelSVM(),
        lambda seed: MultinomialNB(),
        lambda seed: RidgeClassifier(),
        lambda seed: ExtremeLearningMachine(hidden=20, seed=seed),
        lambda seed: GaussianProcessClassifier(points=40, seed=seed),
    ],
    ids=["KernelSVM", "MultinomialNB", "RidgeClassifier", "ELM", "GP"],
)
def test_every_other_way_of_fitting(make) -> None:
    X, y = documents(150, 60)
    alone, threaded = alone_and_in_threads(make, X, y)
    assert alone == threaded


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
def test_a_process_forked_while_another_thread_solves_can_solve() -> None:
    X, y = documents()
    options = {"C": 1.0, "loss": "hinge", "dual": True, "tol": 1e-9, "max_iter": 3000}

    def solve() -> bytes:
        return liblinear.solve_linear(X, y == 1, bias=None, seed=0, **options).weights.tobytes()

    with ThreadPoolExecutor(1) as pool:
        beside = pool.submit(solve)
        while not liblinear._TURN.locked():
            assert not beside.done()
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # kills a child that waits for ever
            solve()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert beside.result() == solve()
    assert status == 0
