"""Folds: every document tested once, classes in proportion, seeds from names, groups together."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textbaselines.errors import UserError
from textbaselines.experiments.folds import (
    LEFT_OUT,
    NEVER_TEST,
    OUTER,
    Protocol,
    divisions,
    draw_folds,
    draw_inner_folds,
)


def corpus(n_positive: int = 30, n_negative: int = 20, texts: int | None = None) -> pd.DataFrame:
    n = n_positive + n_negative
    return pd.DataFrame(
        {
            "id": [f"d{row}" for row in range(n)],
            "label": ["pos"] * n_positive + ["neg"] * n_negative,
            "split": [""] * n,
            "group": [f"g{row % (texts or n)}" for row in range(n)],
        }
    )


@given(st.integers(10, 40), st.integers(10, 40), st.integers(2, 10), st.integers(1, 3))
def test_cv_tests_every_document_once_in_proportion(
    n_positive: int, n_negative: int, folds: int, repeats: int
) -> None:
    frame = corpus(n_positive, n_negative)
    drawn = draw_folds(frame, Protocol("cv", folds, repeats), "d")
    assert len(drawn) == repeats * len(frame)
    assert drawn["fold"].min() == 0
    labels = drawn["id"].map(frame.set_index("id")["label"])
    sizes = drawn.groupby(["repeat", "fold", labels]).size().unstack()
    for label, n in (("pos", n_positive), ("neg", n_negative)):
        assert sizes[label].min() >= n // folds
        assert sizes[label].max() <= -(-n // folds)


def test_halves_train_on_one_half() -> None:
    frame = corpus()
    drawn = draw_folds(frame, Protocol("halves", repeats=4), "d")
    assert set(drawn["fold"]) == {0, NEVER_TEST}
    assert (drawn.groupby("repeat")["fold"].apply(lambda fold: (fold == 0).sum()) == 25).all()


def test_seeds_come_from_the_dataset_and_the_repeat() -> None:
    frame = corpus()
    first = draw_folds(frame, Protocol("cv", 5, 2), "a")
    again = draw_folds(frame, Protocol("cv", 5, 3), "a")
    pd.testing.assert_frame_equal(first, again[again["repeat"] < 2])
    other = draw_folds(frame, Protocol("cv", 5, 2), "b")
    assert (first["fold"] != other["fold"]).any()
    by_repeat = first.groupby("repeat")["fold"].apply(list)
    assert by_repeat[0] != by_repeat[1]


def test_classes_are_not_shuffled_alike() -> None:
    frame = corpus(40, 40)
    fold = draw_folds(frame, Protocol("cv", 10, 1), "d")["fold"].to_numpy()
    assert fold[:40].tolist() != fold[40:].tolist()


@pytest.mark.parametrize("kind", ["cv", "halves"])
def test_grouped_keeps_identical_texts_on_one_side(kind: str) -> None:
    frame = corpus(60, 60, texts=40)
    drawn = draw_folds(frame, Protocol(kind, 5, 3, grouped=True), "d")
    group = drawn["id"].map(frame.set_index("id")["group"])
    assert drawn.groupby(["repeat", group])["fold"].nunique().max() == 1
    plain = draw_folds(frame, Protocol(kind, 5, 3), "d")
    assert plain.groupby(["repeat", group])["fold"].nunique().max() > 1


def official() -> pd.DataFrame:
    frame = corpus(4, 4)
    frame["split"] = ["train", "train", "test", "test"] * 2
    frame["group"] = ["a", "b", "a", "c", "d", "e", "f", "g"]
    return frame


def test_split_is_the_official_one() -> None:
    drawn = draw_folds(official(), Protocol("split"), "d")
    assert drawn["fold"].tolist() == [-1, -1, 0, 0, -1, -1, 0, 0]


def test_grouped_split_leaves_test_documents_out_that_stand_in_training() -> None:
    frame = official()
    drawn = draw_folds(frame, Protocol("split", grouped=True), "d")
    assert drawn["fold"].tolist() == [-1, -1, LEFT_OUT, 0, -1, -1, 0, 0]
    (division,) = divisions(drawn, frame["id"].to_list())
    assert division.training.tolist() == [True, True, False, False, True, True, False, False]
    assert division.test.tolist() == [False, False, False, True, False, False, True, True]


def test_max_documents_uses_so_many_of_each_class() -> None:
    frame = corpus(50, 30)
    drawn = draw_folds(frame, Protocol("cv", 5), "d", max_documents=20)
    used = drawn[drawn["fold"] != LEFT_OUT]["id"].map(frame.set_index("id")["label"])
    assert used.value_counts().to_dict() == {"pos": 20, "neg": 20}
    (first, *_) = divisions(drawn, frame["id"].to_list())
    assert first.training.sum() == 32
    assert first.test.sum() == 8


def test_divisions_join_by_id_not_by_position() -> None:
    frame = corpus()
    drawn = draw_folds(frame, Protocol("cv", 5), "d")
    shuffled = drawn.sample(frac=1, random_state=1)
    ids = frame["id"].to_list()[::-1]
    for one, other in zip(divisions(drawn, ids), divisions(shuffled, ids), strict=True):
        np.testing.assert_array_equal(one.test, other.test)
        wanted = set(drawn[drawn["fold"] == one.fold]["id"])
        assert {name for name, test in zip(ids, one.test, strict=True) if test} == wanted


def test_folds_of_another_corpus_are_refused() -> None:
    drawn = draw_folds(corpus(), Protocol("cv", 5), "d")
    with pytest.raises(UserError, match="not of this corpus"):
        next(divisions(drawn, ["d0", "d1"]))
    with pytest.raises(UserError, match="no fold"):
        next(divisions(drawn, [f"e{row}" for row in range(50)]))


def test_a_class_smaller_than_the_folds_is_refused() -> None:
    with pytest.raises(UserError) as error:
        draw_folds(corpus(30, 4), Protocol("cv", 5), "d")
    assert "class 'neg'" in str(error.value)
    assert "4 documents" in str(error.value)
    assert "at least 5" in str(error.value)
    with pytest.raises(UserError, match="3 distinct texts"):
        draw_folds(corpus(30, 30, texts=3), Protocol("cv", 5, grouped=True), "d")


def test_a_split_that_is_not_there_is_refused() -> None:
    with pytest.raises(UserError, match="no official split"):
        draw_folds(corpus(), Protocol("split"), "d")


@given(st.integers(20, 40), st.integers(20, 40), st.integers(2, 4), st.sampled_from([2, 5]))
def test_inner_folds_divide_the_training_documents_alone(
    n_positive: int, n_negative: int, folds: int, inner: int
) -> None:
    frame = corpus(n_positive, n_negative)
    protocol = Protocol("cv", folds, inner=inner)
    drawn = draw_folds(frame, protocol, "d")
    table = draw_inner_folds(frame, drawn, protocol, "d")
    ids = frame["id"].to_list()
    outer = None
    for division in divisions(drawn, ids, table.sample(frac=1, random_state=1)):
        if division.inner == OUTER:
            outer, validated = division, np.zeros(len(ids), dtype=int)
            continue
        assert (division.repeat, division.fold) == (outer.repeat, outer.fold)
        assert not (division.test & outer.test).any()
        np.testing.assert_array_equal(division.training ^ division.test, outer.training)
        assert not (division.training & division.test).any()
        validated += division.test
        positive = (frame["label"] == "pos").to_numpy()
        share = outer.training[positive].sum() / inner
        assert abs(division.test[positive].sum() - share) < 1
        if division.inner == inner - 1:
            np.testing.assert_array_equal(validated == 1, outer.training)
    assert len(table) == (folds - 1) * len(frame)


def test_inner_folds_depend_on_their_names_alone() -> None:
    frame = corpus()
    once, more = Protocol("cv", 5, 1, inner=3), Protocol("cv", 5, 2, inner=3)
    tables = [draw_inner_folds(frame, draw_folds(frame, p, "d"), p, "d") for p in (once, more)]
    pd.testing.assert_frame_equal(tables[0], tables[1][tables[1]["repeat"] == 0])
    first, second = (tables[0][tables[0]["fold"] == fold].set_index("id") for fold in (0, 1))
    both = first.index.intersection(second.index)
    assert (first.loc[both, "inner"] != second.loc[both, "inner"]).any()


def test_grouped_inner_folds_keep_identical_texts_together() -> None:
    frame = corpus(60, 60, texts=40)
    for grouped in (True, False):
        protocol = Protocol("cv", 3, grouped=grouped, inner=3)
        table = draw_inner_folds(frame, draw_folds(frame, protocol, "d"), protocol, "d")
        group = table["id"].map(frame.set_index("id")["group"])
        apart = table.groupby(["fold", group])["inner"].nunique().max() > 1
        assert apart != grouped


def test_inner_folds_of_other_folds_are_refused() -> None:
    frame = corpus()
    protocol = Protocol("cv", 5, inner=3)
    drawn = draw_folds(frame, protocol, "d")
    table = draw_inner_folds(frame, drawn, protocol, "d")
    other = draw_folds(frame, protocol, "e")
    with pytest.raises(UserError, match="do not divide the training documents"):
        list(divisions(other, frame["id"].to_list(), table))


def test_without_inner_folds_the_table_is_empty() -> None:
    frame = corpus()
    protocol = Protocol("cv", 5)
    drawn = draw_folds(frame, protocol, "d")
    table = draw_inner_folds(frame, drawn, protocol, "d")
    assert table.empty
    assert table.columns.tolist() == ["repeat", "fold", "inner", "id"]
    assert all(d.inner == OUTER for d in divisions(drawn, frame["id"].to_list(), table))
    with pytest.raises(UserError, match="at least 30"):
        draw_inner_folds(frame, drawn, Protocol("cv", 5, inner=30), "d")
