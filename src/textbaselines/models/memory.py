"""Memory that a method is going to take, told and refused before it is taken."""

import math


def nbytes(*shape: int) -> int:
    """Return the bytes of a float64 array of this shape."""
    return 8 * math.prod(shape)


def gib(size: int) -> str:
    """Return a number of bytes as text in GiB, to three digits."""
    return f"{size / 2**30:.3g} GiB"


def refuse_beyond(limit_gib: float, size: int, what: str, remedy: str) -> None:
    """Raise :class:`ValueError` when ``size`` bytes are more than ``limit_gib`` GiB.

    Parameters
    ----------
    what : str
        What would take them, for instance ``"the kernel matrices of 50000 documents"``.
    remedy : str
        What to do instead, besides raising the limit.
    """
    if size > limit_gib * 2**30:
        raise ValueError(
            f"{what} would take {gib(size)}, above the limit of {limit_gib:g} GiB "
            f"(parameter max_gib): {remedy}, or raise the limit"
        )
