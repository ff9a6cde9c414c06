import numpy as np
import pytest

from textbaselines.models.parameters import Choice, ClassPrior, Number, parameter_fault


@pytest.mark.parametrize(
    ("value", "accepted"),
    [
        (0, False),
        (1e-300, True),
        (0.5, True),
        (np.float64(1), True),
        (1.01, False),
        (float("nan"), False),
        (float("inf"), False),
        (True, False),
        ("1", False),
        (None, False),
    ],
)
def test_number_keeps_to_its_bounds(value, accepted):
    assert Number("x", low=0, high=1, low_open=True).accepts(value) is accepted


def test_integers_and_null():
    number = Number("x", low=1, integer=True, optional=True)
    assert number.accepts(np.int64(3))
    assert number.accepts(None)
    assert not number.accepts(3.0)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (Number("x", low=0), "a number of at least 0"),
        (Number("x", low=0, low_open=True, optional=True), "a number above 0 or null"),
        (Number("x", low=0, high=1), "a number in [0, 1]"),
        (Number("x", low=1, integer=True), "an integer of at least 1"),
    ],
)
def test_number_says_what_it_allows(number, words):
    assert number.allowed == words


def test_choice_tells_one_from_true():
    assert Choice("x", (True, False)).accepts(False)
    assert not Choice("x", (True, False)).accepts(1)
    assert not Choice("x", ("a",)).accepts(["a"])


@pytest.mark.parametrize(
    ("prior", "accepted"),
    [
        ("learned", True),
        ("uniform", True),
        ("flat", False),
        ([0.25, 0.75], True),
        (np.array([0.5, 0.5]), True),
        ([0.5, 0.6], False),
        ([0.0, 1.0], False),
        ([], False),
    ],
)
def test_class_prior(prior, accepted):
    assert ClassPrior("x").accepts(prior) is accepted


def test_the_first_fault_is_named():
    ranges = {"a": Number("x", low=0), "b": Number("x", low=0)}
    assert parameter_fault(ranges, {"a": 1, "b": -1, "c": "?"}) == ("b", -1, ranges["b"].allowed)
    assert parameter_fault(ranges, {"a": 1, "b": 0}) is None
