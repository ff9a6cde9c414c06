"""The plan file of a study: what each of its jobs does. Jobs look their part up in it.

A command line holds 128 KiB, and a grid of thousands of points is longer.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from textbaselines import storage
from textbaselines.errors import UserError


def part_of(plan: Mapping[str, Any], *keys: str) -> Any:
    """Return the part of a plan under some keys, from the outermost inwards."""
    part: Any = plan
    for key in keys:
        part = part[key]
    return part


def read_part(path: str | Path, *keys: str) -> Any:
    """Return a part of a plan file.

    Parameters
    ----------
    path : path
        JSON, as the workflow writes it when a run starts.
    *keys : str
        The stage, the dataset and the job.

    Raises
    ------
    UserError
        When the file has no such part.
    """
    try:
        return part_of(storage.read_json(path), *keys)
    except (KeyError, TypeError) as error:
        raise UserError(
            "the plan file lacks a job",
            where=str(path),
            found=" > ".join(keys),
            fix="delete the file and run snakemake again",
        ) from error
