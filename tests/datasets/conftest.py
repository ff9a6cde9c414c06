"""Small datasets and archives, made on the spot."""

import copy
import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from textbaselines.core.validation import dump_yaml
from textbaselines.datasets.catalog import Dataset, load_dataset

LINES: dict[str, Any] = {
    "name": "tiny",
    "title": "Tiny",
    "citation": "Nobody (2020). Nothing.",
    "terms": "none stated",
    "files": [
        {"name": "good.txt", "sources": [{"kind": "mirror", "name": "good", "sha256": "a" * 64}]},
        {"name": "bad.txt", "sources": [{"kind": "mirror", "name": "bad", "sha256": "b" * 64}]},
    ],
    "reader": {"kind": "lines", "labels": {"good.txt": "pos", "bad.txt": "neg"}},
    "encoding": {"name": "utf-8"},
    "classes": ["pos", "neg"],
    "protocol": {"kind": "cv", "folds": 2},
    "expected": {"documents": {"pos": 2, "neg": 2}},
}


@pytest.fixture
def make_dataset(tmp_path: Path) -> Callable[..., Dataset]:
    """Write a dataset file and load it.

    It has two files of lines, unless told otherwise; ``archive`` names the one raw file instead.
    """

    def make(archive: str | None = None, **changes: Any) -> Dataset:
        value = copy.deepcopy(LINES) | changes
        if archive is not None:
            source = {"kind": "mirror", "name": "raw", "sha256": "c" * 64}
            value["files"] = [{"name": archive, "sources": [source]}]
        path = tmp_path / f"{value['name']}.yaml"
        path.write_text(dump_yaml(value), encoding="utf-8")
        return load_dataset(path)

    return make


def tar_bytes(members: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def packed(kind: str, members: Mapping[str, bytes]) -> bytes:
    if kind == "zip":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return buffer.getvalue()
    content = tar_bytes(members)
    return gzip.compress(content, mtime=0) if kind == "tar.gz" else content


@pytest.fixture
def pack(tmp_path: Path) -> Callable[..., Path]:
    """Write an archive (tar, tar.gz or zip) of the members and return its path."""

    def write(kind: str, members: Mapping[str, bytes], name: str = "raw.archive") -> Path:
        path = tmp_path / name
        path.write_bytes(packed(kind, members))
        return path

    return write
