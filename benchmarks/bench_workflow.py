"""What Snakemake itself costs: the share of a run's time that is not spent inside its jobs.

    python benchmarks/bench_workflow.py [--cores 2]

reads the logs of the run that ended last in this folder, and of the jobs that it ran, and prints
the seconds of all cores:

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


def last_run(folder: Path) -> tuple[str, float, float]:
    """Return the name of the last run's log, when the run began, and its seconds.

    Dry runs and reports write a log, too, which does not say how long they took.
    """
    for log in sorted((folder / ".snakemake" / "log").glob("*.log"), reverse=True):
        if found := ELAPSED.findall(log.read_text(encoding="utf-8")):
            begin = datetime.strptime(log.name[:24], "%Y-%m-%dT%H%M%S.%f").astimezone().timestamp()
            hours, minutes, seconds = found[-1]
            elapsed = timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds))
            return log.name, begin, elapsed.total_seconds()
    raise SystemExit(f"no run has ended in {folder.resolve()}: run a study there first")


def main() -> None:
    """Read the logs and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", type=int, default=2, help="cores that the run had")
    parser.add_argument("--folder", type=Path, default=Path(), help="where it ran")
    args = parser.parse_args()
    name, begin, elapsed = last_run(args.folder)
    whole = elapsed * args.cores
    spans, work, start = [], 0.0, 0.0
    for log in (args.folder / "logs").rglob("*.log"):
        for time, worked, started in DONE.findall(log.read_text(encoding="utf-8")):
            ended = datetime.strptime(time, "%Y-%m-%d %H:%M:%S,%f").astimezone().timestamp()
            if not begin <= ended <= begin + elapsed + GAP:
                continue  # of another run
            spans.append((ended - float(worked) - float(started), ended))
            work, start = work + float(worked), start + float(started)
    if not spans:
        raise SystemExit(f"the run {name} has no logs of jobs in {args.folder / 'logs'}")
    scheduling, waiting = idle_seconds(
        spans, args.cores, begin, max(begin + elapsed, max(end for _, end in spans))
    )
    table = Table("part", "core-seconds", "share", title=f"{name}: {len(spans)} jobs")
    for part, value in (
        ("the jobs' own work", work),
        ("start of Python and imports", start),
        ("scheduling", scheduling),
        ("waiting: no job was ready", waiting),
        (f"whole ({elapsed:.0f} s on {args.cores} cores)", whole),
    ):
        table.add_row(part, f"{value:.0f}", f"{100 * value / whole:.1f} %")
    Console().print(table)


if __name__ == "__main__":
    main()
