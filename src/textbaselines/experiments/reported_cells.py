"""The cells whose predictions are analysed: one for each dataset, representation and method."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from textbaselines.experiments.selection import ACROSS

KEY = ("dataset", "representation", "method", "selection")
"""What names a cell within a study."""

_PREFERENCE = ("nested", "fixed")


def reported_cells(cells: pd.DataFrame, study: Mapping[str, Any]) -> pd.DataFrame:
    """Return the cell of each dataset, representation and method: ``nested``, else ``fixed``.

    Never ``oracle``, whose predictions were chosen by the test labels.

    Parameters
    ----------
    cells : data frame
        The study's cells.
    study : mapping
        Its description: ``datasets``, ``representations`` and ``methods`` give the order.
    """
    places = {
        axis: {entry["name"]: place for place, entry in enumerate(study[f"{axis}s"])}
        for axis in ("dataset", "representation", "method")
    }
    mine = cells[cells["selection"].isin(_PREFERENCE)]
    order = {axis: mine[axis].map(place) for axis, place in places.items()}
    order["selection"] = mine["selection"].map({name: n for n, name in enumerate(_PREFERENCE)})
    rows = mine.assign(**{f"{axis}_place": place for axis, place in order.items()})
    rows = rows.sort_values([f"{axis}_place" for axis in order], kind="stable")
    first = rows.drop_duplicates(["dataset", "representation", "method"])
    return first[list(mine.columns)].reset_index(drop=True)


def cells_of_methods(reported: pd.DataFrame) -> pd.DataFrame:
    """Return one cell for each dataset and method where the study chose among representations.

    That is the one of the representation :data:`~textbaselines.experiments.selection.ACROSS`; a
    method without it keeps the cells of all its representations.
    """
    across = reported["representation"] == ACROSS
    pairs = reported["dataset"] + "\x1f" + reported["method"]
    return reported[across | ~pairs.isin(pairs[across])].reset_index(drop=True)
