"""What values a method's parameter may take: one statement for estimators and study files."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np


class Parameter(Protocol):
    """The range of one parameter."""

    @property
    def description(self) -> str:
        """What the parameter does, in a phrase."""

    @property
    def allowed(self) -> str:
        """The allowed values, in words that end a sentence "must be ..."."""

    def accepts(self, value: Any) -> bool:
        """Whether ``value`` is allowed."""


@dataclass(frozen=True)
class Number:
    """A finite number between two bounds; bounds belong to the range unless said otherwise."""

    description: str
    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    integer: bool = False
    optional: bool = False

    @property
    def allowed(self) -> str:
        """The range in words."""
        text = "an integer" if self.integer else "a number"
        if self.low > -math.inf and self.high < math.inf:
            text += f" in {'(' if self.low_open else '['}{self.low:g}, {self.high:g}]"
        elif self.low > -math.inf:
            text += f" {'above' if self.low_open else 'of at least'} {self.low:g}"
        return text + (" or null" if self.optional else "")

    def accepts(self, value: Any) -> bool:
        """Whether ``value`` is a number of the range; booleans, NaN and infinity are not."""
        if value is None:
            return self.optional
        if isinstance(value, bool | np.bool_):
            return False
        if not isinstance(value, Integral if self.integer else Real):
            return False
        number = float(value)
        above = number > self.low if self.low_open else number >= self.low
        return math.isfinite(number) and above and number <= self.high


@dataclass(frozen=True)
class Choice:
    """One of a few named values."""

    description: str
    values: tuple[Any, ...]

    @property
    def allowed(self) -> str:
        """The values in words."""
        return "one of " + ", ".join(repr(value) for value in self.values)

    def accepts(self, value: Any) -> bool:
        """Whether ``value`` is one of the values, and of its type (1 is not True)."""
        return any(type(value) is type(one) and value == one for one in self.values)


@dataclass(frozen=True)
class ClassPrior:
    """Where the class probabilities come from: a word, or the probabilities themselves."""

    description: str

    @property
    def allowed(self) -> str:
        """The values in words."""
        return (
            "'learned', 'uniform', or a list of probabilities above 0 that sum to 1, "
            "one per class in sorted order"
        )

    def accepts(self, value: Any) -> bool:
        """Whether ``value`` is a known word or a distribution without zeros."""
        if isinstance(value, str):
            return value in ("learned", "uniform")
        if not isinstance(value, Sequence | np.ndarray) or len(value) == 0:
            return False
        number = Number("", low=0, low_open=True)
        return all(number.accepts(one) for one in value) and math.isclose(
            math.fsum(value), 1.0, abs_tol=1e-9
        )


def parameter_fault(
    ranges: Mapping[str, Parameter], values: Mapping[str, Any]
) -> tuple[str, Any, str] | None:
    """Return (name, value, allowed values in words) of the first value out of its range, or None.

    Values without a stated range are not looked at.
    """
    for name, value in values.items():
        if name in ranges and not ranges[name].accepts(value):
            return name, value, ranges[name].allowed
    return None
