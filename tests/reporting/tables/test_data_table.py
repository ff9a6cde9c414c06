"""The audits of corpora as tables, of an audit of four documents counted by hand."""

import pandas as pd

from textbaselines.datasets.audit import audit
from textbaselines.datasets.corpus import Corpus
from textbaselines.reporting.tables.data_table import (
    DATA_COLUMNS,
    data_table,
    near_duplicates_table,
)


def test_the_numbers_of_a_corpus() -> None:
    texts = ["a good film", "a good film", "a bad film indeed", "d\x0c\x0cull\ufffd"]
    frame = pd.DataFrame(
        {
            "id": list("1234"),
            "text": texts,
            "label": ["pos", "neg", "neg", "neg"],
            "rating": float("nan"),
            "split": None,
            "group": ["g", "g", "h", "i"],
        }
    )
    found = {"d": audit(Corpus(frame, {"empty": 2}, 0, 0, "0" * 64, {"._*": 1, "Thumbs": 2}))}
    (row,) = data_table(found).to_dict("records")
    assert tuple(row) == DATA_COLUMNS
    assert (row["dataset"], row["documents"], row["left_out"]) == ("d", 4, 2)
    assert sorted(row["classes"].split(", ")) == ["neg 3", "pos 1"]
    assert (row["median_tokens"], row["repeating_documents"]) == (3, 1)
    assert row["documents_of_two_labels"] == 2
    assert row["test_texts_in_training"] == 0
    assert (row["replacement_characters"], row["control_characters"]) == (1, 1)
    assert (row["skipped_members"], row["near_duplicates_not_settled"]) == (3, 0)
    assert near_duplicates_table(found).empty
