"""The families that a study may name, collected from their modules, and grid fitting."""

import functools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textbaselines.core.errors import UserError
from textbaselines.models import (
    complement_nb,
    extreme_learning,
    gaussian,
    gaussian_process,
    kernel_svm,
    language_model,
    logistic_regression,
    naive_bayes,
    nbsvm,
    ridge,
    svm,
    translation_model,
)
from textbaselines.models.estimator import Estimator
from textbaselines.models.family import MethodFamily
from textbaselines.models.matrices import Matrix
from textbaselines.models.parameters import parameter_fault

# The bytes of fitted estimators that wait for the outputs they are given together.
_HELD = 2**26
# Values that hold no array.
_PLAIN = (float, int, str, type(None))


@dataclass(frozen=True)
class FittedPoint:
    """One grid point after fitting.

    Attributes
    ----------
    estimator : estimator or None
        Fitted; None when the point could not be fitted.
    fit_seconds : float
        Wall-clock seconds of this point's own work, plus an equal share of the work that it had
        in common with other points.
    converged : bool
        False when an iterative solver stopped at its limit, or the point failed. Closed forms
        converge.
    n_iter : int
        The solver's iterations; 0 for closed forms.
    gap : float
        By what share of itself a linear solver's objective is above its minimum, at most; NaN for
        what has no such solver.
    failure : str or None
        Why the point could not be fitted.
    outputs : array or None
        Where rows to predict were given and the point could be fitted: the scores that
        ``decision_function`` has for them, or the numbers that a regressor predicts.
    predict_seconds : float
        Wall-clock seconds that the outputs took: an equal share of what was worked out at a time.
    """

    estimator: Any
    fit_seconds: float
    converged: bool
    n_iter: int
    failure: str | None = None
    gap: float = math.nan
    outputs: NDArray[np.float64] | None = None
    predict_seconds: float = 0.0


def make_estimator(
    name: str, params: Mapping[str, Any], *, positive: Any = None, seed: int = 0
) -> Estimator:
    """Return an unfitted estimator of the method with these parameters.

    Parameters
    ----------
    positive : label, optional
        The positive class of two; handed to methods that have one.
    seed : int
        Handed to methods that draw random numbers.

    Raises
    ------
    UserError
        When the method, a parameter or a value does not exist.
    """
    validate_params(name, params)
    estimator = METHODS[name].estimator(**params)
    accepted = estimator.get_params(deep=False)
    given = {"positive": positive, "seed": seed}
    estimator.set_params(**{key: value for key, value in given.items() if key in accepted})
    return estimator


def validate_params(name: str, params: Mapping[str, Any]) -> None:
    """Raise :class:`UserError` unless the method exists and takes these parameters and values."""
    if name not in METHODS:
        raise UserError(
            "unknown method", found=repr(name), expected="one of " + ", ".join(sorted(METHODS))
        )
    family = METHODS[name]
    for key in params:
        if key not in family.parameters:
            raise UserError(
                f"method {name!r} has no such parameter",
                found=repr(key),
                expected="one of " + ", ".join(sorted(family.parameters)),
            )
    fault = parameter_fault(family.parameters, params)
    if fault is not None:
        key, value, allowed = fault
        raise UserError(
            f"a value that method {name!r} cannot take",
            where=f"parameter {key!r} ({family.parameters[key].description})",
            found=repr(value),
            expected=allowed,
        )
    reason = family.estimator.combination_fault(
        {**family.estimator().get_params(deep=False), **params}
    )
    if reason is not None:
        raise UserError(
            f"parameters of method {name!r} that do not go together: {reason}",
            found=", ".join(f"{key} = {value!r}" for key, value in params.items()),
        )


def fit_grid(
    name: str,
    X: Matrix,
    y: ArrayLike,
    points: Sequence[Mapping[str, Any]],
    *,
    positive: Any = None,
    seed: int = 0,
    X_test: Matrix | None = None,
) -> Iterator[tuple[int, FittedPoint]]:
    """Fit every grid point and yield its index in ``points`` with the result.

    Work that several points have in common is done once (class counts for every smoothing of naive
    Bayes, the kernel matrix for every C, the solver's run for every beta of NBSVM, one product with
    ``X_test`` for many points), so they come
    grouped by it, not in order of the indices. Each estimator equals one fitted alone. Drop an
    estimator before asking for the next to keep few sets of weights in memory: one, or with
    ``X_test`` as many as take some 64 MiB.

    Parameters
    ----------
    X : array or CSR matrix of shape (documents, features)
    y : array of shape (documents,)
    points : sequence of mappings
        The parameters of each point; the others have the estimator's defaults.
    X_test : array or CSR matrix of shape (rows, features), optional
        Rows whose outputs each point is to have.

    Raises
    ------
    UserError
        Before any fit, when a point names a parameter or value that the method does not take. A
        point that the data make impossible is yielded with its ``failure``.
    """
    estimators = [make_estimator(name, point, positive=positive, seed=seed) for point in points]
    # By preparation, then by solution.
    groups: dict[str, dict[str, list[tuple[int, Estimator]]]] = {}
    for index, estimator in enumerate(estimators):
        group = groups.setdefault(_key(estimator._preparation()), {})
        group.setdefault(_key(estimator._solution()), []).append((index, estimator))
    return _fitted([list(group.values()) for group in groups.values()], X, y, X_test)


def _key(params: Mapping[str, Any]) -> str:
    return repr(sorted((name, repr(value)) for name, value in params.items()))


def _fitted(
    groups: list[list[list[tuple[int, Estimator]]]], X: Matrix, y: ArrayLike, X_test: Matrix | None
) -> Iterator[tuple[int, FittedPoint]]:
    """Fit group after group; of what is yielded or used up nothing is kept."""
    while groups:
        held: list[tuple[int, FittedPoint]] = []
        size, counted = 0, set[int]()
        for index, point in _fitted_group(groups.pop(0), X, y):
            if X_test is None:
                yield index, point
                continue
            held.append((index, point))
            size += _nbytes(point.estimator, counted)
            del point
            if size > _HELD:
                yield from _with_outputs(held, X_test)
                size, counted = 0, set()
        if held:
            yield from _with_outputs(held, X_test)


def _fitted_group(
    group: list[list[tuple[int, Estimator]]], X: Matrix, y: ArrayLike
) -> Iterator[tuple[int, FittedPoint]]:
    """Fit estimators that have their preparation in common, and those of a part its solution.

    Several parts are solved before their solutions are assessed, as many as fit into ``_HELD``.
    """
    lead = group[0][0][1]
    prepared, shared, seconds, failure = _timed(lead, functools.partial(lead._prepare, X, y))
    del lead
    share_of_all = seconds / sum(map(len, group))
    while group:
        parts = _solved_parts(group, prepared, shared, failure)
        for part in parts:
            if part.reason is None:
                first = part.points[0][1]
                assess = functools.partial(first._assess, part.solved)
                _, _, seconds, part.reason = _timed(first, assess)
                part.seconds += seconds
                del first, assess
        while parts:
            yield from _completed(parts.pop(0), shared, share_of_all)


@dataclass
class _Part:
    """Points that agree in what is solved, the solution, its seconds, or why there is none."""

    points: list[tuple[int, Estimator]]
    solved: Any
    seconds: float
    reason: str | None


def _solved_parts(
    group: list[list[tuple[int, Estimator]]],
    prepared: Any,
    shared: Mapping[str, Any],
    failure: str | None,
) -> list[_Part]:
    """Take parts from a group and solve them, until the solutions take more than ``_HELD``."""
    parts: list[_Part] = []
    counted = set[int]()
    _nbytes(prepared, counted)
    size = 0
    while group and size <= _HELD:
        points = group.pop(0)
        if failure is not None:
            parts.append(_Part(points, None, 0.0, failure))
            continue
        first = points[0][1]
        _take(first, shared)
        solve = functools.partial(first._solve, prepared)
        solved, _, seconds, reason = _timed(first, solve)
        size += _nbytes(solved, counted)
        parts.append(_Part(points, solved, seconds, reason))
    return parts


def _completed(
    part: _Part, shared: Mapping[str, Any], share_of_all: float
) -> Iterator[tuple[int, FittedPoint]]:
    """Complete the points of a part one after another; of what is yielded nothing is kept."""
    share = share_of_all + part.seconds / len(part.points)
    while part.points:
        index, estimator = part.points.pop(0)
        if part.reason is not None:
            yield index, FittedPoint(None, share, False, 0, part.reason)
            continue
        _take(estimator, shared)
        complete = functools.partial(estimator._complete, part.solved)
        _, _, seconds, own_reason = _timed(estimator, complete)
        if own_reason is not None:
            yield index, FittedPoint(None, share + seconds, False, 0, own_reason)
            continue
        point = FittedPoint(
            estimator,
            share + seconds,
            converged=getattr(estimator, "converged_", True),
            n_iter=getattr(estimator, "n_iter_", 0),
            gap=getattr(estimator, "gap_", math.nan),
        )
        del estimator, complete
        yield index, point
        del point


def _timed(
    estimator: Estimator, step: Callable[[], Any]
) -> tuple[Any, dict[str, Any], float, str | None]:
    """Return a step's result, what the estimator has learnt by it, its seconds, and its failure."""
    start = time.perf_counter()
    try:
        result, failure = step(), None
    except (ValueError, MemoryError, np.linalg.LinAlgError) as error:
        result, failure = None, str(error)
    seconds = time.perf_counter() - start
    learnt = {name: value for name, value in vars(estimator).items() if name.endswith("_")}
    return result, learnt, seconds, failure


def _take(estimator: Estimator, learnt: Mapping[str, Any]) -> None:
    for attribute, value in learnt.items():
        setattr(estimator, attribute, value)


def _with_outputs(
    held: list[tuple[int, FittedPoint]], X_test: Matrix
) -> Iterator[tuple[int, FittedPoint]]:
    """Yield points of one group with their outputs, emptying the list."""
    start = time.perf_counter()
    estimators = [point.estimator for _, point in held if point.failure is None]
    outputs = iter(estimators[0].outputs_of(estimators, X_test) if estimators else ())
    share = (time.perf_counter() - start) / max(1, len(estimators))
    del estimators
    while held:
        index, point = held.pop(0)
        if point.failure is None:
            point = replace(point, outputs=next(outputs), predict_seconds=share)
        yield index, point
        del point


def _nbytes(value: Any, counted: set[int]) -> int:
    """Return the bytes of the arrays in an estimator, or in what one has learnt.

    Arrays that several have in common are counted once: ``counted`` has the identity of each that
    is held already, and takes those that come.
    """
    if isinstance(value, np.ndarray):
        owner = value if value.base is None else value.base
        if id(owner) in counted:
            return 0
        counted.add(id(owner))
        return value.nbytes
    if isinstance(value, list | tuple):
        inside: Iterable[Any] = value
    else:  # estimators, sparse matrices and records of what was learnt
        inside = vars(value).values() if hasattr(value, "__dict__") else ()
    return sum(_nbytes(one, counted) for one in inside if not isinstance(one, _PLAIN))


METHODS: dict[str, MethodFamily] = {
    family.name: family
    for module in (
        naive_bayes,
        complement_nb,
        language_model,
        translation_model,
        gaussian,
        svm,
        nbsvm,
        logistic_regression,
        ridge,
        extreme_learning,
        kernel_svm,
        gaussian_process,
    )
    for family in module.FAMILIES
}
"""The families by name, as each module states them."""
