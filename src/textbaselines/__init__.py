"""The classical baselines of text classification, run honestly and shown as a paper shows them."""

import gc
import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textbaselines.portable import PortableModel, load

__all__ = ["PortableModel", "load"]
__version__ = "0.1.0"

if os.environ.get("TEXTBASELINES_STEP"):
    # A step of the workflow: nothing is garbage while its libraries load, and to look for it is a
    # tenth of that time. textbaselines.logs.run_script collects again.
    gc.disable()
    # An interrupt before run_script sees it ends a step without a traceback as well.
    sys.excepthook = lambda kind, error, traceback: (
        None if issubclass(kind, KeyboardInterrupt) else sys.__excepthook__(kind, error, traceback)
    )


def __getattr__(name: str) -> Any:
    """Import what is asked for only then: a workflow step loads no more than it runs."""
    if name in __all__:
        return getattr(importlib.import_module("textbaselines.portable"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
