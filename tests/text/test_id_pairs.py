"""Numbering pairs: against Python's sorted set, in ranges and threads, up to the widest members."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textbaselines.text import id_pairs
from textbaselines.text.id_pairs import ABSENT, number_pairs

members = st.lists(st.tuples(st.integers(-1, 6), st.integers(-1, 4)), max_size=30)


def check(pairs: list[tuple[int, int]], n_first: int, n_second: int, threads: int) -> None:
    first = np.array([pair[0] for pair in pairs], dtype=np.int32)
    second = np.array([pair[1] for pair in pairs], dtype=np.int32)
    found = number_pairs(first, second, n_first, n_second, threads)
    wanted = sorted({pair for pair in pairs if min(pair) >= 0})
    assert list(zip(found.first.tolist(), found.second.tolist(), strict=True)) == wanted
    numbers = [wanted.index(pair) if min(pair) >= 0 else ABSENT for pair in pairs]
    assert found.number.tolist() == numbers
    assert found.first.dtype == found.second.dtype == found.number.dtype == np.int32


@settings(max_examples=40, deadline=None)
@given(members, st.sampled_from([1, 2, 1 << 24]), st.sampled_from([1, 2, 3]))
def test_pairs_are_numbered_in_order(pairs, block, threads) -> None:
    before = id_pairs.BLOCK
    id_pairs.BLOCK = block
    try:
        check(pairs, 7, 5, threads)
    finally:
        id_pairs.BLOCK = before


@pytest.mark.parametrize("threads", [1, 2])
def test_members_too_wide_for_one_key_are_sorted_in_ranges(threads: int) -> None:
    # 2**18 firsts times 2**31 seconds leave 14 bits for the place of 20,000 pairs: one too few.
    n_first, n_second = 1 << 18, (1 << 31) - 1
    random = np.random.default_rng(0)
    first = random.integers(0, n_first, 20_000).astype(np.int32)
    first[:2] = 0, n_first - 1
    second = random.integers(0, n_second, 20_000).astype(np.int32)
    second[1] = n_second - 1
    assert len(id_pairs._ranges(first, n_first, n_second, 15, 1)) > 1
    found = number_pairs(first, second, n_first, n_second, threads)
    np.testing.assert_array_equal(found.first[found.number], first)
    np.testing.assert_array_equal(found.second[found.number], second)
    keys = found.first.astype(np.int64) * n_second + found.second
    assert (np.diff(keys) > 0).all()
