"""Fetch one raw file: see textbaselines.datasets.fetch."""

import os
from logging import Logger
from pathlib import Path
from typing import Any

from textbaselines.core import storage
from textbaselines.core.environment import MIRROR
from textbaselines.core.scripts import run
from textbaselines.datasets.catalog import RawFile
from textbaselines.datasets.fetch import fetch_file


def main(log: Logger, raw_file: dict[str, Any], output: Path, provenance: Path) -> None:
    """Fetch a raw file from the first of its sources that gives the pinned bytes."""
    mirror = os.environ.get(MIRROR)
    source = fetch_file(
        RawFile.model_validate(raw_file),
        output,
        mirror=Path(mirror) if mirror else None,
        work_folder=output.parent,
    )
    storage.write_json(provenance, source)


if __name__ == "__main__":
    run(main)
