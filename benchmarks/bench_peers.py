"""Race this project against its peers on the same folds, the same grid and one core each.

Every competitor runs in a fresh process, one after the other; its time leaves out the start of
Python. Prints Markdown tables; with --output writes peers.csv and peers.svg there.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from corpora import read_dataset, tokenised
from peers import ALPHAS, COMPETITORS, GRID, INNER, Case, Outcome
from process import run_as_a_job
from textbaselines.core.storage import whole_file, write_text
from textbaselines.study.folds import Protocol, draw_folds, draw_inner_folds

NAIVE_BAYES = ("nb-this", "nb-plain")
COLUMNS = {
    "set": "set",
    "race": "race",
    "who": "competitor",
    "fits": "fits",
    "measured": "measured",
    "seconds": "wall, s",
    "ratio": "wall, ours = 1",
    "cpu": "CPU, s",
    "cpu_ratio": "CPU, ours = 1",
    "solver": "CPU in LIBLINEAR, s",
    "memory": "peak, MiB",
    "fixed": "alpha 1, C 1, beta 0.25, %",
    "best": "best, %",
    "point": "best point",
    "difference": "largest difference, points",
}


def measure(folder: Path, competitor: str, whole: bool) -> None:
    """Run one competitor in this process and write what it found beside the case."""
    setting = json.loads((folder / "case.json").read_text())
    case = Case(
        setting["name"],
        pd.read_parquet(folder / "documents.parquet"),
        pd.read_parquet(folder / "folds.parquet"),
        pd.read_parquet(folder / "inner.parquet"),
        setting["tolerance"],
    )
    outcome = COMPETITORS[competitor][1](case, whole)
    found = vars(outcome) | {
        "accuracies": [[list(point), value] for point, value in outcome.accuracies.items()],
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    write_text(folder / f"{competitor}.json", json.dumps(found))


def run(folder: Path, competitor: str, whole: bool) -> tuple[Outcome, float]:
    """Run one competitor in a fresh process of one core and return its outcome and peak MiB."""
    command = [sys.executable, __file__, "--measure", competitor, "--folder", str(folder)]
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    # A warning that a solver stopped at its limit is told by the scores' difference.
    environment = {**os.environ, **single, "PYTHONWARNINGS": "ignore"}
    if whole:
        command.append("--whole")
    subprocess.run(command, check=True, env=environment)
    found = json.loads((folder / f"{competitor}.json").read_text())
    found["accuracies"] = {tuple(point): value for point, value in found["accuracies"]}
    memory = found.pop("memory")
    return Outcome(**found), memory


def difference(mine: Outcome, other: Outcome) -> float:
    """Return the largest difference of accuracy of what both measured, in points."""
    pairs = [
        (mine.accuracies[point], value)
        for point, value in other.accuracies.items()
        if point in mine.accuracies
    ]
    pairs += [(mine.inner[key], value) for key, value in other.inner.items() if key in mine.inner]
    return 100 * max((abs(a - b) for a, b in pairs), default=float("nan"))


def row(name: str, competitor: str, outcome: Outcome, memory: float, mine: Outcome) -> dict:
    """Return one line of the table."""
    line: dict[str, Any] = {
        "set": name,
        "race": "naive Bayes" if competitor in NAIVE_BAYES else "NBSVM",
        "who": COMPETITORS[competitor][0],
        "fits": outcome.fits,
        "measured": outcome.measured,
        "seconds": outcome.seconds,
        "ratio": outcome.seconds / mine.seconds,
        "cpu": outcome.cpu,
        "cpu_ratio": outcome.cpu / mine.cpu,
        "solver": outcome.solver_seconds,
        "memory": memory,
    }
    if outcome.accuracies:
        point = max(outcome.accuracies, key=lambda each: outcome.accuracies[each])
        line["best"] = 100 * outcome.accuracies[point]
        line["fixed"] = 100 * outcome.accuracies.get((1.0, 1.0, 0.25), float("nan"))
        line["point"] = " ".join(f"{value:g}" for value in point)
    if outcome is not mine:
        line["difference"] = difference(mine, outcome)
    return line


def markdown(table: pd.DataFrame) -> str:
    """Return the table as Markdown, with an empty cell for what a competitor does not have."""
    digits = {
        "seconds": 2,
        "ratio": 1,
        "cpu": 2,
        "cpu_ratio": 1,
        "solver": 2,
        "memory": 0,
        "fixed": 2,
        "best": 2,
    }
    digits["difference"] = 3
    lines = ["| " + " | ".join(COLUMNS.values()) + " |", "| --- " * len(COLUMNS) + "|"]
    for _, each in table.iterrows():
        cells = []
        for column in COLUMNS:
            value = each[column]
            if pd.isna(value):
                cells.append("")
            elif column in digits:
                cells.append(f"{value:.{digits[column]}f}")
            else:
                cells.append(f"{value:,}" if column in ("fits", "measured") else str(value))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(table: pd.DataFrame, path: Path) -> None:
    """Draw each competitor's time as a multiple of ours, one panel for each race and set."""
    sets, races = table["set"].unique().tolist(), table["race"].unique().tolist()
    figure = Figure(figsize=(10, 2.3 * len(sets)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(sets), len(races), squeeze=False)
    for (race, name), rows in table.groupby(["race", "set"], sort=False):
        axis = axes[sets.index(name), races.index(race)]
        rows = rows[::-1]
        axis.barh(rows["who"], rows["ratio"], color="#0072B2", left=0)
        for place, ratio in enumerate(rows["ratio"]):
            axis.annotate(f"{ratio:.3g}", (ratio, place), (3, 0), textcoords="offset points",
                          va="center", fontsize=8)  # fmt: skip
        axis.set_xscale("log")
        axis.axvline(1, color="black", linewidth=0.8)
        axis.set_xlim(right=float(rows["ratio"].max()) * 6)
        axis.set_title(f"{race}, {name}", fontsize=9)
        axis.set_xlabel("time, ours = 1", fontsize=8)
        axis.tick_params(labelsize=8)
    with whole_file(path) as part:
        figure.savefig(part, format="svg", metadata={"Date": None})


def prepare(folder: Path, name: str, settings: Mapping[str, Any]) -> None:
    """Write a set's documents and folds for every competitor."""
    documents = read_dataset(name)
    frame = tokenised(documents)
    protocol = Protocol("cv", settings["folds"], inner=INNER)
    folds = draw_folds(documents, protocol, name)
    inner = draw_inner_folds(documents, folds, protocol, name)
    frame[["id", "text", "label"]].to_parquet(folder / "documents.parquet")
    folds.to_parquet(folder / "folds.parquet")
    inner.to_parquet(folder / "inner.parquet")
    case = {"name": name, "tolerance": settings["tolerance"]}
    write_text(folder / "case.json", json.dumps(case))


def main() -> None:
    """Run the races and print the tables."""
    run_as_a_job()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=["rt-s", "cr", "subj"])
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--tolerance", type=float, default=0.1, help="the linear solver's")
    parser.add_argument("--peers", nargs="+", choices=list(COMPETITORS), default=list(COMPETITORS))
    parser.add_argument("--whole", action="store_true", help="scale nothing: takes an hour")
    parser.add_argument("--quick", action="store_true", help="one small set, three folds")
    parser.add_argument("--output", type=Path, help="folder of peers.csv and peers.svg")
    parser.add_argument("--measure", choices=list(COMPETITORS), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        measure(args.folder, args.measure, args.whole)
        return
    sets, folds = (["cr"], 3) if args.quick else (args.sets, args.folds)
    grid = " x ".join(f"{len(values)} {axis}" for axis, values in GRID.items())
    print(f"NBSVM: {grid} x {folds} folds, tolerance {args.tolerance:g}, one core each.")
    print(f"Naive Bayes: {len(ALPHAS)} alphas x {folds} outer x {INNER} inner folds.")
    print("Where fewer fits are measured than there are, the time is scaled from them.")
    rows = []
    for name in sets:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            prepare(folder, name, {"folds": folds, "tolerance": args.tolerance})
            mine: dict[bool, Outcome] = {}
            for competitor in COMPETITORS:
                bayes = competitor in NAIVE_BAYES
                ours = competitor in ("this", "nb-this")
                if not ours and competitor not in args.peers:
                    continue
                outcome, memory = run(folder, competitor, args.whole)
                if ours:
                    mine[bayes] = outcome
                rows.append(row(name, competitor, outcome, memory, mine[bayes]))
                print(f"{name}: {rows[-1]['who']}: {outcome.seconds:.2f} s", file=sys.stderr)
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    print("\n" + markdown(table))
    if args.output:
        write_text(args.output / "peers.csv", table.to_csv(index=False, float_format="%.6g"))
        draw(table, args.output / "peers.svg")


if __name__ == "__main__":
    main()
