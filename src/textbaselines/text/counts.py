"""Document-term counts of a whole corpus, n-grams included, counted once for every fold."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textbaselines.core import storage
from textbaselines.core.errors import UserError
from textbaselines.text import wang_manning
from textbaselines.text.id_pairs import Level, number_pairs
from textbaselines.text.tokens import BREAK, Tokens

BLOCK = 1 << 21
"""n-gram occurrences that are counted at a time in each thread."""

PADDING = -1
"""In ``Counts.parts``: this n-gram is shorter than the longest."""


@dataclass(frozen=True)
class Counts:
    """How often each n-gram stands in each document of a corpus.

    Attributes
    ----------
    documents : list of str
        The n document ids, one for each row.
    matrix : csr_array of int32, shape (n, m)
        Columns are in the order of their n-grams' tokens, so that the order of two columns
        depends on nothing but themselves; column indices sorted within a row.
    types : list of str
        The distinct tokens.
    parts : int32 array, shape (m, highest), or None
        The positions in ``types`` that make up each column's n-gram, :data:`PADDING` after a
        shorter one. None for a dictionary of strings, whose entries have no parts (Wang &
        Manning's, where a hyphenated word and a bigram may be one entry).
    strings : PackedStrings or None
        The entries of a dictionary of strings, packed: millions of them are seldom looked at.
    """

    documents: list[str]
    matrix: sp.csr_array
    types: list[str]
    parts: NDArray[np.int32] | None
    strings: storage.PackedStrings | None = None

    def terms(self) -> list[str]:
        """Return the m n-grams as text: tokens joined by a space, or the dictionary's entries."""
        if self.strings is not None:
            return storage.unpack_strings(*self.strings)
        assert self.parts is not None
        return [
            " ".join(self.types[part] for part in row if part != PADDING)
            for row in self.parts.tolist()
        ]


def count_ngrams(tokens: Tokens, lowest: int, highest: int, threads: int = 1) -> Counts:
    """Count the n-grams of adjacent tokens, ``lowest <= n <= highest``.

    No n-gram reaches over a sentence end (:data:`~textbaselines.text.tokens.BREAK`) or from one
    document into the next. The counts are the same with any number of threads.

    Raises
    ------
    ValueError
        When not ``1 <= lowest <= highest``.
    UserError
        When the counts need more than 2**31 - 1 non-zeros, which the solvers cannot index.
    """
    if not 1 <= lowest <= highest:
        raise ValueError(f"n-grams from {lowest} to {highest}: wanted 1 <= lowest <= highest")
    n_types = len(tokens.types)
    # At step n: which n-gram begins at each token, and the tokens each consists of.
    grams = tokens.ids
    parts = np.arange(n_types, dtype=np.int32)[:, np.newaxis]
    levels: list[Level] = []
    all_parts: list[NDArray[np.int32]] = []
    n_columns = 0
    for n in range(1, highest + 1):
        if n > 1:
            last = np.full(len(grams), BREAK, dtype=np.int32)
            last[: -(n - 1)] = tokens.ids[n - 1 :]
            # The last n - 1 tokens of a document begin no n-gram; all but one of them did not
            # begin a shorter one.
            ends = tokens.offsets[1:] - (n - 1)
            last[ends[ends >= 0]] = BREAK
            before, token, grams = number_pairs(grams, last, len(parts), n_types, threads)
            parts = np.column_stack([parts[before], token])
        if n >= lowest:
            levels.append(Level(grams, tokens.offsets, n_columns))
            n_columns += len(parts)
            padded = np.full((len(parts), highest), PADDING, dtype=np.int32)
            padded[:, :n] = parts
            all_parts.append(padded)
    matrix = _count(levels, (len(tokens.documents), n_columns), threads)
    return Counts(tokens.documents, matrix, tokens.types, np.concatenate(all_parts))


def count_wang_manning(tokens: Tokens, reading: str, highest: int, threads: int = 1) -> Counts:
    """Count the entries of Wang & Manning's dictionary of strings.

    Parameters and errors as :func:`textbaselines.text.wang_manning.occurrences`.
    """
    levels, terms = wang_manning.occurrences(tokens, reading, highest, threads)
    matrix = _count(levels, (len(tokens.documents), len(terms)), threads)
    strings = storage.pack_arrow_strings(terms)
    return Counts(tokens.documents, matrix, tokens.types, None, strings)


def count_tokens(
    tokens: Tokens, tokenizer: dict[str, Any], lowest: int, highest: int, threads: int = 1
) -> Counts:
    """Count as the tokenizer's family demands: a dictionary of n-grams or one of strings."""
    if tokenizer["family"] == "wang_manning":
        if lowest != 1:
            raise UserError(
                "Wang & Manning's dictionary always has the unigrams in it",
                where="ngrams",
                found=f"[{lowest}, {highest}]",
                expected="[1, 1], [1, 2] or [1, 3]",
            )
        return count_wang_manning(tokens, tokenizer["reading"], highest, threads)
    return count_ngrams(tokens, lowest, highest, threads)


def _count(levels: list[Level], shape: tuple[int, int], threads: int) -> sp.csr_array:
    """Count each document's columns, those of every level together."""
    occurrences = sum(int(np.count_nonzero(level.columns >= 0)) for level in levels)
    if occurrences > np.iinfo(np.int32).max:
        raise UserError(
            "more n-gram occurrences than the linear solver can index",
            found=f"{occurrences:,}",
            expected=f"at most {np.iinfo(np.int32).max:,}",
            fix="use fewer documents, a lower n-gram range or a tokenizer that drops marks",
        )
    indptr = np.zeros(shape[0] + 1, dtype=np.int32)
    indices = storage.large_array(occurrences, np.int32)
    data = storage.large_array(occurrences, np.int32)
    # Documents are counted block by block, in each by one sort of (row, column) keys.
    sizes = np.sum([level.offsets for level in levels], axis=0)
    starts = np.searchsorted(sizes, np.arange(0, int(sizes[-1]) + 1, BLOCK))
    bounds = sorted({*starts.tolist(), 0, shape[0]})
    filled = 0
    with ThreadPoolExecutor(threads) as pool:
        blocks = pool.map(
            lambda span: _count_block(levels, span, shape[1]), itertools.pairwise(bounds)
        )
        for (low, high), (lengths, columns, counts) in zip(
            itertools.pairwise(bounds), blocks, strict=True
        ):
            indptr[low + 1 : high + 1] = filled + np.cumsum(lengths)
            indices[filled : filled + len(columns)] = columns
            data[filled : filled + len(columns)] = counts
            filled += len(columns)
    return sp.csr_array((data[:filled], indices[:filled], indptr), shape=shape)


def _count_block(
    levels: list[Level], span: tuple[int, int], n_columns: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Return the number of columns of each document of a block, the columns and their counts."""
    low, high = span
    bits = n_columns.bit_length()
    pieces = []
    for level in levels:
        offsets = level.offsets[low : high + 1]
        columns = level.columns[offsets[0] : offsets[-1]]
        keys = np.repeat(np.arange(high - low, dtype=np.int64) << bits, np.diff(offsets))
        keys += columns
        keys += level.first
        pieces.append(keys[columns >= 0])
    keys = np.concatenate(pieces)
    keys.sort()
    new = np.ones(len(keys) + 1, dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:-1])
    begins = np.flatnonzero(new)
    counts = np.diff(begins).astype(np.int32)
    keys = keys[begins[:-1]]
    columns = (keys & ((1 << bits) - 1)).astype(np.int32)
    return np.bincount(keys >> bits, minlength=high - low), columns, counts


def write_counts(folder: str | Path, counts: Counts) -> None:
    """Write ``matrix.npz`` and, last, ``summary.json`` (numbers of documents, tokens, features)."""
    folder = Path(folder)
    documents, document_offsets = storage.pack_strings(counts.documents)
    types, type_offsets = storage.pack_strings(counts.types)
    arrays = {
        "indptr": counts.matrix.indptr,
        "indices": counts.matrix.indices,
        "data": counts.matrix.data,
        "shape": np.array(counts.matrix.shape, dtype=np.int64),
        "documents": documents,
        "document_offsets": document_offsets,
        "types": types,
        "type_offsets": type_offsets,
    }
    if counts.parts is not None:
        arrays["parts"] = counts.parts
    if counts.strings is not None:
        arrays["strings"], arrays["string_offsets"] = counts.strings
    storage.write_arrays(folder / "matrix.npz", **arrays)
    storage.write_json(
        folder / "summary.json",
        {
            "documents": counts.matrix.shape[0],
            "features": counts.matrix.shape[1],
            "types": len(counts.types),
            "occurrences": int(counts.matrix.data.sum(dtype=np.int64)),
            "non_zeros": int(counts.matrix.nnz),
        },
    )


def read_counts(path: str | Path) -> Counts:
    """Read the ``matrix.npz`` that :func:`write_counts` wrote.

    Raises :class:`UserError` when the file is absent, broken or another.
    """
    matrix = ("shape", "data", "indices", "indptr")
    packed = ("documents", "document_offsets", "types", "type_offsets")
    arrays = storage.read_arrays(path, matrix + packed)
    n_rows, n_columns = (int(size) for size in arrays["shape"])
    matrix = sp.csr_array(
        (arrays["data"], arrays["indices"], arrays["indptr"]), shape=(n_rows, n_columns)
    )
    matrix.has_sorted_indices = True
    return Counts(
        storage.unpack_strings(arrays["documents"], arrays["document_offsets"]),
        matrix,
        storage.unpack_strings(arrays["types"], arrays["type_offsets"]),
        arrays.get("parts"),
        storage.PackedStrings(arrays["strings"], arrays["string_offsets"])
        if "strings" in arrays
        else None,
    )
