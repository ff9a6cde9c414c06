"""Picking by 32-bit and by 64-bit indices."""

import numpy as np
import pytest

from textbaselines.core.fast_take import gather


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_each_index_picks_its_value(index, dtype):
    values = np.array([2, -3, 5, 7], dtype=dtype)
    picked = gather(values, np.array([3, 0, 0, 1], dtype=index))
    assert picked.tolist() == [7, 2, 2, -3]
    assert picked.dtype == dtype


def test_nothing_is_picked_from_nothing():
    assert gather(np.zeros(0), np.zeros(0, dtype=np.int32)).shape == (0,)
