"""Whether a corpus is the one that its dataset file expects, and if not, what to write or to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textbaselines.core.errors import UserError
from textbaselines.core.storage import file_digest
from textbaselines.core.validation import dump_yaml, naming_lines
from textbaselines.datasets.mirror import is_own, source_line

if TYPE_CHECKING:
    from textbaselines.datasets.catalog import Dataset, RawFile

FEW_CLASSES = 12
"""Up to so many classes, an error names those that are as expected as well."""


def check_expected(
    dataset: Dataset,
    raw_folder: Path,
    documents: Mapping[str, int],
    left_out: int,
    texts: Iterable[str],
    digest: str,
) -> None:
    """Compare a corpus with what its dataset file states.

    Parameters
    ----------
    documents : mapping
        The number of documents of each class.
    left_out : int
        The number of documents that were left out.
    texts : iterable of str
        Of all documents.
    digest : str
        The content digest.

    Raises
    ------
    UserError
        When a number or the digest differs: what was found, what is stated, the state of each raw
        file, and the lines of a dataset file that expects what was found.
    """
    stated = dataset.expected
    counts_differ = dict(documents) != dict(stated.documents) or left_out != stated.left_out
    digest_differs = dataset.content_digest not in (None, digest)
    if not counts_differ and not digest_differs:
        return
    raw = {file: file_digest(raw_folder / file.name) for file in dataset.files}
    states = "".join(f"\n    {_state(file, one)}" for file, one in raw.items())
    empty = [label for label, number in documents.items() if number == 0]
    if empty:
        fix = f"correct the raw files or the reader: no document of {', '.join(empty)} was found"
    else:
        lines = _lines(dataset, documents, left_out, texts, digest)
        fix = _fix(dataset, raw_folder, raw, lines)
    with naming_lines(str(dataset.path), [dataset.path]):
        if counts_differ:
            differ = [
                f"{label} {documents[label]} instead of {stated.documents[label]}"
                for label in documents
                if documents[label] != stated.documents[label]
            ]
            if left_out != stated.left_out:
                differ.append(f"left out {left_out} instead of {stated.left_out}")
            several = len(documents) > FEW_CLASSES
            raise UserError(
                f"the documents of {dataset.name} are not those that its dataset file expects",
                where=f"{dataset.path}, key expected",
                found=("" if several else f"{_per_class(documents)}; left out {left_out}")
                + "".join(f"\n    {one}" for one in differ)
                + states,
                expected=f"{sum(stated.documents.values())} documents of {len(documents)} classes"
                if several
                else f"{_per_class(stated.documents)}; left out {stated.left_out}",
                fix=fix,
            )
        raise UserError(
            f"the content of {dataset.name} is not that of the dataset file: the documents per "
            "class are as expected, but an id, a label or a text differs",
            where=f"{dataset.path}, key content_digest",
            found=digest + states,
            expected=dataset.content_digest,
            fix=fix,
        )


def _lines(
    dataset: Dataset,
    documents: Mapping[str, int],
    left_out: int,
    texts: Iterable[str],
    digest: str,
) -> str:
    """Return the lines of a dataset file that expects this corpus."""
    expected: dict[str, Any] = {"documents": dict(documents)}
    if left_out or dataset.expected.left_out:
        expected["left_out"] = left_out
    if dataset.expected.tokens is not None:
        lengths = [len(text.split()) for text in texts]
        expected["tokens"] = round(sum(lengths) / len(lengths), 1)
    values: dict[str, Any] = {"expected": expected}
    if dataset.content_digest is not None:
        values["content_digest"] = digest
    return "".join(f"\n    {line}" for line in dump_yaml(values).splitlines())


def _fix(dataset: Dataset, raw_folder: Path, raw: Mapping[RawFile, str], lines: str) -> str:
    changed = {file: digest for file, digest in raw.items() if not _known(file, digest)}
    again = [str(raw_folder / file.name) for file in changed if not is_own(file)]
    own = [file for file in raw if is_own(file)]
    fix = ""
    if again:
        fix = f"fetch again what was downloaded: remove {' and '.join(again)}, and run again\n  "
    elif not own:
        fix = (
            "the raw files are the pinned ones, so the reader or the numbers of the dataset file "
            "were changed: undo that\n  "
        )
    fix += "or, if " if fix else "if "
    fix += "the corpus is right as it is, "
    fix += "write" if own else "give the dataset another name (the file's and the key name), with"
    fix += f" in {dataset.path if own else 'it'}" + lines
    for file in own:
        if file in changed:
            line = source_line(file.sources[0].file_name, changed[file])
            fix += f"\n  and as the source of {file.name}\n    {line}"
    return fix


def _known(file: RawFile, digest: str) -> list[str]:
    return [source.address for source in file.sources if source.digest == digest]


def _state(file: RawFile, digest: str) -> str:
    """Say of a raw file whether its digest is one that the dataset file states."""
    known = _known(file, digest)
    verdict = f"as from {known[0]}" if known else "of no source that states a digest"
    return f"raw file {file.name}: sha256 {digest}, {verdict}"


def _per_class(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{label} {count}" for label, count in counts.items())
