"""The cells whose predictions are analysed: one row of the tables, or one for each method."""

import pandas as pd

from textbaselines.evaluation.selection import ACROSS

KEY = ("dataset", "representation", "method", "selection")
"""What names a cell within a study."""


def cells_of_methods(compared: pd.DataFrame) -> pd.DataFrame:
    """Return one cell for each dataset and method where the study chose among representations.

    That is the one of the representation :data:`~textbaselines.evaluation.selection.ACROSS`; a
    method without it keeps the cells of all its representations. The index stays.

    ``compared``: what :func:`textbaselines.evaluation.selection.compared_cells` returned.
    """
    across = compared["representation"] == ACROSS
    pairs = compared["dataset"] + "\x1f" + compared["method"]
    return compared[across | ~pairs.isin(pairs[across])]
