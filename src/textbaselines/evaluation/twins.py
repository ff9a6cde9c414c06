"""Rows that predict the same class of every test document: one model under several names.

A method whose inner folds choose the same representation in every fold has a row for that
representation and a row :data:`~textbaselines.evaluation.selection.ACROSS` with the same
predictions. Such rows count once wherever rows are counted, ranked or tested.
"""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

JOINED = " = "
"""Stands between the names of rows that are one model; no name of a row has it."""


def twins_of(pairs: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Return, for each row of one dataset that has twins, the names of the whole group.

    ``pairs``: the pairs of rows of one dataset
    (:func:`textbaselines.significance.pairs.compare_rows`): columns ``a``, ``b`` and ``identical``.

    Returns
    -------
    dict
        By row; the names of a group in the order of the rows.
    """
    same = pairs[pairs["identical"].eq(True)]
    return _groups(zip(same["a"], same["b"], strict=True))


def twins_everywhere(pairs: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Return the groups of rows that are the same on every dataset where any of them has a result.

    ``pairs``: of all datasets, with the columns ``dataset``, ``a``, ``b``, ``identical`` and ``p``.

    Returns
    -------
    dict
        As :func:`twins_of`.
    """
    has = pairs["identical"].eq(True) | pairs["p"].notna()
    ran = pairs[has]
    datasets: dict[str, set[str]] = {}
    for side in ("a", "b"):
        for row, dataset in zip(ran[side], ran["dataset"], strict=True):
            datasets.setdefault(row, set()).add(dataset)
    same: dict[tuple[str, str], set[str]] = {}
    found = ran[ran["identical"].eq(True)]
    for dataset, a, b in zip(found["dataset"], found["a"], found["b"], strict=True):
        same.setdefault((a, b), set()).add(dataset)
    return _groups(pair for pair, where in same.items() if where == datasets[pair[0]])


def _groups(same: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, tuple[str, ...]] = {}
    for a, b in same:
        group = tuple(dict.fromkeys((*groups.get(a, (a,)), *groups.get(b, (b,)))))
        groups |= dict.fromkeys(group, group)
    return groups


def joined(
    row: str, twins: Mapping[str, Sequence[str]], titles: Mapping[str, str] | None = None
) -> str:
    """Return the name of a row with those of its twins: ``LR-bi = LR-selected``.

    Parameters
    ----------
    twins : mapping
        Of :func:`twins_of` or :func:`twins_everywhere`.
    titles : mapping, optional
        The titles to write in place of names.
    """
    known = titles or {}
    return JOINED.join(known.get(name, name) for name in twins.get(row, (row,)))


def distinct(contrast: tuple[str, str], twins: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """Return what two contrasts of one dataset share if they compare the same two models.

    One name for a row against its own twin.
    """
    return frozenset(twins.get(row, (row,))[0] for row in contrast)
