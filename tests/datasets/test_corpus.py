"""Corpora: what is checked, what a damaged raw file leads to, and the content digest."""

import hashlib
import re
import shutil
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from textbaselines.core.errors import UserError
from textbaselines.core.validation import dump_yaml, load_yaml
from textbaselines.datasets.audit import audit
from textbaselines.datasets.catalog import Dataset, load_catalog, load_dataset
from textbaselines.datasets.corpus import (
    build_corpus,
    content_digest,
    read_corpus,
    text_group,
    write_corpus,
)
from textbaselines.datasets.fetch import fetch_file

MakeDataset = Callable[..., Dataset]
GOOD, BAD = b"good \n very  good\n", b"bad\nworse\n"
# (length, bytes) of id, label and text of each of the four documents, hashed by hand.
FRAMED = b"".join(
    len(string).to_bytes(8, "big") + string
    for string in (
        *(b"pos-00001", b"pos", b"good "),
        *(b"pos-00002", b"pos", b" very  good"),
        *(b"neg-00001", b"neg", b"bad"),
        *(b"neg-00002", b"neg", b"worse"),
    )
)
DIGEST = hashlib.sha256(FRAMED).hexdigest()


def write(folder: Path, good: bytes = GOOD, bad: bytes = BAD) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "good.txt").write_bytes(good)
    (folder / "bad.txt").write_bytes(bad)
    return folder


def refused(dataset: Dataset, folder: Path) -> str:
    with pytest.raises(UserError) as caught:
        build_corpus(dataset, folder)
    return str(caught.value)


def test_a_corpus_holds_every_column(make_dataset: MakeDataset, tmp_path: Path) -> None:
    corpus = build_corpus(make_dataset(content_digest=DIGEST), write(tmp_path / "raw"))
    assert corpus.content_digest == DIGEST
    frame = corpus.frame
    assert list(frame.columns) == ["id", "text", "label", "rating", "split", "group"]
    assert frame["id"].tolist() == ["pos-00001", "pos-00002", "neg-00001", "neg-00002"]
    assert frame["label"].tolist() == ["pos", "pos", "neg", "neg"]
    assert frame["text"].tolist() == ["good ", " very  good", "bad", "worse"]
    assert frame["rating"].dtype == np.float64
    assert frame["rating"].isna().all()
    assert frame["split"].tolist() == [""] * 4
    assert frame["group"].tolist() == [
        hashlib.sha256(text).hexdigest()[:16] for text in (b"good", b"very good", b"bad", b"worse")
    ]


def test_a_corpus_is_read_as_it_was_written(make_dataset: MakeDataset, tmp_path: Path) -> None:
    corpus = build_corpus(make_dataset(), write(tmp_path / "raw"))
    path = tmp_path / "corpus.parquet"
    write_corpus(path, corpus)
    first = path.read_bytes()
    write_corpus(path, corpus)
    assert path.read_bytes() == first
    pd.testing.assert_frame_equal(read_corpus(path), corpus.frame)
    assert list(read_corpus(path, ["label", "id"]).columns) == ["label", "id"]
    with pytest.raises(UserError, match=r"no column 'fold'[\s\S]*group, id, label"):
        read_corpus(path, ["id", "fold"])
    for name in ("nothing.parquet", "raw/good.txt"):
        with pytest.raises(UserError, match="not a corpus file"):
            read_corpus(tmp_path / name)


@pytest.mark.parametrize(
    ("good", "bad", "parts"),
    [
        (b"good \n", BAD, ["found:    pos 1, neg 2", "expected: pos 2, neg 2", "left out 0"]),
        (GOOD + b"\n", BAD, ["found:    pos 2, neg 2; left out 1", "left out 0"]),
        (GOOD, b"", ["found:    pos 2, neg 0"]),
        (b"", b"", ["no documents of tiny", "pos 2, neg 2"]),
        (BAD, GOOD, ["content of tiny", "expected: " + DIGEST, "an id, a label or a text differs"]),
        (GOOD[::-1], BAD, ["pos 1, neg 2"]),
        (b"good \n very good\n", BAD, ["content of tiny", DIGEST]),
    ],
)
def test_other_raw_files_are_refused_with_what_differs(
    make_dataset: MakeDataset, tmp_path: Path, good: bytes, bad: bytes, parts: list[str]
) -> None:
    files = [
        {"name": name, "sources": [{"kind": "mirror", "name": name, "sha256": digest}]}
        for name, digest in (
            ("good.txt", hashlib.sha256(GOOD).hexdigest()),
            ("bad.txt", hashlib.sha256(BAD).hexdigest()),
        )
    ]
    folder = write(tmp_path / "raw", good, bad)
    if good == GOOD[::-1]:
        (folder / "good.txt").write_bytes(b"doog yrev")
    message = refused(make_dataset(content_digest=DIGEST, files=files), folder)
    for part in parts:
        assert part in message, message
    if good and bad == BAD:
        assert "raw file good.txt: sha256" in message
        assert "of no source that states a digest" in message
        assert "bad.txt: sha256 " + hashlib.sha256(BAD).hexdigest() + ", as from mirror" in message


ODD = ["no", "1e-3", "0123", "a: b", "# x", "été", "line\nbreak", "- {", "007", "1_1", "true"]


def one_class_a_file(make_dataset: MakeDataset, labels: list[str], **changes: Any) -> Dataset:
    """Two documents expected of each class; the first file holds three and a blank line."""
    names = [f"class{number}.txt" for number in range(len(labels))]
    digests = [hashlib.sha256(lines_of(number)).hexdigest() for number in range(len(labels))]
    return make_dataset(
        files=[
            {"name": name, "sources": [{"kind": "mirror", "name": name, "sha256": digest}]}
            for name, digest in zip(names, digests, strict=True)
        ],
        reader={"kind": "lines", "labels": dict(zip(names, labels, strict=True))},
        classes=labels,
        expected={"documents": dict.fromkeys(labels, 2), "tokens": 9},
        **changes,
    )


def lines_of(number: int) -> bytes:
    return f"a b\nc {number}\n".encode() + (b"d e f g\n\n" if number == 0 else b"")


@pytest.mark.parametrize("digest", [None, "f" * 64])
def test_the_lines_to_paste_make_a_dataset_file_of_ones_own_right(
    make_dataset: MakeDataset, tmp_path: Path, digest: str | None
) -> None:
    """Whatever the classes are called, the printed lines are YAML that says what was found."""
    changes = {} if digest is None else {"content_digest": digest}
    dataset = one_class_a_file(make_dataset, ODD, **changes)
    raw = tmp_path / "raw"
    raw.mkdir()
    for number in range(len(ODD)):
        (raw / f"class{number}.txt").write_bytes(lines_of(number))
    message = refused(dataset, raw)
    assert "no 3 instead of 2\n    left out 1 instead of 0\n" in message
    assert "fetch" not in message
    _, _, printed = message.partition(f"write in {dataset.path}\n")
    pasted = load_yaml(dataset.path)
    lines = tmp_path / "lines.yaml"
    lines.write_text(textwrap.dedent(printed), encoding="utf-8")
    found = load_yaml(lines)
    assert found["expected"]["documents"] == dict.fromkeys(ODD, 2) | {"no": 3}
    assert found["expected"]["left_out"] == 1
    # 11 documents of two tokens, 1 of four; the mean of 46 / 23 is 2.1.
    assert found["expected"]["tokens"] == round((22 * 2 + 4) / 23, 1)
    assert ("content_digest" in found) == (digest is not None)
    dataset.path.write_text(dump_yaml(pasted | found), encoding="utf-8")
    assert len(build_corpus(load_dataset(dataset.path), raw).frame) == 23


def test_what_was_downloaded_is_to_be_fetched_again(
    make_dataset: MakeDataset, tmp_path: Path
) -> None:
    files = [
        {
            "name": name,
            "sources": [{"kind": "url", "url": f"http://x.org/{name}", "sha256": digest}],
        }
        for name, digest in (
            ("good.txt", hashlib.sha256(GOOD).hexdigest()),
            ("bad.txt", hashlib.sha256(BAD).hexdigest()),
        )
    ]
    raw = write(tmp_path / "raw", GOOD + b"more\n")
    message = refused(make_dataset(files=files), raw)
    assert f"remove {raw / 'good.txt'}, and run again" in message
    assert "pos 3 instead of 2" in message
    # The raw files are as pinned: fetching them again would change nothing.
    message = refused(
        make_dataset(files=files, expected={"documents": {"pos": 1, "neg": 2}}), write(raw)
    )
    assert "remove" not in message
    assert "pinned ones" in message
    assert "another name" in message
    assert "documents:\n        pos: 2\n        neg: 2" in message


def test_many_classes_are_named_where_they_differ(
    make_dataset: MakeDataset, tmp_path: Path
) -> None:
    labels = [f"class-{number}" for number in range(50)]
    dataset = one_class_a_file(make_dataset, labels)
    raw = tmp_path / "raw"
    raw.mkdir()
    for number in range(50):
        (raw / f"class{number}.txt").write_bytes(lines_of(number))
    message = refused(dataset, raw)
    found = message[message.index("found:") : message.index("raw file")]
    assert found.split("\n    ")[1:-1] == ["class-0 3 instead of 2", "left out 1 instead of 0"]
    assert max(map(len, message.splitlines())) < 250


def test_a_class_without_a_document_gives_no_lines_to_paste(
    make_dataset: MakeDataset, tmp_path: Path
) -> None:
    message = refused(make_dataset(), write(tmp_path / "raw", GOOD, b"\n"))
    assert "no document of neg was found" in message
    assert "documents:" not in message


def test_an_id_that_stands_twice_is_refused(make_dataset: MakeDataset, tmp_path: Path) -> None:
    (tmp_path / "raw.archive").write_bytes(b"1\t2\tgood\n1\t3\tgood\n2\t-2\tbad\n")
    dataset = make_dataset(
        files=[
            {
                "name": "raw.archive",
                "sources": [{"kind": "mirror", "name": "r", "sha256": "c" * 64}],
            }
        ],
        reader={"kind": "rated_lines", "positive": "pos", "negative": "neg", "margin": 0.5},
    )
    message = refused(dataset, tmp_path)
    assert "1 document ids stand twice" in message
    assert "found:    1" in message


rows = st.lists(
    st.tuples(st.text(max_size=6), st.sampled_from(["pos", "neg", ""]), st.text(max_size=6)),
    min_size=1,
    max_size=5,
)


def frame_of(documents: list[tuple[str, str, str]]) -> pd.DataFrame:
    return pd.DataFrame(documents, columns=["id", "label", "text"]).astype("str")


@given(rows, st.data())
def test_any_single_edit_changes_the_content_digest(
    documents: list[tuple[str, str, str]], data: st.DataObject
) -> None:
    row = data.draw(st.integers(0, len(documents) - 1))
    column = data.draw(st.integers(0, 2))
    new = data.draw(st.text(max_size=8))
    assume(new != documents[row][column])
    edited = list(documents)
    edited[row] = (*documents[row][:column], new, *documents[row][column + 1 :])  # type: ignore[assignment]
    assert content_digest(frame_of(edited)) != content_digest(frame_of(documents))


@given(st.text(max_size=5), st.text(max_size=5), st.text(min_size=1, max_size=5))
def test_moving_text_between_fields_changes_the_content_digest(a: str, b: str, c: str) -> None:
    digests = {
        content_digest(frame_of([row])) for row in [(a + c, b, ""), (a, c + b, ""), (a, b, c)]
    }
    assert len(digests) == len({(a + c, b, ""), (a, c + b, ""), (a, b, c)})


def test_the_content_digest_does_not_know_the_archive(
    make_dataset: MakeDataset, pack: Callable[..., Path]
) -> None:
    digests = set()
    members = {"pos/2.txt": b"good", "pos/10.txt": b"fine", "neg/1.txt": b"bad", "neg/3.txt": b"!"}
    for kind, top in (("tar", "a/"), ("tar.gz", ""), ("zip", "b/c/")):
        listed = {top + name: content for name, content in members.items()}
        if kind == "zip":
            listed = dict(reversed(listed.items())) | {"README": b"one more"}
        path = pack(kind, listed)
        dataset = make_dataset(
            files=[
                {
                    "name": path.name,
                    "sources": [{"kind": "mirror", "name": "r", "sha256": "c" * 64}],
                }
            ],
            reader={
                "kind": "folders",
                "pattern": r"(?P<label>pos|neg)/(?P<id>\d+)\.txt",
                "labels": {"pos": "pos", "neg": "neg"},
            },
        )
        digests.add(build_corpus(dataset, path.parent).content_digest)
    assert len(digests) == 1


@given(st.lists(st.text("ab\u00e9", min_size=1), max_size=4), st.sampled_from([" ", "\t", " \n "]))
def test_a_group_is_a_text_white_space_aside(words: list[str], space: str) -> None:
    assert text_group(space + space.join(words)) == text_group(" ".join(words))
    assert text_group(" ".join([*words, "z"])) != text_group(" ".join(words))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("cafe\u0301 noir", "café noir"),
        ("\ufefffilm", "film"),
        ("exam\u00adple", "example"),
        ("a\u200b b", "a b"),
    ],
)
def test_a_group_is_a_text_however_it_is_encoded(text: str, same: str) -> None:
    assert text_group(text) == text_group(same)
    assert text_group(same) == hashlib.sha256(same.encode()).hexdigest()[:16]
    assert text_group("cafe") != text_group("café")


def test_the_example_of_the_documentation_works(repository: Path, tmp_path: Path) -> None:
    page = (repository / "docs/datasets.md").read_text(encoding="utf-8")
    commands, dataset_file, *_ = re.findall(r"```(?:sh|yaml)\n(.*?)```", page, re.DOTALL)
    subprocess.run(["sh", "-e", "-c", commands], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "gadgets.yaml").write_text(dataset_file, encoding="utf-8")
    dataset = load_catalog(tmp_path)["gadgets"]
    for file in dataset.files:
        fetch_file(
            file,
            tmp_path / "raw" / file.name,
            mirror=tmp_path / "mirror",
            work_folder=tmp_path / "work",
        )
    frame = build_corpus(dataset, tmp_path / "raw").frame
    assert frame["id"].tolist() == [
        "praise-00001", "praise-00002", "praise-00004", "complaint-00001", "complaint-00002"
    ]  # fmt: skip


# -- the real files --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shipped(repository: Path) -> dict[str, Dataset]:
    return load_catalog(repository / "config/datasets")


@pytest.fixture(scope="module")
def fetch(mirror: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Dataset], Path]:
    folder = tmp_path_factory.mktemp("raw")

    def run(dataset: Dataset) -> Path:
        for file in dataset.files:
            if not (folder / file.name).exists():
                fetch_file(file, folder / file.name, mirror=mirror, work_folder=folder / "work")
        return folder

    return run


# Facts told elsewhere: documents that repeat an earlier text, texts with both labels, replaced
# characters (the bytes above 0x7f), blank documents.
FACTS = {
    "rt-s": (0, 0, 169 + 147, 0),
    "cr": (9, 1, 0, 4),
    "mpqa": (10606 - 8241, 99, 0, 3),
    "subj": (0, 0, 179, 0),
    "rt-2k": (0, 0, 0, 0),
}


@pytest.mark.mirror
@pytest.mark.parametrize("name", FACTS)
def test_the_small_sets_are_as_pinned(
    shipped: dict[str, Dataset], fetch: Callable[[Dataset], Path], name: str
) -> None:
    dataset = shipped[name]
    corpus = build_corpus(dataset, fetch(dataset))
    report = audit(corpus)
    assert corpus.content_digest == dataset.content_digest
    assert report["documents_by_class"] == dict(dataset.expected.documents)
    assert (
        report["duplicates"]["repeating_documents"],
        report["duplicates"]["texts_with_several_labels"],
        report["encoding_replacements"]["characters"],
        report["empty_documents"],
    ) == FACTS[name]


# Dictionary sizes in the authors' logs (sidaw/nbsvm): unigrams.
@pytest.mark.mirror
@pytest.mark.parametrize(
    ("name", "size"), [("rt-s", 21411), ("cr", 5713), ("mpqa", 6299), ("subj", 23918)]
)
def test_the_texts_give_the_dictionary_of_wang_and_manning(
    shipped: dict[str, Dataset], fetch: Callable[[Dataset], Path], name: str, size: int
) -> None:
    frame = build_corpus(shipped[name], fetch(shipped[name])).frame
    words = {word for text in frame["text"] for word in text.strip().lower().split(" ")}
    assert len(words) == size


@pytest.mark.mirror
@pytest.mark.parametrize("name", ["hg-movie", "hg-amazon", "hg-nyt", "hg-tweets", "athr", "xgraph"])
def test_the_archives_are_as_pinned(
    shipped: dict[str, Dataset], fetch: Callable[[Dataset], Path], name: str
) -> None:
    corpus = build_corpus(shipped[name], fetch(shipped[name]))
    assert corpus.content_digest == shipped[name].content_digest
    assert sum(corpus.left_out.values()) == shipped[name].expected.left_out
    assert corpus.replaced_characters == 0


@pytest.mark.mirror
def test_imdb_is_as_pinned_with_its_known_repeats(
    shipped: dict[str, Dataset], fetch: Callable[[Dataset], Path]
) -> None:
    corpus = build_corpus(shipped["imdb"], fetch(shipped["imdb"]))
    report = audit(corpus)
    assert report["documents_by_split"] == {
        split: {"pos": 12500, "neg": 12500} for split in ("test", "train")
    }
    assert report["duplicates"]["repeating_documents_by_split"] == {"test": 199, "train": 96}
    assert report["split_overlap"]["texts"] == 123
    frame = corpus.frame.set_index("id")
    assert frame.loc["train/pos/0_9", "rating"] == 9.0
    assert (frame["rating"] >= 7).eq(frame["label"] == "pos").all()
    assert (frame["rating"].between(1, 4)).eq(frame["label"] == "neg").all()


def cut_last_line(content: bytes) -> bytes:
    return b"".join(content.splitlines(keepends=True)[:-1])


@pytest.mark.mirror
@pytest.mark.parametrize(
    ("damage", "part"),
    [
        (cut_last_line, "found:    pos 5330, neg 5331"),
        (lambda content: content[:-2], "an id, a label or a text differs"),
        (
            lambda content: content.decode("latin-1").encode("utf-8"),
            "an id, a label or a text differs",
        ),
    ],
)
def test_a_damaged_file_is_refused_with_what_differs(
    shipped: dict[str, Dataset],
    fetch: Callable[[Dataset], Path],
    tmp_path: Path,
    damage: Callable[[bytes], bytes],
    part: str,
) -> None:
    dataset = shipped["rt-s"]
    raw = fetch(dataset)
    for file in dataset.files:
        shutil.copy(raw / file.name, tmp_path)
    path = tmp_path / "rt-polarity.pos"
    path.write_bytes(damage(path.read_bytes()))
    message = refused(dataset, tmp_path)
    assert part in message, message
    assert "raw file rt-polarity.pos" in message
    with pytest.raises(UserError, match=r"no source gave[\s\S]*expected sha256 2da124ec"):
        fetch_file(
            # The address is left out, so that the damaged mirror is all there is.
            dataset.files[0].model_copy(update={"sources": dataset.files[0].sources[1:]}),
            tmp_path / "again",
            mirror=tmp_path,
            work_folder=tmp_path / "work",
        )
    assert not (tmp_path / "again").exists()


@pytest.mark.mirror
def test_a_class_swapped_is_refused(
    shipped: dict[str, Dataset], fetch: Callable[[Dataset], Path], tmp_path: Path
) -> None:
    raw = fetch(shipped["rt-s"])
    shutil.copy(raw / "rt-polarity.pos", tmp_path / "rt-polarity.neg")
    shutil.copy(raw / "rt-polarity.neg", tmp_path / "rt-polarity.pos")
    message = refused(shipped["rt-s"], tmp_path)
    assert message.count("of no source that states a digest") == 2


@pytest.mark.mirror
def test_a_truncated_archive_is_refused(
    shipped: dict[str, Dataset], fetch: Callable[[Dataset], Path], tmp_path: Path
) -> None:
    dataset: Any = shipped["rt-2k"]
    content = (fetch(dataset) / "review_polarity.archive").read_bytes()
    (tmp_path / "review_polarity.archive").write_bytes(content[: len(content) // 2])
    message = refused(dataset, tmp_path)
    assert "truncated" in message
    assert str(tmp_path / "review_polarity.archive") in message
