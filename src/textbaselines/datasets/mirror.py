"""The mirror folder: its files by name, and whether it holds what datasets take from it alone."""

import difflib
import os
from collections.abc import Iterable
from pathlib import Path

from textbaselines.core.errors import Mistakes, UserError
from textbaselines.core.storage import file_digest, read_json
from textbaselines.core.validation import dump_yaml, naming_lines
from textbaselines.datasets.catalog import Dataset, RawFile
from textbaselines.datasets.dataset_file import MirrorSource, Source


def mirror_files(mirror: Path) -> dict[str, list[Path]]:
    """Return the files of a mirror folder at any depth, by name, sorted."""
    files: dict[str, list[Path]] = {}
    for folder, _, names in os.walk(mirror):
        for name in names:
            if (path := Path(folder, name)).is_file():
                files.setdefault(name, []).append(path)
    return {name: sorted(files[name]) for name in sorted(files)}


def is_own(file: RawFile) -> bool:
    """Return whether a raw file is the user's own: it comes from the mirror folder alone."""
    return all(isinstance(source, MirrorSource) for source in file.sources)


def source_line(name: str, digest: str) -> str:
    """Return the line of a dataset file that takes a file of a digest from the mirror."""
    entry = dump_yaml({"kind": "mirror", "name": name, "sha256": digest})
    return "- {" + ", ".join(entry.splitlines()) + "}"


def check_own_files(
    datasets: Iterable[Dataset], raw_folder: Path, mirror: Path | None, mistakes: Mistakes
) -> None:
    """Keep a mistake for each raw file that only the mirror can give and that it does not give.

    A file that is fetched is not looked for again. Only where the file in the mirror was written
    since then is it compared with the dataset file once more, so that an edit is not overlooked.

    Parameters
    ----------
    raw_folder : Path
        Where fetched raw files are.
    mirror : Path or None
        The mirror folder, if there is one.
    mistakes : Mistakes
        Where what is found is kept.
    """
    own = [(dataset, file) for dataset in datasets for file in dataset.files if is_own(file)]
    if not own:
        return
    files = mirror_files(mirror) if mirror is not None else {}
    for dataset, file in own:
        there = [path for source in file.sources for path in files.get(source.file_name, [])]
        fetched = raw_folder / file.name
        if _has_pinned_digest(file, fetched) and not _written_since(fetched, there):
            continue
        with mistakes, naming_lines(str(dataset.path), [dataset.path]):
            _look_for(dataset, file, mirror, files, fetched)


def _has_pinned_digest(file: RawFile, fetched: Path) -> bool:
    """Return whether the raw file is there with a digest that one of its sources states."""
    provenance = fetched.with_name(f"{file.name}.source.json")
    if not (fetched.is_file() and provenance.is_file()):
        return False
    try:
        digest = read_json(provenance)["sha256"]
    except (UserError, KeyError, TypeError):
        return False
    return any(source.digest == digest for source in file.sources)


def _written_since(fetched: Path, there: Iterable[Path]) -> bool:
    since = fetched.stat().st_mtime
    return any(max(path.stat().st_mtime, path.stat().st_ctime) > since for path in there)


def _look_for(
    dataset: Dataset,
    file: RawFile,
    mirror: Path | None,
    files: dict[str, list[Path]],
    fetched: Path,
) -> None:
    """Raise what is wrong with a raw file's sources, unless one of them has the file."""
    index = dataset.files.index(file)
    mistakes = Mistakes()
    for number, source in enumerate(file.sources):
        key = f"{dataset.path}, key files[{index}].sources[{number}]"
        if mirror is None:
            mistakes.add(
                UserError(
                    f"the raw file {file.name} comes from a mirror folder, and there is none",
                    where=f"{key}.name",
                    found="no mirror folder",
                    expected=f"{source.file_name} in a mirror folder",
                    fix="put it into the folder mirror beside the Snakefile, or name its folder: "
                    "TEXTBASELINES_MIRROR=FOLDER, or --config mirror=FOLDER",
                )
            )
            continue
        candidates = files.get(source.file_name, [])
        digests = {path: _digest(path) for path in candidates}
        if source.digest in digests.values():
            return
        mistakes.add(
            _other_digest(source, key, digests, fetched)
            if digests
            else _not_there(source, key, mirror, files)
        )
    mistakes.stop()


def _digest(path: Path) -> str:
    try:
        return file_digest(path)
    except OSError as error:
        raise UserError(
            "a file of the mirror cannot be read", where=str(path), found=error.strerror
        ) from error


def _other_digest(source: Source, key: str, digests: dict[Path, str], fetched: Path) -> UserError:
    seen = "".join(f"\n    {digest}  {path}" for path, digest in digests.items())
    lines = "".join(f"\n    {source_line(source.file_name, one)}" for one in set(digests.values()))
    changed = "changed since it was fetched: " * fetched.is_file()
    return UserError(
        f"{changed}{source.file_name} in the mirror is another file than the dataset file states",
        where=f"{key}.sha256",
        found=seen,
        expected=source.digest,
        fix="bring the file that is stated, or, if this one is right, replace the source by"
        + lines,
    )


def _not_there(source: Source, key: str, mirror: Path, files: dict[str, list[Path]]) -> UserError:
    same = [name for name in files if name.casefold() == source.file_name.casefold()]
    near = same or difflib.get_close_matches(source.file_name, files, n=3, cutoff=0.5)
    right = [name for name in near for path in files[name] if _digest(path) == source.digest]
    if right:
        fix = f"write name: {right[0]}, which has the sha256 that is stated"
    elif near:
        fix = "did you mean " + " or ".join(map(repr, near)) + "? (with another sha256)"
    else:
        fix = "put the file into the mirror folder, at any depth, or correct its name"
    number = sum(map(len, files.values()))
    return UserError(
        f"the mirror has no file {source.file_name!r}",
        where=f"{key}.name",
        found=f"{number} other files in {mirror}",
        expected=f"{source.file_name} with sha256 {source.digest}",
        fix=fix,
    )
