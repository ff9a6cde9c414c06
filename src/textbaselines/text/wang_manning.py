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
    terms: list[str]


def occurrences(tokens: Tokens, reading: str, highest: int) -> Occurrences:
    """Number every unigram and, when ``highest`` is 2, every bigram by its string.

    Parameters
    ----------
    tokens : Tokens
        n documents.
    reading : str
        One of :data:`READINGS`.
    highest : 1 or 2
        Unigrams alone, or unigrams and bigrams in one dictionary.

    Returns
    -------
    Occurrences
        One row and column number for each occurrence; ``terms`` sorted by code point.

    Raises
    ------
    ValueError
        When ``highest`` is neither 1 nor 2.
    """
    if highest not in (1, 2):
        raise ValueError(f"Wang & Manning's dictionary has n-grams up to 1 or 2, not {highest}")
    lengths = np.diff(tokens.offsets)
    n_documents = len(lengths)
    unigram_rows = np.repeat(np.arange(n_documents, dtype=np.int32), lengths)
    unigram_strings = (
        [_OUTSIDE_FILTER.sub("", token) for token in tokens.types]
        if reading == "filtered"
        else tokens.types
    )
    strings = [pa.array(unigram_strings, pa.large_string())]
    rows = [unigram_rows]
    columns = [tokens.ids.astype(np.int64)]
    if highest == 2:
        left, right = _pairs(tokens, lengths)
        n_forms = len(tokens.types) + 2
        pairs, pair_numbers = np.unique(left * n_forms + right, return_inverse=True)
        forms = pa.array(_bigram_parts(tokens.types, reading), pa.large_string())
        strings.append(
            pc.binary_join_element_wise(
                forms.take(pa.array(pairs // n_forms)),
                forms.take(pa.array(pairs % n_forms)),
                pa.scalar("-", pa.large_string()),
            )
        )
        rows.append(_pair_rows(lengths))
        columns.append(pair_numbers.ravel() + len(tokens.types))
    dictionary = pa.concat_arrays(strings).dictionary_encode()
    entries = dictionary.dictionary
    order = pc.sort_indices(entries).to_numpy()
    sorted_position = np.empty(len(order), dtype=np.int64)
    sorted_position[order] = np.arange(len(order))
    by_string = sorted_position[dictionary.indices.to_numpy()]
    return Occurrences(
        np.concatenate(rows),
        by_string[np.concatenate(columns)],
        entries.take(pa.array(order)).to_pylist(),
    )


def _bigram_parts(types: list[str], reading: str) -> list[str]:
    # The filter works character by character, so filtering the parts filters the joined string.
    parts = [*types, START, END]
    if reading in ("filtered_bigrams", "filtered"):
        return [_OUTSIDE_FILTER.sub("", part) for part in parts]
    return parts


def _pair_rows(lengths: NDArray[np.int64]) -> NDArray[np.int32]:
    # A document of t tokens has t + 1 bigrams, its boundaries among them; one of none has none.
    n_pairs = np.where(lengths > 0, lengths + 1, 0)
    return np.repeat(np.arange(len(lengths), dtype=np.int32), n_pairs)


def _pairs(
    tokens: Tokens, lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    start, end = len(tokens.types), len(tokens.types) + 1
    filled = lengths[lengths > 0]
    ends = np.cumsum(filled + 1) - 1
    starts = ends - filled
    left = np.empty(len(tokens.ids) + len(filled), dtype=np.int64)
    right = np.empty_like(left)
    is_start = np.zeros(len(left), dtype=bool)
    is_start[starts] = True
    left[is_start] = start
    left[~is_start] = tokens.ids
    is_end = np.zeros(len(left), dtype=bool)
    is_end[ends] = True
    right[is_end] = end
    right[~is_end] = tokens.ids
    return left, right
