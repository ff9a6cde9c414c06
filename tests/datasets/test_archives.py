"""Archives: what is streamed, and what is refused."""

import gzip
import io
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from textbaselines.core.errors import UserError
from textbaselines.datasets import archives
from textbaselines.datasets.archives import iterate_members, read_member

MEMBERS = {"./top/a.txt": b"first", "top/sub/b.txt": b"", "top/c.bin": bytes(range(256)) * 40}
Pack = Callable[..., Path]


def all_members(path: Path) -> dict[str, bytes]:
    return dict(iterate_members(path, lambda name: True))


def refused(path: Path, wanted: bool = True) -> str:
    with pytest.raises(UserError) as caught:
        list(iterate_members(path, lambda name: wanted))
    assert str(path) in str(caught.value)
    return str(caught.value)


def tar_of(path: Path, *infos: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for info in infos:
            archive.addfile(info, io.BytesIO(bytes(info.size)))
    return path


def info(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, link
    return member


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "zip"])
def test_members_are_the_same_in_every_kind_of_archive(pack: Pack, kind: str) -> None:
    path = pack(kind, MEMBERS)
    expected = {name.removeprefix("./"): content for name, content in MEMBERS.items()}
    assert all_members(path) == expected
    assert list(iterate_members(path, lambda name: name.endswith(".bin"))) == [
        ("top/c.bin", MEMBERS["top/c.bin"])
    ]


@pytest.mark.parametrize("kind", ["tar", "zip"])
@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.parametrize("name", ["../out", "a/../../out", "/etc/out", "C:/out", "a\\..\\out"])
def test_a_name_outside_the_folder_is_refused(
    pack: Pack, kind: str, name: str, wanted: bool
) -> None:
    message = refused(pack(kind, {"fine": b"1", name: b"2"}), wanted)
    assert "not inside its folder" in message
    assert repr(name) in message


@pytest.mark.parametrize(
    "kind",
    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE],
)
def test_a_link_or_a_device_is_refused(tmp_path: Path, kind: bytes) -> None:
    path = tar_of(tmp_path / "x", info("good"), info("evil", kind, "/etc/passwd"))
    message = refused(path, wanted=False)
    assert "link or a device" in message
    assert "'evil'" in message


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    member = zipfile.ZipInfo("evil")
    member.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, "/etc/passwd")
    assert "link or a device" in refused(path)


@pytest.mark.parametrize(
    ("kind", "part"),
    [(kind, part) for kind in ("tar", "tar.gz", "zip") for part in (0.1, 0.4, 0.8)]
    # The last per cent of a tar is padding after its end.
    + [("tar.gz", 0.99), ("zip", 0.99)],
)
@pytest.mark.parametrize("wanted", [True, False])
def test_a_truncated_archive_is_refused(pack: Pack, kind: str, part: float, wanted: bool) -> None:
    path = pack(kind, {f"m{i}": bytes([i]) * 600 + str(i * 7919).encode() * 50 for i in range(40)})
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * part)])
    message = refused(path, wanted)
    assert "truncated, corrupt" in message
    assert "fetch it again" in message


def test_a_tar_cut_between_two_members_is_refused(pack: Pack) -> None:
    path = pack("tar", {"a": b"x" * 512, "b": b"y" * 512})
    path.write_bytes(path.read_bytes()[:1024])
    assert "blocks that end a tar archive are missing" in refused(path)


@pytest.mark.parametrize("kind", ["tar.gz", "zip"])
@pytest.mark.parametrize("wanted", [True, False])
def test_a_changed_byte_is_refused(pack: Pack, kind: str, wanted: bool) -> None:
    path = pack(kind, {"a": b"some text " * 200, "b": bytes(range(256))})
    content = bytearray(path.read_bytes())
    content[-12 if kind == "tar.gz" else 60] ^= 0xFF
    path.write_bytes(content)
    assert "truncated, corrupt" in refused(path, wanted)


@pytest.mark.parametrize("content", [b"", b"<html>not found</html>", b"PK is not a zip", b"x" * 99])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "page"
    path.write_bytes(content)
    assert "a whole tar, tar.gz or zip archive" in refused(path)
    assert f"{len(content)} bytes" in refused(path)


@pytest.mark.parametrize("kind", ["tar.gz", "zip"])
@pytest.mark.parametrize("wanted", [True, False])
def test_a_bomb_is_refused(
    pack: Pack, kind: str, wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "RATIO_LIMIT", 200)
    path = pack(kind, {"bomb": bytes(24 * 2**20)})
    assert path.stat().st_size < 60_000
    message = refused(path, wanted)
    assert "unpacks to more" in message
    monkeypatch.setattr(archives, "RATIO_LIMIT", 2000)
    assert len(all_members(path)["bomb"]) == 24 * 2**20


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "zip"])
def test_the_limits_of_a_member_and_of_the_whole(
    pack: Pack, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = pack(kind, {"a": b"x" * 5000, "b": b"y" * 5000})
    monkeypatch.setattr(archives, "MEMBER_LIMIT", 4999)
    assert "at most 4999 bytes" in refused(path)
    monkeypatch.setattr(archives, "MEMBER_LIMIT", 5000)
    assert len(all_members(path)) == 2
    monkeypatch.setattr(archives, "TOTAL_LIMIT", 9999)
    assert "at most 9999 bytes" in refused(path, wanted=False)


def test_a_member_that_claims_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    liar = tarfile.TarInfo("liar")
    liar.size = 600 * 2**20
    path = tmp_path / "x"
    path.write_bytes(gzip.compress(liar.tobuf() + bytes(1024)))
    message = refused(path)
    assert f"{600 * 2**20} bytes" in message
    assert "liar" in message


def test_a_member_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = tar_of(tmp_path / "x", info("a"), info("./a"))
    assert "stands twice" in refused(path)


def named_tar(path: Path, *names: bytes) -> Path:
    """Write a tar whose members have any bytes for names."""
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT, encoding="utf-8") as archive:
        for number, name in enumerate(names):
            member = info(name.decode("utf-8", "surrogateescape"))
            member.size = 1
            archive.addfile(member, io.BytesIO(b"%d" % number))
    return path


def named_zip(path: Path, *names: bytes, utf8: bool = False) -> Path:
    """Write a zip whose members have any bytes for names, without the flag for UTF-8."""
    with zipfile.ZipFile(path, "w") as archive:
        for number, name in enumerate(names):
            archive.writestr("#" * len(name) + str(number), str(number))
    content = path.read_bytes()
    for number, name in enumerate(names):
        content = content.replace(b"#" * len(name) + b"%d" % number, name + b"%d" % number)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "zip"])
def test_what_a_desktop_adds_is_skipped_and_counted(pack: Pack, kind: str) -> None:
    added = ["__MACOSX/pos/._1.txt", "__MACOSX/pos/1.txt", "pos/._1.txt", "pos/.DS_Store"]
    added += ["Thumbs.db", "pos/desktop.ini", "pos/Icon\r"]
    kept = ["pos/1.txt", "pos/a._b", "pos/DS_Store", "pos/icon"]
    path = pack(kind, dict.fromkeys([*added, *kept], b"x"))
    skipped: Counter[str] = Counter()
    assert [name for name, _ in iterate_members(path, lambda name: True, skipped)] == kept
    assert skipped == {
        "file of macOS (__MACOSX)": 2,
        "file of macOS (._*)": 1,
        "file of macOS (.DS_Store)": 1,
        "file of macOS (Icon)": 1,
        "file of Windows (Thumbs.db)": 1,
        "file of Windows (desktop.ini)": 1,
    }


def test_a_tar_name_that_is_not_utf_8_is_refused_escaped(tmp_path: Path) -> None:
    path = named_tar(tmp_path / "x", b"caf\xe9.txt", "caf\u00e9.txt".encode())
    message = refused(path)
    assert "name is not UTF-8" in message
    assert r"caf\xe9.txt" in message
    message.encode("utf-8")
    assert list(iterate_members(path, lambda name: name == "caf\u00e9.txt")) == [
        ("caf\u00e9.txt", b"1")
    ]
    with pytest.raises(UserError, match=r"no members called 'b'[\s\S]*udce9"):
        read_member(path, "b")


def test_zip_names_without_a_flag(tmp_path: Path) -> None:
    path = named_zip(tmp_path / "x", "caf\u00e9".encode(), b"caf\x82")
    # UTF-8 where it is valid, and code page 437, in which 0x82 is an e with an acute.
    assert all_members(path) == {"caf\u00e90": b"0", "caf\u00e91": b"1"}


@pytest.mark.parametrize("kind", ["tar", "zip"])
@pytest.mark.parametrize("end", ["\n", "\r", "\x01", "\x85", "\u2028"])
def test_a_control_character_in_a_name_is_refused(pack: Pack, kind: str, end: str) -> None:
    path = pack(kind, {"fine": b"1", f"pos/1{end}.txt": b"2"})
    message = refused(path)
    assert "name with a control character" in message
    assert end not in message.replace("\n", "") if end != "\n" else True
    assert ascii(f"pos/1{end}.txt") in message
    assert list(iterate_members(path, lambda name: name == "fine")) == [("fine", b"1")]


def test_a_nul_in_a_zip_name_is_refused(tmp_path: Path) -> None:
    message = refused(named_zip(tmp_path / "x", b"pos/1\0.txt"))
    assert "name with a control character" in message
    assert r"pos/1\x00.txt" in message


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_names_that_are_the_same_in_nfc_are_refused_with_both(pack: Pack, kind: str) -> None:
    message = refused(pack(kind, {"cafe\u0301": b"1", "caf\u00e9": b"2"}))
    assert (
        r"'cafe\u0301' and 'caf\xe9', both read as caf\u00e9".replace(r"caf\u00e9", "café")
        in message
    )
    assert all_members(pack(kind, {"cafe\u0301": b"1"}, "one")) == {"caf\u00e9": b"1"}


def test_an_encrypted_zip_is_refused(pack: Pack) -> None:
    path = pack("zip", {"a": b"some text"})
    content = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + flags] |= 1
    path.write_bytes(content)
    message = refused(path)
    assert "encrypted" in message
    assert "without a password" in message


@pytest.mark.parametrize("wanted", [True, False])
def test_a_compression_that_is_not_supported_is_refused(pack: Pack, wanted: bool) -> None:
    path = pack("zip", {"a": b"some text"})
    content = bytearray(path.read_bytes())
    for signature, method in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        content[content.index(signature) + method] = 9  # deflate64, as Windows packs large files
    path.write_bytes(content)
    message = refused(path, wanted)
    assert "packed in a way that is not supported" in message
    assert "as tar.gz or an ordinary zip" in message


def test_read_member_goes_by_the_end_of_the_path(pack: Pack) -> None:
    path = pack("tar", {"v1/data/a.txt": b"1", "v1/data/ba.txt": b"2", "v1/other/b.txt": b"3"})
    assert read_member(path, "a.txt") == b"1"
    assert read_member(path, "data/a.txt") == b"1"
    with pytest.raises(UserError, match=r"no members called 'c\.txt'[\s\S]*v1/data/a\.txt"):
        read_member(path, "c.txt")
    double = pack("tar", {"x/a.txt": b"1", "y/a.txt": b"2"}, "double")
    with pytest.raises(UserError, match=r"2 members called 'a\.txt'[\s\S]*x/a\.txt, y/a\.txt"):
        read_member(double, "a.txt")


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "nothing")
