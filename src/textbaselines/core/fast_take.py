"""Picking entries of an array by position, as sparse matrices need it: by 32-bit indices."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


def gather(values: NDArray[Any], indices: NDArray[np.int32]) -> NDArray[Any]:
    """Return ``values[indices]``, to be read only.

    numpy makes 64-bit copies of such indices and looks at each whether it is in range; Arrow does
    neither, in a third of the time. So the indices must be in range: those of a sparse matrix with
    as many columns as there are values are.

    Parameters
    ----------
    values : array of numbers, shape (m,)
    indices : int32 array, shape (n,), each from 0 to m - 1
    """
    if indices.dtype != np.int32:
        return values.take(indices)
    picked = pc.take(pa.array(values), pa.array(indices), boundscheck=False)
    return np.asarray(picked.to_numpy())
