"""Documents that are nearly the same: MinHash proposes pairs, their exact similarity decides."""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from datasketch import MinHash, MinHashLSH
from numpy.typing import NDArray

from textbaselines.datasets.normalisation import normalised
from textbaselines.seeds import seed_from

THRESHOLD = 0.8
_BANDS, _ROWS = 20, 5
"""Of the MinHash table: a pair as similar as the threshold is missed once in 2,800 times."""

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
        Between one document of each set of word pairs, the most similar first; where documents
        share their set (they differ in case or punctuation), also the first with its next.
    """

    near: NDArray[np.bool_]
    pairs: list[NearPair]


def near_duplicates(texts: Sequence[str], threshold: float = THRESHOLD) -> NearDuplicates:
    """Find the documents whose set of word pairs is much like another's.

    A text is the set of its pairs of neighbouring words, in small letters, without punctuation; a
    text of one word is that word. Two texts are near-duplicates when the Jaccard similarity of
    their sets reaches the threshold (Broder 1997): a changed word in a sentence of twenty does.
    Candidates come from MinHash signatures of 100 hashes in 20 bands of 5 (Leskovec, Rajaraman &
    Ullman 2014, section 3.4); each is then measured exactly, so none is counted wrongly. A pair of
    similarity s is found with probability 1 - (1 - s^5)^20: 0.9996 at 0.8.

    Parameters
    ----------
    texts : sequence of str
        Different texts; those without a word are nobody's near-duplicate.
    threshold : float
    """
    members: dict[tuple[int, ...], list[int]] = {}
    for place, shingles in enumerate(_shingles(texts)):
        if shingles:
            members.setdefault(shingles, []).append(place)
    near = np.zeros(len(texts), dtype=bool)
    pairs = []
    for same in members.values():
        if len(same) > 1:
            near[same] = True
            pairs.append(NearPair(same[0], same[1], 1.0))
    sets = list(members)
    documents = list(members.values())
    for a, b in _candidates(sets):
        first, second = set(sets[a]), set(sets[b])
        common = len(first & second)
        similarity = common / (len(first) + len(second) - common)
        if similarity >= threshold:
            near[documents[a]] = near[documents[b]] = True
            pairs.append(NearPair(documents[a][0], documents[b][0], similarity))
    pairs.sort(key=lambda pair: (-pair.similarity, pair.a, pair.b))
    return NearDuplicates(near, pairs)


def _shingles(texts: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """Yield the sorted numbers of each text's word pairs."""
    number: dict[str, int] = {}
    for text in texts:
        words = [
            number.setdefault(word, len(number) + 1)
            for word in _WORD.findall(normalised(text).casefold())
        ]
        pairs = {(a << 32) | b for a, b in itertools.pairwise(words)}
        yield tuple(sorted(pairs)) if pairs else tuple(words)


def _candidates(sets: Sequence[tuple[int, ...]]) -> list[tuple[int, int]]:
    """Return the pairs of sets that share a band of their signatures, in order."""
    table = MinHashLSH(num_perm=_BANDS * _ROWS, params=(_BANDS, _ROWS))
    signatures = MinHash.generator(
        sets,
        num_perm=_BANDS * _ROWS,
        seed=seed_from("near-duplicates"),
        hashfunc=int,
        scheme="affine64",
    )
    found = []
    for place, signature in enumerate(signatures):
        found += [(other, place) for other in table.query(signature)]
        table.insert(place, signature, check_duplication=False)
    return sorted(found)
