"""Readers: each kind's documents, order, ids, line ends, encodings and refusals."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets._twenty_newsgroups import (
    strip_newsgroup_footer,
    strip_newsgroup_quoting,
)

from textbaselines.core.errors import UserError
from textbaselines.datasets.catalog import Dataset
from textbaselines.datasets.readers import (
    Reading,
    natural_key,
    read_documents,
    strip_footer,
    strip_quotes,
)

MakeDataset = Callable[..., Dataset]
Pack = Callable[..., Path]
RATED = {"kind": "rated_lines", "positive": "pos", "negative": "neg", "margin": 0.5}
FOLDERS = {
    "kind": "folders",
    "pattern": (
        r"(?:(?P<split>train|test)/)?(?P<label>pos|neg|unsup)/(?P<id>\d+)_(?P<rating>\d+)\.txt"
    ),
    "labels": {"pos": "pos", "neg": "neg"},
}
NEWSGROUPS = {"kind": "newsgroups", "groups": {"a.b": "pos", "c.d": "neg"}}


def write(folder: Path, good: bytes, bad: bytes = b"bad\n") -> None:
    (folder / "good.txt").write_bytes(good)
    (folder / "bad.txt").write_bytes(bad)


def texts(reading: Reading) -> list[str]:
    return [document.text for document in reading.documents]


def ids(reading: Reading) -> list[str]:
    return [document.id for document in reading.documents]


def refused(dataset: Dataset, folder: Path) -> str:
    with pytest.raises(UserError) as caught:
        read_documents(dataset, folder)
    return str(caught.value)


def test_only_a_line_feed_ends_a_line(make_dataset: MakeDataset, tmp_path: Path) -> None:
    odd = "a\x0bb\x0cc\x1cd\x1ee\x85f\u2028g\rh"
    write(tmp_path, f"{odd}\nsecond \r\n third".encode())
    reading = read_documents(make_dataset(), tmp_path)
    assert texts(reading) == [odd, "second ", " third", "bad"]
    assert ids(reading) == ["pos-00001", "pos-00002", "pos-00003", "neg-00001"]
    assert all(math.isnan(document.rating) for document in reading.documents)
    assert {document.split for document in reading.documents} == {""}


def test_blank_lines_are_kept_or_counted(make_dataset: MakeDataset, tmp_path: Path) -> None:
    write(tmp_path, b"one\n\n \t\ntwo\n\n")
    labels = {"good.txt": "pos", "bad.txt": "neg"}
    dropped = read_documents(make_dataset(), tmp_path)
    assert texts(dropped) == ["one", "two", "bad"]
    assert ids(dropped)[1] == "pos-00004"
    assert dropped.left_out == {"blank line": 3}
    kept = read_documents(
        make_dataset(reader={"kind": "lines", "labels": labels, "keep_blank": True}), tmp_path
    )
    assert texts(kept) == ["one", "", " \t", "two", "", "bad"]
    assert kept.left_out == {}


def test_classes_come_in_the_order_of_the_dataset_file(
    make_dataset: MakeDataset, tmp_path: Path
) -> None:
    write(tmp_path, b"good\n", b"bad\nworse\n")
    reading = read_documents(make_dataset(classes=["neg", "pos"]), tmp_path)
    assert [document.label for document in reading.documents] == ["neg", "neg", "pos"]


def test_undecodable_bytes_are_replaced_and_counted(
    make_dataset: MakeDataset, tmp_path: Path
) -> None:
    write(tmp_path, "caf\u00e9 \ufffd\n\ufffd".encode() + b"\x96 dash \x97\n")
    reading = read_documents(
        make_dataset(encoding={"name": "utf-8", "errors": "replace"}), tmp_path
    )
    assert texts(reading)[:2] == ["caf\u00e9 \ufffd", "\ufffd\ufffd dash \ufffd"]
    assert (reading.replaced_characters, reading.replaced_documents) == (2, 1)


def test_undecodable_bytes_are_refused_with_their_place(
    make_dataset: MakeDataset, tmp_path: Path
) -> None:
    write(tmp_path, b"fine\nno \x96 dash\n")
    message = refused(make_dataset(), tmp_path)
    for part in ("not utf-8", f"{tmp_path / 'good.txt'}, line 2", "byte 0x96 at offset 3"):
        assert part in message
    latin = read_documents(make_dataset(encoding={"name": "cp1252"}), tmp_path)
    assert texts(latin)[1] == "no \u2013 dash"


def test_a_byte_order_mark_is_no_text(make_dataset: MakeDataset, tmp_path: Path) -> None:
    write(tmp_path, b"\xef\xbb\xbffirst\n")
    assert texts(read_documents(make_dataset(), tmp_path))[0] == "first"


def test_a_missing_raw_file_is_told(make_dataset: MakeDataset, tmp_path: Path) -> None:
    assert "raw file is missing" in refused(make_dataset(), tmp_path)
    assert str(tmp_path / "good.txt") in refused(make_dataset(), tmp_path)


def test_rated_lines_get_their_label_from_the_margin(make_dataset: MakeDataset, pack: Pack) -> None:
    content = (
        b"10\t0.5\tjust good\r\n9\t-0.5\tjust bad\r\n2_1\t0.49\tmeh\r\n1\t-0.49\tmeh\r\n"
        b"8\t4\tbest\twith a tab\r\n7\t-3.5\t worst"
    )
    path = pack("tar.gz", {"v/rated.txt": content, "v/rated.txt.bak": b"?"})
    reader = {**RATED, "member": "rated.txt", "id_prefix": "x-"}
    reading = read_documents(make_dataset(archive="raw.archive", reader=reader), path.parent)
    assert [tuple(document) for document in reading.documents] == [
        ("x-8", "best\twith a tab", "pos", 4.0, ""),
        ("x-10", "just good", "pos", 0.5, ""),
        ("x-7", " worst", "neg", -3.5, ""),
        ("x-9", "just bad", "neg", -0.5, ""),
    ]
    assert reading.left_out == {"neutral (|rating| < 0.5)": 2}


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (b"3\tgood", ["without an id, a rating and a text", "'3\\tgood'"]),
        (b"3\tbest\ttext", ["rating that is not a number", "best"]),
        (b"3\tnan\ttext", ["rating that is not a number", "nan"]),
        (b"3\t4.5\ttext", ["outside the scale", "4.5", "-4 to 4"]),
        (b"3\t1\t\xff", ["not utf-8", "0xff at offset 0"]),
        (b"", ["without an id, a rating and a text"]),
    ],
)
def test_a_faulty_rated_line_is_refused_with_its_number(
    make_dataset: MakeDataset, tmp_path: Path, line: bytes, parts: list[str]
) -> None:
    (tmp_path / "raw.archive").write_bytes(b"1\t1\tgood\n2\t-1\tbad\n" + line + b"\n")
    message = refused(make_dataset(archive="raw.archive", reader=RATED), tmp_path)
    for part in [*parts, "raw.archive, line 3"]:
        assert part in message


LATIN = "a great film\nnot so good\r\n"
LANGUAGES = [LATIN, "очень хороший фильм\nтак себе\n", "房间很好，服务也不错。\n很差 的酒店\n" * 3]


@pytest.mark.parametrize("text", LANGUAGES)
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("stated", ["utf-8", "iso-8859-1"])
@pytest.mark.parametrize("errors", ["strict", "replace"])
def test_utf_16_under_another_name_is_refused_with_the_name_that_reads_it(
    make_dataset: MakeDataset,
    tmp_path: Path,
    text: str,
    encoding: str,
    mark: str,
    stated: str,
    errors: str,
) -> None:
    write(tmp_path, (mark + text).encode(encoding), "bad\n".encode(encoding))
    message = refused(make_dataset(encoding={"name": stated, "errors": errors}), tmp_path)
    wanted = encoding.removesuffix("-le").removesuffix("-be") if mark else encoding
    assert f"state encoding: {{name: {wanted}}} in the dataset file" in message
    assert "good.txt" in message
    write(tmp_path, (mark + text).encode(encoding), (mark + "bad\n").encode(encoding))
    reading = read_documents(make_dataset(encoding={"name": wanted, "errors": errors}), tmp_path)
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    assert texts(reading) == [*lines, "bad"]
    assert (reading.replaced_characters, reading.replaced_documents) == (0, 0)


@pytest.mark.parametrize("errors", ["strict", "replace"])
def test_a_stray_nul_is_refused_with_its_line(
    make_dataset: MakeDataset, tmp_path: Path, errors: str
) -> None:
    write(tmp_path, b"one\ntwo\nth\0ree\n\0\0")
    message = refused(make_dataset(encoding={"name": "utf-8", "errors": errors}), tmp_path)
    assert "good.txt, line 3" in message
    assert "3 zero bytes of 17" in message
    assert "looks like" not in message
    assert "tr -d" in message


@pytest.mark.parametrize("stated", ["utf-8", "utf-16-be"])
def test_a_member_in_utf_16_under_another_name_is_refused(
    make_dataset: MakeDataset, pack: Pack, stated: str
) -> None:
    members = {
        "pos/1_7.txt": "\ufeffgood\nfilm".encode("utf-16-le"),
        "pos/2_7.txt": b"\xff\xfeo\0k\0",
    }
    path = pack("zip", members)
    message = refused(
        make_dataset(archive="raw.archive", reader=FOLDERS, encoding={"name": stated}), path.parent
    )
    assert "document pos/1" in message
    assert "byte order mark of utf-16" in message
    dataset = make_dataset(archive="raw.archive", reader=FOLDERS, encoding={"name": "utf-16"})
    assert texts(read_documents(dataset, path.parent)) == ["good\nfilm", "ok"]


def test_utf_16_without_a_mark_needs_an_order_of_bytes(
    make_dataset: MakeDataset, tmp_path: Path
) -> None:
    write(tmp_path, LATIN.encode("utf-16-be"))
    message = refused(make_dataset(encoding={"name": "utf-16"}), tmp_path)
    assert "without the byte order mark" in message
    assert "{name: utf-16-be}" in message


def test_replacements_in_utf_16_are_counted(make_dataset: MakeDataset, tmp_path: Path) -> None:
    lone = "a \ud800 b\nc \ufffd d\n".encode("utf-16-le", "surrogatepass")
    write(tmp_path, lone, "bad\n".encode("utf-16-le"))
    encoding = {"name": "utf-16-le", "errors": "replace"}
    reading = read_documents(make_dataset(encoding=encoding), tmp_path)
    assert texts(reading) == ["a \ufffd b", "c \ufffd d", "bad"]
    assert (reading.replaced_characters, reading.replaced_documents) == (1, 1)
    message = refused(make_dataset(encoding={"name": "utf-16-le"}), tmp_path)
    assert "offset 4" in message


def test_rated_lines_in_utf_16(make_dataset: MakeDataset, tmp_path: Path) -> None:
    rated = "1\t1\tgood\n2\t-1\tbad\n".encode("utf-16-le")
    (tmp_path / "raw.archive").write_bytes(rated)
    dataset = make_dataset(archive="raw.archive", reader=RATED, encoding={"name": "utf-16-le"})
    assert texts(read_documents(dataset, tmp_path)) == ["good", "bad"]
    message = refused(make_dataset(archive="raw.archive", reader=RATED), tmp_path)
    assert "{name: utf-16-le}" in message


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "zip"])
@pytest.mark.parametrize("top", ["", "aclImdb/", "./x/y/"])
def test_folders_give_the_same_documents_in_every_archive(
    make_dataset: MakeDataset, pack: Pack, kind: str, top: str
) -> None:
    members = {
        f"{top}train/neg/2_1.txt": b"bad\r\n",
        f"{top}train/pos/10_9.txt": b"ten",
        f"{top}train/pos/9_10.txt": b"nine",
        f"{top}test/pos/1_7.txt": b" one",
        f"{top}README": b"read me",
        f"{top}train/pos/9_10.txt.bak": b"?",
        f"{top}train/apos/3_3.txt": b"?",
    }
    if top.startswith("./"):
        members = dict(reversed(members.items()))
    path = pack(kind, members)
    dataset = make_dataset(archive="raw.archive", reader=FOLDERS, protocol={"kind": "split"})
    assert [tuple(document) for document in read_documents(dataset, path.parent).documents] == [
        ("test/pos/1", " one", "pos", 7.0, "test"),
        ("train/pos/9", "nine", "pos", 10.0, "train"),
        ("train/pos/10", "ten", "pos", 9.0, "train"),
        ("train/neg/2", "bad\r\n", "neg", 1.0, "train"),
    ]


def test_folders_without_a_split_or_a_label(make_dataset: MakeDataset, pack: Pack) -> None:
    dataset = make_dataset(archive="raw.archive", reader=FOLDERS)
    path = pack("zip", {"pos/1_7.txt": b"one"})
    assert read_documents(dataset, path.parent).documents[0][:5:4] == ("pos/1", "")
    message = refused(dataset, pack("zip", {"train/unsup/1_0.txt": b"one"}).parent)
    for part in ("member train/unsup/1_0.txt", "unsup", "pos, neg"):
        assert part in message


def test_a_strict_encoding_names_the_document(make_dataset: MakeDataset, pack: Pack) -> None:
    path = pack("tar", {"pos/1_7.txt": b"caf\xe9"})
    message = refused(make_dataset(archive="raw.archive", reader=FOLDERS), path.parent)
    assert "document pos/1" in message
    assert "0xe9 at offset 3" in message


POST = (
    b"From: a@b\nSubject: Re: x\n\nIn article <1> b writes:\n> quoted\n| too\nOwn words\xe9\n\n"
    b"More words\n\n--\nName\nPlace"
)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {},
            "In article <1> b writes:\n> quoted\n| too\nOwn words\u00e9\n\nMore words\n\n--\n"
            "Name\nPlace",
        ),
        ({"strip_headers": False}, POST.decode("latin-1")),
        ({"strip_quotes": True}, "Own words\u00e9\n\nMore words\n\n--\nName\nPlace"),
        (
            {"strip_quotes": True, "strip_footers": True},
            "Own words\u00e9\n\nMore words\n",
        ),
    ],
)
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_newsgroup_posts(
    make_dataset: MakeDataset, pack: Pack, options: dict[str, Any], text: str, line_end: bytes
) -> None:
    post = POST.replace(b"\n", line_end)
    path = pack("tar", {"top/a.b/10": post, "top/a.b/9": POST, "c.d/1": POST, "xa.b/1": POST,
                        "a.b.c/4": POST})  # fmt: skip
    dataset = make_dataset(
        archive="raw.archive", reader={**NEWSGROUPS, **options}, encoding={"name": "iso-8859-1"}
    )
    reading = read_documents(dataset, path.parent)
    assert ids(reading) == ["a.b/9", "a.b/10", "c.d/1"]
    assert texts(reading) == [text] * 3


def test_a_post_without_headers_is_refused(make_dataset: MakeDataset, pack: Pack) -> None:
    path = pack("tar", {"a.b/7": b"From: x\nno blank line"})
    message = refused(make_dataset(archive="raw.archive", reader=NEWSGROUPS), path.parent)
    assert "document a.b/7" in message
    assert "strip_headers: false" in message


pieces = st.sampled_from(
    ["\n", "\n\n", "--\n", "-", ">", "|", " ", "x writes:", "In article", "words", "said:", "\t"]
)


@given(st.lists(pieces, max_size=20).map("".join))
def test_stripping_is_that_of_scikit_learn(post: str) -> None:
    assert strip_quotes(post) == strip_newsgroup_quoting(post)
    assert strip_footer(post) == strip_newsgroup_footer(post)


def test_numbers_of_any_length_sort_by_value() -> None:
    ones, nines = "1" * 5000, "9" * 4999
    names = [f"a{ones}", f"a{nines}", "a10", "a9", f"a{'0' * 5000}2"]
    assert sorted(names, key=natural_key) == [names[4], "a9", "a10", f"a{nines}", f"a{ones}"]


def test_desktop_files_are_no_documents(make_dataset: MakeDataset, pack: Pack) -> None:
    reader = {"kind": "folders", "pattern": r"(?P<label>pos|neg)/(?P<id>.+)\.txt"}
    reader["labels"] = {"pos": "pos", "neg": "neg"}
    members = {
        "pos/1.txt": b"good",
        "neg/caf\u0065\u0301.txt": b"bad",
        "pos/._1.txt": b"\0\5\x16\7",
    }
    path = pack("zip", members | {"__MACOSX/neg/._1.txt": b"\0\5\x16\7"})
    reading = read_documents(make_dataset(archive="raw.archive", reader=reader), path.parent)
    assert ids(reading) == ["pos/1", "neg/caf\u00e9"]
    assert reading.left_out == {}
    assert reading.skipped_members == {"file of macOS (._*)": 1, "file of macOS (__MACOSX)": 1}


def test_numbers_sort_by_value() -> None:
    names = ["a10", "a9", "b1", "a9_2", "10", "9", "a09"]
    assert sorted(names, key=natural_key) == ["9", "10", "a09", "a9", "a9_2", "a10", "b1"]
