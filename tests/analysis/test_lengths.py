"""Accuracy by document length, by hand."""

import pandas as pd
import pytest

from textbaselines.analysis import lengths
from textbaselines.core.errors import UserError
from textbaselines.text.tokens import SENTENCE_END, encode


def test_sentence_ends_are_no_tokens() -> None:
    tokens = encode(["a", "b", "c"], [["x", SENTENCE_END, "y", "x"], [], ["z", SENTENCE_END]])
    assert lengths.document_lengths(tokens).to_dict() == {"a": 3, "b": 0, "c": 1}


def test_fifths_never_divide_documents_of_one_length() -> None:
    ten = pd.Series([3, 1, 4, 1, 5, 9, 2, 6, 5, 3], index=list("abcdefghij"))
    parts = lengths.length_parts(ten)
    assert parts["part"].to_dict() == dict(
        zip("abcdefghij", [2, 1, 3, 1, 4, 5, 2, 5, 4, 2], strict=True)
    )
    assert parts.loc["a"].tolist() == [2, 2, 3]
    assert parts.loc["f"].tolist() == [5, 6, 9]
    # Most have one length: fewer parts, numbered without a gap.
    same = lengths.length_parts(pd.Series([7] * 9 + [8], index=list("abcdefghij")))
    assert same["part"].tolist() == [1] * 9 + [2]
    assert lengths.length_parts(pd.Series([7, 7], index=["a", "b"]))["part"].tolist() == [1, 1]


def test_accuracy_and_interval_by_hand() -> None:
    ids = [f"d{row}" for row in range(20)]
    parts = pd.DataFrame(
        {"part": [1] * 10 + [2] * 10, "tokens_from": 1, "tokens_to": 2}, index=ids
    ).assign(tokens_from=[1] * 10 + [5] * 10)
    once = pd.DataFrame({"repeat": 0, "id": ids, "label": "pos", "predicted": "pos"})
    once.loc[[0, 1], "predicted"] = "neg"
    table = lengths.accuracy_by_length(once, parts)
    assert table["accuracy"].tolist() == [0.8, 1.0]
    # Wilson's interval of 8 of 10 (Newcombe 1998 has such): 0.4902 to 0.9433.
    assert table.loc[0, ["low", "high"]].tolist() == pytest.approx([0.4902, 0.9433], abs=1e-4)
    # A second repeat of the same documents is no further evidence.
    twice = lengths.accuracy_by_length(pd.concat([once, once.assign(repeat=1)]), parts)
    assert twice["predictions"].tolist() == [20, 20]
    assert twice["documents"].tolist() == [10, 10]
    pd.testing.assert_frame_equal(
        twice[["accuracy", "low", "high"]], table[["accuracy", "low", "high"]]
    )


def test_a_document_without_tokens_is_refused() -> None:
    predictions = pd.DataFrame({"id": ["a", "b"]})
    with pytest.raises(UserError, match="not among the tokenised") as raised:
        lengths.parts_of_predictions(predictions, pd.Series([1], index=["a"]))
    assert "document b" in str(raised.value)
