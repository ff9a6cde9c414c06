"""The tokens of a corpus as integer ids, and the file that holds them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from textbaselines.core import storage

SENTENCE_END = " "
"""What a tokenizer yields where a sentence ends; no token has a space in it."""

BREAK = -1
"""The id that stands for a sentence end: no n-gram reaches over it."""


@dataclass(frozen=True)
class Tokens:
    """The token ids of n documents.

    Attributes
    ----------
    documents : list of str
        The n document ids.
    types : list of str
        The distinct tokens, sorted by code point, so that the order of two of them depends on
        nothing but themselves.
    ids : int32 array
        Positions in ``types``, all documents one after another; :data:`BREAK` for a sentence end.
    offsets : int64 array, shape (n + 1,)
        Document i has the ids ``offsets[i]:offsets[i + 1]``.
    """

    documents: list[str]
    types: list[str]
    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]

    def of(self, position: int) -> list[str]:
        """Return the tokens of the document at ``position``, sentence ends left out."""
        ids = self.ids[self.offsets[position] : self.offsets[position + 1]]
        return [self.types[token] for token in ids if token != BREAK]


def encode(documents: Sequence[str], token_lists: Iterable[Iterable[str]]) -> Tokens:
    """Number the tokens of every document.

    ``documents``: the document ids; ``token_lists``: the tokens of each document, in the same
    order.
    """
    numbers: dict[str, int] = {}
    ids: list[NDArray[np.int32]] = []
    lengths: list[int] = []
    for tokens in token_lists:
        row = [
            BREAK if token == SENTENCE_END else numbers.setdefault(token, len(numbers))
            for token in tokens
        ]
        ids.append(np.array(row, dtype=np.int32))
        lengths.append(len(row))
    if len(lengths) != len(documents):
        raise ValueError(f"{len(documents)} documents but {len(lengths)} token lists")
    types = sorted(numbers)
    # The last place stays BREAK, so that an id of -1 maps onto itself.
    sorted_position = np.full(len(types) + 1, BREAK, dtype=np.int32)
    for position, token in enumerate(types):
        sorted_position[numbers[token]] = position
    flat = np.concatenate(ids) if ids else np.zeros(0, dtype=np.int32)
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return Tokens(list(documents), types, sorted_position[flat], offsets)


def write_tokens(path: str | Path, tokens: Tokens) -> None:
    """Write tokens as an npz of plain arrays."""
    types, type_offsets = storage.pack_strings(tokens.types)
    documents, document_offsets = storage.pack_strings(tokens.documents)
    storage.write_arrays(
        path,
        ids=tokens.ids,
        offsets=tokens.offsets,
        types=types,
        type_offsets=type_offsets,
        documents=documents,
        document_offsets=document_offsets,
    )


def read_tokens(path: str | Path) -> Tokens:
    """Read what :func:`write_tokens` wrote.

    Raises :class:`UserError` when the file is not a tokens file.
    """
    wanted = ("documents", "document_offsets", "types", "type_offsets", "ids", "offsets")
    arrays = storage.read_arrays(path, wanted)
    return Tokens(
        storage.unpack_strings(arrays["documents"], arrays["document_offsets"]),
        storage.unpack_strings(arrays["types"], arrays["type_offsets"]),
        arrays["ids"],
        arrays["offsets"],
    )
