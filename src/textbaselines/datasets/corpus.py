"""A corpus: its documents in canonical order, checked against what the dataset file expects."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow.parquet as pq

from textbaselines.core.errors import UserError
from textbaselines.core.storage import write_parquet
from textbaselines.datasets.normalisation import normalised

if TYPE_CHECKING:
    from textbaselines.datasets.catalog import Dataset
    from textbaselines.datasets.readers import Reading

COLUMNS = ("id", "text", "label", "rating", "split", "group")


@dataclass(frozen=True)
class Corpus:
    """The documents of a dataset and what reading them told.

    ``frame`` has one row per document and the columns id (unique), text, label, rating (float64,
    NaN where there is none), split ("train", "test" or "") and group (see :func:`text_group`).
    ``left_out`` counts documents by the reason they were left out, ``skipped_members`` the files
    in an archive that a desktop added.
    """

    frame: pd.DataFrame
    left_out: Mapping[str, int]
    replaced_characters: int
    replaced_documents: int
    content_digest: str
    skipped_members: Mapping[str, int] = field(default_factory=dict)


def build_corpus(dataset: Dataset, raw_folder: str | Path) -> Corpus:
    """Read a dataset's raw files and check what comes out.

    Raises :class:`UserError` for any fault of the raw files, no documents at all, an id that stands
    twice, a label that is no class, and documents per class, documents left out or a content digest
    other than the dataset file's, with what differs and the state of each raw file.
    """
    raw_folder = Path(raw_folder)
    # Here, for the jobs that only read what was built: it takes a fifth of a second.
    from textbaselines.datasets.expectations import check_expected
    from textbaselines.datasets.readers import read_documents

    reading = read_documents(dataset, raw_folder)
    _check_documents(dataset, raw_folder, reading)
    frame = pd.DataFrame(reading.documents, columns=list(COLUMNS[:-1])).astype(
        {"id": "str", "text": "str", "label": "str", "rating": "float64", "split": "str"}
    )
    frame["group"] = pd.Series(
        [text_group(document.text) for document in reading.documents], dtype="str"
    )
    digest = content_digest(frame)
    check_expected(
        dataset,
        raw_folder,
        {label: int((frame["label"] == label).sum()) for label in dataset.classes},
        sum(reading.left_out.values()),
        frame["text"],
        digest,
    )
    return Corpus(
        frame,
        reading.left_out,
        reading.replaced_characters,
        reading.replaced_documents,
        digest,
        reading.skipped_members,
    )


def text_group(text: str) -> str:
    """Return what documents of the same text share: 16 hex digits of a sha256.

    The text is normalised first (NFC, without invisible characters, see
    :func:`~textbaselines.datasets.normalisation.normalised`) and its white space levelled (each run
    is one space, none at the ends), for tokenizers do not tell such texts apart: on MPQA four
    documents repeat another but for a space at the end.
    """
    levelled = " ".join(normalised(text).split())
    return hashlib.sha256(levelled.encode("utf-8")).hexdigest()[:16]


def content_digest(frame: pd.DataFrame) -> str:
    """Return the sha256 of the ids, labels and texts of a corpus, in the order of its rows.

    Each string is hashed as the length of its UTF-8 form (8 bytes, big-endian) and that form, so
    no two corpora give the same bytes.
    """
    digest = hashlib.sha256()
    for row in zip(frame["id"], frame["label"], frame["text"], strict=True):
        for string in row:
            encoded = string.encode("utf-8")
            digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()


def write_corpus(path: str | Path, corpus: Corpus) -> None:
    """Write the frame of a corpus as Parquet, whole or not at all."""
    write_parquet(path, corpus.frame[list(COLUMNS)])


def read_corpus(path: str | Path, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Read the frame that :func:`write_corpus` wrote, or some of its columns.

    Raises :class:`UserError` when the file is not there or is not a corpus.
    """
    wanted = list(COLUMNS if columns is None else columns)
    try:
        present = set(pq.read_schema(path).names)
    except (OSError, ValueError) as error:
        raise UserError(
            "not a corpus file",
            where=str(path),
            found=error,
            fix="delete it and run again",
        ) from error
    missing = [column for column in wanted if column not in present]
    if missing:
        raise UserError(
            f"the corpus has no column {missing[0]!r}",
            where=str(path),
            found=", ".join(sorted(present)),
            expected=", ".join(wanted),
        )
    return pd.read_parquet(path, columns=wanted)


def _check_documents(dataset: Dataset, raw_folder: Path, reading: Reading) -> None:

    place = ", ".join(str(raw_folder / file.name) for file in dataset.files)
    if not reading.documents:
        raise UserError(
            f"no documents of {dataset.name} in its raw files",
            where=place,
            expected=_per_class(dataset.expected.documents),
        )
    counts = Counter(document.label for document in reading.documents)
    unknown = sorted(set(counts) - set(dataset.classes))
    if unknown:
        raise UserError(
            "a label that is no class of the dataset",
            where=place,
            found=", ".join(unknown),
            expected=", ".join(dataset.classes),
        )
    twice = [
        name for name, n in Counter(document.id for document in reading.documents).items() if n > 1
    ]
    if twice:
        raise UserError(
            f"{len(twice)} document ids stand twice", where=place, found=", ".join(twice[:5])
        )


def _per_class(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{label} {count}" for label, count in counts.items())
