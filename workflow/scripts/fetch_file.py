"""Fetch one raw file: see textbaselines.datasets.fetch."""

import argparse
import os
from pathlib import Path

from textbaselines import storage
from textbaselines.datasets.catalog import load_dataset
from textbaselines.datasets.fetch import fetch_file
from textbaselines.logs import run_script


def main() -> None:
    """Parse what the rule passes and fetch."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", required=True)
    parser.add_argument("--dataset", type=Path, required=True)
    parser.add_argument("--schema", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--provenance", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script(f"fetch {args.file}", args.log):
        dataset = load_dataset(args.dataset, args.schema)
        raw_file = next(file for file in dataset.files if file.name == args.file)
        mirror = os.environ.get("TEXTBASELINES_MIRROR")
        provenance = fetch_file(
            raw_file,
            args.output,
            mirror=Path(mirror) if mirror else None,
            work_folder=args.output.parent,
        )
        storage.write_json(args.provenance, provenance)


if __name__ == "__main__":
    main()
