"""What Snakemake itself costs: the share of a run's time that is not spent inside its jobs.

    python benchmarks/bench_workflow.py [--cores 2]

reads the logs of the run that ended last in this folder (of all of its jobs: run it with an empty
results/ before) and prints the seconds of all cores:

- inside the jobs' own work;
- starting Python with its imports;
- scheduling: the first second of every core after a job's end in which it has no other job (a job
  that is ready starts in less), and all cores from Snakemake's start to the first job's and from
  the last job's end to its own;
- waiting: cores without a job for longer, because none was ready.
"""

import argparse
import re
from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

from rich.console import Console
from rich.table import Table

DONE = re.compile(
    r"^(\S+ \S+) DEBUG done in (\d+\.\d+) s, after (\d+\.\d+) s to start$", re.MULTILINE
)
ELAPSED = re.compile(r"Elapsed time: (\d+):(\d+):(\d+\.\d+)")


GAP = 1.0
"""Seconds in which Snakemake starts a job that is ready, at most."""


def idle_seconds(
    spans: Sequence[tuple[float, float]], cores: int, begin: float, end: float
) -> tuple[float, float]:
    """Return the core-seconds of scheduling and of waiting.

    Parameters
    ----------
    spans : sequence of (start, end)
        Of every job, each on one core.
    cores : int
    begin, end : float
        Of the whole run.
    """
    first, last = min(start for start, _ in spans), max(stop for _, stop in spans)
    scheduling = cores * (first - begin + end - last)
    waiting = 0.0
    times = sorted({time for span in spans for time in span})
    ends = sorted(stop for _, stop in spans)
    for start, stop in pairwise(times):
        free = cores - sum(one <= start and stop <= other for one, other in spans)
        if free <= 0:
            continue
        # Of the ends before, each of the last ones freed a core that is free now.
        before = ends[: bisect_right(ends, start)][-free:]
        fresh = [max(0.0, min(stop, one + GAP) - start) for one in before]
        scheduling += sum(fresh)
        waiting += free * (stop - start) - sum(fresh)
    return scheduling, waiting


def main() -> None:
    """Read the logs and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", type=int, default=2, help="cores that the run had")
    parser.add_argument("--folder", type=Path, default=Path(), help="where it ran")
    args = parser.parse_args()
    newest = max((args.folder / ".snakemake" / "log").glob("*.log"))
    begin = datetime.strptime(newest.name[:24], "%Y-%m-%dT%H%M%S.%f").astimezone().timestamp()
    (hours, minutes, seconds) = ELAPSED.findall(newest.read_text(encoding="utf-8"))[-1]
    elapsed = timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds))
    whole = elapsed.total_seconds() * args.cores
    spans, work, start = [], 0.0, 0.0
    for log in (args.folder / "logs").rglob("*.log"):
        for time, worked, started in DONE.findall(log.read_text(encoding="utf-8")):
            ended = datetime.strptime(time, "%Y-%m-%d %H:%M:%S,%f").astimezone().timestamp()
            spans.append((ended - float(worked) - float(started), ended))
            work, start = work + float(worked), start + float(started)
    scheduling, waiting = idle_seconds(
        spans, args.cores, begin, max(begin + elapsed.total_seconds(), max(e for _, e in spans))
    )
    table = Table("part", "core-seconds", "share", title=f"{newest.name}: {len(spans)} jobs")
    for name, value in (
        ("the jobs' own work", work),
        ("start of Python and imports", start),
        ("scheduling", scheduling),
        ("waiting: no job was ready", waiting),
        (f"whole ({elapsed.total_seconds():.0f} s on {args.cores} cores)", whole),
    ):
        table.add_row(name, f"{value:.0f}", f"{100 * value / whole:.1f} %")
    Console().print(table)


if __name__ == "__main__":
    main()
