"""How numbers are written on the page."""

from collections.abc import Iterable

from textbaselines.reporting.tables.comparison import percent, signed


def as_percent(fraction: float) -> str:
    """Return a fraction in percent, with one decimal."""
    return percent(fraction, 1)


def as_points(fraction: float) -> str:
    """Return a difference of fractions in points, with its sign."""
    return signed(100 * fraction)


def three_decimals(number: float) -> str:
    """Return a number with three decimals and, if negative, a minus sign."""
    return f"{number:.3f}".replace("-", "−")


def as_count(number: float) -> str:
    """Return a count, with one decimal where it is no whole number."""
    return f"{number:,.0f}" if number == int(number) else f"{number:,.1f}"


def as_interval(low: float, high: float) -> str:
    """Return the ends of an interval of fractions in points, with their signs."""
    return f"{as_points(low)} to {as_points(high)}"


def intervals(lows: Iterable[float], highs: Iterable[float]) -> list[str]:
    """Return the ends of intervals that are in points already, with their signs."""
    return [f"{signed(low)} to {signed(high)}" for low, high in zip(lows, highs, strict=True)]
