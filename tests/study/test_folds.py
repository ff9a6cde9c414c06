"""Folds: every document tested once, classes in proportion, seeds from names, groups together."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from textbaselines.core.errors import UserError
from textbaselines.core.seeds import seed_from
from textbaselines.study.class_placement import keep_in_training
from textbaselines.study.folds import (
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


def several(sizes: dict[str, int], texts: int | None = None) -> pd.DataFrame:
    labels = [label for label, count in sizes.items() for _ in range(count)]
    ids = [f"d{row}" for row in range(len(labels))]
    group = [f"g{row % (texts or len(ids))}" for row in range(len(ids))]
    return pd.DataFrame({"id": ids, "label": labels, "split": "", "group": group})


SMALL = {"big": 12, "lone": 1, "pair": 2, "trio": 3, "other": 9}


@pytest.mark.parametrize("grouped", [False, True])
def test_a_small_class_tests_in_as_many_folds_as_it_has_documents(grouped: bool) -> None:
    frame = several(SMALL)
    drawn = draw_folds(frame, Protocol("cv", 5, 3, grouped=grouped), "d")
    label = drawn["id"].map(frame.set_index("id")["label"])
    tested = drawn[drawn["fold"] >= 0]
    places = tested.groupby(["repeat", label])["fold"].nunique().unstack()
    wanted = {"big": 5, "other": 5, "pair": 2, "trio": 3}
    assert places.to_dict("records") == [wanted] * 3
    assert (drawn["fold"][label == "lone"] == NEVER_TEST).all()
    assert (drawn["fold"] == NEVER_TEST).sum() == 3
    small = label.isin(["pair", "trio"])
    assert (drawn[small].groupby(["repeat", "fold", label]).size() == 1).all()


@pytest.mark.parametrize("grouped", [False, True])
def test_halves_train_on_the_only_document_of_a_class(grouped: bool) -> None:
    frame = several(SMALL)
    drawn = draw_folds(frame, Protocol("halves", 2, 20, grouped=grouped), "d")
    label = drawn["id"].map(frame.set_index("id")["label"])
    assert (drawn["fold"][label == "lone"] == NEVER_TEST).all()
    training = drawn[drawn["fold"] == NEVER_TEST].groupby(["repeat", label]).size().unstack()
    assert (training > 0).all(axis=None)
    if not grouped:
        assert (training["pair"] == 1).all()


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("kind", ["cv", "halves", "split"])
def test_small_classes_train_in_every_inner_fold(kind: str, grouped: bool) -> None:
    frame = several(SMALL)
    rank = frame.groupby("label").cumcount()
    frame["split"] = np.where(rank % 3 == 0, "train", "test")
    protocol = Protocol(kind, 5, 1, grouped, inner=4)
    drawn = draw_folds(frame, protocol, "d")
    table = draw_inner_folds(frame, drawn, protocol, "d")
    ids, labels = frame["id"].to_list(), frame["label"].to_numpy()
    outer = None
    for division in divisions(drawn, ids, table):
        if division.inner == OUTER:
            outer = division
            assert set(labels[division.training]) == set(SMALL)
            sizes = pd.Series(labels[division.training]).value_counts()
            continue
        assert set(labels[division.training]) == set(SMALL)
        assert not set(labels[division.test]) & set(sizes.index[sizes == 1])
        np.testing.assert_array_equal(division.training | division.test, outer.training)
        assert division.test.any()


def test_there_are_no_more_folds_than_the_largest_class_has_documents() -> None:
    frame = several({"praise": 3, "complaint": 2})
    protocol = Protocol("cv", 10, inner=5)
    drawn = draw_folds(frame, protocol, "gadgets")
    assert drawn["fold"].value_counts().sort_index().to_list() == [2, 2, 1]
    table = draw_inner_folds(frame, drawn, protocol, "gadgets")
    for division in divisions(drawn, frame["id"].to_list(), table):
        assert set(frame["label"][division.training]) == {"praise", "complaint"}
        assert division.test.any()


def test_enough_documents_are_divided_as_scikit_learn_divides_them() -> None:
    for grouped, splitter in ((False, StratifiedKFold), (True, StratifiedGroupKFold)):
        frame = corpus(40, 31, texts=50 if grouped else None)
        drawn = draw_folds(frame, Protocol("cv", 4, grouped=grouped), "d")
        seed = seed_from("d", "cv", 4, "repeat", 0)
        parts = splitter(4, shuffle=True, random_state=seed).split(
            frame["label"], frame["label"], frame["group"] if grouped else None
        )
        for fold, (_, test) in enumerate(parts):
            assert (drawn["fold"].to_numpy()[test] == fold).all()


def test_what_cannot_be_divided_is_refused() -> None:
    with pytest.raises(UserError) as error:
        draw_folds(several({"a": 1, "b": 1}), Protocol("cv", 5), "d")
    assert "no class has two documents, one to train and one to test" in str(error.value)
    with pytest.raises(UserError, match="no class has two distinct texts"):
        draw_folds(several({"a": 4, "b": 4}, texts=1), Protocol("cv", 5, grouped=True), "d")
    with pytest.raises(UserError, match="one class alone") as error:
        draw_folds(several({"a": 9}), Protocol("cv", 5), "d")
    assert "9 documents of class 'a'" in str(error.value)
    frame, protocol = several({"a": 3, "b": 2}), Protocol("cv", 2, inner=5)
    with pytest.raises(UserError) as error:
        draw_inner_folds(frame, draw_folds(frame, protocol, "d"), protocol, "d")
    assert "training documents of repeat 0, fold 0" in str(error.value)
    assert "protocol.inner to null" in str(error.value)
    frame = official()
    frame.loc[frame["label"] == "neg", "split"] = "test"
    with pytest.raises(UserError, match="are of one class"):
        draw_folds(frame, Protocol("split"), "d")
    frame = official()
    frame["group"] = "the same"
    with pytest.raises(UserError, match="every test document stands in training"):
        draw_folds(frame, Protocol("split", grouped=True), "d")


def random_corpus(seed: int) -> pd.DataFrame:
    """A few classes whose documents share texts, within and across classes."""
    draw = np.random.default_rng(seed)
    n, n_classes = int(draw.integers(8, 40)), int(draw.integers(2, 5))
    return pd.DataFrame(
        {
            "id": [f"d{row}" for row in range(n)],
            "label": [f"c{code}" for code in draw.integers(0, n_classes, n)],
            "split": "",
            "group": [f"g{text}" for text in draw.integers(0, int(draw.integers(3, n)), n)],
        }
    )


def test_grouped_folds_keep_every_class_in_training() -> None:
    repaired = as_drawn = 0
    refused: set[str] = set()
    for seed in range(2000):
        frame, n_folds = random_corpus(seed), 2 + seed % 4
        name, labels = f"d{seed}", frame["label"].to_numpy()
        protocol = Protocol("cv", n_folds, grouped=True, inner=3)
        try:
            drawn = draw_folds(frame, protocol, name)
        except UserError as error:
            refused.add(error.what)
            continue
        fold_of = drawn["fold"].to_numpy()
        assert drawn.groupby(frame["group"].to_numpy())["fold"].nunique().max() == 1
        for fold in set(fold_of.tolist()) - {NEVER_TEST}:
            assert set(labels[fold_of != fold]) == set(labels)
        if frame.groupby("label")["group"].nunique().min() >= n_folds:
            theirs = np.zeros(len(frame), dtype=int)
            splitter = StratifiedGroupKFold(
                n_folds, shuffle=True, random_state=seed_from(name, "cv", n_folds, "repeat", 0)
            )
            for fold, (_, test) in enumerate(splitter.split(labels, labels, frame["group"])):
                theirs[test] = fold
            if all(set(labels[theirs != fold]) == set(labels) for fold in range(n_folds)):
                np.testing.assert_array_equal(fold_of, theirs)
                as_drawn += 1
            else:
                repaired += 1
                assert (fold_of != theirs).any()
        if seed % 4 == 0:
            try:
                inner = draw_inner_folds(frame, drawn, protocol, name)
            except UserError:
                continue
            for division in divisions(drawn, frame["id"].to_list(), inner):
                assert division.test.any()
                assert set(labels[division.training]) == set(labels)
    assert {what.partition(",")[0] for what in refused} <= {
        "no class has two distinct texts",
        "there is one class alone",
    }
    assert as_drawn > 500
    assert repaired > 0


def test_a_lost_class_has_its_smallest_text_moved() -> None:
    # Class 1 is in fold 0 alone: texts 2 (two documents) and 3 (one). Fold 2 is the smallest.
    codes = np.array([0, 0, 0, 0, 1, 1, 1, 0, 0])
    units = np.array([0, 1, 4, 5, 2, 2, 3, 6, 6])
    fold_of = np.array([0, 1, 1, 2, 0, 0, 0, 1, 1], dtype=np.int32)
    kept = keep_in_training(fold_of, codes, units, range(3))
    assert kept.tolist() == [0, 1, 1, 2, 0, 0, 2, 1, 1]
    # Three classes on three texts in two folds: one text has to train always.
    codes, units = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 2, 1, 2])
    kept = keep_in_training(np.array([0, 0, 0, 1, 0, 1], dtype=np.int32), codes, units, range(2))
    assert kept.tolist() == [-1, 0, -1, 1, 0, 1]


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
