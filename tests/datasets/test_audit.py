"""The audit, counted by hand on eight documents."""

import json
import math

import pandas as pd

from textbaselines.datasets.audit import audit
from textbaselines.datasets.corpus import Corpus, text_group

DOCUMENTS = [
    # id, text, label, split
    ("1", "one two three", "pos", "train"),
    ("2", "one two three", "pos", "train"),
    ("3", "one  two three ", "neg", "train"),
    ("4", "four", "pos", "train"),
    ("5", "four", "neg", "test"),
    ("6", "one two three", "pos", "test"),
    ("7", " \n", "neg", "test"),
    ("8", "seven", "neg", "test"),
]


def corpus(split: bool) -> Corpus:
    frame = pd.DataFrame(DOCUMENTS, columns=["id", "text", "label", "split"])
    if not split:
        frame["split"] = ""
    frame["rating"] = math.nan
    frame["group"] = frame["text"].map(text_group)
    return Corpus(frame, {"neutral": 3}, 2, 1, "d" * 64)


def test_everything_is_counted() -> None:
    report = audit(corpus(split=True))
    assert json.loads(json.dumps(report)) == report
    assert report["documents"] == 8
    assert report["documents_by_class"] == {"pos": 4, "neg": 4}
    assert report["documents_by_split"] == {
        "train": {"pos": 3, "neg": 1},
        "test": {"neg": 3, "pos": 1},
    }
    assert report["left_out"] == {"neutral": 3}
    assert report["empty_documents"] == 1
    # Sorted: 2, 4, 4, 5, 13, 13, 13, 15 characters; 0, 1, 1, 1, 3, 3, 3, 3 tokens.
    characters, tokens = report["length"]["characters"], report["length"]["tokens"]
    assert (characters["minimum"], characters["median"], characters["maximum"]) == (2, 9, 15)
    assert characters["mean"] == 69 / 8
    assert (tokens["minimum"], tokens["median"], tokens["maximum"]) == (0, 2, 3)
    assert tokens["mean"] == 15 / 8
    assert report["duplicates"] == {
        "unique_texts": 4,
        "repeating_documents": 4,
        "repeating_exactly": 3,
        "repeated_texts": 2,
        "repeating_documents_by_split": {"train": 2, "test": 0},
        "texts_with_several_labels": 2,
        "documents_with_such_texts": 6,
    }
    assert report["near_duplicates"] == {
        "documents": 0,
        "examples": [],
        "pairs_not_compared": 0,
        "documents_not_settled": 0,
    }
    assert report["skipped_members"] == {}
    assert report["split_overlap"] == {"texts": 2, "test_documents": 2}
    assert report["encoding_replacements"] == {"characters": 2, "documents": 1}
    nothing = {"characters": 0, "documents": 0}
    assert report["replacement_characters"] == nothing
    assert report["control_characters"] == nothing | {"by_character": {}}
    assert report["content_digest"] == "d" * 64


def test_control_and_replacement_characters_are_counted() -> None:
    made = corpus(split=False)
    made.frame["text"] = [
        "a\x0c\x0cb",
        "tab\tline\r\n",
        "\ufffd\ufffd",
        "don\x92t",
        "",
        "\x7f\x0c",
        "\xa0",
        "x",
    ]
    report = audit(made)
    assert report["replacement_characters"] == {"characters": 2, "documents": 1}
    assert report["control_characters"] == {
        "characters": 5,
        "documents": 3,
        "by_character": {"U+000C": 3, "U+007F": 1, "U+0092": 1},
    }


def test_a_corpus_without_a_split_has_no_overlap() -> None:
    report = audit(corpus(split=False))
    assert report["split_overlap"] is None
    assert report["documents_by_split"] == {}
    assert report["duplicates"]["repeating_documents_by_split"] == {}
