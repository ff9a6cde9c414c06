"""Grid points: each once, named by what they are, refused when impossible."""

import pytest

from textbaselines.errors import UserError
from textbaselines.experiments.grids import expand


def test_fixed_and_grid() -> None:
    points = expand("f", {"beta": 0.25}, {"tol": 0.1}, {"C": 1}, {"C": [0.1, 1.0]}, "m")
    assert [(point.params, point.origin) for point in points] == [
        ({"beta": 0.25, "tol": 0.1, "C": 1}, ("fixed", "grid")),
        ({"beta": 0.25, "tol": 0.1, "C": 0.1}, ("grid",)),
    ]


def test_every_combination_once() -> None:
    points = expand("f", {}, {}, None, {"a": [1, 2, 3], "b": ["x", "y"]}, "m")
    assert len({point.point for point in points}) == 6
    assert {tuple(point.params.values()) for point in points} == {
        (a, b) for a in (1, 2, 3) for b in "xy"
    }


def test_names_do_not_shift_when_a_value_is_inserted() -> None:
    before = {str(p.params): p.point for p in expand("f", {}, {}, None, {"C": [0.1, 1]}, "m")}
    after = {str(p.params): p.point for p in expand("f", {}, {}, None, {"C": [0.1, 0.5, 1]}, "m")}
    assert before.items() <= after.items()
    assert expand("g", {}, {}, None, {"C": [1]}, "m")[0].point not in after.values()


def test_faults() -> None:
    with pytest.raises(UserError, match="an option and an axis"):
        expand("f", {}, {"C": 1}, {}, {"C": [1, 2]}, "methods.SVM")
    with pytest.raises(UserError, match=r"without fixed values and without a grid"):
        expand("f", {}, {}, None, {}, "methods.SVM")


def test_fixed_values_go_before_options_before_defaults() -> None:
    defaults = {"a": 0, "b": 0, "c": 0}
    (point,) = expand("f", defaults, {"b": 1, "c": 1}, {"c": 2}, {}, "m")
    assert point.params == {"a": 0, "b": 1, "c": 2}
    (point,) = expand("f", defaults, {"b": 1}, None, {"c": [3]}, "m")
    assert point.params == {"a": 0, "b": 1, "c": 3}
