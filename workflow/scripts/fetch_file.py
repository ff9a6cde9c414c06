"""Fetch one raw file: see textbaselines.datasets.fetch."""

import argparse
import json
import os
from pathlib import Path

from textbaselines import storage
from textbaselines.datasets.catalog import RawFile
from textbaselines.datasets.fetch import fetch_file
from textbaselines.environment import MIRROR
from textbaselines.logs import run_script, run_to_end


def main() -> None:
    """Parse what the rule passes and fetch."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--raw-file", type=json.loads, required=True, help="name and sources")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--provenance", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("fetch", args.log):
        mirror = os.environ.get(MIRROR)
        provenance = fetch_file(
            RawFile.model_validate(args.raw_file),
            args.output,
            mirror=Path(mirror) if mirror else None,
            work_folder=args.output.parent,
        )
        storage.write_json(args.provenance, provenance)


if __name__ == "__main__":
    run_to_end(main)
