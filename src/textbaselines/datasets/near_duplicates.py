"""Documents that are nearly the same: MinHash proposes pairs, their exact similarity decides."""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from datasketch import MinHash
from numpy.typing import NDArray

from textbaselines.core.seeds import seed_from
from textbaselines.datasets.normalisation import normalised

THRESHOLD = 0.8
_BANDS, _ROWS = 20, 5
"""Of the MinHash table: a pair as similar as the threshold is missed once in 2,800 times."""

CANDIDATES, CANDIDATES_EACH = 1_000_000, 50
"""At most so many pairs are compared: so many, or so many for each distinct text if that is more.

A pair counts once for each bucket that it shares."""

MOST_PAIRS = 100_000
"""At most so many pairs are returned, the most similar ones."""

_BLOCK = 1 << 22  # word pairs that are compared at a time
_WORD = re.compile(r"\w+")


class NearPair(NamedTuple):
    """Two documents, by their positions, and the Jaccard similarity of their word pairs."""

    a: int
    b: int
    similarity: float


class NearDuplicates(NamedTuple):
    """What :func:`near_duplicates` found.

    Attributes
    ----------
    near : bool array, shape (n,)
        Which documents have a near-duplicate.
    pairs : list of NearPair
        Between one document of each set of word pairs, the most similar first, at most
        :data:`MOST_PAIRS`; where documents share their set (they differ in case or punctuation),
        also the first with its next.
    pairs_not_compared : int
        Candidates that the bound left out, at most so many; 0 where it was not reached.
    unsettled : bool array, shape (n,)
        Which documents have no near-duplicate among those they were compared with, but have
        candidates that the bound left out.
    """

    near: NDArray[np.bool_]
    pairs: list[NearPair]
    pairs_not_compared: int
    unsettled: NDArray[np.bool_]


def near_duplicates(texts: Sequence[str], threshold: float = THRESHOLD) -> NearDuplicates:
    """Find the documents whose set of word pairs is much like another's.

    A text is the set of its pairs of neighbouring words, in small letters, without punctuation; a
    text of one word is that word. Two texts are near-duplicates when the Jaccard similarity of
    their sets reaches the threshold (Broder 1997): a changed word in a sentence of twenty does.
    Candidates come from MinHash signatures of 100 hashes in 20 bands of 5 (Leskovec, Rajaraman &
    Ullman 2014, section 3.4); each is then measured exactly, so none is counted wrongly. A pair of
    similarity s is found with probability 1 - (1 - s^5)^20: 0.9996 at 0.8.

    Texts of one template share their buckets, and pairs grow with the square of a bucket. Where
    there are more than :data:`CANDIDATES` (or :data:`CANDIDATES_EACH` a text), each text is
    compared with the next few of its buckets alone, in the order of documents: with as many as
    keep to the bound, the same number everywhere.

    ``texts``: n different texts; those without a word are nobody's near-duplicate.
    """
    members: dict[bytes, list[int]] = {}
    for place, shingles in enumerate(_shingles(texts)):
        if len(shingles):
            members.setdefault(shingles.tobytes(), []).append(place)
    near = np.zeros(len(texts), dtype=bool)
    unsettled = np.zeros(len(texts), dtype=bool)
    if not members:
        return NearDuplicates(near, [], 0, unsettled)
    documents = list(members.values())
    first = np.array([same[0] for same in documents])
    repeats = [same for same in documents if len(same) > 1]
    candidates = _candidates(members)
    compared = _similar(members, candidates.a, candidates.b, threshold)
    of_set = np.zeros(len(documents), dtype=bool)
    of_set[compared.a] = of_set[compared.b] = True
    of_set[[len(same) > 1 for same in documents]] = True
    for place in np.flatnonzero(of_set).tolist():
        near[documents[place]] = True
    for place in np.flatnonzero(candidates.cut & ~of_set).tolist():
        unsettled[documents[place]] = True
    a = np.concatenate([np.array([same[0] for same in repeats], dtype=int), first[compared.a]])
    b = np.concatenate([np.array([same[1] for same in repeats], dtype=int), first[compared.b]])
    similarity = np.concatenate([np.ones(len(repeats)), compared.similarity])
    order = np.lexsort([b, a, -similarity])[:MOST_PAIRS]
    pairs = map(NearPair, a[order].tolist(), b[order].tolist(), similarity[order].tolist())
    return NearDuplicates(near, list(pairs), candidates.left_out, unsettled)


def _shingles(texts: Sequence[str]) -> Iterator[NDArray[np.int64]]:
    """Yield the sorted numbers of each text's word pairs."""
    number: dict[str, int] = {}
    for text in texts:
        words = [
            number.setdefault(word, len(number) + 1)
            for word in _WORD.findall(normalised(text).casefold())
        ]
        pairs = {(a << 32) | b for a, b in itertools.pairwise(words)}
        yield np.array(sorted(pairs) if pairs else words, dtype=np.int64)


class _Candidates(NamedTuple):
    """Pairs of sets that share a bucket, ``a < b``, in order; what the bound left out of them."""

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    left_out: int
    cut: NDArray[np.bool_]


def _candidates(sets: dict[bytes, list[int]]) -> _Candidates:
    """Return the pairs of sets that share a band of their signatures."""
    keys = _band_keys(sets)
    orders = [np.argsort(band, kind="stable") for band in keys]
    # How many sets come after each in its bucket, and the size of its bucket.
    after, sizes = zip(*map(_in_bucket, keys, orders), strict=True)
    bound = max(CANDIDATES, CANDIDATES_EACH * len(sets))
    largest = max(int(size.max()) for size in sizes)
    everything = _pairs_within(after, largest)
    width = largest
    if everything > bound:
        low, high = 0, largest  # _pairs_within(low) <= bound < _pairs_within(high)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if _pairs_within(after, middle) <= bound else (low, middle)
        width = low
    cut = np.zeros(len(sets), dtype=bool)
    codes = []
    for order, behind, size in zip(orders, after, sizes, strict=True):
        cut[order[size > width + 1]] = True
        place = np.flatnonzero(behind > 0)
        distance = 1
        while len(place) and distance <= width:
            codes.append((order[place] << 32) | order[place + distance])
            distance += 1
            place = place[behind[place] >= distance]
    unique = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *codes]))
    return _Candidates(
        unique >> 32,
        unique & 0xFFFFFFFF,
        everything - _pairs_within(after, width),
        cut,
    )


def _pairs_within(after: Sequence[NDArray[np.int64]], width: int) -> int:
    """Count the pairs of buckets that are at most ``width`` apart."""
    return sum(int(np.minimum(behind, width).sum()) for behind in after)


def _in_bucket(
    band: NDArray[np.uint64], order: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    ordered = band[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    lengths = np.diff(np.append(starts, len(ordered)))
    sizes = np.repeat(lengths, lengths)
    return np.repeat(starts + lengths - 1, lengths) - np.arange(len(ordered)), sizes


def _band_keys(sets: dict[bytes, list[int]]) -> NDArray[np.uint64]:
    """Return the bucket of each set in each band, shape (bands, sets)."""
    keys = np.empty((_BANDS, len(sets)), dtype=np.uint64)
    signatures = MinHash.generator(
        (np.frombuffer(content, dtype=np.int64).tolist() for content in sets),
        num_perm=_BANDS * _ROWS,
        seed=seed_from("near-duplicates"),
        hashfunc=int,
        scheme="affine64",
    )
    # The five hashes of a band become one number (a polynomial modulo 2^64); two bands that are
    # not equal share one once in 2^64 times, and their sets are measured exactly afterwards.
    powers = np.array([pow(0x9E3779B97F4A7C15, n, 1 << 64) for n in range(_ROWS)], dtype=np.uint64)
    for place, signature in enumerate(signatures):
        values = signature.hashvalues.astype(np.uint64, copy=False).reshape(_BANDS, _ROWS)
        keys[:, place] = (values * powers).sum(axis=1, dtype=np.uint64)
    return keys


class _Similar(NamedTuple):
    a: NDArray[np.int64]
    b: NDArray[np.int64]
    similarity: NDArray[np.float64]


def _similar(
    sets: dict[bytes, list[int]], a: NDArray[np.int64], b: NDArray[np.int64], threshold: float
) -> _Similar:
    """Return those pairs of sets whose Jaccard similarity reaches the threshold."""
    sizes = np.array([len(content) // 8 for content in sets])
    # Of sets whose sizes differ too much none can.
    possible = np.minimum(sizes[a], sizes[b]) >= threshold * np.maximum(sizes[a], sizes[b])
    a, b = a[possible], b[possible]
    used = np.unique(np.concatenate([a, b]))
    wanted = set(used.tolist())
    kept = [content for place, content in enumerate(sets) if place in wanted]
    elements = np.frombuffer(b"".join(kept), dtype=np.int64)
    names, columns = np.unique(elements, return_inverse=True)
    offsets = np.zeros(len(used) + 1, dtype=np.int64)
    np.cumsum(sizes[used], out=offsets[1:])
    ones = np.ones(len(elements), dtype=np.int32)
    rows = sp.csr_array((ones, columns, offsets), shape=(len(used), len(names)))
    rows.sort_indices()
    row_a, row_b = np.searchsorted(used, a), np.searchsorted(used, b)
    work = np.cumsum(sizes[a] + sizes[b])
    similarity = np.empty(len(a))
    start = 0
    while start < len(a):
        done = work[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(work, done + _BLOCK)))
        part = slice(start, stop)
        common = rows[row_a[part]].multiply(rows[row_b[part]]).sum(axis=1)
        similarity[part] = common / (sizes[a[part]] + sizes[b[part]] - common)
        start = stop
    near = similarity >= threshold
    return _Similar(a[near], b[near], similarity[near])
