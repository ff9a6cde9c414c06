"""What a dataset file says: sources, reader, encoding, classes, protocol and what must come out."""

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from textbaselines.datasets.decoding import Encoding
from textbaselines.errors import Mistakes, UserError
from textbaselines.validation import closest, load_yaml, naming_lines, validate


@dataclass(frozen=True)
class PackageSource:
    """A member of a Python package's source archive; both digests are sha256 in hex."""

    package: str
    version: str
    sha256: str
    member: str
    member_sha256: str

    @property
    def address(self) -> str:
        """What an error or a provenance record calls this source."""
        return f"{self.package}=={self.version} (source archive), member {self.member}"

    @property
    def file_name(self) -> str:
        """The name under which the file is looked for in a mirror folder."""
        return PurePosixPath(self.member).name

    @property
    def digest(self) -> str | None:
        """The sha256 of the raw file that this source gives."""
        return self.member_sha256


@dataclass(frozen=True)
class UrlSource:
    """A file at an http(s) address; without a digest the corpus's content digest decides."""

    url: str
    sha256: str | None = None

    @property
    def address(self) -> str:
        """What an error or a provenance record calls this source."""
        return self.url

    @property
    def file_name(self) -> str:
        """The name under which the file is looked for in a mirror folder."""
        return unquote(PurePosixPath(urlsplit(self.url).path).name)

    @property
    def digest(self) -> str | None:
        """The sha256 of the raw file that this source gives, when it is known."""
        return self.sha256


@dataclass(frozen=True)
class MirrorSource:
    """A file of the mirror folder, found at any depth by its name and digest."""

    name: str
    sha256: str

    @property
    def address(self) -> str:
        """What an error or a provenance record calls this source."""
        return f"mirror folder, file {self.name}"

    @property
    def file_name(self) -> str:
        """The name under which the file is looked for in a mirror folder."""
        return self.name

    @property
    def digest(self) -> str | None:
        """The sha256 of the raw file that this source gives."""
        return self.sha256


Source = PackageSource | UrlSource | MirrorSource


@dataclass(frozen=True)
class RawFile:
    """A file as fetched: its fixed name, its sources in order, whether it must be an archive."""

    name: str
    sources: tuple[Source, ...]
    archive: bool


@dataclass(frozen=True)
class Protocol:
    """How documents are split: "cv" (with ``folds``), "split" or "halves"."""

    kind: str
    folds: int | None


@dataclass(frozen=True)
class Dataset:
    """A dataset file, checked.

    ``classes`` has the positive class first. ``reader`` is the reader's kind and options with
    defaults filled. ``expected`` maps each class to its number of documents; ``left_out`` is the
    number of documents that reading leaves out; ``tokens`` the mean number of tokens of a document,
    None where the file does not say it.
    """

    name: str
    title: str
    citation: str
    terms: str
    language: str
    files: tuple[RawFile, ...]
    reader: Mapping[str, Any]
    encoding: Encoding
    classes: tuple[str, ...]
    protocol: Protocol
    expected: Mapping[str, int]
    left_out: int
    tokens: float | None
    content_digest: str | None
    path: Path


def load_dataset(path: str | Path, schema_path: str | Path) -> Dataset:
    """Read and check one dataset file; all its faults are in one error.

    Parameters
    ----------
    path : str or Path
        ``NAME.yaml``; NAME must be the dataset's name.
    schema_path : str or Path
        The JSON schema of dataset files.

    Raises
    ------
    UserError
        When the file breaks the schema, or its parts contradict one another: a label that is no
        class, a codec that does not exist, a pattern without its groups, a source without a
        digest where no content digest is stated.
    """
    path = Path(path)
    with naming_lines(str(path), [path]):
        return _dataset(path, validate(load_yaml(path), load_yaml(schema_path), str(path)))


def _dataset(path: Path, value: Mapping[str, Any]) -> Dataset:
    reader = value["reader"]
    archive = reader["kind"] in ("folders", "newsgroups") or "member" in reader
    dataset = Dataset(
        name=value["name"],
        title=value["title"],
        citation=value["citation"],
        terms=value["terms"],
        language=value["language"],
        files=tuple(
            RawFile(file["name"], tuple(_source(entry) for entry in file["sources"]), archive)
            for file in value["files"]
        ),
        reader=reader,
        encoding=Encoding(value["encoding"]["name"], value["encoding"]["errors"]),
        classes=tuple(value["classes"]),
        protocol=Protocol(value["protocol"]["kind"], value["protocol"].get("folds")),
        expected=value["expected"]["documents"],
        left_out=value["expected"]["left_out"],
        tokens=value["expected"].get("tokens"),
        content_digest=value.get("content_digest"),
        path=path,
    )
    _check(dataset)
    return dataset


def load_catalog(
    folder: str | Path | Sequence[str | Path],
    schema_path: str | Path,
    names: Sequence[str] | None = None,
    named_in: str | None = None,
) -> dict[str, Dataset]:
    """Read the dataset files of folders, or those of the named datasets, in sorted order.

    Parameters
    ----------
    folder : path, or sequence of paths
        Where the files are; a name that is in two folders must have the same content in both.
    schema_path : path
    names : sequence of str, optional
        Which datasets; all by default.
    named_in : str, optional
        The file and key of ``names``, which the error for one without a file names.

    Raises
    ------
    UserError
        For all of these together: a name without a file, any fault of :func:`load_dataset`, two
        files of one name that differ, and two datasets that give the same raw file name to
        different files.
    """
    mistakes = Mistakes()
    catalog = read_catalog(folder, schema_path, names, named_in, mistakes)
    mistakes.stop()
    return catalog


def dataset_files(folders: Sequence[str | Path]) -> dict[str, list[Path]]:
    """Return the files of each dataset by its name, sorted; a name may be in several folders."""
    files: dict[str, list[Path]] = {}
    for folder in dict.fromkeys(map(Path, folders)):
        for path in sorted(folder.glob("*.yaml")):
            files.setdefault(path.stem, []).append(path)
    return dict(sorted(files.items()))


def read_catalog(
    folder: str | Path | Sequence[str | Path],
    schema_path: str | Path,
    names: Sequence[str] | None,
    named_in: str | None,
    mistakes: Mistakes,
) -> dict[str, Dataset]:
    """Return what :func:`load_catalog` would, but leave out faulty datasets and keep the faults."""
    folders = [folder] if isinstance(folder, (str, Path)) else folder
    files = dataset_files(folders)
    place = " and ".join(map(str, folders))
    if not files:
        mistakes.add(UserError("no dataset files (NAME.yaml)", where=place))
        return {}
    catalog: dict[str, Dataset] = {}
    for position, name in enumerate(files if names is None else names):
        if name not in files:
            mistakes.add(
                UserError(
                    f"there is no dataset {name!r}",
                    where=place if named_in is None else f"{named_in}[{position}]",
                    expected=f"files of {place}: {', '.join(files)}",
                    fix=closest(name, files) or f"write {Path(folders[-1]) / (name + '.yaml')}",
                )
            )
        elif name not in catalog:
            with mistakes:
                catalog[name] = load_dataset(files[name][0], schema_path)
                _check_same(files[name])
    catalog = {name: catalog[name] for name in sorted(catalog)}
    owners: dict[str, tuple[RawFile, Dataset]] = {}
    for dataset in catalog.values():
        for file in dataset.files:
            other, owner = owners.setdefault(file.name, (file, dataset))
            if other != file:
                mistakes.add(
                    UserError(
                        f"two datasets mean different files by the raw file name {file.name!r}",
                        where=f"{owner.path} and {dataset.path}, key files",
                        fix="give the file another name in one of them, or the same sources in "
                        "both",
                    )
                )
    return catalog


def _check_same(paths: Sequence[Path]) -> None:
    """Refuse two files of one dataset that differ: results have no other name than its own."""
    first = load_yaml(paths[0])
    for path in paths[1:]:
        if load_yaml(path) != first:
            raise UserError(
                f"two different dataset files of the name {path.stem!r}",
                where=f"{paths[0]} and {path}",
                fix=f"give the dataset in {path} another name (the file's and the key name), or "
                "make the two files the same",
            )


_KINDS: dict[str, type[Source]] = {
    "package": PackageSource,
    "url": UrlSource,
    "mirror": MirrorSource,
}


def _source(entry: Mapping[str, Any]) -> Source:
    fields = {key: value for key, value in entry.items() if key != "kind"}
    return _KINDS[entry["kind"]](**fields)


def raw_file_to_mapping(file: RawFile) -> dict[str, Any]:
    """Return a raw file as plain values, from which :func:`raw_file_from_mapping` makes it."""
    kind_of = {kind: name for name, kind in _KINDS.items()}
    sources = [{"kind": kind_of[type(source)], **vars(source)} for source in file.sources]
    return {"name": file.name, "archive": file.archive, "sources": sources}


def raw_file_from_mapping(value: Mapping[str, Any]) -> RawFile:
    """Return the raw file that :func:`raw_file_to_mapping` turned into plain values."""
    sources = tuple(_source(entry) for entry in value["sources"])
    return RawFile(value["name"], sources, value["archive"])


def _check(dataset: Dataset) -> None:
    path = dataset.path
    mistakes = Mistakes()
    if path.stem != dataset.name:
        mistakes.add(
            UserError(
                "a dataset file must be called as its dataset",
                where=f"{path}, key name",
                found=dataset.name,
                expected=path.stem,
            )
        )
    names = [file.name for file in dataset.files]
    if len(set(names)) < len(names):
        mistakes.add(
            UserError(
                "two files of one dataset have the same name",
                where=f"{path}, key files",
                found=names,
            )
        )
    if dataset.content_digest is None:
        for index, file in enumerate(dataset.files):
            for number, source in enumerate(file.sources):
                if source.digest is None:
                    mistakes.add(
                        UserError(
                            "a source without a digest in a dataset without a content_digest",
                            where=f"{path}, key files[{index}].sources[{number}]",
                            found=source.address,
                            fix="state the file's sha256 or the corpus's content_digest",
                        )
                    )
    with mistakes:
        _check_encoding(dataset)
    with mistakes:
        _check_reader(dataset)
    if set(dataset.expected) != set(dataset.classes):
        mistakes.add(
            UserError(
                "expected documents are stated for other classes than the dataset's",
                where=f"{path}, key expected.documents",
                found=", ".join(dataset.expected),
                expected=", ".join(dataset.classes),
            )
        )
    mistakes.stop()


def _check_encoding(dataset: Dataset) -> None:
    where = f"{dataset.path}, key encoding.name"
    name = dataset.encoding.name
    try:
        known = codecs.lookup(name)._is_text_encoding and "\n\t".encode(name).decode(name) == "\n\t"
    except (LookupError, UnicodeError):
        known = False
    if not known:
        raise UserError(
            "there is no such encoding", where=where, found=name, expected="a Python codec of text"
        )


def _check_reader(dataset: Dataset) -> None:
    path, reader = dataset.path, dataset.reader
    kind = reader["kind"]
    if kind == "rated_lines":
        labels = {"positive": reader["positive"], "negative": reader["negative"]}
        key = "reader"
    else:
        key = "groups" if kind == "newsgroups" else "labels"
        labels = dict(reader[key])
        key = f"reader.{key}"
    mistakes = Mistakes()
    for name, label in labels.items():
        if label not in dataset.classes:
            mistakes.add(
                UserError(
                    f"the label {label!r} is not one of the classes",
                    where=f"{path}, key {key}.{name}",
                    expected=", ".join(dataset.classes),
                    fix=closest(label, dataset.classes),
                )
            )
    for label in dataset.classes:
        if label not in labels.values():
            mistakes.add(
                UserError(
                    f"no document can get the label {label!r}",
                    where=f"{path}, key {key}",
                    found=labels,
                )
            )
    mistakes.stop()
    names = [file.name for file in dataset.files]
    if kind == "lines":
        if set(labels) != set(names):
            raise UserError(
                "the labels name other files than the dataset's",
                where=f"{path}, key {key}",
                found=", ".join(labels),
                expected=", ".join(names),
            )
    elif len(names) != 1:
        raise UserError(
            f"the reader {kind} reads one raw file",
            where=f"{path}, key files",
            found=", ".join(names),
        )
    if kind == "folders":
        try:
            groups = set(re.compile(reader["pattern"]).groupindex)
        except re.error as error:
            raise UserError(
                "not a regular expression", where=f"{path}, key reader.pattern", found=error
            ) from None
        if not {"label", "id"} <= groups <= {"label", "id", "split", "rating"}:
            raise UserError(
                "the pattern's named groups are not those of a document's path",
                where=f"{path}, key reader.pattern",
                found=", ".join(sorted(groups)) or "none",
                expected="label and id, and optionally split and rating",
            )
    has_split = (kind == "table" and "split" in reader) or (
        kind == "folders" and "split" in re.compile(reader["pattern"]).groupindex
    )
    if dataset.protocol.kind == "split" and not has_split:
        raise UserError(
            "the protocol is the official split, but the reader does not read one",
            where=f"{path}, key protocol.kind",
            fix='use the reader folders with a group "split" in its pattern, the reader table with '
            "a column for split, or another protocol",
        )
