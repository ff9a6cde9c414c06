"""Write the comparison tables in every form: see textbaselines.reporting.tables."""

import argparse
from pathlib import Path

from textbaselines import storage
from textbaselines.experiments.evaluation import INTERVAL
from textbaselines.logs import run_script, run_to_end
from textbaselines.reporting import tables
from textbaselines.reporting.table_files import plain_text, write_tables


def main() -> None:
    """Parse what the rule passes and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=Path, required=True)
    parser.add_argument("--overlap", type=Path, required=True)
    parser.add_argument("--study", type=Path, required=True)
    parser.add_argument("--stem", type=Path, required=True, help="path without an ending")
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("tables", args.log):
        study = storage.read_json(args.study)
        cells = storage.read_parquet(args.cells)
        decimals = study["tables"]["decimals"]
        overlap = storage.read_parquet(args.overlap)
        all_tables = tables.comparison_tables(
            cells, study, decimals=decimals, interval=INTERVAL, overlap=overlap
        )
        long = tables.long_table(cells, study, decimals=decimals, overlap=overlap)
        text = plain_text(all_tables)
        write_tables(args.stem, all_tables, study["title"], csv=tables.to_csv(long), txt=text)


if __name__ == "__main__":
    run_to_end(main)
