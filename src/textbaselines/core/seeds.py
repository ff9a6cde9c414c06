"""Seeds that come from the names of things, never from the clock, the order or the worker."""

import hashlib


def seed_from(*names: object) -> int:
    """Return a seed in [0, 2**32) that depends on the names and their order alone.

    ``*names``: what the random draw is for, for instance ``("rt-s", "folds", "repeat", 3)``; each
    is taken as its ``str``.
    """
    key = "\x1f".join(str(name) for name in names).encode("utf-8")
    return int.from_bytes(hashlib.sha256(key).digest()[:4], "big")
