"""Write the audits of a study's corpora as tables: see textbaselines.reporting.data_table."""

import argparse
from pathlib import Path

from textbaselines import storage
from textbaselines.logs import run_script, run_to_end
from textbaselines.reporting.data_table import data_table, near_duplicates_table
from textbaselines.reporting.tables import to_csv


def main() -> None:
    """Parse what the rule passes and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audits", type=Path, nargs="+", required=True, help="of each dataset")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--near-duplicates", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("data tables", args.log):
        audits = {path.parent.name: storage.read_json(path) for path in args.audits}
        storage.write_text(args.data, to_csv(data_table(audits)))
        storage.write_text(args.near_duplicates, to_csv(near_duplicates_table(audits)))


if __name__ == "__main__":
    run_to_end(main)
