"""Near-duplicates: by hand, and all pairs by brute force on random sentences."""

import itertools
import re

import numpy as np
import pytest

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
