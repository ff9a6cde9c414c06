"""The front of accuracy against cost, by hand."""

import math

import pandas as pd
import pytest

from textbaselines.core.errors import UserError
from textbaselines.reporting.figures.cost_front import cost_front, cost_front_figure

STUDY = {
    "name": "s",
    "title": "T",
    "datasets": [{"name": "d", "title": "D"}, {"name": "e", "title": "E"}],
    "representations": [{"name": "uni", "title": "uni"}, {"name": "bi", "title": "bi"}],
    "methods": [{"name": m, "title": m} for m in ("A", "B", "C")],
}
ROWS = [
    # method, representation, accuracy, seconds, on the front
    ("A", "uni", 0.70, 1.0, True),
    ("B", "uni", 0.70, 2.0, False),  # as accurate as A, slower
    ("C", "uni", 0.80, 3.0, True),
    ("A", "bi", 0.79, 4.0, False),
    ("B", "bi", 0.80, 3.0, True),  # alike in both
    ("C", "bi", math.nan, 0.1, None),  # failed
]


def tables(dataset="d"):
    names = [{"dataset": dataset, "method": m, "representation": r} for m, r, *_ in ROWS]
    cells = pd.DataFrame(
        [
            {**name, "selection": selection, "accuracy": row[2] + better}
            for name, row in zip(names, ROWS, strict=True)
            for selection, better in (("oracle", 0.1), ("fixed", -0.1), ("nested", 0.0))
        ]
    )
    costs = pd.DataFrame(
        [{**name, "fit_seconds": row[3]} for name, row in zip(names, ROWS, strict=True)]
    )
    return cells, costs.iloc[::-1]


def test_the_front_is_what_nothing_beats_in_both() -> None:
    front = cost_front(*tables())
    told = {(r.method, r.representation): bool(r.on_front) for r in front.itertuples()}
    assert told == {(m, r): on for m, r, _, _, on in ROWS if on is not None}
    assert set(front["selection"]) == {"nested"}


def test_datasets_have_fronts_of_their_own() -> None:
    cells, costs = (
        pd.concat([one, other]) for one, other in zip(tables("d"), tables("e"), strict=True)
    )
    costs.loc[costs["dataset"] == "e", "fit_seconds"] *= 100
    assert cost_front(cells, costs).groupby("dataset")["on_front"].sum().to_dict() == {
        "d": 3,
        "e": 3,
    }


def test_the_words_name_the_front_from_the_fastest() -> None:
    figure, words = cost_front_figure(cost_front(*tables()), STUDY)
    assert words.splitlines()[3:] == [
        "D (3 of 5 rows):",
        "  A-uni: 70.00 %, 1.0 s",
        "  C-uni: 80.00 %, 3.0 s",
        "  B-bi: 80.00 %, 3.0 s",
    ] or words.splitlines()[3:] == [
        "D (3 of 5 rows):",
        "  A-uni: 70.00 %, 1.0 s",
        "  B-bi: 80.00 %, 3.0 s",
        "  C-uni: 80.00 %, 3.0 s",
    ]
    axis = figure.axes[0]
    assert axis.get_xscale() == "log"
    points = [line for line in axis.get_lines() if line.get_marker() not in ("None", None)]
    assert len(points) == 5


def test_no_row_is_refused() -> None:
    with pytest.raises(UserError, match="no row"):
        cost_front_figure(cost_front(*tables()).iloc[:0], STUDY)
