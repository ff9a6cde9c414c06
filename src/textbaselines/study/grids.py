"""The grid points of a method: fixed values, combinations of axes, ranges and random samples."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from textbaselines.core.errors import UserError
from textbaselines.core.seeds import seed_from
from textbaselines.core.storage import short_digest
from textbaselines.core.validation import closest
from textbaselines.models.parameters import Number, Parameter

DIGITS = 12
"""Significant digits of a value from a range, so that 0.1 is 0.1 and has one id everywhere."""

SAMPLE = "sample"
"""The key of a grid that says how many points are drawn; no hyper-parameter has this name."""


@dataclass(frozen=True)
class GridPoint:
    """One combination of hyper-parameters.

    Attributes
    ----------
    point : str
        12 hex digits that depend on the family and the hyper-parameters alone, so that a value
        inserted into the grid renames no other point.
    params : dict
    origin : tuple of "fixed", "grid"
        Where the study file asks for it; both when the fixed point lies on the grid.
    """

    point: str
    params: dict[str, Any]
    origin: tuple[str, ...]


def expand(
    family: str,
    parameters: Mapping[str, Parameter],
    defaults: Mapping[str, Any],
    options: Mapping[str, Any],
    fixed: Mapping[str, Any] | None,
    grid: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    method: str,
    where: str,
) -> list[GridPoint]:
    """Return the points of a method, the fixed one first, each once.

    Parameters
    ----------
    family : str
        Name in the method registry.
    parameters : mapping
        The family's hyper-parameters with their ranges; values of integer ones are rounded.
    defaults : mapping
        The family's values for what neither options, fixed nor grid say.
    options : mapping
        Hyper-parameters that every point shares.
    fixed : mapping or None
        The fixed point's; None for no fixed point.
    grid : mapping or sequence of mappings
        By hyper-parameter an axis: a list of values, ``{log: [low, high], num: n}`` or
        ``{linear: [low, high], num: n}``; the points are all combinations. With
        ``sample: {draws, seed}`` they are drawn from the axes, ranges without ``num``
        (log-uniform, uniform), lists uniformly. A sequence is the union of its grids; empty for
        no grid.
    method : str
        The method's name in the study; with the seed's name and the axis it seeds the draws.
    where : str
        The config key, for messages.

    Raises
    ------
    UserError
        For a hyper-parameter that does not exist or stands both in options and on an axis, an
        impossible range, a grid without axes, or no point at all.
    """
    wanted: list[tuple[dict[str, Any], str]] = []
    if fixed is not None:
        wanted.append(({**defaults, **options, **fixed}, "fixed"))
    parts = [(grid, f"{where}.grid")] if isinstance(grid, Mapping) else []
    if not isinstance(grid, Mapping):
        parts = [(part, f"{where}.grid[{place}]") for place, part in enumerate(grid)]
    if parts != [({}, f"{where}.grid")]:
        for part, key in parts:
            _check_axes(part, parameters, options, family, where, key)
            for point in _points(part, parameters, method, key):
                wanted.append(({**defaults, **options, **point}, "grid"))
    if not wanted:
        raise UserError(
            "a method without fixed values and without a grid",
            where=where,
            fix="give fixed: {...}, grid: {...} or both",
        )
    points: dict[str, GridPoint] = {}
    for params, origin in wanted:
        name = short_digest({"family": family, "params": _plain_numbers(params)})
        if name in points and points[name].params != params:
            raise UserError("two grid points have the same id", where=where, found=name)
        before = points[name].origin if name in points else ()
        points[name] = GridPoint(name, params, tuple(dict.fromkeys((*before, origin))))
    return list(points.values())


def _check_axes(
    grid: Mapping[str, Any],
    parameters: Mapping[str, Parameter],
    options: Mapping[str, Any],
    family: str,
    where: str,
    key: str,
) -> None:
    axes = [axis for axis in grid if axis != SAMPLE]
    if not axes:
        raise UserError(
            "a grid without axes",
            where=key,
            found="only " + SAMPLE if grid else "{}",
            expected="at least one of " + ", ".join(sorted(parameters)),
        )
    for axis in axes:
        if axis not in parameters:
            raise UserError(
                f"method family {family!r} has no such hyper-parameter",
                where=f"{key}.{axis}",
                found=repr(axis),
                expected="one of " + ", ".join(sorted(parameters)),
                fix=closest(axis, parameters),
            )
        if axis in options:
            raise UserError(
                f"hyper-parameter {axis!r} is an option and an axis of the grid at once",
                where=f"{key}.{axis}",
                fix=f"remove it from {where}.options or from the grid",
            )


def _points(
    grid: Mapping[str, Any], parameters: Mapping[str, Parameter], method: str, key: str
) -> Iterator[dict[str, Any]]:
    axes = sorted(axis for axis in grid if axis != SAMPLE)
    columns: list[Sequence[Any]]
    if SAMPLE in grid:
        draws, seed = grid[SAMPLE]["draws"], grid[SAMPLE]["seed"]
        columns = [
            _drawn(
                grid[axis],
                # A generator for each axis: neither more draws nor another axis reshuffle.
                np.random.default_rng(seed_from(method, SAMPLE, seed, axis)).random(draws).tolist(),
                _is_integer(parameters[axis]),
                f"{key}.{axis}",
            )
            for axis in axes
        ]
        combinations: Iterator[tuple[Any, ...]] = zip(*columns, strict=True)
    else:
        columns = [
            _values(grid[axis], _is_integer(parameters[axis]), f"{key}.{axis}") for axis in axes
        ]
        combinations = itertools.product(*columns)
    return (dict(zip(axes, values, strict=True)) for values in combinations)


def _is_integer(parameter: Parameter) -> bool:
    return isinstance(parameter, Number) and parameter.integer


def _values(axis: Any, integer: bool, key: str) -> list[Any]:
    """Return the values of an axis; the ends of a range are its own, to the last digit."""
    if not isinstance(axis, Mapping):
        return list(axis)
    scale, low, high = _range(axis, integer, key)
    num = axis.get("num")
    if num is None:
        raise UserError(
            "a range without the number of its values",
            where=key,
            found=_shown(axis),
            expected=f"{{{scale}: [{low}, {high}], num: n}}, or sample: {{draws: n, seed: name}} "
            "in the grid",
        )
    if num < 2 and low != high:
        raise UserError(
            "a range of two different ends with fewer than two values",
            where=f"{key}.num",
            found=num,
            expected="2 or more",
        )
    shares = [place / (num - 1) for place in range(1, num - 1)]
    inner = [_rounded(_between(scale, low, high, share), integer) for share in shares]
    return [low, *inner, high] if num > 1 else [low]


def _drawn(axis: Any, shares: Sequence[float], integer: bool, key: str) -> list[Any]:
    """Return one value of an axis for each share, uniform in [0, 1)."""
    if not isinstance(axis, Mapping):
        return [axis[int(share * len(axis))] for share in shares]
    scale, low, high = _range(axis, integer, key)
    if "num" in axis:
        raise UserError(
            "a number of values for a range that is drawn from",
            where=f"{key}.num",
            found=axis["num"],
            expected=f"{{{scale}: [{low}, {high}]}}",
            fix=f"remove num, or {SAMPLE} from the grid",
        )
    if not integer:
        return [_rounded(_between(scale, low, high, share), False) for share in shares]
    # Half a unit more on either side, so that the ends are as likely as what lies between.
    drawn = [round(_between(scale, low - 0.5, high + 0.5, share)) for share in shares]
    return [min(max(value, math.ceil(low)), math.floor(high)) for value in drawn]


def _range(axis: Mapping[str, Any], integer: bool, key: str) -> tuple[str, Any, Any]:
    scales = [scale for scale in ("log", "linear") if scale in axis]
    if len(scales) != 1:
        raise UserError(
            "a range needs one scale",
            where=key,
            found=_shown(axis),
            expected="either log: [low, high] or linear: [low, high]",
        )
    scale = scales[0]
    low, high = axis[scale]
    if low > high:
        raise UserError(
            "a range whose first end is above its second",
            where=f"{key}.{scale}",
            found=[low, high],
            expected=[high, low],
        )
    if scale == "log" and low <= 0:
        raise UserError(
            "a log range with an end that is not above 0",
            where=f"{key}.log",
            found=[low, high],
            expected="two numbers above 0",
            fix="use linear, or a list of values",
        )
    if integer and not (float(low).is_integer() and float(high).is_integer()):
        raise UserError(
            "a range of integers with an end that is none",
            where=f"{key}.{scale}",
            found=[low, high],
            expected="two whole numbers",
        )
    return (scale, int(low), int(high)) if integer else (scale, low, high)


def _between(scale: str, low: float, high: float, share: float) -> float:
    if scale == "linear":
        return low + (high - low) * share
    first, last = math.log10(low), math.log10(high)
    return float(10 ** (first + (last - first) * share))


def _rounded(value: float, integer: bool) -> float:
    return round(value) if integer else float(f"{value:.{DIGITS}g}")


def _shown(axis: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in axis.items()) + "}"


def _plain_numbers(params: Mapping[str, Any]) -> dict[str, Any]:
    # 1 and 1.0 are one value, whichever the study file says.
    return {
        key: int(value) if isinstance(value, float) and value.is_integer() else value
        for key, value in params.items()
    }
