"""What the workflow needs of Snakemake's inside is there."""

import subprocess
import sys
from pathlib import Path

SNAKEFILE = """
from textbaselines.core import snakemake_access

print(
    "found",
    snakemake_access.cores(workflow),
    [file.name for file in snakemake_access.config_files(workflow)],
    snakemake_access.config_keys(workflow),
    snakemake_access.is_module(workflow),
)

onstart:
    snakemake_access.start_jobs_at_once(workflow)
    print("limit", workflow.scheduler.job_rate_limiter)

rule all:
    output: touch("done")
"""


def test_snakemake_has_what_the_workflow_needs(tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "a.yaml").write_text("x: {y: 1}\n")
    settings = ("--configfile", "a.yaml", "--config", "zoo=1")
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "2", *settings],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "found 2 ['a.yaml'] {'zoo': 1} False" in done.stdout + done.stderr
    assert "limit None" in done.stdout + done.stderr
    (tmp_path / "outer").write_text(
        "module inner:\n    snakefile: 'Snakefile'\n    config: {}\nuse rule * from inner\n"
    )
    outer = [sys.executable, "-m", "snakemake", "--cores", "1", "-n", "--snakefile", "outer"]
    done = subprocess.run(outer, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "True\n" in done.stdout + done.stderr
