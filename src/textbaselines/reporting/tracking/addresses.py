"""Addresses of files, whatever characters their paths have."""

from pathlib import Path
from urllib.parse import quote


def sqlite_address(database: str | Path) -> str:
    """Return the address by which SQLAlchemy and MLflow open a SQLite file.

    A path is no address: from ``?`` on they would take it for options, ``#`` for a fragment, and
    ``%41`` for a letter. A path with one of these is given as SQLite's own kind of address, in
    which they are escaped (https://www.sqlite.org/uri.html).

    ``database``: made absolute.
    """
    path = str(Path(database).absolute())
    if not set("?#%") & set(path):
        return f"sqlite:///{path}"
    # With the driver's name: MLflow takes all after "sqlite:///" for a path and makes its folder.
    return f"sqlite+pysqlite:///file:{quote(path)}?uri=true"
