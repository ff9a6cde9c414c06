"""The tokens and the dictionary of Wang & Manning (ACL 2012), to the entry.

"Baselines and Bigrams: Simple, Good Sentiment and Topic Classification", section 3, as the
authors' public code carries it out: every text is lower-cased and split by the reading of its
dataset; unigrams and bigrams stand in one dictionary of strings; a bigram is its two tokens joined
by "-", with ``*start*`` before the first token and ``*end*`` after the last. So a hyphenated word
and a bigram may be one entry; that is kept, since the published numbers rest on it.
"""

import re
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from textbaselines.datasets.normalisation import normalised
from textbaselines.text.id_pairs import ABSENT, Level, number_pairs
from textbaselines.text.tokens import Tokens

READINGS = ("spaces", "lines", "filtered_bigrams", "filtered")
"""How a dataset is read.

- ``spaces``: strip, split at each single space (RT-s, CR, MPQA, Subj); a blank document has one
  empty token.
- ``lines``: in each line drop one trailing space, split at each single space (RT-2k); a leading
  space gives an empty token.
- ``filtered_bigrams``: split at runs of space, backspace, tab, CR and LF; of a bigram's string
  only the characters a to z and "-" stay (IMDB).
- ``filtered``: the same, and unigrams are filtered too (the newsgroup pairs).
"""

START, END = "*start*", "*end*"
_RUN = re.compile(r"[^ \x08\t\r\n]+")
_OUTSIDE_FILTER = re.compile(r"[^a-z-]+")


def tokenize(text: str, reading: str, normalise: str = "none") -> list[str]:
    """Return the tokens of a text under one of :data:`READINGS`, not yet filtered.

    ``normalise``: None by default: the authors' code takes characters as they are. Raises
    :class:`ValueError` when ``reading`` is none of them.
    """
    text = normalised(text, normalise)
    if reading == "spaces":
        return text.strip().lower().split(" ")
    if reading == "lines":
        lines = text.removesuffix("\n").split("\n")
        return [token for line in lines for token in line.removesuffix(" ").lower().split(" ")]
    if reading in ("filtered_bigrams", "filtered"):
        return _RUN.findall(text.lower())
    raise ValueError(f"reading {reading!r} is none of {', '.join(READINGS)}")


class Occurrences(NamedTuple):
    """Dictionary entries as they occur, one level for each length of n-gram; the entries."""

    levels: list[Level]
    terms: pa.LargeStringArray


def occurrences(tokens: Tokens, reading: str, highest: int, threads: int = 1) -> Occurrences:
    """Number every n-gram up to ``highest`` by its string.

    Parameters
    ----------
    tokens : Tokens
        n documents.
    reading : str
        One of :data:`READINGS`.
    highest : int
        1: unigrams alone; 2 or 3: longer n-grams too, in one dictionary.

    Returns
    -------
    Occurrences
        Columns are places in ``terms``, which are sorted by code point.
    """
    unigram_strings = (
        [_OUTSIDE_FILTER.sub("", token) for token in tokens.types]
        if reading == "filtered"
        else tokens.types
    )
    strings = [pa.array(unigram_strings, pa.large_string())]
    levels = [Level(tokens.ids, tokens.offsets)]
    if highest > 1:
        parts, offsets = _with_boundaries(tokens)
        forms = pa.array(_parts_in_ngrams(tokens.types, reading), pa.large_string())
        grams, names = parts, forms
        for n in range(2, highest + 1):
            last = np.full(len(parts), ABSENT, dtype=np.int32)
            last[: -(n - 1)] = parts[n - 1 :]
            # The last n - 1 parts of a document begin no n-gram.
            ends = offsets[1:] - (n - 1)
            last[ends[ends >= 0]] = ABSENT
            before, part, grams = number_pairs(grams, last, len(names), len(forms), threads)
            names = pc.binary_join_element_wise(
                names.take(pa.array(before)),
                forms.take(pa.array(part)),
                pa.scalar("-", pa.large_string()),
            )
            levels.append(Level(grams, offsets, sum(map(len, strings))))
            strings.append(names)
    dictionary = pa.concat_arrays(strings).dictionary_encode()
    entries = dictionary.dictionary
    order = pc.sort_indices(entries).to_numpy()
    sorted_position = np.empty(len(order), dtype=np.int32)
    sorted_position[order] = np.arange(len(order), dtype=np.int32)
    by_string = sorted_position[dictionary.indices.to_numpy()]
    numbered = []
    for level, names in zip(levels, strings, strict=True):
        # The last place stays ABSENT, so that ABSENT maps onto itself.
        place = np.full(len(names) + 1, ABSENT, dtype=np.int32)
        place[:-1] = by_string[level.first : level.first + len(names)]
        numbered.append(Level(place[level.columns], level.offsets))
    return Occurrences(numbered, entries.take(pa.array(order)))


def _parts_in_ngrams(types: list[str], reading: str) -> list[str]:
    # The filter works character by character, so filtering the parts filters the joined string.
    parts = [*types, START, END]
    if reading in ("filtered_bigrams", "filtered"):
        return [_OUTSIDE_FILTER.sub("", part) for part in parts]
    return parts


def _with_boundaries(tokens: Tokens) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return all tokens with their documents' boundaries, and the documents' offsets among them.

    A document without tokens has no boundaries either, and so no n-gram.
    """
    start, end = len(tokens.types), len(tokens.types) + 1
    lengths = np.diff(tokens.offsets)
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(np.where(lengths > 0, lengths + 2, 0), out=offsets[1:])
    parts = np.empty(int(offsets[-1]), dtype=np.int32)
    inner = np.ones(len(parts), dtype=bool)
    starts, ends = offsets[:-1][lengths > 0], offsets[1:][lengths > 0] - 1
    inner[starts] = inner[ends] = False
    parts[inner] = tokens.ids
    parts[starts] = start
    parts[ends] = end
    return parts, offsets
