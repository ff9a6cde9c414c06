"""What the workflow needs of Snakemake beyond what its documentation promises.

Everything of this kind stands here; a test tells when Snakemake changes it.
"""

from pathlib import Path
from typing import Any


def cores(workflow: Any) -> int | None:
    """Return the number of cores that were given; None in a run that has no limit."""
    number: int | None = workflow.resource_settings.cores
    return number


def config_files(workflow: Any) -> list[Path]:
    """Return the files of ``--configfile``."""
    return [Path(file) for file in workflow.config_settings.configfiles]


def config_keys(workflow: Any) -> dict[str, Any]:
    """Return the keys of ``--config``."""
    return dict(workflow.config_settings.config)


def is_module(workflow: Any) -> bool:
    """Return whether the Snakefile that is being read is used by another one as a module."""
    return not workflow.modifier.is_main_snakefile()


def start_jobs_at_once(workflow: Any) -> None:
    """Start as many jobs as there are cores for, where jobs run on this machine.

    By default no more than 100 jobs start in a second, and to keep to that Snakemake looks at the
    inputs of every ready job once a second. The profile has no word for "no limit".
    """
    if workflow.local_exec:
        workflow.scheduler.job_rate_limiter = None
