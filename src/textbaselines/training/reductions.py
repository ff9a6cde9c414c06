"""Reduced coordinates of every division of a dataset, worked out once for every dense method.

One file holds them at the largest rank that a study asks for of one base: counts, vocabulary,
weighting, scope and kind of reduction. A smaller rank is a prefix: singular vectors come in the
order of their values, and each has the sign that makes the largest of its direction's entries
positive, so the first k of more are the k of a decomposition of rank k, up to the solver's
tolerance.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from logging import Logger
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from textbaselines.core import storage
from textbaselines.core.errors import UserError
from textbaselines.core.seeds import seed_from
from textbaselines.study.folds import OUTER, Division, divisions
from textbaselines.text.counts import Counts
from textbaselines.text.features import fold_counts
from textbaselines.text.vocabulary import Vocabulary
from textbaselines.training.empty_features import refuse_empty


@dataclass(frozen=True)
class ReductionTask:
    """What is reduced, and to how many coordinates.

    Attributes
    ----------
    dataset, weighting, scope : str
    reduction : dict
        ``kind`` and options; the rank is the largest that is asked for.
    chooses : bool
        Whether some method that is to read it trains on inner folds.
    """

    dataset: str
    weighting: str
    scope: str
    reduction: dict[str, Any]
    chooses: bool


def division_seed(dataset: str, what: str, division: Division) -> int:
    """Return the seed of something done on one division of a dataset."""
    place: tuple[object, ...] = ("repeat", division.repeat, "fold", division.fold)
    if division.inner != OUTER:
        place = (*place, "inner", division.inner)
    return seed_from(dataset, what, *place)


def write_reductions(
    path: str | Path,
    task: ReductionTask,
    counts: Counts,
    vocabularies: Mapping[tuple[int, int, int], Vocabulary],
    folds: pd.DataFrame,
    inner_folds: pd.DataFrame,
    threads: int,
    log: Logger,
) -> None:
    """Fit the reduction on every division's training documents and write all coordinates.

    The arrays are written one after another, so that no more than one division is in memory.

    ``path``: of the npz file: documents x rank x 8 bytes for each (repeat, fold) and its inner
    folds; ``folds`` and ``inner_folds``: the dataset's tables of folds and of inner folds. Raises
    :class:`UserError` when no training document of a division has a feature.
    """

    def arrays() -> Iterator[tuple[str, NDArray[Any]]]:
        data, offsets = storage.pack_strings(counts.documents)
        yield "documents", data
        yield "document_offsets", offsets
        inner = inner_folds if task.chooses else None
        for division in divisions(folds, counts.documents, inner):
            mapped = fold_counts(
                counts,
                vocabularies[division.key],
                division.training,
                division.test,
                task.scope,
            )
            used = f"* (reduction {task.reduction['kind']})"
            refuse_empty(mapped.training, division, task.dataset, used, {})
            seed = division_seed(task.dataset, "reduction", division)
            features = mapped.weigh(task.weighting, task.reduction, seed)
            del mapped
            training, test = _names(division.key)
            yield training, features.training
            yield test, features.test

    with threadpool_limits(threads):
        written = storage.write_array_series(path, arrays())
    log.info("%d divisions, %.1f MB", (written - 2) // 2, Path(path).stat().st_size / 1e6)


class Reductions:
    """The coordinates that :func:`write_reductions` wrote, read a division at a time.

    Parameters
    ----------
    documents : list of str
        The ids of the counted documents, in their order: the file must be of the same.
    rank : int
        How many coordinates are wanted.

    Raises
    ------
    UserError
        When the file is of other documents.
    """

    def __init__(self, path: str | Path, documents: list[str], rank: int) -> None:
        self._path, self._rank = Path(path), rank
        packed = [storage.read_array(path, name) for name in ("documents", "document_offsets")]
        if storage.unpack_strings(*packed) != documents:
            raise UserError(
                "reduced coordinates of other documents",
                where=str(path),
                expected="the documents of the counts, in their order",
                fix="delete it and run again",
            )

    def of(self, division: Division) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the coordinates of a division's training and test documents.

        Their shapes are (n_train, rank) and (n_test, rank), fewer columns where documents or
        features are fewer; rows are in the order of the documents.

        Raises :class:`UserError` when the file lacks the division, or has other documents in it.
        """
        found = []
        for name, rows in zip(
            _names(division.key), (division.training, division.test), strict=True
        ):
            array = storage.read_array(self._path, name)
            if len(array) != np.count_nonzero(rows):
                raise UserError(
                    "reduced coordinates of other folds",
                    where=f"{self._path}, array {name}",
                    found=f"{len(array)} documents",
                    expected=f"{np.count_nonzero(rows)}",
                    fix="delete it and run again",
                )
            found.append(np.ascontiguousarray(array[:, : self._rank]))
        return found[0], found[1]


def _names(key: tuple[int, int, int]) -> tuple[str, str]:
    repeat, fold, inner = key
    place = f"repeat{repeat}_fold{fold}" + ("" if inner == OUTER else f"_inner{inner}")
    return f"{place}_training", f"{place}_test"
