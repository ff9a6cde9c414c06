"""The real Snakefile in a copy of the project, on a small study of real text."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SMALL = Path(__file__).with_name("small.yaml")
PARTS = ("Snakefile", "config", "profiles", "src", "workflow", "environment.yml", "pyproject.toml")
# What may differ between two runs: times, logs, and the store that keeps them.
TIMED = re.compile(
    r"(.*/)?(timings\.parquet|mlflow\.db(\.lock)?|[^/]*\.source\.json|report\.html)"
    r"|mlflow-artifacts/.*|[^/]*/(benchmarks|trained|tracking|commits)/.*"
    r"|.*/cost(s|_front|-front(-narrow)?)\.[a-z]+"
)


class Project:
    """A copy of the project in a folder of its own."""

    def __init__(self, folder: Path, repository: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        for part in PARTS:
            source = repository / part
            if source.is_dir():
                shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, folder / part)

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "snakemake", "--configfile", str(SMALL), *arguments]

    def snakemake(self, *arguments: str, check: bool = True) -> str:
        """Run snakemake on the small study and return all it printed."""
        return self.run("--configfile", str(SMALL), *arguments, check=check)

    def run(self, *arguments: str, check: bool = True) -> str:
        """Run snakemake and return all it printed."""
        run = subprocess.run(
            [sys.executable, "-m", "snakemake", *arguments],
            cwd=self.folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert not check or run.returncode == 0, run.stdout[-6000:]
        return run.stdout

    def planned(self, *arguments: str) -> dict[str, int]:
        """Return how many jobs of each rule a dry run of the small study plans."""
        return self.planned_by(("--configfile", str(SMALL), "-n", *arguments))

    def planned_by(self, arguments: tuple[str, ...]) -> dict[str, int]:
        """Return how many jobs of each rule a dry run plans."""
        lines = self.run(*arguments, "--dry-run").splitlines()
        if "Job stats:" not in lines:
            return {}
        begin = lines.index("Job stats:") + 3
        rows = [line.split() for line in lines[begin : lines.index("", begin)]]
        return {rule: int(count) for rule, count in rows if rule not in ("all", "total")}

    def take_raw_files(self, other: "Project") -> None:
        """Take raw files that another project fetched, so that they are fetched once."""
        shutil.copytree(other.folder / "results" / "raw", self.folder / "results" / "raw")

    def results(self) -> dict[str, bytes]:
        """Return every result file that must not depend on time, by its path."""
        root = self.folder / "results"
        return {name: (root / name).read_bytes() for name in self.files()}

    def files(self) -> list[str]:
        """Return the paths of these files."""
        root = self.folder / "results"
        return [
            str(path.relative_to(root))
            for path in sorted(root.rglob("*"))
            if path.is_file() and not TIMED.fullmatch(str(path.relative_to(root)))
        ]


def environment() -> dict[str, str]:
    """The variables of a plain shell: no mirror, no telemetry."""
    kept = {key: value for key, value in os.environ.items() if key != "TEXTBASELINES_MIRROR"}
    return {**kept, "MLFLOW_DISABLE_TELEMETRY": "true"}


@pytest.fixture(scope="session")
def copy_project(repository: Path) -> Callable[[Path], tuple[str, ...]]:
    """A function that copies the project to a folder and returns the names of what it copied."""

    def copy(folder: Path) -> tuple[str, ...]:
        Project(folder, repository)
        return PARTS

    return copy


@pytest.fixture(scope="session")
def new_project(repository: Path) -> Callable[[Path], Project]:
    """Make a project in a folder, with nothing run."""
    return lambda folder: Project(folder, repository)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Project:
    """A project whose small study was run on two cores; tests must not change it."""
    project = Project(tmp_path_factory.mktemp("finished"), repository)
    project.printed = project.snakemake("--cores", "2")
    return project


@pytest.fixture
def fresh(tmp_path: Path, repository: Path, finished: Project) -> Project:
    """A project with the raw files at hand and nothing run."""
    project = Project(tmp_path / "project", repository)
    project.take_raw_files(finished)
    return project


@pytest.fixture
def untouched(tmp_path: Path, repository: Path) -> Path:
    """The folder of a project in which nothing was run, without raw files."""
    return Project(tmp_path / "project", repository).folder
