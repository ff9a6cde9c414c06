"""Clocks: of a block, and of what is inside LIBLINEAR."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.svm import _liblinear


class Stopwatch:
    """The wall-clock seconds and those of the processor of all blocks so far."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.cpu = 0.0

    def __enter__(self) -> "Stopwatch":
        """Start."""
        self._began, self._used = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, and add what passed."""
        self.seconds += time.perf_counter() - self._began
        self.cpu += time.process_time() - self._used


class SolverClock(Stopwatch):
    """The same of all calls of the solver, and their number."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0


@contextmanager
def solver_clock() -> Iterator[SolverClock]:
    """Time every compiled call of scikit-learn's LIBLINEAR: its copy of the matrix is inside."""
    clock = SolverClock()
    train = _liblinear.train_wrap

    def timed(*arguments: Any) -> Any:
        clock.calls += 1
        with clock:
            return train(*arguments)

    _liblinear.train_wrap = timed
    try:
        yield clock
    finally:
        _liblinear.train_wrap = train
