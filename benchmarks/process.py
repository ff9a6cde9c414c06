"""The process that a benchmark runs in."""

import os
import sys

from textbaselines.core.environment import export_allocator


def run_as_a_job() -> None:
    """Start this program anew, once, with the allocator that the workflow's jobs have."""
    before = dict(os.environ)
    export_allocator()
    if os.environ != before:
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, *sys.argv])
