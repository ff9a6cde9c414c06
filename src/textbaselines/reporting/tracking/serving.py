"""The command that serves a dataset's champion on this machine alone."""

import contextlib
import os
import sqlite3
import sys
from pathlib import Path

from textbaselines.core.errors import UserError
from textbaselines.core.result_paths import Results
from textbaselines.core.storage import read_json
from textbaselines.reporting.tracking.addresses import sqlite_address
from textbaselines.reporting.tracking.moves import REBUILD, check_place
from textbaselines.reporting.tracking.variables import for_store, say_unused

_SERVER = Path(__file__).parents[2] / "export" / "scoring_server.py"


def serve_command(
    results: Path, name: str | None, port: int, alias: str = "champion"
) -> tuple[list[str], dict[str, str]]:
    """Return the command that serves a registered model, and its environment.

    Parameters
    ----------
    name : str or None
        Of the registered model: the dataset's.
    alias : str
        Of the version to serve.

    Raises
    ------
    UserError
        When no such model is registered, or the store was made in another folder.
    """
    database = Results(results).database.absolute()
    servers = _servers(results)
    check_place(database, Results(results).artifacts.absolute())
    here = _registered(database, alias)
    if name in here:
        uri = sqlite_address(database)
    elif name in servers:
        uri = servers[name]
    else:
        known = sorted({*here, *servers})
        raise UserError(
            "no model of this dataset is registered" if name else "no dataset is named",
            where=str(database),
            found=name,
            expected=", ".join(known) or "none is registered",
            fix="name one of these: make serve DATASET=..."
            if known
            else f"run a study with `keep_models: best`, or `{REBUILD}` when one has run",
        )
    # No folder of the library is on the path: the model brings the library it was logged with.
    command = [sys.executable, "-P", str(_SERVER)]
    command += ["--model", f"models:/{name}@{alias}", "--port", str(port)]
    say_unused(os.environ, uri)
    environment = for_store(os.environ, uri)
    return command, {**environment, "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}


def _registered(database: Path, alias: str) -> list[str]:
    if not database.is_file():
        return []
    query = "SELECT name FROM registered_model_aliases WHERE alias = ?"
    try:
        with contextlib.closing(sqlite3.connect(database, timeout=20)) as connection:
            return [name for (name,) in connection.execute(query, [alias])]
    except sqlite3.DatabaseError as error:
        raise UserError(
            "the tracking store cannot be read",
            where=str(database),
            found=str(error),
            fix=f"run `{REBUILD}`, which makes it anew from the result files",
        ) from error


def _servers(results: Path) -> dict[str, str]:
    """Return the address of the tracking server of each model that was registered in one."""
    found: dict[str, str] = {}
    for study in Results(results).studies():
        server = read_json(study.description).get("tracking_uri")
        if server and study.tracked_models.is_file():
            models = read_json(study.tracked_models).values()
            found |= {model["name"]: server for model in models}
    return found
