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


def tokenize(text: str, reading: str) -> list[str]:
    """Return the tokens of a text under one of :data:`READINGS`, not yet filtered.

    Raises
    ------
    ValueError
        When ``reading`` is none of them.
    """
    if reading == "spaces":
        return text.strip().lower().split(" ")
    if reading == "lines":
        lines = text.removesuffix("\n").split("\n")
        return [token for line in lines for token in line.removesuffix(" ").lower().split(" ")]
    if reading in ("filtered_bigrams", "filtered"):
        return _RUN.findall(text.lower())
    raise ValueError(f"reading {reading!r} is none of {', '.join(READINGS)}")


class Occurrences(NamedTuple):
    """Dictionary entries as they occur: row, column, and the entries' strings."""

    rows: NDArray[np.int32]
    columns: NDArray[np.int64]
    terms: pa.LargeStringArray


def occurrences(tokens: Tokens, reading: str, highest: int) -> Occurrences:
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
        One row and column number for each occurrence; ``terms`` sorted by code point.
    """
    lengths = np.diff(tokens.offsets)
    unigram_strings = (
        [_OUTSIDE_FILTER.sub("", token) for token in tokens.types]
        if reading == "filtered"
        else tokens.types
    )
    strings = [pa.array(unigram_strings, pa.large_string())]
    rows = [np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)]
    columns = [tokens.ids.astype(np.int64)]
    if highest > 1:
        parts, part_rows = _with_boundaries(tokens, lengths)
        n_parts = len(tokens.types) + 2
        forms = pa.array(_parts_in_ngrams(tokens.types, reading), pa.large_string())
        grams, names = parts, forms
        for n in range(2, highest + 1):
            inside = part_rows[: -(n - 1)] == part_rows[n - 1 :] if len(parts) >= n else slice(0)
            keys, grams = np.unique(
                grams[: len(parts) - n + 1][inside] * n_parts + parts[n - 1 :][inside],
                return_inverse=True,
            )
            names = pc.binary_join_element_wise(
                names.take(pa.array(keys // n_parts)),
                forms.take(pa.array(keys % n_parts)),
                pa.scalar("-", pa.large_string()),
            )
            rows.append(part_rows[: len(parts) - n + 1][inside])
            columns.append(grams.ravel() + sum(map(len, strings)))
            strings.append(names)
            if n < highest:
                # Where a document is too short for an n-gram, no longer one begins either.
                spread = np.zeros(len(parts), dtype=np.int64)
                spread[: len(parts) - n + 1][inside] = grams.ravel()
                grams = spread
    dictionary = pa.concat_arrays(strings).dictionary_encode()
    entries = dictionary.dictionary
    order = pc.sort_indices(entries).to_numpy()
    sorted_position = np.empty(len(order), dtype=np.int64)
    sorted_position[order] = np.arange(len(order))
    by_string = sorted_position[dictionary.indices.to_numpy()]
    return Occurrences(
        np.concatenate(rows), by_string[np.concatenate(columns)], entries.take(pa.array(order))
    )


def _parts_in_ngrams(types: list[str], reading: str) -> list[str]:
    # The filter works character by character, so filtering the parts filters the joined string.
    parts = [*types, START, END]
    if reading in ("filtered_bigrams", "filtered"):
        return [_OUTSIDE_FILTER.sub("", part) for part in parts]
    return parts


def _with_boundaries(
    tokens: Tokens, lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return all tokens with their documents' boundaries, and the document of each.

    A document without tokens has no boundaries either, and so no n-gram.
    """
    start, end = len(tokens.types), len(tokens.types) + 1
    filled = np.flatnonzero(lengths)
    sizes = lengths[filled] + 2
    ends = np.cumsum(sizes) - 1
    parts = np.empty(len(tokens.ids) + 2 * len(filled), dtype=np.int64)
    inner = np.ones(len(parts), dtype=bool)
    inner[ends] = inner[ends - sizes + 1] = False
    parts[inner] = tokens.ids
    parts[ends] = end
    parts[ends - sizes + 1] = start
    return parts, np.repeat(filled.astype(np.int32), sizes)
