"""Which source files a step runs, and the commit."""

import subprocess
from pathlib import Path

import pytest

from textbaselines.core import provenance
from textbaselines.core.seeds import seed_from


def names(*modules: str) -> set[str]:
    root = Path(provenance.__file__).parents[1]
    return {str(path.relative_to(root)) for path in provenance.source_files(*modules)}


def test_imports_are_followed() -> None:
    found = names("text.counts")
    assert {"__init__.py", "text/__init__.py", "text/counts.py", "text/tokens.py"} <= found
    assert {"core/storage.py", "core/errors.py", "text/wang_manning.py"} <= found
    assert not any(name.startswith(("models", "study", "training", "reporting")) for name in found)


def test_training_depends_on_models_and_not_on_reporting() -> None:
    found = names("training.train")
    assert {"models/registry.py", "models/nbsvm.py", "text/features.py"} <= found
    assert not any(name.startswith("reporting") for name in found)


def test_layers_import_only_downwards() -> None:
    layers = (
        *("core", "datasets", "text", "models", "evaluation", "study", "training"),
        *("significance", "analysis", "export", "reporting", "cli"),
    )
    root = Path(provenance.__file__).parents[1]
    packages = {path.parent.name for path in root.glob("*/__init__.py")}
    assert packages == set(layers)
    for place, layer in enumerate(layers):
        for path in (root / layer).rglob("*.py"):
            parts = path.relative_to(root).with_suffix("").parts
            module = ".".join(part for part in parts if part != "__init__")
            above = {name.split("/")[0] for name in names(module)} & set(layers[place + 1 :])
            assert not above, f"{module} imports {above}"


def test_an_unknown_module_is_refused() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"text\.nothing"):
        provenance.source_files("text.nothing")


def test_git_state(tmp_path: Path) -> None:
    assert provenance.git_state(tmp_path) == ("unknown", False)

    def git(*arguments: str) -> str:
        who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        command = ["git", "-C", str(tmp_path), *who, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "-q")
    (tmp_path / "file").write_text("a")
    git("add", "file")
    git("commit", "-qm", "one")
    commit, dirty = provenance.git_state(tmp_path)
    assert commit == git("rev-parse", "HEAD")
    assert not dirty
    (tmp_path / "file").write_text("b")
    assert provenance.git_state(tmp_path) == (commit, True)


def test_seeds_come_from_names_alone() -> None:
    # sha256 of "rt-s", unit separator, "0": the first four bytes, big-endian.
    import hashlib

    wanted = int(hashlib.sha256(b"rt-s\x1f0").hexdigest()[:8], 16)
    assert seed_from("rt-s", 0) == wanted
    assert seed_from("a", "b") != seed_from("b", "a")
    assert seed_from("ab", "c") != seed_from("a", "bc")


def test_what_only_a_type_checker_imports_is_not_run() -> None:
    names = {path.name for path in provenance.source_files("core.errors")}
    assert names == {"errors.py", "__init__.py"}
