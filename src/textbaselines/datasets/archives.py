"""Members of tar, tar.gz and zip archives, streamed into memory and never unpacked to disk."""

import gzip
import io
import re
import stat
import tarfile
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from textbaselines.core.errors import UserError
from textbaselines.datasets.decoding import CONTROL

MIB = 2**20
MEMBER_LIMIT = 512 * MIB  # bytes of one member, unpacked
TOTAL_LIMIT = 8 * 1024 * MIB  # bytes of all members, unpacked
RATIO_LIMIT = 1000  # unpacked bytes per packed byte, judged from RATIO_FLOOR unpacked bytes on
RATIO_FLOOR = 10 * MIB
_BLOCK = 512  # bytes of a tar block; zero blocks end a tar archive
_UTF8_NAME = 0x800  # flag of a zip member whose name is UTF-8

DESKTOP = {
    "__MACOSX": "file of macOS (__MACOSX)",
    "._": "file of macOS (._*)",
    ".DS_Store": "file of macOS (.DS_Store)",
    "Icon\r": "file of macOS (Icon)",
    "Thumbs.db": "file of Windows (Thumbs.db)",
    "desktop.ini": "file of Windows (desktop.ini)",
}
"""Members that a desktop adds to an archive, by name or (``._``) its beginning: none is read."""


def iterate_members(
    path: str | Path, wanted: Callable[[str], bool], skipped: Counter[str] | None = None
) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the wanted regular files of an archive, in its own order.

    The kind of archive (tar, tar.gz, zip) is recognised by its content. Names have no leading
    ``./`` and are in the Unicode form NFC (macOS writes NFD). A name is UTF-8 where that is valid,
    and else, in a zip that does not say UTF-8, code page 437, as its format has it. Files that a
    desktop added (:data:`DESKTOP`) are not asked for; ``skipped`` counts them by reason. The whole
    archive is read, so its end and checksums are verified even when nothing more is wanted.

    Raises :class:`UserError` when the file is not an archive or is truncated or corrupt; when a
    member, wanted or not, has an absolute name or one with ``..``, or is a link, a device or
    encrypted; when a wanted name is not UTF-8 or has a control character; when two wanted names are
    the same; when the content is larger than a text collection can be (a member over 512 MiB, 8 GiB
    in all, or more than 1000 times the packed size beyond 10 MiB).
    """
    path = Path(path)
    try:
        with path.open("rb") as stream:
            start = stream.read(_BLOCK)
    except FileNotFoundError:
        raise UserError("there is no such file", where=str(path)) from None
    members = _zip_members if start.startswith(b"PK") else _tar_members
    seen: dict[str, str] = {}

    def is_wanted(name: str) -> bool:
        reason = _of_desktop(name)
        if reason is None:
            return wanted(name) and _is_text(name, path)
        if skipped is not None:
            skipped[reason] += 1
        return False

    try:
        for name, written, content in members(path, start, is_wanted):
            if name in seen:
                raise UserError(
                    "a member stands twice in the archive",
                    where=str(path),
                    found=f"{seen[name]!a} and {written!a}, both read as {name}",
                    expected="names that differ",
                    fix="pack the archive again without one of the two",
                )
            seen[name] = written
            yield name, content
    except (
        EOFError,
        OSError,
        tarfile.TarError,
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
    ) as error:
        raise UserError(
            "the archive is truncated, corrupt or of another kind",
            where=str(path),
            found=f"{error} ({path.stat().st_size} bytes in the file)",
            expected="a whole tar, tar.gz or zip archive",
            fix="remove the file and fetch it again",
        ) from error


def read_member(path: str | Path, member: str) -> bytes:
    """Return the content of the one file whose path is, or ends in, ``/member``.

    Raises :class:`UserError` when there is no such member or more than one, and as
    :func:`iterate_members`.
    """
    others: list[str] = []

    def is_member(name: str) -> bool:
        others.append(name)
        return name == member or name.endswith("/" + member)

    found = dict(iterate_members(path, is_member))
    if len(found) != 1:
        raise UserError(
            f"the archive has {len(found) or 'no'} members called {member!r}",
            where=str(path),
            found=", ".join(map(_printable, sorted(found) or sorted(others)[:20])),
            expected="one",
        )
    return next(iter(found.values()))


def _printable(name: str) -> str:
    return name if name.isprintable() else ascii(name)


def _tar_members(
    path: Path, start: bytes, wanted: Callable[[str], bool]
) -> Iterator[tuple[str, str, bytes]]:
    with path.open("rb") as file:
        packed = path.stat().st_size
        raw: BinaryIO = file
        if start.startswith(b"\x1f\x8b"):
            raw = gzip.GzipFile(fileobj=file)  # type: ignore[assignment]
        stream = _Metered(raw, path, packed)
        with tarfile.open(
            fileobj=stream, mode="r|", bufsize=64 * _BLOCK, encoding="utf-8"
        ) as archive:
            for member in archive:
                if member.isdir():
                    _clean_name(member.name, path)
                    continue
                if not member.isreg():
                    raise _refused("a link or a device", member.name, path)
                name = _clean_name(member.name, path)
                if member.size > MEMBER_LIMIT:
                    raise _too_large(name, member.size, MEMBER_LIMIT, path)
                if wanted(name):
                    content = archive.extractfile(member)
                    data = content.read() if content is not None else b""
                    if len(data) != member.size:
                        raise EOFError(f"member {name} ends after {len(data)} bytes")
                    yield name, member.name, data
                archive.members = []  # type: ignore[attr-defined]  # or it would keep them all
        while stream.read(MIB):  # to the end, where the checksum of a gzip stands
            pass
        # tarfile takes the end of the file between two members for the end of the archive.
        if stream.tail.strip(b"\0"):
            raise EOFError("the blocks that end a tar archive are missing")


def _zip_members(
    path: Path, start: bytes, wanted: Callable[[str], bool]
) -> Iterator[tuple[str, str, bytes]]:
    total = 0
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            written = _zip_name(member)
            name = _clean_name(written, path)
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _refused("a link or a device", name, path)
            if member.is_dir():
                continue
            size = member.file_size
            total += size
            if size > MEMBER_LIMIT:
                raise _too_large(name, size, MEMBER_LIMIT, path)
            if total > TOTAL_LIMIT:
                raise _too_large("all members", total, TOTAL_LIMIT, path)
            if size > RATIO_FLOOR and size > RATIO_LIMIT * member.compress_size:
                raise _too_large(name, size, RATIO_LIMIT * member.compress_size, path)
            if member.flag_bits & 1:
                raise _refused("encrypted", name, path, "pack the files again without a password")
            try:
                if wanted(name):
                    yield name, written, archive.read(member)
                else:
                    with archive.open(member) as content:  # for its checksum
                        while content.read(MIB):
                            pass
            except NotImplementedError as error:
                raise _refused(
                    f"packed in a way that is not supported: {error}",
                    name,
                    path,
                    "pack the files again as tar.gz or an ordinary zip",
                ) from error


def _zip_name(member: zipfile.ZipInfo) -> str:
    """Return a member's name; many programs write UTF-8 without the flag that says so."""
    # What zipfile decoded, before it cut the name at a NUL.
    name = member.orig_filename
    if not member.flag_bits & _UTF8_NAME:
        try:
            return name.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    return name


def _of_desktop(name: str) -> str | None:
    *folders, last = name.split("/")
    if "__MACOSX" in folders:
        return DESKTOP["__MACOSX"]
    return DESKTOP["._"] if last.startswith("._") else DESKTOP.get(last)


class _Metered(io.RawIOBase):
    """A stream that counts what is read, stops a bomb, and keeps the last block it gave."""

    def __init__(self, stream: BinaryIO, path: Path, packed: int) -> None:
        super().__init__()
        self._stream = stream
        self._path = path
        self._packed = packed
        self._total = 0
        self.tail = b""

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._total += len(data)
        if self._total > TOTAL_LIMIT:
            raise _too_large("all members", self._total, TOTAL_LIMIT, self._path)
        if self._total > RATIO_FLOOR and self._total > RATIO_LIMIT * self._packed:
            limit = RATIO_LIMIT * self._packed
            raise _too_large("all members", self._total, limit, self._path)
        if data:
            self.tail = (self.tail + data)[-_BLOCK:]
        return data


def _clean_name(name: str, path: Path) -> str:
    parts = re.split(r"[/\\]", name)
    if parts[0] == "" or re.match("[A-Za-z]:", name) or ".." in parts:
        raise _refused("not inside its folder", name, path)
    whole = "/".join(part for part in parts if part not in ("", "."))
    return unicodedata.normalize("NFC", whole)


def _is_text(name: str, path: Path) -> bool:
    """Refuse a name that cannot become a document's id."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise UserError(
            "the archive has a member whose name is not UTF-8",
            where=str(path),
            found=repr(name.encode("utf-8", "surrogateescape")),
            expected="names in UTF-8",
            fix="rename the files (convmv -f iso-8859-1 -t utf-8 -r --notest FOLDER does it) and "
            "pack them again",
        ) from None
    if CONTROL.search(name):
        raise _refused("called by a name with a control character", name, path, "rename the file")
    return True


def _refused(why: str, name: str, path: Path, fix: str = "do not use this archive") -> UserError:
    return UserError(
        f"the archive has a member that is {why}",
        where=str(path),
        found=ascii(name),
        expected="regular files under relative names",
        fix=fix,
    )


def _too_large(name: str, size: int, limit: int, path: Path) -> UserError:
    return UserError(
        "the archive unpacks to more than a text collection can be",
        where=f"{path}, {name}",
        found=f"at least {size} bytes",
        expected=f"at most {limit} bytes",
        fix="do not use this archive",
    )
