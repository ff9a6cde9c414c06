"""Near-duplicates: by hand, and all pairs by brute force on random sentences."""

import itertools
import re
import time

import numpy as np
import pytest

from textbaselines.datasets import near_duplicates as module
from textbaselines.datasets.near_duplicates import near_duplicates


def jaccard(a, b):
    """Of the sets of neighbouring words, straight from the definition."""
    sets = []
    for text in (a, b):
        words = re.findall(r"\w+", text.casefold())
        sets.append(set(itertools.pairwise(words)) or set(words))
    return len(sets[0] & sets[1]) / len(sets[0] | sets[1])


def test_case_and_punctuation_make_no_difference() -> None:
    found = near_duplicates(
        ["A good film.", "a good FILM!", "a bad film", "", "...", "film", "Film"]
    )
    assert found.near.tolist() == [True, True, False, False, False, True, True]
    assert found.pairs == [(0, 1, 1.0), (5, 6, 1.0)]


def test_one_word_of_twenty_is_near_and_one_of_ten_is_not() -> None:
    twenty = [f"w{i}" for i in range(20)]
    changed = [*twenty[:9], "other", *twenty[10:]]
    ten, ten_changed = twenty[:10], [*twenty[:4], "other", *twenty[5:10]]
    found = near_duplicates([" ".join(words) for words in (twenty, changed, ten, ten_changed)])
    assert found.near.tolist() == [True, True, False, False]
    ((a, b, similarity),) = found.pairs
    assert (a, b) == (0, 1)
    assert similarity == pytest.approx(17 / 21)  # 19 pairs each, two of them changed


def test_every_pair_that_brute_force_finds() -> None:
    random = np.random.default_rng(0)
    texts = []
    for _ in range(60):
        words = [f"w{i}" for i in random.integers(0, 50, size=25)]
        texts.append(" ".join(words))
        if random.random() < 0.5:
            words[random.integers(25)] = "changed"
            texts.append(" ".join(words))
    wanted = {
        (a, b)
        for a, b in itertools.combinations(range(len(texts)), 2)
        if jaccard(texts[a], texts[b]) >= 0.8
    }
    assert len(wanted) > 20
    found = near_duplicates(texts)
    assert {(pair.a, pair.b) for pair in found.pairs} == wanted
    assert set(np.flatnonzero(found.near)) == set(itertools.chain.from_iterable(wanted))
    for a, b, similarity in found.pairs:
        assert similarity == pytest.approx(jaccard(texts[a], texts[b]))


def test_spellings_that_look_the_same_are_near() -> None:
    found = near_duplicates(["un cafe\u0301 noir.", "un caf\u00e9 noir", "un cafe noir"])
    assert found.near.tolist() == [True, True, False]


def template(n: int, words: int) -> list[str]:
    """Return texts that end in a number; two of them have the similarity (w - 1) / (w + 1)."""
    return [" ".join(f"w{i}" for i in range(words)) + f" {number}" for number in range(n)]


def test_the_bound_changes_nothing_where_it_is_not_reached() -> None:
    texts = template(40, 12)  # 11 / 13 = 0.85
    found = near_duplicates(texts)
    assert found.near.all()
    assert found.pairs_not_compared == 0
    assert not found.unsettled.any()
    # MinHash may miss a pair that is just above the threshold, and a document has 39.
    pairs = {(pair.a, pair.b) for pair in found.pairs}
    assert pairs <= set(itertools.combinations(range(40), 2))
    assert len(pairs) > 0.99 * 780
    assert {pair.similarity for pair in found.pairs} == {11 / 13}


def test_texts_of_a_template_are_compared_with_the_next_few(monkeypatch) -> None:
    monkeypatch.setattr(module, "CANDIDATES", 10)
    monkeypatch.setattr(module, "CANDIDATES_EACH", 40)
    compared = []
    similar = module._similar
    monkeypatch.setattr(
        module, "_similar", lambda sets, a, b, t: compared.append((a, b)) or similar(sets, a, b, t)
    )
    texts = [*template(300, 60), "another text", "another TEXT"]
    found = near_duplicates(texts)
    assert found.near.all()  # 59 / 61 = 0.97: next to each other they are compared
    ((a, b),) = compared
    assert len(a) <= 40 * 301
    assert (a < b).all()
    # What is left out and what was compared are all pairs of each bucket, 44,850 in most of 20.
    assert 10 * 44_850 < found.pairs_not_compared < 20 * 44_850
    assert not found.unsettled.any()
    again = near_duplicates(texts)
    assert again.pairs == found.pairs


def test_documents_that_the_bound_leaves_open_are_counted(monkeypatch) -> None:
    monkeypatch.setattr(module, "CANDIDATES", 10)
    monkeypatch.setattr(module, "CANDIDATES_EACH", 3)
    # The template alone is too little alike (7 / 11), the last repeats the first but for one word.
    texts = [f"one two three four five six seven eight n{i} m{i}" for i in range(400)]
    found = near_duplicates(texts)
    assert not found.near.any()
    assert found.pairs_not_compared > 0
    assert found.unsettled.sum() > 200
    lone = near_duplicates([*texts, "nothing like the others at all"])
    assert not lone.unsettled[-1]


def test_as_many_texts_of_a_template_as_all_pairs_would_be_too_many() -> None:
    before = time.process_time()
    found = near_duplicates(template(6_000, 60))
    assert found.near.all()
    assert found.pairs_not_compared > 100_000_000
    assert len(found.pairs) < module.CANDIDATES
    assert time.process_time() - before < 60  # some 2 s; all pairs of the buckets take minutes
