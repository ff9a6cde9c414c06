"""A store whose folder was moved or copied: found out before anything is read or written.

MLflow stores the absolute address of every run's and model's files. In a moved folder it finds none
of them; in a copied one it would read and write the files of the original.
"""

import contextlib
import sqlite3
from pathlib import Path
from urllib.parse import unquote, urlsplit

from textbaselines.core.errors import UserError

REBUILD = "make track-rebuild"
"""The command that makes the store anew where it is."""


def check_place(database: Path, artifact_root: Path) -> None:
    """Refuse a store that was made in another folder.

    Parameters
    ----------
    database : Path
        The SQLite file. One that is absent or no store of MLflow is not looked at.
    artifact_root : Path
        The folder that the artifacts should be in.

    Raises
    ------
    UserError
        With both folders and the remedy.
    """
    for recorded in _recorded_roots(database, artifact_root.name):
        if not _same(recorded, artifact_root):
            raise UserError(
                "the tracking store was made in another folder, and looks for its files there",
                where=str(database),
                found=f"files in {recorded}",
                expected=f"files in {artifact_root}",
                fix=f"run `{REBUILD}`: it makes the store anew here, with all runs, models and "
                "champions, from the result files (notes and runs of your own in the store go); "
                "or move the folder back",
            )


def _recorded_roots(database: Path, name: str) -> list[Path]:
    """Return the folders called ``name`` in which experiments of the store have their files."""
    if not database.is_file():
        return []
    try:
        with contextlib.closing(sqlite3.connect(database, timeout=20)) as connection:
            rows = connection.execute("SELECT artifact_location FROM experiments").fetchall()
    except sqlite3.DatabaseError:
        return []
    addresses = [urlsplit(location) for (location,) in rows if location]
    roots = {
        Path(unquote(address.path)).parent for address in addresses if address.scheme == "file"
    }
    return sorted(root for root in roots if root.name == name)


def _same(recorded: Path, wanted: Path) -> bool:
    """Return whether both are one folder; it need not exist, but the folder around it does."""
    if recorded == wanted:
        return True
    return recorded.parent.exists() and recorded.parent.samefile(wanted.parent)
