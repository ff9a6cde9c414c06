"""Dataset files: the thirteen that ship, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from textbaselines.core.errors import UserError
from textbaselines.datasets.catalog import Dataset, RawFile, load_catalog
from textbaselines.datasets.dataset_file import MirrorSource, PackageSource, Protocol, UrlSource

MakeDataset = Callable[..., Dataset]
# Documents per class, the positive class first: Wang & Manning's runs, and the four rated sets.
SHIPPED = {
    "rt-s": (5331, 5331),
    "cr": (2407, 1368),
    "mpqa": (3312, 7294),
    "subj": (5000, 5000),
    "rt-2k": (1000, 1000),
    "imdb": (25000, 25000),
    "athr": (799, 628),
    "xgraph": (980, 973),
    "bbcrypt": (994, 991),
    "hg-movie": (4996, 5076),
    "hg-amazon": (1750, 1235),
    "hg-nyt": (1187, 1783),
    "hg-tweets": (2345, 1087),
}
# Lines of the rated sets before the neutral ones leave.
RATED = {"hg-movie": 10605, "hg-amazon": 3708, "hg-nyt": 5190, "hg-tweets": 4200}


@pytest.fixture(scope="module")
def shipped(repository: Path) -> dict[str, Dataset]:
    return load_catalog(repository / "config/datasets")


def test_the_thirteen_ship_with_their_counts(shipped: dict[str, Dataset]) -> None:
    assert {
        name: tuple(dataset.expected.documents[label] for label in dataset.classes)
        for name, dataset in shipped.items()
    } == SHIPPED
    assert {
        name: sum(dataset.expected.documents.values()) + dataset.expected.left_out
        for name, dataset in shipped.items()
        if name in RATED
    } == RATED
    assert len({dataset.title for dataset in shipped.values()}) == 13


def test_protocols_are_those_of_the_paper(shipped: dict[str, Dataset]) -> None:
    halves = {"athr", "xgraph", "bbcrypt"}
    for name, dataset in shipped.items():
        kind = "halves" if name in halves else "split" if name == "imdb" else "cv"
        assert dataset.protocol == Protocol(kind=kind), name
        assert dataset.protocol.folds == (10 if kind == "cv" else None), name


def test_every_dataset_is_pinned_and_reachable(shipped: dict[str, Dataset]) -> None:
    for dataset in shipped.values():
        assert dataset.content_digest is not None
        assert len(set(dataset.content_digest)) > 8
        for file in dataset.files:
            kinds = {type(source) for source in file.sources}
            assert MirrorSource in kinds
            assert UrlSource in kinds
            assert (PackageSource in kinds) == dataset.name.startswith("hg-")


def test_a_raw_file_is_read_from_its_plain_values(shipped: dict[str, Dataset]) -> None:
    """As a job gets it: some sources have no digest."""
    files = [file for dataset in shipped.values() for file in dataset.files]
    assert any("sha256" not in source for one in files for source in one.plain()["sources"])
    for file in files:
        assert RawFile.model_validate(json.loads(json.dumps(file.plain()))) == file


def test_some_of_the_catalog_can_be_read(repository: Path) -> None:
    catalog = load_catalog(repository / "config/datasets", ["rt-s", "cr", "rt-s"])
    assert list(catalog) == ["cr", "rt-s"]
    with pytest.raises(UserError, match=r"no dataset 'rts'[\s\S]*did you mean 'rt-s'"):
        load_catalog(repository / "config/datasets", ["rts"])


def test_defaults_are_filled(make_dataset: MakeDataset) -> None:
    dataset = make_dataset(protocol={"kind": "cv"})
    assert dataset.protocol.folds == 10
    assert dataset.language == "en"
    assert dataset.encoding.errors == "strict"
    assert dataset.reader.keep_blank is False
    assert dataset.expected.left_out == 0


def test_a_source_knows_its_name_in_a_mirror() -> None:
    url = UrlSource(kind="url", url="https://example.org/~x/a%20b.zip?raw=1")
    assert url.file_name == "a b.zip"
    assert url.digest is None
    package = PackageSource(
        kind="package",
        package="p",
        version="1",
        sha256="a" * 64,
        member="p-1/data/c.tgz",
        member_sha256="b" * 64,
    )
    assert package.file_name == "c.tgz"
    assert package.digest == "b" * 64


ONE_FILE = [{"name": "x.tgz", "sources": [{"kind": "mirror", "name": "x", "sha256": "c" * 64}]}]
FOLDERS = {"kind": "folders", "pattern": "(?P<label>pos|neg)/(?P<id>.*)"}
LABELS = {"pos": "pos", "neg": "neg"}


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"classes": ["pos"]}, ["key classes", "fewer items than 2"]),
        ({"clases": []}, ["unknown key 'clases'", "did you mean 'classes'"]),
        ({"protocol": {"kind": "halfs"}}, ["protocol.kind", "'halfs'", "did you mean 'halves'"]),
        ({"protocol": {"kind": "halves", "folds": 3}}, ["protocol.folds", "kind cv alone"]),
        ({"protocol": {"kind": "split"}}, ["official split", "protocol.kind"]),
        ({"encoding": {"name": "utf-9"}}, ["no such encoding", "utf-9"]),
        ({"encoding": {"name": "rot13"}}, ["no such encoding", "rot13", "codec of text"]),
        ({"encoding": {"name": "rot13"}}, ["encoding.name", "rot13"]),
        ({"content_digest": "ABC"}, ["content_digest", "64 lower-case hex digits"]),
        (
            {"reader": {"kind": "lines", "labels": {"good.txt": "pos", "bad.txt": "ne"}}},
            ["'ne' is not one of the classes", "reader.labels.bad.txt", "did you mean 'neg'"],
        ),
        (
            {"reader": {"kind": "lines", "labels": {"good.txt": "pos", "bad.txt": "pos"}}},
            ["no document can get the label 'neg'"],
        ),
        (
            {"reader": {"kind": "lines", "labels": {"good.txt": "pos", "bda.txt": "neg"}}},
            ["other files than the dataset's", "bda.txt", "good.txt, bad.txt"],
        ),
        ({"reader": {"kind": "line", "labels": {}}}, ["reader.kind", "did you mean 'lines'"]),
        (
            {"expected": {"documents": {"pos": 2, "negative": 2}}},
            ["expected.documents", "pos, negative", "pos, neg"],
        ),
        (
            {"reader": {**FOLDERS, "labels": LABELS}},
            ["folders reads one raw file", "good.txt, bad.txt"],
        ),
        (
            {"files": ONE_FILE, "reader": {**FOLDERS, "pattern": "(?P<label>a", "labels": LABELS}},
            ["not a regular expression", "reader.pattern"],
        ),
        (
            {"files": ONE_FILE, "reader": {**FOLDERS, "pattern": "(?P<label>a)", "labels": LABELS}},
            ["named groups", "label and id"],
        ),
        (
            {"files": [ONE_FILE[0], ONE_FILE[0]]},
            ["two files of one dataset", "key files"],
        ),
        (
            {
                "files": [
                    {"name": "good.txt", "sources": [{"kind": "url", "url": "http://x.org/a"}]},
                    {"name": "bad.txt", "sources": [{"kind": "url", "url": "http://x.org/b"}]},
                ]
            },
            ["without a digest", "files[0].sources[0]", "http://x.org/a", "content_digest"],
        ),
        (
            {"files": [{"name": "a", "sources": [{"kind": "url", "url": "file:///etc/passwd"}]}]},
            ["files[0].sources[0].url", "file:///etc/passwd", "http or https"],
        ),
        (
            {"files": [{"name": "../a", "sources": [{"kind": "url", "url": "http://x.org/a"}]}]},
            ["files[0].name", "../a"],
        ),
        (
            {"files": [{"name": "a", "sources": [{"kind": "mirror", "name": "a"}]}]},
            ["'sha256' is missing", "files[0].sources[0]", "the sha256 of the file"],
        ),
    ],
)
def test_a_faulty_dataset_file_is_refused(
    make_dataset: MakeDataset, changes: dict[str, Any], parts: list[str]
) -> None:
    with pytest.raises(UserError) as caught:
        make_dataset(**changes)
    for part in [*parts, "tiny.yaml"]:
        assert part in str(caught.value), caught.value


def test_the_file_is_called_as_the_dataset(make_dataset: MakeDataset, tmp_path: Path) -> None:
    make_dataset()
    (tmp_path / "tiny.yaml").rename(tmp_path / "small.yaml")
    with pytest.raises(UserError, match=r"small\.yaml, key name[\s\S]*found:    tiny"):
        load_catalog(tmp_path)


def test_one_raw_file_name_means_one_file(make_dataset: MakeDataset, tmp_path: Path) -> None:
    make_dataset()
    make_dataset(name="other")
    assert list(load_catalog(tmp_path)) == ["other", "tiny"]
    value = yaml.safe_load((tmp_path / "other.yaml").read_text())
    value["files"][1]["sources"][0]["sha256"] = "d" * 64
    (tmp_path / "other.yaml").write_text(yaml.safe_dump(value))
    with pytest.raises(UserError) as caught:
        load_catalog(tmp_path)
    for part in ("'bad.txt'", "other.yaml", "tiny.yaml"):
        assert part in str(caught.value)


def test_a_folder_without_dataset_files_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no dataset files"):
        load_catalog(tmp_path)
