"""What a training fold knows, and what becomes of everything else (the UNK policy).

One vocabulary belongs to one (dataset, representation, repeat, fold, inner fold) and every method
on that division uses it. It is fitted on the training documents alone.
"""

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textbaselines.core import storage
from textbaselines.core.fast_take import gather
from textbaselines.text.counts import PADDING, Counts
from textbaselines.text.tokens import BREAK, Tokens

BLOCK = 1 << 25
"""Entries of a matrix that are mapped at a time."""

UNK = "<UNK>"
"""The token that rare and unseen words become under the policy ``unk``."""

POLICIES = ("drop", "unk")
"""``drop``: an n-gram with a word outside the vocabulary is left out; its neighbours do not become
adjacent. ``unk``: such a word becomes :data:`UNK` before n-grams are formed."""

SCOPES = ("training", "corpus")
"""Which dictionary the features come from. ``training``: n-grams of the training documents.
``corpus``: n-grams of all documents, where those that no training document has get weight 0; so
Wang & Manning (2012), whose NBSVM divides by the size of this dictionary. Nothing else sees it."""


@dataclass(frozen=True)
class Vocabulary:
    """The words that a training fold knows.

    Attributes
    ----------
    known : bool array, shape (number of types,)
        Which of the corpus's distinct tokens occur at least ``min_count`` times in the training
        documents.
    policy : "drop" or "unk"
    min_count : int
    """

    known: NDArray[np.bool_]
    policy: str
    min_count: int


class VocabularyDigests:
    """Digests of vocabularies over the same types, which are put in order once.

    Parameters
    ----------
    types : list of str
        The corpus's distinct tokens.
    """

    def __init__(self, types: list[str]) -> None:
        order = sorted(range(len(types)), key=types.__getitem__)
        self._order = np.array(order, dtype=np.intp)
        self._words = [types[place].encode("utf-8", "surrogatepass") for place in order]

    def of(self, vocabulary: Vocabulary) -> str:
        """Return 16 hex digits that depend on the known words, the policy and min_count alone."""
        words = itertools.compress(self._words, vocabulary.known[self._order].tolist())
        head = [vocabulary.policy.encode(), str(vocabulary.min_count).encode()]
        return hashlib.sha256(b"\n".join([*head, *words])).hexdigest()[:16]


def fit_vocabulary(
    tokens: Tokens, training: NDArray[np.bool_], policy: str, min_count: int
) -> Vocabulary:
    """Fit the vocabulary of one training fold.

    Parameters
    ----------
    tokens : Tokens
        The tokens of all n documents.
    training : bool array, shape (n,)
        Which documents are training documents; the others are not looked at.
    policy : "drop" or "unk"
    min_count : int
        A word with fewer occurrences in the training documents is not known.

    Raises
    ------
    ValueError
        For another policy, or ``min_count < 1``.
    """
    if policy not in POLICIES:
        raise ValueError(f"UNK policy {policy!r} is none of {', '.join(POLICIES)}")
    if min_count < 1:
        raise ValueError(f"min_count is {min_count}, wanted 1 or more")
    ids = tokens.ids[np.repeat(training, np.diff(tokens.offsets))]
    counts = np.bincount(ids[ids != BREAK], minlength=len(tokens.types))
    return Vocabulary(counts >= min_count, policy, min_count)


@dataclass(frozen=True)
class ColumnMap:
    """Which feature of a fold each column of the corpus's counts becomes.

    Attributes
    ----------
    target : int32 array, shape (m,)
        The fold's feature, or -1 where the column is left out.
    n_features : int
    """

    target: NDArray[np.int32]
    n_features: int

    @cached_property
    def keeps_order(self) -> bool:
        """Whether no two columns become one feature, and features have the order of columns."""
        kept = self.target[self.target >= 0]
        return bool((kept[1:] > kept[:-1]).all())

    def apply(self, matrix: sp.csr_array, rows: NDArray[np.bool_] | None = None) -> sp.csr_array:
        """Return the matrix, or some rows of it, over the fold's features.

        Columns that became one are summed. Where no column is left out the result shares the
        counts. A matrix of more than :data:`BLOCK` entries is mapped block by block: beside the
        result there is never more than a block in memory.

        Parameters
        ----------
        matrix : csr_array of shape (n, m)
            Column indices sorted within a row, each once.
        rows : bool array, shape (n,), optional
            Which rows; all by default.
        """
        if matrix.nnz <= BLOCK:
            return self._mapped(matrix if rows is None else rows_of(matrix, rows))
        lengths = np.diff(matrix.indptr)[slice(None) if rows is None else rows]
        indices = np.empty(int(lengths.sum(dtype=np.int64)), dtype=np.int32)
        data = np.empty(len(indices), dtype=matrix.dtype)
        indptr = np.zeros(len(lengths) + 1, dtype=np.int32)
        done = filled = 0
        for block in row_blocks(matrix, rows):
            mapped = self._mapped(block)
            stop = filled + mapped.nnz
            indices[filled:stop], data[filled:stop] = mapped.indices, mapped.data
            indptr[done + 1 : done + mapped.shape[0] + 1] = filled + mapped.indptr[1:]
            done, filled = done + mapped.shape[0], stop
        shape = (len(lengths), self.n_features)
        result = sp.csr_array((data[:filled], indices[:filled], indptr), shape=shape)
        result.has_canonical_format = True
        return result

    def _mapped(self, matrix: sp.csr_array) -> sp.csr_array:
        data, indptr, target = matrix.data, matrix.indptr, gather(self.target, matrix.indices)
        kept = target >= 0
        if not kept.all():
            places = np.flatnonzero(kept).astype(np.int32)
            data, target = gather(data, places), gather(target, places)
            indptr = np.searchsorted(places, indptr).astype(np.int32)
        shape = (matrix.shape[0], self.n_features)
        if self.keeps_order:
            mapped = sp.csr_array((data, target, indptr), shape=shape)
            mapped.has_canonical_format = True
            return mapped
        # Summing is done in place.
        mapped = sp.csr_array((data.copy(), target.copy(), indptr.copy()), shape=shape)
        mapped.sum_duplicates()
        return mapped


def rows_of(matrix: sp.csr_array, rows: NDArray[np.bool_]) -> sp.csr_array:
    """Return the rows that the bool array says; without a copy where they stand together."""
    places = np.flatnonzero(rows)
    if len(places) and places[-1] - places[0] + 1 == len(places):
        return matrix[places[0] : places[-1] + 1]
    return matrix[places]


def row_blocks(
    matrix: sp.csr_array, rows: NDArray[np.bool_] | None = None
) -> Iterator[sp.csr_array]:
    """Yield the rows of a matrix, or some of them, in blocks of about :data:`BLOCK` entries."""
    chosen = np.arange(matrix.shape[0]) if rows is None else np.flatnonzero(rows)
    up_to = np.cumsum(np.diff(matrix.indptr)[chosen], dtype=np.int64)
    begin = 0
    while begin < len(chosen):
        before = int(up_to[begin - 1]) if begin else 0
        end = max(int(np.searchsorted(up_to, before + BLOCK, side="right")), begin + 1)
        yield matrix[chosen[begin:end]]
        begin = end


def map_columns(
    counts: Counts,
    training: NDArray[np.bool_],
    vocabulary: Vocabulary,
    scope: str = "training",
    training_counts: sp.csr_array | None = None,
) -> ColumnMap:
    """Map the corpus's n-grams onto the features of one fold.

    Parameters
    ----------
    counts : Counts
        Of all n documents, m columns.
    training : bool array, shape (n,)
    vocabulary : Vocabulary
        Of the same fold.
    scope : "training" or "corpus"
        See :data:`SCOPES`.
    training_counts : csr_array, optional
        The rows ``counts.matrix[training]``, where they are at hand.

    Returns
    -------
    ColumnMap
        Features keep the order of their tokens (UNK comes last among tokens), so that texts
        outside the training fold cannot change the order.

    Raises
    ------
    ValueError
        For another scope; for a dictionary of strings with the policy ``unk`` or min_count
        above 1, since its entries have no parts.
    """
    if scope not in SCOPES:
        raise ValueError(f"scope {scope!r} is none of {', '.join(SCOPES)}")
    n_columns = counts.matrix.shape[1]
    seen = np.zeros(n_columns, dtype=bool)
    if training_counts is None:
        blocks: Iterable[sp.csr_array] = row_blocks(counts.matrix, training)
    else:
        blocks = [training_counts]
    for block in blocks:
        seen[block.indices] = True
    wanted = seen if scope == "training" else np.ones(n_columns, dtype=bool)
    if counts.parts is None:
        if vocabulary.policy != "drop" or vocabulary.min_count != 1:
            raise ValueError("a dictionary of strings has the UNK policy 'drop' and min_count 1")
        return _keep(wanted)
    if vocabulary.policy == "drop":
        if scope == "training" and vocabulary.min_count == 1:
            return _keep(wanted)  # training documents have no word that is not known
        for parts in counts.parts.T:
            wanted = wanted & (vocabulary.known[parts] | (parts == PADDING))
        return _keep(wanted)
    padding = counts.parts == PADDING
    unk = len(counts.types)
    mapped = np.where(padding, PADDING, np.where(vocabulary.known[counts.parts], counts.parts, unk))
    # The number of each distinct mapped n-gram, in the order of its tokens, shorter ones first.
    key = (~padding).sum(axis=1).astype(np.int64)
    for column in range(mapped.shape[1]):
        key = key * (unk + 2) + (mapped[:, column] + 1)
        key = np.unique(key, return_inverse=True)[1].ravel()
    if scope == "training":
        in_training = np.zeros(int(key.max(initial=-1)) + 1, dtype=bool)
        in_training[key[seen]] = True
        kept = _keep(in_training)
        return ColumnMap(kept.target[key], kept.n_features)
    return ColumnMap(key.astype(np.int32), int(key.max(initial=-1)) + 1)


def feature_terms(counts: Counts, columns: ColumnMap, vocabulary: Vocabulary) -> list[str]:
    """Return each feature of a fold as text, with UNK where a word is not known."""
    terms = [""] * columns.n_features
    if counts.parts is None:
        texts = counts.terms()
    else:
        words = [
            word if known else UNK
            for word, known in zip(counts.types, vocabulary.known.tolist(), strict=True)
        ]
        texts = [
            " ".join(words[part] for part in row if part != PADDING)
            for row in counts.parts.tolist()
        ]
    for text, target in zip(texts, columns.target.tolist(), strict=True):
        if target >= 0:
            terms[target] = text
    return terms


def write_vocabularies(
    path: str | Path, types: list[str], folds: Mapping[tuple[int, int, int], Vocabulary]
) -> None:
    """Write the vocabularies of every (repeat, fold, inner fold) of a dataset and UNK policy."""
    keys = sorted(folds)
    n_types = len(types)
    some = folds[keys[0]]
    storage.write_arrays(
        path,
        folds=np.array(keys, dtype=np.int32),
        known=np.packbits(
            np.array([folds[key].known for key in keys], dtype=bool).reshape(-1, n_types), axis=1
        ),
        n_types=np.array(n_types),
        policy=np.array(some.policy),
        min_count=np.array(some.min_count),
    )


def read_vocabularies(path: str | Path) -> dict[tuple[int, int, int], Vocabulary]:
    """Read what :func:`write_vocabularies` wrote.

    Raises :class:`UserError` when the file is absent, broken or another.
    """
    arrays = storage.read_arrays(path, ("folds", "known", "n_types", "policy", "min_count"))
    n_types = int(arrays["n_types"])
    known = np.unpackbits(arrays["known"], axis=1, count=n_types).astype(bool)
    policy, min_count = str(arrays["policy"]), int(arrays["min_count"])
    return {
        (int(repeat), int(fold), int(inner)): Vocabulary(row, policy, min_count)
        for (repeat, fold, inner), row in zip(arrays["folds"], known, strict=True)
    }


def _keep(wanted: NDArray[np.bool_]) -> ColumnMap:
    target = np.where(wanted, np.cumsum(wanted) - 1, -1).astype(np.int32)
    return ColumnMap(target, int(wanted.sum()))
