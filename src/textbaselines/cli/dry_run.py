"""Which jobs the workflow would run now, from Snakemake's own dry run."""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from textbaselines.core.errors import UserError

Job = tuple[str, dict[str, str]]
"""The rule and the wildcards of a job."""

_RULE = re.compile(r"^(?:local)?rule (\w+):$")
_WILDCARDS = "    wildcards: "
_TOTAL = re.compile(r"^total +(\d+)$", re.MULTILINE)


def jobs_to_run(
    snakefile: Path, configfiles: Sequence[Path], settings: Sequence[str] = ()
) -> list[Job]:
    """Return the jobs that Snakemake would run, in its order.

    Parameters
    ----------
    configfiles : sequence of paths
        The study files; without any, the default study.
    settings : sequence of "KEY=VALUE"
        The settings of --config.

    Raises
    ------
    UserError
        When Snakemake refuses, with the end of its output.
    """
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(snakefile), "--dry-run"]
    # Jobs one by one, whatever the profile leaves out.
    command += ["--nocolor", "--quiet", "host"]
    if configfiles:
        command += ["--configfile", *map(str, configfiles)]
    if settings:
        command += ["--config", *settings]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    printed = run.stdout + run.stderr
    if run.returncode != 0:
        raise UserError(
            "the workflow cannot be planned",
            where=str(snakefile),
            found="\n" + "\n".join(printed.strip().splitlines()[-20:]),
        )
    return read_jobs(printed)


def read_jobs(printed: str) -> list[Job]:
    """Return the jobs that a dry run printed.

    Raises :class:`UserError` when they are not as many as the dry run says, so not understood.
    """
    jobs: list[Job] = []
    for line in printed.splitlines():
        if rule := _RULE.match(line):
            jobs.append((rule[1], {}))
        elif line.startswith(_WILDCARDS) and jobs:
            pairs = [pair.partition("=") for pair in line.removeprefix(_WILDCARDS).split(", ")]
            jobs[-1][1].update({name: value for name, _, value in pairs})
    total = _TOTAL.search(printed)
    if len(jobs) != (int(total[1]) if total else 0):
        raise UserError(
            "the output of Snakemake's dry run has an unknown form",
            found=f"{len(jobs)} jobs",
            expected=f"{total[1] if total else 'no'} jobs",
            fix="install the versions of requirements.lock",
        )
    return jobs
