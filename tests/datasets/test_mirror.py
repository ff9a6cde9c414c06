"""The mirror folder is looked into before any job, for the files that nothing else can give."""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from textbaselines.core.errors import Mistakes, UserError
from textbaselines.datasets.catalog import Dataset
from textbaselines.datasets.mirror import check_own_files, mirror_files

GOOD, BAD = b"good\nfine\n", b"bad\nworse\n"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def source(name: str, content: bytes) -> dict[str, str]:
    return {"kind": "mirror", "name": name, "sha256": sha256(content)}


def files(*sources: dict[str, str]) -> list[dict[str, Any]]:
    """The raw file good.txt of the sources, and bad.txt, which is there."""
    return [
        {"name": "good.txt", "sources": list(sources)},
        {"name": "bad.txt", "sources": [source("bad.txt", BAD)]},
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "mirror"
    (folder / "deep").mkdir(parents=True)
    (folder / "praise.txt").write_bytes(GOOD)
    (folder / "deep" / "bad.txt").write_bytes(BAD)
    return folder


def told(dataset: Dataset, mirror: Path | None, raw: Path) -> str:
    """Return the message of all mistakes; empty without one."""
    mistakes = Mistakes()
    check_own_files([dataset], raw, mirror, mistakes)
    try:
        mistakes.stop()
    except UserError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("sources", "parts"),
    [
        ([source("praise.txt", GOOD)], []),
        # The second source gives it.
        ([source("nothing.txt", GOOD), source("praise.txt", GOOD)], []),
        # An address besides: it may be asked.
        (
            [source("no.txt", GOOD), {"kind": "url", "url": "http://x.org/a", "sha256": "a" * 64}],
            [],
        ),
        (
            [source("Praise.txt", GOOD)],
            ["no file 'Praise.txt'", "name: praise.txt, which has the sha256", "sources[0].name"],
        ),
        (
            [source("prais.txt", b"x")],
            [
                "did you mean 'praise.txt'",
                f"prais.txt with sha256 {sha256(b'x')}",
                "another sha256",
            ],
        ),
        ([source("[zzzz].*", GOOD)], ["no file '[zzzz].*'", "correct its name"]),
        (
            [source("praise.txt", b"other")],
            [
                "praise.txt in the mirror is another file",
                "key files[0].sources[0].sha256 (line ",
                f"{sha256(GOOD)}  ",
                f"expected: {sha256(b'other')}",
                f"- {{kind: mirror, name: praise.txt, sha256: {sha256(GOOD)}}}",
            ],
        ),
        (
            [source("a.txt", GOOD), source("praise.txt", b"other")],
            ["2 mistakes", "no file 'a.txt'", "praise.txt in the mirror is another file"],
        ),
    ],
)
def test_what_the_mirror_does_not_give_is_found(
    make_dataset: Callable[..., Dataset],
    folder: Path,
    tmp_path: Path,
    sources: list[dict[str, str]],
    parts: list[str],
) -> None:
    message = told(make_dataset(files=files(*sources)), folder, tmp_path / "raw")
    assert bool(message) == bool(parts), message
    for part in parts:
        assert part in message, message


def test_every_file_is_told_where_there_is_no_mirror(
    make_dataset: Callable[..., Dataset], tmp_path: Path
) -> None:
    dataset = make_dataset(files=files(source("praise.txt", GOOD)))
    message = told(dataset, None, tmp_path / "raw")
    assert "2 mistakes" in message
    assert "the raw file good.txt comes from a mirror folder, and there is none" in message
    assert "TEXTBASELINES_MIRROR=FOLDER" in message


@pytest.fixture
def fetched(tmp_path: Path) -> Path:
    raw = tmp_path / "raw"
    raw.mkdir()
    for name, content in (("good.txt", GOOD), ("bad.txt", BAD)):
        (raw / name).write_bytes(content)
        record = {"sha256": sha256(content)}
        (raw / f"{name}.source.json").write_text(json.dumps(record))
    return raw


def test_fetched_files_are_not_looked_for(
    make_dataset: Callable[..., Dataset], folder: Path, tmp_path: Path, fetched: Path
) -> None:
    dataset = make_dataset(files=files(source("praise.txt", GOOD)))
    assert told(dataset, None, fetched) == ""
    assert told(dataset, folder, fetched) == ""
    # Another digest is stated now: what was fetched is no longer wanted.
    assert "praise.txt" in told(
        make_dataset(files=files(source("praise.txt", b"x"))), folder, fetched
    )
    (fetched / "good.txt.source.json").write_text("{")
    assert "good.txt" in told(dataset, None, fetched)


def test_a_file_that_was_changed_since_it_was_fetched_is_found(
    make_dataset: Callable[..., Dataset], folder: Path, fetched: Path, monkeypatch: Any
) -> None:
    """Without this an edit of one's own file would be passed over, and old numbers shown."""
    dataset = make_dataset(files=files(source("praise.txt", GOOD)))
    for path in fetched.iterdir():
        os.utime(path, (4e9, 4e9))  # after whatever the mirror has
    with monkeypatch.context() as patch:
        patch.setattr("textbaselines.datasets.mirror.file_digest", None)  # nothing is hashed
        assert told(dataset, folder, fetched) == ""
    os.utime(fetched / "good.txt", (1e9, 1e9))
    assert told(dataset, folder, fetched) == ""  # written since, but the same
    (folder / "praise.txt").write_bytes(GOOD + b"more\n")
    message = told(dataset, folder, fetched)
    assert "changed since it was fetched: praise.txt in the mirror is another file" in message
    assert sha256(GOOD + b"more\n") in message


def test_a_mirror_of_many_files_is_read_once(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"d{number}").mkdir()
        (tmp_path / f"d{number}" / "x[1].txt").touch()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    found = mirror_files(tmp_path)
    assert list(found) == ["x[1].txt"]
    assert len(found["x[1].txt"]) == 50
