"""The classical baselines of text classification, run honestly and shown as a paper shows them.

``load`` reads a stored model, a ``PortableModel``; ``models`` has the estimators, with
scikit-learn's interface.
"""

import gc as _gc
import importlib as _importlib
import os as _os
import sys as _sys
import typing as _typing

if _typing.TYPE_CHECKING:
    from textbaselines import models
    from textbaselines.export.portable import PortableModel, load

__all__ = ["PortableModel", "load", "models"]
__version__ = "0.1.0"

if _os.environ.get("TEXTBASELINES_STEP"):
    # A step of the workflow: nothing is garbage while its libraries load, and to look for it is a
    # tenth of that time. textbaselines.core.logs.run_script collects again.
    _gc.disable()
    # An interrupt before run_script sees it ends a step without a traceback as well.
    _sys.excepthook = lambda kind, error, traceback: (
        None if issubclass(kind, KeyboardInterrupt) else _sys.__excepthook__(kind, error, traceback)
    )


def __getattr__(name: str) -> _typing.Any:
    """Import what is asked for only then: a workflow step loads no more than it runs."""
    if name == "models":
        return _importlib.import_module("textbaselines.models")
    if name in __all__:
        return getattr(_importlib.import_module("textbaselines.export.portable"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Name what is public, imported already or not."""
    own = [name for name in globals() if name.startswith("__")]
    return sorted({*own, *__all__})
