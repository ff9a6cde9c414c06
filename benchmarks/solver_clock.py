"""The time inside LIBLINEAR: its compiled call, which copies the matrix into its own form too."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.svm import _liblinear


class SolverClock:
    """Wall-clock seconds, seconds of the processor and calls so far."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.cpu = 0.0
        self.calls = 0


@contextmanager
def solver_clock() -> Iterator[SolverClock]:
    """Time every call of scikit-learn's LIBLINEAR inside the block."""
    clock = SolverClock()
    train = _liblinear.train_wrap

    def timed(*arguments: Any) -> Any:
        began, used = time.perf_counter(), time.process_time()
        try:
            return train(*arguments)
        finally:
            clock.seconds += time.perf_counter() - began
            clock.cpu += time.process_time() - used
            clock.calls += 1

    _liblinear.train_wrap = timed
    try:
        yield clock
    finally:
        _liblinear.train_wrap = train
