"""Write and draw learning curves: see textbaselines.experiments.learning_curves."""

import argparse
from pathlib import Path

import pandas as pd

from textbaselines import storage
from textbaselines.experiments.learning_curves import crossing_table, curve_table
from textbaselines.logs import run_script, run_to_end
from textbaselines.reporting.curve_figure import learning_curve_figure
from textbaselines.reporting.figures import draw_figure
from textbaselines.reporting.tables import to_csv


def main() -> None:
    """Parse what the rule passes, write and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True)
    parser.add_argument(
        "--scores", type=Path, nargs="+", required=True, help="<dataset>/<representation>.parquet"
    )
    parser.add_argument("--output", type=Path, required=True, help="the folder of the tables")
    parser.add_argument("--log", type=Path)
    args = parser.parse_args()
    with run_script("learning curves", args.log) as log:
        study = storage.read_json(args.study)
        families = {method["name"]: method["family"] for method in study["methods"]}
        parts = []
        for path in args.scores:
            named = path.parent.name, path.stem
            scores = storage.read_parquet(path)
            parts.append(
                (curve_table(*named, scores, families), crossing_table(*named, scores, families))
            )
        curves, crossings = (
            pd.concat(tables, ignore_index=True) for tables in zip(*parts, strict=True)
        )
        storage.write_text(args.output / "curves.csv", to_csv(curves))
        storage.write_text(args.output / "crossings.csv", to_csv(crossings))
        draw_figure(args.output / "curves", learning_curve_figure, curves, crossings, study)
        log.info("%d points, %d crossings", len(curves), crossings["crossing"].notna().sum())


if __name__ == "__main__":
    run_to_end(main)
