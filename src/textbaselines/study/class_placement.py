"""Which fold each text is in, so that no class loses its last training document.

A unit is a document, or under grouped folds all documents of identical text. A class of one unit
never tests: it would be lost from the training part of its own test fold.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

NEVER_TEST = -1
"""In place of a fold: the document trains in every fold."""


class Incidence:
    """Which classes have documents of which units.

    Parameters
    ----------
    codes, units : int arrays, shape (n,)
        The class and the unit of each document, both numbered from 0.
    """

    def __init__(self, codes: NDArray[np.int64], units: NDArray[np.int64]) -> None:
        width = int(units.max(initial=-1)) + 1
        pairs = np.unique(codes.astype(np.int64) * width + units) if width else np.zeros(0, int)
        self.classes, self.units = pairs // max(width, 1), pairs % max(width, 1)
        self.sizes = np.bincount(self.classes)
        """The number of units of each class."""
        self._starts = np.concatenate(([0], np.cumsum(self.sizes)))

    def of_single_classes(self) -> NDArray[np.int64]:
        """Return the units in which a class of one unit has its documents."""
        return np.unique(self.units[self.sizes[self.classes] == 1])

    def units_of(self, code: int) -> NDArray[np.int64]:
        """Return the units of a class."""
        return np.asarray(self.units[self._starts[code] : self._starts[code + 1]])

    def lost(self, places: NDArray[np.int32]) -> list[int]:
        """Return the classes whose units are all in one test fold; ``places`` is by unit."""
        here = places[self.units]
        present = np.flatnonzero(self.sizes)
        low = np.minimum.reduceat(here, self._starts[:-1][present])
        high = np.maximum.reduceat(here, self._starts[:-1][present])
        return [int(code) for code in present[(low == high) & (low >= 0)]]


def keep_in_training(
    fold_of: NDArray[np.int32],
    codes: NDArray[np.int64],
    units: NDArray[np.int64],
    folds: Sequence[int],
    spread: bool = False,
) -> NDArray[np.int32]:
    """Return folds in which every class has training documents in each; the same where it has.

    A class whose units are all in one fold has one of them moved: to the fold where the fewest
    classes are lost by it, the smallest unit first, the smallest fold among equals; where every
    move into a fold loses another class, the unit trains always. A class of one unit trains always.

    Parameters
    ----------
    fold_of : int array, shape (n,)
        The fold in which each document tests, or :data:`NEVER_TEST`; one value for each unit.
    codes, units : int arrays, shape (n,)
        The class and the unit of each document, both numbered from 0.
    folds : sequence of int
        The folds that a unit may be moved to.
    spread : bool
        Also put the units of a class that has fewer than there are folds into different folds, as
        far as no other class suffers.
    """
    if len(fold_of) == 0:
        return fold_of.copy()
    incidence = Incidence(codes, units)
    moving = _Moving(incidence, fold_of, units, folds)
    moving.places[incidence.of_single_classes()] = NEVER_TEST
    while lost := incidence.lost(moving.places):
        moving.free(lost[0])
    if spread:
        small = np.flatnonzero((incidence.sizes > 1) & (incidence.sizes < len(folds)))
        moving.spread([int(code) for code in small])
    return np.asarray(moving.places[units], dtype=np.int32)


class _Moving:
    """Places of units that are changed one by one."""

    def __init__(
        self,
        incidence: Incidence,
        fold_of: NDArray[np.int32],
        units: NDArray[np.int64],
        folds: Sequence[int],
    ) -> None:
        self.places = np.full(int(units.max()) + 1, NEVER_TEST, dtype=np.int32)
        self.places[units] = fold_of
        self._incidence = incidence
        self._documents = np.bincount(units)
        self._folds = list(folds)
        self._by_unit = np.argsort(incidence.units, kind="stable")
        self._unit_starts = np.searchsorted(
            incidence.units[self._by_unit], np.arange(len(self.places) + 1)
        )

    def free(self, code: int) -> None:
        """Move a unit of a class that is lost from the training part of a fold."""
        mine = self._smallest(self._incidence.units_of(code))
        options = [
            (self._newly_lost(unit, fold), self._documents[unit], self._size(fold), unit, fold)
            for unit in mine
            for fold in self._folds
            if fold != self.places[unit]
        ]
        if options and min(options)[0] < 0:
            *_, unit, fold = min(options)
        else:
            unit, fold = mine[0], NEVER_TEST
        self.places[unit] = fold

    def spread(self, codes: Sequence[int]) -> None:
        """Put the units of each class into different folds, as far as others do not suffer."""
        small = set(codes)
        moved = True
        while moved:
            moved = False
            for code in codes:
                for unit in self._crowded(code):
                    options = [
                        (self._crowding(unit, fold, small), self._size(fold), fold)
                        for fold in self._folds
                        if self._newly_lost(unit, fold) <= 0
                    ]
                    if options and min(options)[0] < self._crowding(
                        unit, int(self.places[unit]), small
                    ):
                        self.places[unit] = min(options)[-1]
                        moved = True

    def _smallest(self, units: NDArray[np.int64], most: int = 50) -> list[int]:
        order = np.lexsort((units, self._documents[units]))
        return [int(unit) for unit in units[order[:most]]]

    def _size(self, fold: int) -> int:
        return int(self._documents[self.places == fold].sum())

    def _classes_of(self, unit: int) -> Iterator[int]:
        for row in self._by_unit[self._unit_starts[unit] : self._unit_starts[unit + 1]]:
            yield int(self._incidence.classes[row])

    def _newly_lost(self, unit: int, fold: int) -> int:
        """Return by how many the lost classes change when a unit is moved to a fold."""
        change = 0
        for code in self._classes_of(unit):
            of_class = self._incidence.units_of(code)
            before = self.places[of_class]
            after = np.where(of_class == unit, fold, before)
            change += int(_in_one_fold(after)) - int(_in_one_fold(before))
        return change

    def _crowding(self, unit: int, fold: int, small: set[int]) -> int:
        """Return how many other units of its small classes a unit would meet in a fold."""
        met = 0
        for code in self._classes_of(unit):
            if code in small:
                of_class = self._incidence.units_of(code)
                met += int(((self.places[of_class] == fold) & (of_class != unit)).sum())
        return met

    def _crowded(self, code: int) -> list[int]:
        """Return the units of a class that share their fold with one before them."""
        seen: set[int] = set()
        crowded = []
        for unit in self._incidence.units_of(code):
            place = int(self.places[unit])
            if place in seen:
                crowded.append(int(unit))
            elif place >= 0:
                seen.add(place)
        return crowded


def _in_one_fold(places: NDArray[np.int32]) -> bool:
    return bool(places[0] >= 0 and (places == places[0]).all())
