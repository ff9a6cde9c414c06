"""The lock, environment.yml and the repository's own rules; library and mirror for the jobs."""

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from textbaselines.core import environment
from textbaselines.core.errors import UserError


def _pins(text: str) -> list[str]:
    return re.findall(r"^([a-z0-9._-]+==\S+)", text, re.MULTILINE)


def test_environment_yml_has_the_pins_of_the_lock(repository: Path) -> None:
    lock = _pins((repository / "requirements.lock").read_text())
    assert len(lock) > 100
    file = yaml.safe_load((repository / "environment.yml").read_text())
    (pip,) = [entry["pip"] for entry in file["dependencies"] if isinstance(entry, dict)]
    assert pip == lock
    assert "python=3.11" in file["dependencies"]


def test_the_environment_of_the_rules_has_run_time_packages_alone(repository: Path) -> None:
    lock = _pins((repository / "requirements.lock").read_text())
    file = yaml.safe_load((repository / "workflow" / "envs" / "run.yml").read_text())
    (pip,) = [entry["pip"] for entry in file["dependencies"] if isinstance(entry, dict)]
    assert set(pip) < set(lock)
    names = {pin.split("==")[0] for pin in pip}
    assert {"scikit-learn", "mlflow", "pandas", "snakemake"} <= names
    assert not {"pytest", "mypy", "ruff", "playwright", "hypothesis", "uv"} & names


def test_every_pin_has_a_digest(repository: Path) -> None:
    text = (repository / "requirements.lock").read_text()
    entries = re.split(r"\n(?=[a-z0-9])", text.strip())
    assert len(entries) == len(_pins(text))
    assert all("--hash=sha256:" in entry for entry in entries)


def test_every_dependency_is_in_the_lock(repository: Path) -> None:
    import tomllib

    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {re.split(r"[\[><=!~; ]", entry)[0].lower().replace("_", "-") for entry in wanted}
    locked = {pin.split("==")[0] for pin in _pins((repository / "requirements.lock").read_text())}
    assert names <= locked


def test_no_two_test_modules_have_the_same_name(repository: Path) -> None:
    # pytest imports them by their names alone, and would run neither.
    names = [path.name for path in (repository / "tests").rglob("test_*.py")]
    assert len(set(names)) == len(names)


def test_no_package_registry_is_named(repository: Path) -> None:
    tracked = subprocess.run(
        ["git", "-C", str(repository), "grep", "-nIE", r"py(pi|thonhosted)\.org|npmjs\.|/simple/"],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in tracked.stdout.splitlines() if Path(__file__).name not in line]
    assert lines == []


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("PATH", "PYTHONPATH", environment.MIRROR):
        # Set first, so that what the code sets is undone after the test.
        monkeypatch.setenv(name, "/somewhere")
        monkeypatch.delenv(name)
    return monkeypatch


def test_export_library_once(variables) -> None:
    variables.setenv("PYTHONPATH", "/other")
    variables.setenv("TEXTBASELINES_STEP", "")
    environment.export_library(Path("/src"))
    environment.export_library(Path("/src"))
    assert os.environ["PYTHONPATH"] == f"/src{os.pathsep}/other"


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc alone has the variables")
def test_arrays_that_are_freed_are_kept(monkeypatch) -> None:
    """Arrays of 0.3 MiB made anew ask the system for no page; without the variables they do."""
    for name in environment.ALLOCATOR:
        monkeypatch.delenv(name, raising=False)
    assert _pages_asked_for() > 10_000
    environment.export_allocator()
    assert _pages_asked_for() < 100
    # What somebody chose stays.
    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "7")
    environment.export_allocator()
    assert os.environ["MALLOC_TRIM_THRESHOLD_"] == "7"


def _pages_asked_for() -> int:
    program = """
import resource, numpy as np
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        arrays = [np.ones(35_000) for _ in range(8)]
        del arrays
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults()
print(faults())
"""
    return int(subprocess.run([sys.executable, "-c", program], capture_output=True).stdout)


def test_mirror_is_the_chosen_then_the_variables_then_the_folders(variables, tmp_path) -> None:
    chosen, said, beside = tmp_path / "chosen", tmp_path / "said", tmp_path / "mirror"
    assert environment.export_mirror(None, tmp_path) is None
    for folder in (chosen, said, beside):
        folder.mkdir()
    assert environment.export_mirror(None, tmp_path) == beside
    variables.setenv(environment.MIRROR, str(said))
    assert environment.export_mirror(None, tmp_path) == said
    assert environment.export_mirror(str(chosen), tmp_path) == chosen
    assert os.environ[environment.MIRROR] == str(chosen)


def test_a_mirror_that_is_no_folder_is_refused(variables, tmp_path) -> None:
    file = tmp_path / "mirror"
    file.touch()
    with pytest.raises(UserError, match="not a folder"):
        environment.export_mirror(None, tmp_path)
    variables.setenv(environment.MIRROR, str(tmp_path / "none"))
    with pytest.raises(UserError, match=f"the variable {environment.MIRROR}"):
        environment.export_mirror(None, tmp_path)
