"""Raw files read into documents, whatever archive they came in: one function per kind of reader."""

from __future__ import annotations

import logging
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from textbaselines.core.errors import UserError
from textbaselines.datasets.archives import iterate_members, read_member
from textbaselines.datasets.decoding import CONTROL, Decoder, numbered_lines
from textbaselines.datasets.table_rows import FORMATS

if TYPE_CHECKING:
    from textbaselines.datasets.catalog import Dataset
    from textbaselines.datasets.dataset_file import Folders, Lines, Newsgroups, RatedLines, Table

logger = logging.getLogger(__name__)


class Document(NamedTuple):
    """One labelled text; ``rating`` is NaN and ``split`` is "" where the corpus has none."""

    id: str
    text: str
    label: str
    rating: float
    split: str


@dataclass
class Reading:
    """What a reader made of the raw files.

    ``documents`` stand in canonical order: by class as the dataset file lists them, then by id
    in natural order (numbers by value). ``left_out`` counts documents by the reason they were
    left out, ``skipped_members`` the files in an archive that a desktop added,
    ``replaced_characters`` the U+FFFD that stand for undecodable bytes.
    """

    documents: list[Document] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    skipped_members: Counter[str] = field(default_factory=Counter)
    replaced_characters: int = 0
    replaced_documents: int = 0


def read_documents(dataset: Dataset, raw_folder: str | Path) -> Reading:
    """Read the raw files of a dataset with the reader that its file names.

    Raises :class:`UserError` for a file that is missing or is not what the reader reads, with the
    line or document.
    """
    raw_folder = Path(raw_folder)
    for file in dataset.files:
        if not (raw_folder / file.name).is_file():
            raise UserError(
                "a raw file is missing", where=str(raw_folder / file.name), fix="fetch it first"
            )
    reading = Reading()
    decoder = Decoder(dataset.encoding)
    READERS[dataset.reader.kind](dataset.reader, dataset, raw_folder, decoder, reading)
    reading.replaced_characters = decoder.replaced_characters
    reading.replaced_documents = decoder.replaced_documents
    order = {label: rank for rank, label in enumerate(dataset.classes)}
    reading.documents.sort(key=lambda document: (order[document.label], natural_key(document.id)))
    return reading


def natural_key(text: str) -> tuple[tuple[str | tuple[int, str], ...], str]:
    """Return a sort key by which ``a9`` comes before ``a10``."""
    parts: list[str | tuple[int, str]] = list(re.split(r"([0-9]+)", text))
    # A number goes by its length and digits without leading zeros, not by int(), which refuses
    # those of more than 4,300 digits.
    digits = [str(part).lstrip("0") for part in parts[1::2]]
    parts[1::2] = [(len(part), part) for part in digits]
    return tuple(parts), text


def _read_rated_lines(
    options: RatedLines, dataset: Dataset, raw_folder: Path, decoder: Decoder, reading: Reading
) -> None:
    """Lines ``id TAB mean rating TAB text``; ratings nearer to 0 than the margin are left out."""
    place, content = _file_or_member(dataset, raw_folder, options.member)
    lowest, highest = options.scale
    neutral = 0
    parts, content = decoder.bytewise(content, place)
    for number, line in numbered_lines(content):
        where = f"{place}, line {number}"
        fields = line.split(b"\t", 2)
        if len(fields) != 3:
            raise UserError(
                "a line without an id, a rating and a text",
                where=where,
                found=repr(line[:80]),
                expected="id TAB rating TAB text",
            )
        rating = _rating(fields[1], where)
        if not lowest <= rating <= highest:
            raise UserError(
                "a rating outside the scale",
                where=where,
                found=rating,
                expected=f"{lowest} to {highest}",
            )
        identifier = parts.text(fields[0], where, strict=True)
        text = parts.text(fields[2], where)
        if abs(rating) < options.margin:
            neutral += 1
            continue
        label = options.positive if rating > 0 else options.negative
        reading.documents.append(Document(options.id_prefix + identifier, text, label, rating, ""))
    reading.left_out[f"neutral (|rating| < {options.margin:g})"] = neutral


def _read_lines(
    options: Lines, dataset: Dataset, raw_folder: Path, decoder: Decoder, reading: Reading
) -> None:
    """One document per line, one file per class; the id is the class and the line number."""
    blank = 0
    for name, label in options.labels.items():
        path = raw_folder / name
        parts, content = decoder.bytewise(path.read_bytes(), str(path))
        for number, line in numbered_lines(content):
            text = parts.text(line, f"{path}, line {number}")
            if not text.strip() and not options.keep_blank:
                blank += 1
                continue
            reading.documents.append(Document(f"{label}-{number:05d}", text, label, math.nan, ""))
    if not options.keep_blank:
        reading.left_out["blank line"] = blank


def _read_folders(
    options: Folders, dataset: Dataset, raw_folder: Path, decoder: Decoder, reading: Reading
) -> None:
    """One document per archive member whose path ends as the pattern says."""
    path = raw_folder / dataset.files[0].name
    pattern = re.compile(rf"(?:^|/)(?:{options.pattern})\Z")
    labels = {_nfc(value): label for value, label in options.labels.items()}
    for name, match, content in _matching_members(path, pattern, reading):
        groups = match.groupdict()
        label = _label(labels, groups["label"], f"{path}, member {name}")
        split = groups.get("split") or ""
        if split not in ("", "train", "test"):
            raise UserError(
                "a split that is neither train nor test",
                where=f"{path}, member {name}",
                found=split,
            )
        identifier = "/".join(part for part in (split, groups["label"], groups["id"]) if part)
        where = f"{path}, document {identifier}"
        rating = groups.get("rating")
        reading.documents.append(
            Document(
                identifier,
                decoder.file(content, where),
                label,
                math.nan if rating is None else _rating(rating.encode(), where),
                split,
            )
        )


def _read_newsgroups(
    options: Newsgroups, dataset: Dataset, raw_folder: Path, decoder: Decoder, reading: Reading
) -> None:
    """One post per archive member ``.../GROUP/NUMBER``; line ends become line feeds."""
    path = raw_folder / dataset.files[0].name
    groups = "|".join(re.escape(group) for group in options.groups)
    pattern = re.compile(rf"(?:^|/)(?P<group>{groups})/(?P<number>[0-9]+)\Z")
    for _, match, content in _matching_members(path, pattern, reading):
        identifier = f"{match['group']}/{match['number']}"
        where = f"{path}, document {identifier}"
        text = decoder.file(content, where).replace("\r\n", "\n")
        if options.strip_headers:
            _, blank_line, text = text.partition("\n\n")
            if not blank_line:
                raise UserError(
                    "a post without a blank line after its headers",
                    where=where,
                    fix="set strip_headers: false if the posts have no headers",
                )
        if options.strip_quotes:
            text = strip_quotes(text)
        if options.strip_footers:
            text = strip_footer(text)
        label = options.groups[match["group"]]
        reading.documents.append(Document(identifier, text, label, math.nan, ""))


def _read_table(
    options: Table, dataset: Dataset, raw_folder: Path, decoder: Decoder, reading: Reading
) -> None:
    """One document per row of a table with named columns."""
    place, content = _file_or_member(dataset, raw_folder, options.member)
    parts, content = decoder.bytewise(content, place)
    columns = {
        name: column for name in TABLE_COLUMNS if (column := getattr(options, name)) is not None
    }
    labels = {_nfc(value): label for value, label in options.labels.items()}
    left_out = [_nfc(value) for value in options.leave_out]
    counts = {f"label {value!r}": 0 for value in left_out}
    if not options.keep_blank:
        counts["blank text"] = 0
    lines: dict[str, str] = {}
    rows = FORMATS[options.format](
        content, list(dict.fromkeys(columns.values())), parts, place, options.quotes
    )
    for number, row in enumerate(rows, start=1):
        value = {name: row.values[column] for name, column in columns.items()}
        identifier = value.get("id", f"row-{number:05d}")
        if not identifier or CONTROL.search(identifier):
            raise UserError(
                "an id that is empty or has a control character",
                where=row.where,
                found=ascii(identifier),
            )
        if identifier in lines:
            raise UserError(
                "two rows with the same id",
                where=f"{lines[identifier]} and {row.where}",
                found=identifier,
                fix="make the ids unique, or leave the key id out of the reader",
            )
        lines[identifier] = row.where
        if _nfc(value["label"]) in left_out:
            counts[f"label {_nfc(value['label'])!r}"] += 1
            continue
        label = _label(labels, value["label"], row.where)
        if not value["text"].strip() and not options.keep_blank:
            counts["blank text"] += 1
            continue
        split = options.splits.get(value["split"]) if "split" in value else ""
        if split is None:
            raise UserError(
                "a split that the dataset file does not know",
                where=row.where,
                found=ascii(value["split"]),
                expected=", ".join(options.splits),
                fix="add it to the reader's splits",
            )
        rating = _rating(value["rating"].encode(), row.where) if "rating" in value else math.nan
        reading.documents.append(Document(identifier, value["text"], label, rating, split))
    reading.left_out.update(counts)


TABLE_COLUMNS = ("text", "label", "id", "split", "rating")
"""The keys of the reader ``table`` that name a column; the first two are always there."""

READERS: Mapping[str, Callable[[Any, Dataset, Path, Decoder, Reading], None]] = {
    "rated_lines": _read_rated_lines,
    "lines": _read_lines,
    "folders": _read_folders,
    "newsgroups": _read_newsgroups,
    "table": _read_table,
}

_QUOTE = re.compile(
    r"^[>|]|^In article|^Quoted from|writes in|writes:|wrote:|says:|said:", re.MULTILINE
)


def strip_quotes(post: str) -> str:
    """Drop the lines of a post that quote another or say whom they quote.

    The same lines go as with ``remove=("quotes",)`` of scikit-learn's 20 newsgroups loader.
    """
    return "\n".join(line for line in post.split("\n") if not _QUOTE.search(line))


def strip_footer(post: str) -> str:
    """Drop the last block of a post, taken for its signature.

    The block starts at the last line that is blank or a rule of dashes; a post of one block is
    left whole. This is what ``remove=("footers",)`` of scikit-learn's 20 newsgroups loader does.
    """
    lines = post.strip().split("\n")
    for start in range(len(lines) - 1, 0, -1):
        if not lines[start].strip().strip("-"):
            return "\n".join(lines[:start])
    return post


def _file_or_member(dataset: Dataset, raw_folder: Path, member: str | None) -> tuple[str, bytes]:
    """Return the name and content of the one raw file, or of the member that the reader names."""
    path = raw_folder / dataset.files[0].name
    if member is None:
        return str(path), path.read_bytes()
    return f"{path}, member {member}", read_member(path, member)


def _matching_members(
    path: Path, pattern: re.Pattern[str], reading: Reading
) -> Iterator[tuple[str, re.Match[str], bytes]]:
    matches: dict[str, re.Match[str]] = {}
    others = 0

    def is_document(name: str) -> bool:
        nonlocal others
        match = pattern.search(name)
        if match is None:
            others += 1
            return False
        matches[name] = match
        return True

    for name, content in iterate_members(path, is_document, reading.skipped_members):
        yield name, matches[name], content
    logger.info("%s: %d members are no documents of this dataset", path.name, others)


def _nfc(value: str) -> str:
    return unicodedata.normalize("NFC", value)


def _label(labels: Mapping[str, Any], value: str, where: str) -> str:
    """Return the label that a value in the Unicode form NFC stands for."""
    if _nfc(value) not in labels:
        raise UserError(
            "a label that the dataset file does not know",
            where=where,
            found=value if value.isprintable() else ascii(value),
            expected=", ".join(labels),
            fix="add it to the reader's labels, or leave it out: by a narrower pattern (folders) "
            "or by leave_out (table)",
        )
    return str(labels[_nfc(value)])


def _rating(value: bytes, where: str) -> float:
    try:
        rating = float(value)
    except ValueError:
        rating = math.nan
    if not math.isfinite(rating):
        raise UserError(
            "a rating that is not a number", where=where, found=value.decode("utf-8", "replace")
        )
    return rating
