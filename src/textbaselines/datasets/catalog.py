"""The dataset files of a study's folders, each checked against itself and the others."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from textbaselines.core.errors import Mistakes, UserError
from textbaselines.core.file_models import check
from textbaselines.core.validation import closest, load_yaml, naming_lines
from textbaselines.datasets.dataset_file import (
    DatasetFile,
    FileEntry,
    Folders,
    Newsgroups,
    RatedLines,
    Table,
)


class RawFile(FileEntry):
    """A raw file with its sources; ``archive`` says that it must be a whole archive."""

    archive: bool

    def plain(self) -> dict[str, Any]:
        """Return the plain values that ``model_validate`` takes, the given keys alone."""
        return self.model_dump(exclude_none=True)


class Dataset(DatasetFile):
    """A dataset file, checked, with its path."""

    files: tuple[RawFile, ...]
    path: Path

    @property
    def reading(self) -> list[Any]:
        """What decides how raw files become documents, as plain values."""
        return [
            self.reader.model_dump(exclude_none=True),
            self.encoding.model_dump(),
            self.classes,
            self.expected.documents,
            self.content_digest,
        ]


def load_dataset(path: str | Path) -> Dataset:
    """Read and check one dataset file; all its faults are in one error.

    Parameters
    ----------
    path : str or Path
        ``NAME.yaml``; NAME must be the dataset's name.

    Raises
    ------
    UserError
        When the file is not as :class:`~.dataset_file.DatasetFile` describes it, or its parts
        contradict one another: a label that is no class, a source without a digest where no
        content digest is stated.
    """
    path = Path(path)
    with naming_lines(str(path), [path]):
        file = check(load_yaml(path), DatasetFile, str(path))
        reader = file.reader
        archive = isinstance(reader, Folders | Newsgroups) or (
            isinstance(reader, RatedLines | Table) and reader.member is not None
        )
        files = tuple(RawFile(**dict(one), archive=archive) for one in file.files)
        dataset = Dataset.model_construct(**{**dict(file), "files": files, "path": path})
        _check(dataset)
    return dataset


def load_catalog(
    folder: str | Path | Sequence[str | Path],
    names: Sequence[str] | None = None,
    named_in: str | None = None,
) -> dict[str, Dataset]:
    """Read the dataset files of folders, or those of the named datasets, in sorted order.

    Parameters
    ----------
    folder : path, or sequence of paths
        Where the files are; a name that is in two folders must have the same content in both.
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
    catalog = read_catalog(folder, names, named_in, mistakes)
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
                catalog[name] = load_dataset(files[name][0])
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
        _check_reader(dataset)
    if set(dataset.expected.documents) != set(dataset.classes):
        mistakes.add(
            UserError(
                "expected documents are stated for other classes than the dataset's",
                where=f"{path}, key expected.documents",
                found=", ".join(dataset.expected.documents),
                expected=", ".join(dataset.classes),
            )
        )
    mistakes.stop()


def _check_reader(dataset: Dataset) -> None:
    path, reader = dataset.path, dataset.reader
    if isinstance(reader, RatedLines):
        labels, key = {"positive": reader.positive, "negative": reader.negative}, "reader"
    elif isinstance(reader, Newsgroups):
        labels, key = reader.groups, "reader.groups"
    else:
        labels, key = reader.labels, "reader.labels"
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
    if reader.kind == "lines":
        if set(labels) != set(names):
            raise UserError(
                "the labels name other files than the dataset's",
                where=f"{path}, key {key}",
                found=", ".join(labels),
                expected=", ".join(names),
            )
    elif len(names) != 1:
        raise UserError(
            f"the reader {reader.kind} reads one raw file",
            where=f"{path}, key files",
            found=", ".join(names),
        )
    has_split = (isinstance(reader, Table) and reader.split is not None) or (
        isinstance(reader, Folders) and "split" in re.compile(reader.pattern).groupindex
    )
    if dataset.protocol.kind == "split" and not has_split:
        raise UserError(
            "the protocol is the official split, but the reader does not read one",
            where=f"{path}, key protocol.kind",
            fix='use the reader folders with a group "split" in its pattern, the reader table with '
            "a column for split, or another protocol",
        )
