"""The grid points of a method: fixed values and every combination of the grid's axes."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textbaselines.errors import UserError
from textbaselines.storage import short_digest


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
    defaults: Mapping[str, Any],
    options: Mapping[str, Any],
    fixed: Mapping[str, Any] | None,
    grid: Mapping[str, Sequence[Any]],
    where: str,
) -> list[GridPoint]:
    """Return the points of a method, the fixed one first, each once.

    Parameters
    ----------
    family : str
        Name in the method registry.
    defaults : mapping
        The family's values for what neither options, fixed nor grid say.
    options : mapping
        Hyper-parameters that every point shares.
    fixed : mapping or None
        The fixed point's; None for no fixed point.
    grid : mapping of sequences
        The axes; empty for no grid.
    where : str
        The config key, for messages.

    Raises
    ------
    UserError
        For a hyper-parameter that stands both in options and on an axis, or no point at all.
    """
    for axis in grid:
        if axis in options:
            raise UserError(
                f"hyper-parameter {axis!r} is an option and an axis of the grid at once",
                where=f"{where}.grid.{axis}",
                fix=f"remove it from {where}.options or from the grid",
            )
    wanted: list[tuple[dict[str, Any], str]] = []
    if fixed is not None:
        wanted.append(({**defaults, **options, **fixed}, "fixed"))
    if grid:
        axes = sorted(grid)
        for values in itertools.product(*(grid[axis] for axis in axes)):
            point = dict(zip(axes, values, strict=True))
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


def _plain_numbers(params: Mapping[str, Any]) -> dict[str, Any]:
    # 1 and 1.0 are one value, whichever the study file says.
    return {
        key: int(value) if isinstance(value, float) and value.is_integer() else value
        for key, value in params.items()
    }
