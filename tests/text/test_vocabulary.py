"""The UNK policy: fitted on training documents, the same token in training and test."""

import hashlib

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from textbaselines.text import vocabulary as vocabulary_module
from textbaselines.text.counts import count_ngrams, count_wang_manning
from textbaselines.text.features import fold_features
from textbaselines.text.tokens import encode
from textbaselines.text.vocabulary import (
    ColumnMap,
    Vocabulary,
    VocabularyDigests,
    feature_terms,
    fit_vocabulary,
    map_columns,
    read_vocabularies,
    write_vocabularies,
)

# good good bad: training; "rare" once in training; "new" only in the test document.
LISTS = [["good", "rare", "film"], ["good", "film"], ["new", "film", "good", "new"]]
TRAINING = np.array([True, True, False])


def features(policy: str, min_count: int, scope: str = "training", lists=None, highest=2):
    lists = lists or LISTS
    training = TRAINING if len(lists) == 3 else np.arange(len(lists)) < len(lists) - 1
    tokens = encode([str(row) for row in range(len(lists))], lists)
    counts = count_ngrams(tokens, 1, highest)
    vocabulary = fit_vocabulary(tokens, training, policy, min_count)
    fold = fold_features(counts, vocabulary, training, ~training, "count", scope)
    return fold, feature_terms(counts, fold.columns, vocabulary)


def test_drop_leaves_unseen_ngrams_out_and_bridges_no_gap() -> None:
    fold, terms = features("drop", 1)
    assert terms == ["film", "good", "rare", "good film", "good rare", "rare film"]
    # "new film good new": "film good" was never seen in training, "new" is dropped, and dropping
    # it does not make film and good neighbours of anything else.
    assert fold.test.toarray().tolist() == [[1, 1, 0, 0, 0, 0]]


def test_drop_with_min_count() -> None:
    fold, terms = features("drop", 2)
    # "rare" is not known; "good rare" and "rare film" go with it and do not become "good film".
    assert terms == ["film", "good", "good film"]
    assert fold.training.toarray().tolist() == [[1, 1, 0], [1, 1, 1]]


def test_unk_replaces_before_ngrams_are_formed_on_both_sides() -> None:
    fold, terms = features("unk", 2)
    assert terms == ["film", "good", "<UNK>", "good film", "good <UNK>", "<UNK> film"]
    assert fold.training.toarray().tolist() == [[1, 1, 1, 0, 1, 1], [1, 1, 0, 1, 0, 0]]
    # new film good new -> <UNK> film good <UNK>: "film good" is unseen, the others count.
    assert fold.test.toarray().tolist() == [[1, 1, 2, 0, 1, 1]]


def test_unk_without_rare_training_words_has_no_column() -> None:
    _, terms = features("unk", 1)
    assert "<UNK>" not in terms


def test_columns_that_become_one_are_summed() -> None:
    # x and y are rare: "x" + "y" give <UNK> twice, "x y" and "y x" one bigram.
    fold, terms = features("unk", 2, lists=[["x", "y", "x1", "a", "a"], ["a", "a"]])
    assert terms == ["a", "<UNK>", "a a", "<UNK> a", "<UNK> <UNK>"]
    assert fold.training.toarray().tolist() == [[2, 3, 1, 1, 2]]


def test_scope_corpus_keeps_unseen_columns() -> None:
    tokens = encode(["0", "1"], [["a"], ["b"]])
    counts = count_wang_manning(tokens, "spaces", 1)
    training = np.array([True, False])
    vocabulary = fit_vocabulary(tokens, training, "drop", 1)
    assert map_columns(counts, training, vocabulary, "corpus").n_features == 2
    assert map_columns(counts, training, vocabulary).n_features == 1


def test_a_dictionary_of_strings_refuses_unk() -> None:
    tokens = encode(["0"], [["a"]])
    counts = count_wang_manning(tokens, "spaces", 1)
    training = np.array([True])
    with pytest.raises(ValueError, match="UNK policy 'drop' and min_count 1"):
        map_columns(counts, training, fit_vocabulary(tokens, training, "unk", 2))


@pytest.mark.parametrize(("policy", "min_count"), [("keep", 1), ("drop", 0)])
def test_impossible_policies_are_refused(policy: str, min_count: int) -> None:
    with pytest.raises(ValueError, match=r"none of drop, unk|wanted 1 or more"):
        fit_vocabulary(encode(["0"], [["a"]]), np.array([True]), policy, min_count)


def test_file_round_trip(tmp_path) -> None:
    tokens = encode(["0", "1", "2"], LISTS)
    folds = {
        (repeat, fold, inner): fit_vocabulary(tokens, np.arange(3) != (fold + inner) % 3, "unk", 2)
        for repeat in range(2)
        for fold in range(3)
        for inner in (-1, 0, 1)
    }
    write_vocabularies(tmp_path / "v.npz", tokens.types, folds)
    again = read_vocabularies(tmp_path / "v.npz")
    assert set(again) == set(folds)
    digests = VocabularyDigests(tokens.types)
    for key, vocabulary in folds.items():
        np.testing.assert_array_equal(again[key].known, vocabulary.known)
        assert digests.of(again[key]) == digests.of(vocabulary)
    assert len({digests.of(vocabulary) for vocabulary in folds.values()}) > 1


def test_a_digest_is_of_the_known_words_alone() -> None:
    types = ["b", "a", "\ud800", "c"]
    known = Vocabulary(np.array([True, True, True, False]), "unk", 2)
    text = "unk\n2\na\nb\n\ud800".encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(text).hexdigest()[:16]
    assert VocabularyDigests(types).of(known) == digest
    # In another corpus, where the words are numbered otherwise.
    other = Vocabulary(np.array([False, True, True, False, True]), "unk", 2)
    assert VocabularyDigests(["d", "\ud800", "b", "c", "a"]).of(other) == digest
    more = Vocabulary(np.array([True, True, True, True]), "unk", 2)
    assert VocabularyDigests(types).of(more) != digest


words = st.sampled_from(["a", "b", "c", "d", "e"])
text_lists = st.lists(st.lists(words, min_size=1, max_size=8), min_size=2, max_size=6)


@given(
    text_lists,
    st.lists(st.sampled_from(["a", "b", "z", "aa", "0"]), max_size=8),
    st.sampled_from([("drop", 1), ("drop", 2), ("unk", 1), ("unk", 2)]),
)
def test_test_texts_change_nothing_that_is_fitted(
    lists: list[list[str]], other: list[str], policy: tuple[str, int]
) -> None:
    before, terms = features(*policy, lists=lists)
    after, other_terms = features(*policy, lists=[*lists[:-1], other])
    assert terms == other_terms
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(before.training, name), getattr(after.training, name))


@given(text_lists, st.sampled_from([1, 2, 3]))
def test_unk_equals_replacing_words_in_the_text(lists: list[list[str]], min_count: int) -> None:
    fold, terms = features("unk", min_count, lists=lists)
    training = lists[:-1]
    occurrences = [word for tokens in training for word in tokens]
    known = {word for word in occurrences if occurrences.count(word) >= min_count}
    replaced = [[word if word in known else "<UNK>" for word in tokens] for tokens in lists]
    plain = count_ngrams(encode([str(row) for row in range(len(lists))], replaced), 1, 2)
    place = {term: column for column, term in enumerate(plain.terms())}
    dense = plain.matrix.toarray()
    seen = {term for term, column in place.items() if dense[:-1, column].any()}
    assert set(terms) == seen
    ours = np.vstack([fold.training.toarray(), fold.test.toarray()])
    np.testing.assert_array_equal(ours, dense[:, [place[term] for term in terms]])


@given(text_lists, st.sampled_from([1, 3]), st.sampled_from([("drop", 2), ("unk", 2)]))
def test_mapping_in_blocks_equals_one_product(lists, block, policy) -> None:
    tokens = encode([str(row) for row in range(len(lists))], lists)
    counts = count_ngrams(tokens, 1, 2)
    training = np.arange(len(lists)) % 2 == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary_module, "BLOCK", block)
        columns = map_columns(counts, training, fit_vocabulary(tokens, training, *policy))
        found = columns.apply(counts.matrix, ~training)
    kept = np.flatnonzero(columns.target >= 0)
    becomes = np.zeros((counts.matrix.shape[1], columns.n_features), dtype=np.int32)
    becomes[kept, columns.target[kept]] = 1
    np.testing.assert_array_equal(found.toarray(), counts.matrix.toarray()[~training] @ becomes)
    assert found.has_canonical_format
    assert found.dtype == found.indices.dtype == found.indptr.dtype == np.int32


@given(st.lists(st.integers(-1, 5), min_size=8, max_size=8), st.integers(0, 1000))
def test_any_map_gives_the_sums_of_its_columns(target: list[int], seed: int) -> None:
    dense = np.random.default_rng(seed).integers(0, 3, (5, 8)).astype(np.int32)
    matrix = sp.csr_array(dense)
    mapped = ColumnMap(np.array(target, dtype=np.int32), 6).apply(matrix)
    wanted = np.zeros((5, 6), dtype=np.int32)
    for column, feature in enumerate(target):
        if feature >= 0:
            wanted[:, feature] += dense[:, column]
    assert mapped.toarray().tolist() == wanted.tolist()
    assert matrix.toarray().tolist() == dense.tolist()
    # What it says of itself holds: column order within rows, each once.
    fresh = sp.csr_array((mapped.data, mapped.indices, mapped.indptr), shape=mapped.shape)
    assert mapped.has_canonical_format
    assert fresh.has_canonical_format
