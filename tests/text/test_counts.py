"""Counts: against a plain dictionary and against scikit-learn, and the file they live in."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from textbaselines.core import storage
from textbaselines.core.errors import UserError
from textbaselines.text import counts as counts_module
from textbaselines.text import id_pairs
from textbaselines.text.counts import count_ngrams, count_tokens, read_counts, write_counts
from textbaselines.text.tokens import SENTENCE_END, encode

documents = st.lists(
    st.lists(st.sampled_from(["a", "b", "c", "dd", SENTENCE_END]), max_size=9),
    min_size=1,
    max_size=5,
)


def names(n: int) -> list[str]:
    return [f"d{row}" for row in range(n)]


def by_hand(tokens: list[str], lowest: int, highest: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for n in range(lowest, highest + 1):
        for begin in range(len(tokens) - n + 1):
            gram = tokens[begin : begin + n]
            if SENTENCE_END not in gram:
                found[" ".join(gram)] += 1
    return found


@given(documents, st.sampled_from([(1, 1), (1, 2), (2, 2), (1, 3), (2, 4)]))
def test_counts_equal_a_plain_dictionary(lists: list[list[str]], span: tuple[int, int]) -> None:
    counts = count_ngrams(encode(names(len(lists)), lists), *span)
    terms = counts.terms()
    assert len(set(terms)) == len(terms)
    dense = counts.matrix.toarray()
    for row, tokens in enumerate(lists):
        assert {terms[c]: n for c, n in enumerate(dense[row]) if n} == by_hand(tokens, *span)
    assert counts.matrix.has_canonical_format


def test_counts_equal_scikit_learn() -> None:
    texts = ["good film good", "bad film", "a good bad film film film", ""]
    counts = count_ngrams(encode(names(4), [text.split() for text in texts]), 1, 2)
    vectorizer = CountVectorizer(token_pattern=r"\S+", ngram_range=(1, 2))
    theirs = vectorizer.fit_transform(texts).toarray()
    place = {term: column for column, term in enumerate(counts.terms())}
    ours = counts.matrix.toarray()[:, [place[t] for t in vectorizer.get_feature_names_out()]]
    np.testing.assert_array_equal(ours, theirs)


def test_no_ngram_reaches_over_a_sentence_end_or_a_document() -> None:
    counts = count_ngrams(encode(names(2), [["a", SENTENCE_END, "b"], ["c", "d"]]), 2, 2)
    assert counts.terms() == ["c d"]


def test_column_order_does_not_depend_on_other_documents() -> None:
    few = count_ngrams(encode(names(1), [["b", "a", "c"]]), 1, 2)
    many = count_ngrams(encode(names(2), [["aa", "z", "b"], ["b", "a", "c"]]), 1, 2)
    wanted = set(few.terms())
    assert [term for term in many.terms() if term in wanted] == few.terms()


@given(documents)
def test_file_round_trip(lists: list[list[str]]) -> None:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        counts = count_ngrams(encode(names(len(lists)), lists), 1, 2)
        write_counts(folder, counts)
        again = read_counts(Path(folder) / "matrix.npz")
    assert (again.matrix != counts.matrix).nnz == 0
    assert again.matrix.dtype == np.int32
    assert again.matrix.indices.dtype == np.int32
    assert again.terms() == counts.terms()
    assert again.documents == counts.documents


def test_the_range_must_be_possible() -> None:
    with pytest.raises(ValueError, match="wanted 1 <= lowest <= highest"):
        count_ngrams(encode(["d"], [["a"]]), 2, 1)


def test_wang_manning_always_has_unigrams() -> None:
    tokens = encode(["d"], [["a"]])
    with pytest.raises(UserError, match=r"\[2, 2\]"):
        count_tokens(tokens, {"family": "wang_manning", "reading": "spaces"}, 2, 2)


def test_too_many_occurrences_are_refused_before_the_work(monkeypatch) -> None:
    class Small:
        max = 3

    monkeypatch.setattr(counts_module.np, "iinfo", lambda kind: Small)
    with pytest.raises(UserError, match="more n-gram occurrences") as error:
        count_ngrams(encode(["d"], [["a", "b", "c", "a"]]), 1, 1)
    assert "at most 3" in str(error.value)


@given(documents, st.sampled_from([1, 3]), st.sampled_from([1, 2]), st.booleans())
def test_blocks_threads_and_files_change_nothing(
    lists: list[list[str]], block: int, threads: int, in_files: bool
) -> None:
    tokens = encode(names(len(lists)), lists)
    wanted = count_ngrams(tokens, 1, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts_module, "BLOCK", block)
        patch.setattr(id_pairs, "BLOCK", block)
        patch.setattr(storage, "IN_MEMORY", 0 if in_files else storage.IN_MEMORY)
        found = count_ngrams(tokens, 1, 3, threads)
    for name in ("data", "indices", "indptr"):
        ours, theirs = getattr(found.matrix, name), getattr(wanted.matrix, name)
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(found.parts, wanted.parts)
