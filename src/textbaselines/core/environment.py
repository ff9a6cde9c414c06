"""What the jobs of a workflow find in their environment: Python, this library, the mirror."""

import os
import sys
from pathlib import Path

from textbaselines.core.errors import UserError
from textbaselines.core.validation import near_path

MIRROR = "TEXTBASELINES_MIRROR"
"""The variable that names the mirror folder."""


KEPT = 1 << 27
"""Bytes that a job may keep."""

ALLOCATOR = {
    "MALLOC_MMAP_THRESHOLD_": str(KEPT),
    "MALLOC_TRIM_THRESHOLD_": str(KEPT),
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}
"""glibc's variables: what is larger is mapped by itself, how much free memory is kept, and that
large arrays may lie in huge pages."""


def export_allocator() -> None:
    """Let child processes keep the memory of arrays that they free for the next ones.

    Training makes arrays of some MiB over and over. By glibc's rule each goes back to the system
    and comes anew, page by page, which is a third of the time of a grid of naive Bayes. In huge
    pages, where the system has them for who asks, solvers find their rows sooner: on IMDB a seventh
    of the time. What the variables are already stays; another C library does not look at them.
    """
    for name, value in ALLOCATOR.items():
        os.environ.setdefault(name, value)


def export_library(source: Path) -> None:
    """Let child processes run this Python and the library in ``source``, installed or not.

    They find TEXTBASELINES_STEP, too, by which the library knows that it is a step's.
    """
    _prepend("PATH", str(Path(sys.executable).parent))
    _prepend("PYTHONPATH", str(source))
    os.environ["TEXTBASELINES_STEP"] = "1"


def find_mirror(chosen: str | None, root: Path, named_in: str | None = None) -> Path | None:
    """Return the mirror folder, absolute; None where there is none.

    Parameters
    ----------
    chosen : str or None
        The study's or the command line's; else the variable's, else ``mirror/`` in ``root``.
    root : Path
        The folder of the Snakefile.
    named_in : str, optional
        The file and key of ``chosen``, for the error.

    Raises
    ------
    UserError
        When the one that was named is no folder.
    """
    for name, said_by in (
        (chosen, named_in or "the study's or the command line's mirror"),
        (os.environ.get(MIRROR), f"the variable {MIRROR}"),
        (str(root / "mirror") if (root / "mirror").exists() else None, str(root)),
    ):
        if not name:
            continue
        folder = Path(name).expanduser().resolve()
        if not folder.is_dir():
            raise UserError(
                "the mirror is not a folder",
                where=said_by,
                found=f"{folder} ({'a file' if folder.exists() else 'nothing'})",
                expected="a folder that holds raw files",
                fix=near_path(folder),
            )
        return folder
    return None


def export_mirror(chosen: str | None, root: Path) -> Path | None:
    """Settle the mirror folder and let child processes find it; as :func:`find_mirror`."""
    folder = find_mirror(chosen, root)
    if folder is not None:
        os.environ[MIRROR] = str(folder)
    return folder


def _prepend(variable: str, entry: str) -> None:
    parts = [part for part in os.environ.get(variable, "").split(os.pathsep) if part]
    if not parts or parts[0] != entry:
        os.environ[variable] = os.pathsep.join([entry, *parts])
