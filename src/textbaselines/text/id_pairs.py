"""Numbering pairs of numbers by sorting: n-grams are pairs of a shorter one and a token.

A pair and where it stands are one 64-bit key, so that one sort of plain integers (vectorised in
numpy, and many times faster than a sort of positions) brings equal pairs together and still tells
where each came from. Pairs are sorted range by range of their first member: ranges come one after
another in the result, so they may be sorted in any order, by any number of threads, and none needs
much memory.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 24
"""Pairs that are sorted at a time in each thread, where no single first member has more."""

ABSENT = -1
"""A member of no pair, and the number of what is no pair."""


class Level(NamedTuple):
    """The columns of a document-term matrix that occur, document after document.

    Document i has ``columns[offsets[i]:offsets[i + 1]]``, each ``first`` columns to the left of
    its place in the matrix; :data:`ABSENT` is none.
    """

    columns: NDArray[np.int32]
    offsets: NDArray[np.int64]
    first: int = 0


class Pairs(NamedTuple):
    """The distinct pairs in order, and which of them stands at each position.

    ``first`` and ``second`` have the shape (distinct,); ``number`` has one entry for each position,
    :data:`ABSENT` where there is no pair.
    """

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    number: NDArray[np.int32]


def number_pairs(
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    n_first: int,
    n_second: int,
    threads: int = 1,
) -> Pairs:
    """Number the pairs (first[i], second[i]) in ascending order.

    Parameters
    ----------
    first, second : int32 arrays, shape (p,)
        From 0 to ``n_first`` - 1 and to ``n_second`` - 1; :data:`ABSENT` in either: no pair.
    """
    place_bits = max(len(first) - 1, 1).bit_length()
    # In memory at any size: it is filled in random order, which a mapped file does badly.
    number = np.full(len(first), ABSENT, dtype=np.int32)
    distinct: list[NDArray[np.int64]] = []
    known = 0
    ranges = _ranges(first, n_first, max(n_second, 1), place_bits, threads)
    with ThreadPoolExecutor(threads) as pool:
        for begin in range(0, len(ranges), threads):
            some = ranges[begin : begin + threads]
            done = []
            for keys, places, ranks in pool.map(
                lambda span: _sort(first, second, span, n_second, place_bits), some
            ):
                done.append(pool.submit(_fill, number, places, ranks, known))
                distinct.append(keys)
                known += len(keys)
            for filling in done:
                filling.result()
    pairs = np.concatenate([np.zeros(0, dtype=np.int64), *distinct])
    n_second = max(n_second, 1)
    before = (pairs // n_second).astype(np.int32)
    return Pairs(before, (pairs - before.astype(np.int64) * n_second).astype(np.int32), number)


def _ranges(
    first: NDArray[np.int32], n_first: int, n_second: int, place_bits: int, threads: int
) -> list[tuple[int, int]]:
    """Return ranges of first members, each small enough to sort, enough for every thread."""
    widest = max((1 << (63 - place_bits)) // n_second, 1)
    pieces = max(threads, -(-len(first) // BLOCK))
    if pieces == 1 and n_first <= widest:
        return [(0, n_first)] if n_first else []
    occurrences = np.zeros(n_first + 1, dtype=np.int64)
    for begin in range(0, len(first), BLOCK):
        part = first[begin : begin + BLOCK]
        occurrences[:n_first] += np.bincount(part[part >= 0], minlength=n_first)
    up_to = np.cumsum(occurrences)
    ranges = []
    low = 0
    share = -(-int(up_to[-1]) // pieces)
    while low < n_first:
        before = int(up_to[low - 1]) if low else 0
        high = int(np.searchsorted(up_to[:n_first], before + share, side="right"))
        high = min(max(high, low + 1), low + widest, n_first)
        ranges.append((low, high))
        low = high
    return ranges


def _sort(
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    span: tuple[int, int],
    n_second: int,
    place_bits: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Return the distinct pairs of a range, the places of all, and which pair is at each place."""
    low, high = span
    places = np.flatnonzero((first >= low) & (first < high) & (second >= 0))
    keys = first[places].astype(np.int64)
    keys -= low
    keys *= n_second
    keys += second[places]
    keys <<= place_bits
    keys |= places
    keys.sort()
    np.bitwise_and(keys, (1 << place_bits) - 1, out=places)
    keys >>= place_bits
    new = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    distinct = keys[new]
    distinct += low * n_second
    ranks = np.cumsum(new, dtype=np.int32)
    ranks -= 1
    return distinct, places, ranks


def _fill(
    number: NDArray[np.int32], places: NDArray[np.int64], ranks: NDArray[np.int32], known: int
) -> None:
    ranks += known
    number[places] = ranks
