"""Fixtures that every test may use."""

import os
from pathlib import Path

import hypothesis
import pytest

# How long an example takes says how busy the machine is, not whether the code is right.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder of the Snakefile."""
    return REPOSITORY


@pytest.fixture(scope="session")
def mirror() -> Path:
    """The folder of real files that TEXTBASELINES_MIRROR names; the test is skipped without it."""
    folder = os.environ.get("TEXTBASELINES_MIRROR") or str(REPOSITORY / "mirror")
    if not Path(folder).is_dir():
        pytest.skip("needs the real files: set TEXTBASELINES_MIRROR to a mirror folder")
    return Path(folder)
