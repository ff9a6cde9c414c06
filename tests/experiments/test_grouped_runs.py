"""Grouped runs beside plain ones: by hand, and trained on a corpus of repeated texts."""

import logging
from pathlib import Path

import pandas as pd
import pytest

from textbaselines import storage
from textbaselines.experiments.folds import Protocol, draw_folds
from textbaselines.experiments.grouped_runs import (
    GROUPED_COLUMNS,
    GroupedTasks,
    compare_with_grouped,
    cost_of_leak,
    folds_kept_together,
)
from textbaselines.experiments.tasks import Task
from textbaselines.text.counts import count_ngrams, write_counts
from textbaselines.text.tokens import encode, write_tokens

LOG = logging.getLogger("test")


def predictions(correct: str, ids: str) -> pd.DataFrame:
    said = [{"1": "y", "0": "n"}[one] for one in correct]
    return pd.DataFrame({"id": list(ids), "label": "y", "predicted": said})


def test_the_cost_is_plain_less_grouped_accuracy() -> None:
    groups = pd.Series({"a": "g", "b": "g", "c": "h", "d": "i"})
    cost = cost_of_leak(predictions("1110", "abcd"), predictions("0010", "dbca"), groups, seed=1)
    assert (cost["accuracy"], cost["accuracy_grouped"]) == (3 / 4, 1 / 4)
    assert cost["cost_points"] == pytest.approx(50.0)
    # c and d are as in the plain run; the group of a and b lost both, or is not drawn at all.
    assert (cost["cost_low_points"], cost["cost_high_points"]) == pytest.approx((0, 100), abs=1)
    same = cost_of_leak(predictions("1110", "abcd"), predictions("1110", "abcd"), groups, seed=1)
    assert (same["cost_low_points"], same["cost_points"], same["cost_high_points"]) == (0, 0, 0)


def test_documents_left_out_of_the_grouped_run_count_in_the_plain_one_alone() -> None:
    groups = pd.Series({"a": "g", "b": "h"})
    cost = cost_of_leak(predictions("10", "ab"), predictions("0", "b"), groups, seed=1)
    assert (cost["predictions"], cost["predictions_grouped"]) == (2, 1)
    assert cost["cost_points"] == pytest.approx(50.0)


def test_repeats_go_where_the_first_of_them_is() -> None:
    folds = pd.DataFrame(
        {
            "repeat": [0] * 6 + [1] * 6,
            "fold": [0, 1, 2, 1, 0, -2, 2, 0, 1, 1, -1, -2],
            "id": list("abcdef") * 2,
        }
    )
    groups = pd.Series(dict(zip("abcdef", "xyxzzx", strict=True)))
    kept = folds_kept_together(folds, groups)
    # c follows a and e follows d, in each repeat; f is left out as before.
    assert kept["fold"].tolist() == [0, 1, 0, 1, 1, -2, 2, 0, 2, 1, 1, -2]
    assert kept[["repeat", "id"]].equals(folds[["repeat", "id"]])
    assert folds["fold"].tolist()[2] == 2


def study(tmp_path: Path, texts: list[str], labels: list[str]):
    """A corpus with the files that a comparison reads; every text is one word."""
    ids = [f"d{place}" for place in range(len(texts))]
    corpus = pd.DataFrame(
        {"id": ids, "label": labels, "rating": float("nan"), "split": None, "group": texts}
    )
    tokens = encode(ids, [[text] for text in texts])
    write_tokens(tmp_path / "tokens.npz", tokens)
    write_counts(tmp_path, count_ngrams(tokens, 1, 1))
    task = Task(
        dataset="d",
        representation="uni",
        method="MNB",
        family="mnb",
        classes=["y", "n"],
        weighting="binary",
        scope="training",
        reduction=None,
        points=[{"point": "p", "params": {"alpha": 1.0}, "origin": ["fixed"]}],
        chooses=False,
        details={},
    )
    work = [
        GroupedTasks(tmp_path / "matrix.npz", tmp_path / "tokens.npz", "drop", 1, [task]),
    ]
    return corpus, work


def test_a_text_known_from_training_is_known_no_more(tmp_path: Path) -> None:
    # Each word stands in four documents of one class: known, it tells the class; else nothing does.
    texts = [f"w{place // 4}" for place in range(40)]
    labels = ["y" if (place // 4) % 2 else "n" for place in range(40)]
    corpus, work = study(tmp_path, texts, labels)
    protocol = Protocol("cv", 4)
    folds = draw_folds(corpus, protocol, "d")
    plain = pd.DataFrame({"id": corpus["id"], "label": labels, "predicted": labels, "point": "p"})
    storage.write_parquet(tmp_path / "runs" / "uni" / "MNB" / "predictions.parquet", plain)
    arguments = (corpus, folds, protocol, "d", tmp_path / "runs", 1, LOG)
    (row,) = compare_with_grouped(work, *arguments).to_dict("records")
    assert tuple(row) == GROUPED_COLUMNS
    assert (row["accuracy"], row["predictions_grouped"]) == (1.0, 40)
    # No word of a test document is known, and of equal classes none is likelier than chance.
    assert row["accuracy_grouped"] <= 0.6
    assert row["cost_points"] == pytest.approx(100 * (1 - row["accuracy_grouped"]))


def test_nothing_is_trained_without_repeats(tmp_path: Path) -> None:
    texts = [f"w{place}" for place in range(12)]
    corpus, work = study(tmp_path, texts, ["y", "n"] * 6)
    protocol = Protocol("cv", 3)
    folds = draw_folds(corpus, protocol, "d")
    compared = compare_with_grouped(work, corpus, folds, protocol, "d", tmp_path, 1, LOG)
    assert list(compared.columns) == list(GROUPED_COLUMNS)
    assert compared.empty
