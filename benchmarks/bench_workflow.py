"""What Snakemake itself costs: the share of a run's time that is not spent inside its jobs.

    python benchmarks/bench_workflow.py [--cores 2]

reads the logs of the run that ended last in this folder (of all of its jobs: run it with an empty
results/ before) and prints the seconds of all cores: inside the jobs' own work, starting Python
with its imports, and the rest, which is Snakemake's scheduling and cores without a job.
"""

import argparse
import re
from datetime import timedelta
from pathlib import Path

from rich.console import Console
from rich.table import Table

DONE = re.compile(r"DEBUG done in (\d+\.\d+) s, after (\d+\.\d+) s to start$", re.MULTILINE)
ELAPSED = re.compile(r"Elapsed time: (\d+):(\d+):(\d+\.\d+)")


def main() -> None:
    """Read the logs and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", type=int, default=2, help="cores that the run had")
    parser.add_argument("--folder", type=Path, default=Path(), help="where it ran")
    args = parser.parse_args()
    newest = max((args.folder / ".snakemake" / "log").glob("*.log"))
    (hours, minutes, seconds) = ELAPSED.findall(newest.read_text(encoding="utf-8"))[-1]
    elapsed = timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds))
    whole = elapsed.total_seconds() * args.cores
    jobs = [
        (float(work), float(start))
        for log in (args.folder / "logs").rglob("*.log")
        for work, start in DONE.findall(log.read_text(encoding="utf-8"))
    ]
    work, start = (sum(column) for column in zip(*jobs, strict=True))
    table = Table("part", "core-seconds", "share", title=f"{newest.name}: {len(jobs)} jobs")
    for name, value in (
        ("the jobs' own work", work),
        ("start of Python and imports", start),
        ("scheduling, and cores without a job", whole - work - start),
        (f"whole ({elapsed.total_seconds():.0f} s on {args.cores} cores)", whole),
    ):
        table.add_row(name, f"{value:.0f}", f"{100 * value / whole:.1f} %")
    Console().print(table)


if __name__ == "__main__":
    main()
