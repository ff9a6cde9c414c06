"""The comparisons that a study declares beforehand."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from textbaselines.core import validation
from textbaselines.core.errors import UserError
from textbaselines.study.study_file import Control, Pair


class Contrast(NamedTuple):
    """Row a of the tables against row b; names are ``<method>-<representation>``."""

    a: str
    b: str


class Declared(NamedTuple):
    """The contrasts of a study, and the control when all of them are against one.

    ``by_default`` says that the study file declares none, so that every row is compared with the
    first one.
    """

    control: str | None
    contrasts: tuple[Contrast, ...]
    by_default: bool = False


def declare(
    wanted: Sequence[Pair] | Control | None,
    runs: Iterable[tuple[str, str, str]],
    rows: Sequence[tuple[str, str]],
    where: str,
) -> Declared:
    """Return the contrasts of a study.

    Parameters
    ----------
    wanted : list of Pair, Control, or None
        What the study file says. None: every row against the first row of the table that every
        dataset has (the first row when none has).
    rows : sequence of (method, representation)
        The rows of the study's tables, in their order.
    where : str
        The study file's key, for messages.

    Raises
    ------
    UserError
        For a name that is no row or names two, a row against itself, or a pair declared twice.
    """
    names = [f"{method}-{representation}" for method, representation in rows]
    if isinstance(wanted, Control) or wanted is None:
        if wanted is None:
            control = _first_everywhere(rows, runs)
        else:
            control = _known(wanted.control, names, f"{where}.control")
        others = [name for name in names if name != control]
        return Declared(control, tuple(Contrast(name, control) for name in others), wanted is None)
    contrasts: list[Contrast] = []
    for position, pair in enumerate(wanted):
        key = f"{where}[{position}]"
        one = Contrast(_known(pair.a, names, f"{key}.a"), _known(pair.b, names, f"{key}.b"))
        if one.a == one.b:
            raise UserError("a row compared with itself", where=key, found=one.a)
        if one in contrasts or Contrast(one.b, one.a) in contrasts:
            raise UserError(
                "a comparison declared twice",
                where=key,
                found=f"{one.a} against {one.b}",
                fix="keep one of the two: the tests are two-sided",
            )
        contrasts.append(one)
    return Declared(None, tuple(contrasts))


def _known(name: str, names: Sequence[str], key: str) -> str:
    if names.count(name) != 1:
        twice = name in names
        raise UserError(
            "a name that two rows of the tables share" if twice else "no row of the tables",
            where=key,
            found=repr(name),
            expected="one of " + ", ".join(names),
            fix="rename a method or a representation" if twice else validation.closest(name, names),
        )
    return name


def _first_everywhere(rows: Sequence[tuple[str, str]], runs: Iterable[tuple[str, str, str]]) -> str:
    had: dict[tuple[str, str], set[str]] = {}
    datasets = set()
    for dataset, representation, method in runs:
        had.setdefault((method, representation), set()).add(dataset)
        datasets.add(dataset)
    everywhere = [row for row in rows if had.get(row) == datasets]
    return "-".join((everywhere or rows)[0])
