"""MLflow's pages of the store, on this machine alone, and the addresses that open them."""

import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from textbaselines.core.errors import UserError
from textbaselines.core.result_paths import Results
from textbaselines.core.storage import read_json
from textbaselines.reporting.tracking.addresses import sqlite_address
from textbaselines.reporting.tracking.moves import check_place
from textbaselines.reporting.tracking.variables import for_store, say_unused

PORT = 5000
"""The port that printed addresses have."""

_log = logging.getLogger("textbaselines")


def ui_command(results: Path, port: int = PORT) -> tuple[list[str], dict[str, str]]:
    """Return the command that serves the store's pages, and its environment.

    It listens on the loopback interface, answers only requests that were made to this machine by
    name, has one worker, and neither runs jobs nor a gateway to language models nor reports use.
    Of a store that was made in another folder it shows numbers, no files: a warning says so.

    Raises :class:`UserError` when there is no store yet.
    """
    database = Results(results).database.absolute()
    if not database.is_file():
        raise UserError(
            "no tracking store",
            where=str(database),
            fix="run a study with tracking: mlflow, or `make track`",
        )
    command = [sys.executable, "-m", "mlflow", "server"]
    try:
        check_place(database, database.with_name("mlflow-artifacts"))
    except UserError as error:
        _log.warning("the pages show no files: %s", error)
    uri = sqlite_address(database)
    command += ["--backend-store-uri", uri, "--registry-store-uri", uri]
    command += ["--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command += ["--allowed-hosts", f"localhost:{port},127.0.0.1:{port}"]
    switched_off = {
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "MLFLOW_ENABLE_AI_GATEWAY": "false",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "DO_NOT_TRACK": "true",
    }
    say_unused(os.environ, uri)
    return command, {**for_store(os.environ, uri), **switched_off}


def links_of_study(
    results: Path, study: Mapping[str, Any], base: str | None = None
) -> list[tuple[str, str]]:
    """Return what to open and its address: the results, then a table and a chart of each grid.

    The chart is that of the method with the most runs. All other views are in the menu "Views" of
    each page and in the receipt. Empty without a receipt.

    Parameters
    ----------
    base : str, optional
        The server's root; that of :func:`ui_command`, or of the study's own server, by default.
    """
    path = Results(results).study(study["name"]).tracked_runs
    if not path.is_file():
        return []
    receipt = read_json(path)
    if not isinstance(receipt, dict) or not {"links", "open"} <= receipt.keys():
        raise UserError(
            "a receipt of tracking in the form of another version",
            where=str(path),
            found="no key 'links' or 'open'",
            fix="run `make track`, which writes it anew",
        )
    base = (base or study.get("tracking_uri") or f"http://127.0.0.1:{PORT}").rstrip("/")
    found = []
    for experiment in sorted(receipt["links"], key=lambda name: not name.endswith("-results")):
        short = experiment.removeprefix(f"{study['name']}-").removeprefix("grid-")
        for name in receipt["open"][experiment]:
            found.append((f"{short}: {name}", base + receipt["links"][experiment][name]))
    return found
