"""The reader of tables: texts as they are, and each fault with its file and line."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from textbaselines.core.errors import UserError
from textbaselines.datasets.catalog import Dataset
from textbaselines.datasets.corpus import build_corpus
from textbaselines.datasets.dataset_file import Encoding
from textbaselines.datasets.decoding import Decoder
from textbaselines.datasets.readers import read_documents
from textbaselines.datasets.table_rows import FORMATS

MakeDataset = Callable[..., Dataset]
TABLE: dict[str, Any] = {
    "kind": "table",
    "text": "review",
    "label": "stars",
    "labels": {"5": "pos", "1": "neg"},
}
ROWS = b'stars,review\n5,good\n1,"bad,\r\n""very"" bad"\n'


def make(make_dataset: MakeDataset, tmp_path: Path, content: bytes, **changes: Any) -> Dataset:
    (tmp_path / "raw.archive").write_bytes(content)
    more = {key: changes.pop(key) for key in ("encoding", "protocol") if key in changes}
    return make_dataset(archive="raw.archive", reader=TABLE | changes, **more)


def refused(make_dataset: MakeDataset, tmp_path: Path, content: bytes, **changes: Any) -> str:
    with pytest.raises(UserError) as caught:
        read_documents(make(make_dataset, tmp_path, content, **changes), tmp_path)
    return str(caught.value)


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_a_csv_with_line_ends_in_its_texts(
    make_dataset: MakeDataset, tmp_path: Path, start: bytes
) -> None:
    reading = read_documents(make(make_dataset, tmp_path, start + ROWS), tmp_path)
    assert [tuple(document)[:3] for document in reading.documents] == [
        ("row-00001", "good", "pos"),
        ("row-00002", 'bad,\r\n"very" bad', "neg"),
    ]
    assert reading.left_out == {"blank text": 0}


@pytest.mark.parametrize(
    "text", ["NA", "null", "nan", "007", "1e3", "True", "-", "\ufeffx", "a\x85b"]
)
@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_a_text_stays_a_text(
    make_dataset: MakeDataset, tmp_path: Path, text: str, form: str
) -> None:
    content = {
        "csv": f"id,stars,review\n007,5,{text}\nNA,1,x\n",
        "tsv": f"id\tstars\treview\r\n007\t5\t{text}\r\nNA\t1\tx",
        "jsonl": f"{json.dumps({'id': '007', 'stars': 5, 'review': text})}\n\n"
        '{"id": "NA", "stars": "1", "review": "x", "more": [null]}\n',
    }[form]
    dataset = make(make_dataset, tmp_path, content.encode(), format=form, id="id")
    documents = read_documents(dataset, tmp_path).documents
    assert [tuple(one)[:3] for one in documents] == [("007", text, "pos"), ("NA", "x", "neg")]


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=4), st.sampled_from(["csv", "tsv"]))
def test_rows_are_those_that_the_csv_module_writes(rows: list[tuple[str, str]], form: str) -> None:
    stream = io.StringIO()
    writer = csv.writer(
        stream,
        delimiter="," if form == "csv" else "\t",
        quoting=csv.QUOTE_ALL,
        lineterminator="\r\n",
    )
    writer.writerows([("a", "b"), *rows])
    content = stream.getvalue().encode()
    read = FORMATS[form](content, ["b", "a"], Decoder(Encoding(name="utf-8", errors="strict")), "t")
    assert [(row.values["a"], row.values["b"]) for row in read] == rows


def test_quotes_that_are_characters(make_dataset: MakeDataset, tmp_path: Path) -> None:
    content = b'stars\treview\n5\t"good\n1\tbad "\n'
    dataset = make(make_dataset, tmp_path, content, format="tsv", quotes=False)
    assert [one.text for one in read_documents(dataset, tmp_path).documents] == ['"good', 'bad "']


def test_the_official_split_and_ratings(make_dataset: MakeDataset, tmp_path: Path) -> None:
    content = (
        b"stars,review,part,mean\n5,good,training,4.5\n1,bad,held out,-1\n5,x,training,5\n"
        b"1,y,held out,0\n"
    )
    dataset = make(
        make_dataset,
        tmp_path,
        content,
        split="part",
        rating="mean",
        splits={"training": "train", "held out": "test"},
        protocol={"kind": "split"},
    )
    frame = build_corpus(dataset, tmp_path).frame
    assert frame["split"].tolist() == ["train", "train", "test", "test"]
    assert frame["rating"].tolist() == [4.5, 5, -1, 0]
    message = refused(make_dataset, tmp_path, content, split="part")
    assert "line 2" in message
    assert "'training'" in message
    with pytest.raises(UserError, match="the reader does not read one"):
        make(make_dataset, tmp_path, content, protocol={"kind": "split"})


def test_rows_left_out_are_counted(make_dataset: MakeDataset, tmp_path: Path) -> None:
    content = ROWS + b"3,so so\n3,\n5, \n1,\n"
    dataset = make(make_dataset, tmp_path, content, leave_out=["3"])
    assert read_documents(dataset, tmp_path).left_out == {"label '3'": 2, "blank text": 2}
    dataset = make(make_dataset, tmp_path, content, leave_out=["3"], keep_blank=True)
    reading = read_documents(dataset, tmp_path)
    assert reading.left_out == {"label '3'": 2}
    assert [one.text for one in reading.documents] == ["good", " ", 'bad,\r\n"very" bad', ""]


def test_a_label_in_nfd_is_that_in_nfc(make_dataset: MakeDataset, tmp_path: Path) -> None:
    content = "stars,review\nne\u0301gatif,x\nne\u0301,y\n".encode()
    labels = {"n\u00e9gatif": "neg", "n\u00e9": "pos"}
    dataset = make(make_dataset, tmp_path, content, labels=labels)
    assert [one.label for one in read_documents(dataset, tmp_path).documents] == ["pos", "neg"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "cp1252", "gb18030"])
def test_encodings(make_dataset: MakeDataset, tmp_path: Path, encoding: str) -> None:
    text = "caf\u00e9, \u201cx\u201d" if encoding != "gb18030" else "很好，不错"
    content = f'stars,review\n5,"{text}\n{text}"\n1,b\n'.encode(encoding)
    dataset = make(make_dataset, tmp_path, content, encoding={"name": encoding})
    assert read_documents(dataset, tmp_path).documents[0].text == f"{text}\n{text}"


def test_replacements_are_counted_by_row(make_dataset: MakeDataset, tmp_path: Path) -> None:
    content = b"stars,review\n5,caf\xe9 \xe9x\n1,b\n5,\xe9x\n"
    encoding = {"name": "utf-8", "errors": "replace"}
    dataset = make(make_dataset, tmp_path, content, encoding=encoding)
    reading = read_documents(dataset, tmp_path)
    assert (reading.replaced_characters, reading.replaced_documents) == (3, 2)
    message = refused(make_dataset, tmp_path, content)
    assert "raw.archive, line 2, column review" in message
    assert "0xe9 at offset 3" in message


@pytest.mark.parametrize(
    ("content", "changes", "parts"),
    [
        (b"stars,revew\n5,x\n", {}, ["no column 'review'", "line 1", "did you mean 'revew'"]),
        (b"stars,review,review\n", {}, ["'review' is there 2 times", "line 1"]),
        (b"", {}, ["without a header", "review, stars"]),
        (b'stars,review\n5,x\n1,"y\nz\n', {}, ["line 3 to 4", "quote that is not closed"]),
        (b'stars,review\n5,"x"y\n', {}, ["line 2", "amid a field", "quotes: false"]),
        (b"stars,review\n5,great\rfilm\n", {}, ["line 2", "CR without LF"]),
        (b'stars,review\n5,"a\nb"\n1,x, y\n', {}, ["line 4", "found:    3", "expected: 2"]),
        (b"stars,review\n5\n", {}, ["line 2", "found:    1"]),
        (b"stars,review\n5,x\n 5,y\n", {}, ["line 3", "a label that the dataset", "found:     5"]),
        (b"stars,review\n5,x\n3,y\n", {}, ["line 3", "leave_out"]),
        (
            b"stars,review,n\n5,x,a\n1,y,b\n5,z,a\n",
            {"id": "n"},
            ["line 2 and", "line 4", "same id"],
        ),
        (b"stars,review,n\n5,x,\n", {"id": "n"}, ["line 2", "id that is empty"]),
        (b'stars,review,n\n5,x,"a\nb"\n', {"id": "n"}, ["line 2", r"'a\nb'"]),
        (b"stars,review,n\n5,x,good\n", {"rating": "n"}, ["line 2", "not a number", "good"]),
        (b"stars,review\n5,x\n1,a\0b\n", {}, ["line 3", "NUL"]),
        (b'{"stars": 5, "review": "x"}\n{"stars": 5\n', {"format": "jsonl"}, ["line 2", "JSON"]),
        (b'{"stars": 5}\n', {"format": "jsonl"}, ["line 1", "no column 'review'"]),
        (b"[1]\n", {"format": "jsonl"}, ["line 1", "not a JSON object"]),
        (b'{"stars": 5, "review": null}\n', {"format": "jsonl"}, ["line 1", "'review'", "None"]),
        (b'{"stars": 5, "review": NaN}\n', {"format": "jsonl"}, ["line 1", "NaN"]),
        (b'{"stars": 5, "review": "\\u0000"}\n', {"format": "jsonl"}, ["line 1", "NUL"]),
        (b'{"stars": 5, "review": "\\ud800"}\n', {"format": "jsonl"}, ["line 1", "surrogate"]),
        (
            b'{"stars": 5, "stars": 1, "review": "x"}',
            {"format": "jsonl"},
            ["'stars' is there twice"],
        ),
        (b'{"stars": ' + b"1" * 5000 + b"}", {"format": "jsonl"}, ["line 1", "not a line of JSON"]),
        (b"[" * 200_000, {"format": "jsonl"}, ["line 1", "not a line of JSON"]),
    ],
)
def test_a_fault_is_refused_with_its_line(
    make_dataset: MakeDataset,
    tmp_path: Path,
    content: bytes,
    changes: dict[str, Any],
    parts: list[str],
) -> None:
    message = refused(make_dataset, tmp_path, content, **changes)
    for part in [*parts, "raw.archive"]:
        assert part in message


def test_texts_longer_than_the_csv_module_takes(make_dataset: MakeDataset, tmp_path: Path) -> None:
    dataset = make(make_dataset, tmp_path, b"stars,review\n5," + b"x" * 500_000 + b"\n1,y\n")
    assert len(read_documents(dataset, tmp_path).documents[0].text) == 500_000


def test_a_table_in_an_archive(
    make_dataset: MakeDataset, pack: Callable[..., Path], tmp_path: Path
) -> None:
    pack("zip", {"data/train.csv": ROWS, "__MACOSX/data/._train.csv": b"\0"})
    dataset = make_dataset(archive="raw.archive", reader=TABLE | {"member": "train.csv"})
    assert len(read_documents(dataset, tmp_path).documents) == 2
    assert dataset.files[0].archive


def test_labels_with_slashes_in_folders(
    make_dataset: MakeDataset, pack: Callable[..., Path]
) -> None:
    path = pack("tar", {"top/rec/sport/1": b"a", "top/sci/med/2": b"b", "top/sci/x/y/3": b"c"})
    reader = {
        "kind": "folders",
        "pattern": r"top/(?P<label>.+)/(?P<id>[0-9]+)",
        "labels": {"rec/sport": "rec/sport", "sci/med": "sci/*", "sci/x/y": "sci/*"},
    }
    dataset = make_dataset(
        archive="raw.archive",
        reader=reader,
        classes=["rec/sport", "sci/*"],
        expected={"documents": {"rec/sport": 1, "sci/*": 2}},
    )
    assert [
        tuple(one)[:3] for one in build_corpus(dataset, path.parent).frame.itertuples(index=False)
    ] == [
        ("rec/sport/1", "a", "rec/sport"),
        ("sci/med/2", "b", "sci/*"),
        ("sci/x/y/3", "c", "sci/*"),
    ]


@pytest.mark.mirror
def test_the_hotel_reviews(make_dataset: MakeDataset, mirror: Path, tmp_path: Path) -> None:
    content = (mirror / "secondary/chnsenticorp/ChnSentiCorp_htl_all.csv").read_bytes()
    labels = {"1": "pos", "0": "neg"}
    dataset = make(make_dataset, tmp_path, content, text="review", label="label", labels=labels)
    reading = read_documents(dataset, tmp_path)
    found = [one.label for one in reading.documents]
    assert (found.count("pos"), found.count("neg")) == (5322, 2443)  # one is empty
    assert reading.left_out == {"blank text": 1}


@pytest.mark.mirror
def test_the_short_messages(make_dataset: MakeDataset, mirror: Path, tmp_path: Path) -> None:
    content = b"label\ttext\n" + (mirror / "secondary/sms/SMSSpamCollection").read_bytes()
    labels = {"spam": "pos", "ham": "neg"}
    dataset = make(
        make_dataset, tmp_path, content,
        text="text", label="label", labels=labels, format="tsv", quotes=False,
    )  # fmt: skip
    found = [one.label for one in read_documents(dataset, tmp_path).documents]
    assert (found.count("pos"), found.count("neg")) == (747, 4827)


def test_the_example_of_the_documentation(
    make_dataset: MakeDataset, repository: Path, tmp_path: Path
) -> None:
    page = (repository / "docs/datasets.md").read_text(encoding="utf-8")
    example = page.partition("### Tables")[2].partition("```yaml\n")[2].partition("```")[0]
    content = b"text,stars,part\nfine,5,train\nbad,1,test\nso so,3,train\n"
    (tmp_path / "raw.archive").write_bytes(content)
    dataset = make_dataset(
        archive="raw.archive",
        **yaml.safe_load(example),
        classes=["praise", "complaint"],
        expected={"documents": {"praise": 1, "complaint": 1}, "left_out": 1},
    )
    assert build_corpus(dataset, tmp_path).frame["split"].tolist() == ["train", "test"]
