"""The most memory that this process has had, of a part of its work where the system can tell."""

import resource
import sys
from pathlib import Path


def reset_peak() -> None:
    """Count from now on.

    Where the system has no such counter (it is Linux's), the peak stays that of the whole process.
    """
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def peak_mebibytes() -> float:
    """Return the peak of resident memory since :func:`reset_peak`, in MiB."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 if sys.platform != "darwin" else 1024**2)
