"""Raw files brought from their sources, verified by digest, whole or absent."""

import logging
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pooch
import requests

from textbaselines.core.errors import UserError
from textbaselines.core.storage import file_digest, whole_file
from textbaselines.datasets.archives import iterate_members, read_member
from textbaselines.datasets.catalog import RawFile
from textbaselines.datasets.dataset_file import MirrorSource, PackageSource, Source, UrlSource
from textbaselines.datasets.mirror import is_own, mirror_files, source_line

CONNECT_SECONDS = 15
READ_SECONDS = 60
RETRIES = 2

logger = logging.getLogger(__name__)


class _SourceFailed(Exception):
    """What happened at one source, and which other digests it gave; the next one is tried."""

    def __init__(self, what: str, digests: Iterable[str] = ()) -> None:
        super().__init__(what)
        self.digests = sorted(digests)


def fetch_file(
    raw_file: RawFile,
    destination: str | Path,
    *,
    mirror: Path | None = None,
    work_folder: Path,
) -> dict[str, str | int]:
    """Bring a raw file from the first of its sources that gives what it should.

    Parameters
    ----------
    raw_file : RawFile
        The file and its sources.
    destination : str or Path
        Where the file goes; it is there whole and verified, or not at all.
    mirror : Path, optional
        A folder with files brought by hand. Any source's file is found in it, at any depth, by
        its name and digest, before any address is asked; one whose digest is not stated is taken
        by its name, as a last resort, and left to the corpus's content digest.
    work_folder : Path
        Where downloads are made, in a temporary folder that is removed.

    Returns
    -------
    dict
        Provenance: ``file``, ``source`` (package, url or mirror), ``address``, ``sha256`` and
        ``bytes``. It names no folder of this machine.

    Raises
    ------
    UserError
        When ``mirror`` is not a folder; when every source failed, with what happened at each
        and the name and digest under which the file can be put into a mirror folder by hand.
    """
    if mirror is not None and not mirror.is_dir():
        raise UserError(
            "the mirror is not a folder",
            where=str(mirror),
            found="a file" if mirror.exists() else "nothing",
            fix="name the folder that holds the raw files, or leave the mirror out",
        )
    work_folder.mkdir(parents=True, exist_ok=True)
    failures: list[tuple[Source, _SourceFailed]] = []
    with tempfile.TemporaryDirectory(dir=work_folder, prefix="fetch-") as name:
        folder = Path(name)
        for source, kind, attempt in _attempts(raw_file, mirror):
            try:
                found = attempt(folder)
                digest = _verified(found, source, raw_file)
                with whole_file(destination) as part:
                    shutil.copyfile(found, part)
            except _SourceFailed as failure:
                failures.append((source, failure))
                logger.info("%s: %s: %s", raw_file.name, source.address, failure)
                continue
            size = found.stat().st_size
            logger.info("%s: %d bytes from %s (%s)", raw_file.name, size, source.address, kind)
            return {
                "file": raw_file.name,
                "source": kind,
                "address": source.address,
                "sha256": digest,
                "bytes": size,
            }
    raise _all_failed(raw_file, failures)


_Attempt = tuple[Source, str, Callable[[Path], Path]]


def _attempts(raw_file: RawFile, mirror: Path | None) -> list[_Attempt]:
    by_hand: list[_Attempt] = []  # mirror look-ups of the files of other sources
    unstated: list[_Attempt] = []  # those without a digest, always last
    listed: list[_Attempt] = []
    from_mirror: list[_Attempt] = []
    for source in raw_file.sources:
        if mirror is not None:
            look_up: _Attempt = (source, "mirror", _mirror_look_up(source, mirror))
            if source.digest is None:
                unstated.append(look_up)
            elif isinstance(source, MirrorSource):
                from_mirror.append(look_up)
            else:
                by_hand.append(look_up)
        if isinstance(source, PackageSource):
            listed.append((source, "package", _package_download(source)))
        elif isinstance(source, UrlSource):
            listed.append((source, "url", _url_download(source)))
        elif mirror is None:
            listed.append((source, "mirror", _no_mirror))
    return from_mirror + by_hand + listed + unstated


def _no_mirror(folder: Path) -> Path:
    raise _SourceFailed("skipped, for no mirror folder is given")


def _mirror_look_up(source: Source, mirror: Path) -> Callable[[Path], Path]:
    def look_up(folder: Path) -> Path:
        candidates = mirror_files(mirror).get(source.file_name, [])
        if not candidates:
            raise _SourceFailed(f"no file {source.file_name} in the mirror folder {mirror}")
        digests = {path: file_digest(path) for path in candidates}
        if source.digest is None and len(set(digests.values())) == 1:
            return candidates[0]
        for path, digest in digests.items():
            if digest == source.digest:
                return path
        seen = ", ".join(f"{path} with sha256 {digest}" for path, digest in digests.items())
        raise _SourceFailed(
            f"expected sha256 {source.digest or 'of one file'}, found {seen}", set(digests.values())
        )

    return look_up


def _url_download(source: UrlSource) -> Callable[[Path], Path]:
    def download(folder: Path) -> Path:
        name = source.file_name or "download"
        # No digest is given to pooch: it would ask again for a file that is simply another.
        fetcher = pooch.create(
            path=tempfile.mkdtemp(dir=folder, prefix="url-"),
            base_url="",
            registry={name: None},
            urls={name: source.url},
            retry_if_failed=RETRIES,
        )
        downloader = pooch.HTTPDownloader(
            progressbar=sys.stderr.isatty(), timeout=(CONNECT_SECONDS, READ_SECONDS)
        )
        try:
            return Path(fetcher.fetch(name, downloader=downloader))
        except (requests.RequestException, OSError) as error:
            raise _SourceFailed(f"no download: {error}") from error

    return download


def _package_download(source: PackageSource) -> Callable[[Path], Path]:
    def download(folder: Path) -> Path:
        requirements = folder / "requirements.txt"
        requirements.write_text(
            f"{source.package}=={source.version} --hash=sha256:{source.sha256}\n", encoding="utf-8"
        )
        archives = Path(tempfile.mkdtemp(dir=folder, prefix="package-"))
        # pip compares the digest before it unpacks the archive or runs its build script.
        command = [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-input"),
            *("--disable-pip-version-check", "--no-deps", "--no-build-isolation"),
            *("--no-binary", source.package, "--require-hashes"),
            *("--timeout", str(CONNECT_SECONDS), "--retries", str(RETRIES)),
            *("--dest", str(archives), "--requirement", str(requirements)),
        ]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            got = re.search(r"\bGot\s+([0-9a-f]{64})", result.stderr)
            if got:
                raise _SourceFailed(f"expected sha256 {source.sha256}, got {got.group(1)}")
            errors = [line for line in result.stderr.splitlines() if line.startswith("ERROR")]
            offline = " (no connection to the package index)" * ("onnection" in result.stderr)
            told = " ".join(errors) or result.stderr.strip() or "failed"
            raise _SourceFailed(f"pip: {told}{offline}")
        files = sorted(archives.iterdir())
        if len(files) != 1 or file_digest(files[0]) != source.sha256:
            names = ", ".join(file.name for file in files)
            raise _SourceFailed(f"pip gave {names or 'nothing'} instead of the source archive")
        found = folder / "member"
        try:
            found.write_bytes(read_member(files[0], source.member))
        except UserError as error:
            raise _SourceFailed(str(error)) from error
        return found

    return download


def _verified(path: Path, source: Source, raw_file: RawFile) -> str:
    """Return the file's sha256, or raise when it is not what the source should give."""
    digest = file_digest(path)
    if source.digest is not None and digest != source.digest:
        raise _SourceFailed(f"expected sha256 {source.digest}, got {digest}")
    if source.digest is None and raw_file.archive:
        try:
            for _ in iterate_members(path, lambda name: False):
                pass
        except UserError as error:
            raise _SourceFailed(str(error).replace(str(path), source.address)) from error
    return digest


def _all_failed(raw_file: RawFile, failures: Sequence[tuple[Source, _SourceFailed]]) -> UserError:
    happened = "".join(
        f"\n    {number}. {source.address}\n       {failure}"
        for number, (source, failure) in enumerate(failures, start=1)
    )
    by_hand = "".join(
        f"\n    {source.file_name}, sha256 "
        f"{source.digest or 'not stated (the corpus is checked)'}, from {source.address}"
        for source in dict.fromkeys(raw_file.sources)
    )
    folder = (
        "into the folder mirror beside the Snakefile "
        "(or set TEXTBASELINES_MIRROR=FOLDER, or give --config mirror=FOLDER):"
    )
    if not is_own(raw_file):
        fix = f"go online, or put one of these files {folder}{by_hand}"
    else:
        fix = f"put the file that the dataset file states {folder}{by_hand}"
        lines = [
            f"\n    {source_line(source.file_name, digest)}"
            for source, failure in failures
            for digest in failure.digests
        ]
        if lines:
            fix += "\n  or, if the file in the mirror is right, replace the source by" + "".join(
                lines
            )
    return UserError(f"no source gave the raw file {raw_file.name}", found=happened, fix=fix)
