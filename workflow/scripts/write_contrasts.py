"""Write the tables and the figure of the contrasts: see reporting.contrasts."""

import argparse
from pathlib import Path

from textbaselines import storage
from textbaselines.csv_tables import read_csv
from textbaselines.logs import run_script, run_to_end
from textbaselines.reporting import contrasts
from textbaselines.reporting.critical_difference import critical_difference_figure
from textbaselines.reporting.figures import draw_figure
from textbaselines.reporting.table_files import plain_text, write_tables


def main() -> None:
    """Parse what the rule passes and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True)
    parser.add_argument("--significance", type=Path, required=True, help="the folder of tests")
    parser.add_argument("--tables", type=Path, required=True, help="path without an ending")
    parser.add_argument("--figure", type=Path, required=True, help="path without an ending")
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("contrasts", args.log):
        study = storage.read_json(args.study)
        read = {
            name: read_csv(args.significance / f"{name}.csv")
            for name in ("contrasts", "across", "ranks", "omnibus", "nemenyi")
        }
        tables = [contrasts.contrast_table(read["contrasts"], study)]
        if len(study["datasets"]) > 1:
            tables += [
                contrasts.across_table(read["across"], study),
                contrasts.rank_table(read["ranks"], read["omnibus"], study),
            ]
        write_tables(args.tables, tables, study["title"], txt=plain_text(tables))
        tests = (read["ranks"], read["nemenyi"], read["omnibus"])
        draw_figure(args.figure, critical_difference_figure, *tests, study)


if __name__ == "__main__":
    run_to_end(main)
