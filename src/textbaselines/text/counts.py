"""Document-term counts of a whole corpus, n-grams included, counted once for every fold."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textbaselines import storage
from textbaselines.errors import UserError
from textbaselines.text import wang_manning
from textbaselines.text.tokens import BREAK, Tokens

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


def count_ngrams(tokens: Tokens, lowest: int, highest: int) -> Counts:
    """Count the n-grams of adjacent tokens, ``lowest <= n <= highest``.

    No n-gram reaches over a sentence end (:data:`~textbaselines.text.tokens.BREAK`) or from one
    document into the next.

    Raises
    ------
    ValueError
        When not ``1 <= lowest <= highest``.
    UserError
        When the counts need more than 2**31 - 1 non-zeros, which the solvers cannot index.
    """
    if not 1 <= lowest <= highest:
        raise ValueError(f"n-grams from {lowest} to {highest}: wanted 1 <= lowest <= highest")
    n_documents = len(tokens.documents)
    n_types = len(tokens.types)
    rows = np.repeat(np.arange(n_documents, dtype=np.int32), np.diff(tokens.offsets))
    present = np.flatnonzero(tokens.ids != BREAK)
    # At step n: where the n-grams begin, which n-gram each is, and the tokens each consists of.
    begins, grams = present, tokens.ids[present].astype(np.int64)
    parts = np.arange(n_types, dtype=np.int32)[:, np.newaxis]
    all_rows: list[NDArray[np.int32]] = []
    all_columns: list[NDArray[np.int64]] = []
    all_parts: list[NDArray[np.int32]] = []
    n_columns = 0
    for n in range(1, highest + 1):
        if n > 1:
            ends = begins + (n - 1)
            inside = ends < len(tokens.ids)
            begins, grams, ends = begins[inside], grams[inside], ends[inside]
            joined = (rows[begins] == rows[ends]) & (tokens.ids[ends] != BREAK)
            begins, grams, ends = begins[joined], grams[joined], ends[joined]
            keys, grams = np.unique(grams * n_types + tokens.ids[ends], return_inverse=True)
            grams = grams.ravel()
            last = (keys % n_types).astype(np.int32) if n_types else keys.astype(np.int32)
            before = keys // n_types if n_types else keys
            parts = np.column_stack([parts[before], last])
        if n >= lowest:
            all_rows.append(rows[begins])
            all_columns.append(grams + n_columns)
            padded = np.full((len(parts), highest), PADDING, dtype=np.int32)
            padded[:, :n] = parts
            all_parts.append(padded)
            n_columns += len(parts)
    matrix = _count(np.concatenate(all_rows), np.concatenate(all_columns), (n_documents, n_columns))
    return Counts(tokens.documents, matrix, tokens.types, np.concatenate(all_parts))


def count_wang_manning(tokens: Tokens, reading: str, highest: int) -> Counts:
    """Count the entries of Wang & Manning's dictionary of strings.

    Parameters and errors as :func:`textbaselines.text.wang_manning.occurrences`.
    """
    rows, columns, terms = wang_manning.occurrences(tokens, reading, highest)
    matrix = _count(rows, columns, (len(tokens.documents), len(terms)))
    strings = storage.pack_arrow_strings(terms)
    return Counts(tokens.documents, matrix, tokens.types, None, strings)


def count_tokens(tokens: Tokens, tokenizer: dict[str, Any], lowest: int, highest: int) -> Counts:
    """Count as the tokenizer's family demands: a dictionary of n-grams or one of strings."""
    if tokenizer["family"] == "wang_manning":
        if lowest != 1:
            raise UserError(
                "Wang & Manning's dictionary always has the unigrams in it",
                where="ngrams",
                found=f"[{lowest}, {highest}]",
                expected="[1, 1], [1, 2] or [1, 3]",
            )
        return count_wang_manning(tokens, tokenizer["reading"], highest)
    return count_ngrams(tokens, lowest, highest)


def _count(
    rows: NDArray[np.int32], columns: NDArray[np.int64], shape: tuple[int, int]
) -> sp.csr_array:
    if len(rows) > np.iinfo(np.int32).max:
        raise UserError(
            "more n-gram occurrences than the linear solver can index",
            found=f"{len(rows):,}",
            expected=f"at most {np.iinfo(np.int32).max:,}",
            fix="use fewer documents, a lower n-gram range or a tokenizer that drops marks",
        )
    # One sort of (row, column) keys is faster and smaller than scipy's way through COO.
    keys, counts = np.unique(rows.astype(np.int64) * max(shape[1], 1) + columns, return_counts=True)
    indptr = np.zeros(shape[0] + 1, dtype=np.int32)
    np.cumsum(np.bincount(keys // max(shape[1], 1), minlength=shape[0]), out=indptr[1:])
    indices = (keys % max(shape[1], 1)).astype(np.int32)
    return sp.csr_array((counts.astype(np.int32), indices, indptr), shape=shape)


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
    """Read the ``matrix.npz`` that :func:`write_counts` wrote."""
    arrays = storage.read_arrays(path)
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
