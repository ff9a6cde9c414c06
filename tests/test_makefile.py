"""The targets of the Makefile: what they need, what they list, and what they refuse."""

import ast
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

SECONDS = 60
"""Within which a refusal comes, also on a busy machine."""


class Clone:
    """A copy of the project's Makefile and what it names, with the environment of these tests."""

    def __init__(self, folder: Path, repository: Path) -> None:
        self.folder = folder
        for part in ("config", "workflow", "profiles", "docs", "benchmarks"):
            shutil.copytree(repository / part, folder / part)
        for part in ("Makefile", "Snakefile", "pyproject.toml", "requirements.lock"):
            shutil.copy2(repository / part, folder / part)
        (folder / "src").symlink_to(repository / "src")
        (folder / "results").mkdir()
        environment = folder / ".venv"
        environment.mkdir()
        for part in Path(sys.prefix).iterdir():
            if not part.name.startswith("."):
                (environment / part.name).symlink_to(part)
        (environment / ".ready").touch()

    def make(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        names = ("TEXTBASELINES_MIRROR", "MAKEFLAGS", "MAKELEVEL", "CORES", "STUDY", "PORT")
        kept = {name: value for name, value in os.environ.items() if name not in names}
        return subprocess.run(
            ["make", *arguments],
            cwd=self.folder,
            env={**kept, **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )

    def refused(self, *arguments: str, **variables: str) -> str:
        """Return what a target that must be refused says."""
        began = time.monotonic()
        run = self.make(*arguments, **variables)
        said = run.stdout + run.stderr
        assert run.returncode != 0, said
        assert "Traceback" not in said, said
        assert max(map(len, said.splitlines())) < 250, said
        assert time.monotonic() - began < SECONDS
        return said


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Clone:
    return Clone(tmp_path_factory.mktemp("clone"), repository)


def targets(repository: Path) -> dict[str, tuple[str, str, str]]:
    """Return of each target its prerequisites, its help and its recipe."""
    text = (repository / "Makefile").read_text(encoding="utf-8")
    rules = re.findall(r"^([a-z-]+):([^#\n=]*)(?:## (.*))?\n((?:\t.*\n)*)", text, re.MULTILINE)
    return {name: (needs, told, recipe) for name, needs, told, recipe in rules}


def test_help_lists_every_target(clone: Clone, repository: Path) -> None:
    lines = clone.make("help").stdout.splitlines()
    listed = {line.split()[1] for line in lines}
    assert listed == set(targets(repository)) - {"checked-workers"}
    assert all(len(line.split()) > 3 for line in lines)
    assert max(map(len, lines)) <= 100
    phony = re.search(r"^\.PHONY: (.*)$", (repository / "Makefile").read_text(), re.MULTILINE)
    assert phony is not None
    assert set(phony[1].split()) == set(targets(repository))


def test_help_needs_no_environment(tmp_path: Path, repository: Path) -> None:
    shutil.copy(repository / "Makefile", tmp_path)
    run = subprocess.run(["make", "help"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "make study" in run.stdout
    assert not (tmp_path / ".venv").exists()


HOSTILE = "$(shell touch pwned)`touch pwned`\"; touch pwned; echo '$$(touch pwned)"
WRONG = ["0", "-1", "1.5", "two", "", "²", "1 2", HOSTILE]


@pytest.mark.parametrize(
    ("target", "cores"),
    [*(("study", cores) for cores in WRONG), ("paper", "0"), ("survey", "0"), ("plan", HOSTILE)],
)
def test_cores_that_cannot_be(clone: Clone, target: str, cores: str) -> None:
    said = clone.refused(target, f"CORES={cores}")
    assert "CORES" in said
    assert "a positive whole number, or all" in said
    assert repr(cores)[1:-1] in said or cores in said
    assert not (clone.folder / "pwned").exists()


@pytest.fixture(scope="module")
def bad_files(clone: Clone) -> Path:
    folder = clone.folder / "bad"
    folder.mkdir()
    (folder / "empty.yaml").touch()
    (folder / "list.yaml").write_text("- a\n")
    (folder / "text.yaml").write_text("hello\n")
    (folder / "binary.yaml").write_bytes(bytes(range(256)))
    (folder / "broken.yaml").write_text("name: [a\n")
    (folder / "twice.yaml").write_text("name: a\nname: b\n")
    (folder / "folder.yaml").mkdir()
    (folder / "my study.yaml").write_text("name: a\ntitel: b\n")
    return folder


@pytest.mark.parametrize("target", ["study", "plan"])
@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("nope.yaml", ["no such file"]),
        ("empt.yaml", ["no such file", "did you mean", "bad/empty.yaml"]),
        ("empty.yaml", ["must be a mapping", "nothing"]),
        ("list.yaml", ["must be a mapping", "a list"]),
        ("text.yaml", ["must be a mapping", "text"]),
        ("binary.yaml", ["not UTF-8", "line 2"]),
        ("broken.yaml", ["not a YAML file", "line 2"]),
        ("twice.yaml", ["occurs twice", "lines 1 and 2"]),
        ("folder.yaml", ["a folder where a file is wanted"]),
        (HOSTILE, ["no such file"]),
    ],
)
def test_studies_that_cannot_be_read(
    clone: Clone, bad_files: Path, target: str, name: str, parts: list[str]
) -> None:
    said = clone.refused(target, f"STUDY={bad_files.name}/{name}")
    for part in [*parts, name]:
        assert part in said, said
    assert not (clone.folder / "pwned").exists()


def test_a_study_file_may_have_a_space_in_its_name(clone: Clone, bad_files: Path) -> None:
    """It comes to the study's own checks, in the run and in the plan."""
    for target in ("study", "plan"):
        said = clone.refused(target, "STUDY=bad/my study.yaml", "CORES=1")
        assert "unknown key 'titel'" in said
        assert "bad/my study.yaml, key titel (line 2)" in said
        assert "'datasets' is missing" in said


def test_the_environment_names_a_study_as_well(clone: Clone) -> None:
    assert "nope.yaml" in clone.refused("plan", STUDY="nope.yaml")
    assert HOSTILE in clone.refused("plan", STUDY=HOSTILE)
    assert not (clone.folder / "pwned").exists()


@pytest.fixture
def busy() -> Iterator[int]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


@pytest.mark.parametrize("target", ["ui", "serve"])
def test_a_busy_port(clone: Clone, busy: int, target: str) -> None:
    said = clone.refused(target, "DATASET=tiny", f"PORT={busy}")
    assert "the port cannot be used" in said
    assert f"{busy}: Address already in use" in said
    assert "use another port" in said


@pytest.mark.parametrize("target", ["ui", "serve"])
@pytest.mark.parametrize("port", ["0", "65536", "-1", "http", "80 80", HOSTILE])
def test_a_port_that_is_none(clone: Clone, target: str, port: str) -> None:
    said = clone.refused(target, "DATASET=tiny", f"PORT={port}")
    assert "not the number of a port" in said
    assert "from 1 to 65535" in said
    assert not (clone.folder / "pwned").exists()


@pytest.mark.parametrize("dataset", ["tin", "a b", 'x"y', ".*", HOSTILE])
def test_a_dataset_without_a_model(clone: Clone, dataset: str) -> None:
    said = clone.refused("serve", f"DATASET={dataset}")
    assert "no model of this dataset is registered" in said
    assert dataset in said
    assert not (clone.folder / "pwned").exists()


def test_serving_without_a_dataset_or_a_run(clone: Clone) -> None:
    assert "no dataset is named" in clone.refused("serve")
    assert "none is registered" in clone.refused("serve", "DATASET=tiny")


@pytest.mark.parametrize(
    ("target", "parts"),
    [
        ("ui", ["no tracking store", "make track"]),
        ("track", ["no study in this folder", "run a study"]),
        ("track-rebuild", ["no study in this folder"]),
        ("screenshots", ["run the study first"]),
        ("bench-workflow", ["no run has ended", "run a study there first"]),
    ],
)
def test_what_needs_a_run_says_so(clone: Clone, target: str, parts: list[str]) -> None:
    said = clone.refused(target)
    for part in parts:
        assert part in said, said
    assert not (clone.folder / "results" / "mlflow.db").exists()


@pytest.mark.parametrize("workers", ["0", "-2", "many", HOSTILE])
def test_workers_that_cannot_be(clone: Clone, workers: str) -> None:
    assert "TEST_WORKERS" in clone.refused("test", f"TEST_WORKERS={workers}")
    assert not (clone.folder / "pwned").exists()


@pytest.mark.parametrize(
    ("python", "part"),
    [("/nowhere/python", "no Python"), ("false", "no Python"), (HOSTILE, "3.11")],
)
def test_a_python_that_cannot_be(clone: Clone, tmp_path: Path, python: str, part: str) -> None:
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(clone.folder / name, tmp_path)
    run = subprocess.run(
        ["make", "track", f"PYTHON={python}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    said = run.stdout + run.stderr
    assert run.returncode != 0
    assert "Python 3.11 is needed" in said
    assert part in said
    assert "make PYTHON=/path/to/python3.11" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "Makefile", "pyproject.toml", "requirements.lock"
    ]  # fmt: skip


def test_another_version_of_python_is_named(clone: Clone, tmp_path: Path) -> None:
    old = tmp_path / "my python"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.1 && exit 0\nexit 1\n')
    old.chmod(0o755)
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(clone.folder / name, tmp_path)
    run = subprocess.run(
        ["make", f"PYTHON={old}"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert f"PYTHON is '{old}', which is Python 3.9.1" in run.stdout
    assert run.returncode != 0


def test_results_that_are_a_file(tmp_path: Path, repository: Path) -> None:
    clone = Clone(tmp_path, repository)
    (tmp_path / "results").rmdir()
    (tmp_path / "results").write_text("")
    for target in ("study", "plan"):
        assert "the folder of results is a file" in clone.refused(target, "CORES=1")


def test_results_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from textbaselines.cli import arguments
    from textbaselines.core.errors import UserError

    monkeypatch.setattr(arguments.os, "access", lambda path, mode: False)
    with pytest.raises(UserError, match=f"cannot be written to[\\s\\S]*{tmp_path}"):
        arguments.check_results(tmp_path / "results")


# -- what benchmarks import ------------------------------------------------------------------

# Of packages that an environment without the peers does not have.
PEERS = {"fasttext": "fasttext", "liblinear": "liblinear-official", "vowpalwabbit": "vowpalwabbit"}


def imports_of(script: Path) -> set[str]:
    """Return the top names of all modules that a script imports, also those of its neighbours."""
    found, open_files, seen = set(), [script], set()
    while open_files:
        file = open_files.pop()
        seen.add(file)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in (name.partition(".")[0] for name in names):
                beside = file.with_name(f"{name}.py")
                if beside.is_file() and beside not in seen:
                    open_files.append(beside)
                elif not beside.is_file():
                    found.add(name)
    return found - set(sys.stdlib_module_names) - {"textbaselines"}


def locked(file: Path) -> set[str]:
    text = file.read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z0-9._-]+)==", text, re.MULTILINE))


def test_what_a_target_runs_imports_only_what_its_lock_has(repository: Path) -> None:
    """bench-imdb once waited for the lock without fastText, so that it failed in a fresh clone."""
    locks = {
        "$(READY)": locked(repository / "requirements.lock"),
        "$(BENCH_READY)": locked(repository / "requirements-bench.lock"),
    }
    installed = packages_distributions()

    def distributions(module: str) -> set[str]:
        known = installed.get(module, [PEERS.get(module, module)])
        return {re.sub(r"[-_.]+", "-", name).lower() for name in known}

    run = set()
    for target, (needs, _, recipe) in targets(repository).items():
        for script in re.findall(r"python ((?:benchmarks|docs)/\S+\.py)", recipe):
            run.add(script)
            (lock,) = (locks[need] for need in needs.split() if need in locks)
            for module in imports_of(repository / script):
                assert distributions(module) & lock, f"{target}: {script} imports {module}"
    scripts = {f"benchmarks/{path.name}" for path in (repository / "benchmarks").glob("bench_*.py")}
    assert run == scripts | {"docs/screenshots.py"}


def test_the_imports_of_a_benchmark_are_found(repository: Path) -> None:
    """Also inside functions, and of the module beside it."""
    assert {"fasttext", "pandas"} <= imports_of(repository / "benchmarks" / "bench_imdb.py")
    assert {"vowpalwabbit", "liblinear"} <= imports_of(repository / "benchmarks" / "bench_peers.py")
