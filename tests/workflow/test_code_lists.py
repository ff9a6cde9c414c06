"""Each rule's ``code(...)`` covers what its script imports.

A rule lists modules; the modules that those import follow by themselves. What a script imports
from the package must be among them, so that an edit of it runs the job again. ``errors``, which
comes with ``logs``, and ``storage``, which comes with what reads results, need no listing.
"""

import ast
import re
from pathlib import Path

import pytest

from textbaselines import provenance

ROOT = Path(__file__).parents[2]
_CALL = re.compile(r"\bcode=(?:ancient\()?code(\((?:[^()]|\n)*?\))")


def _lists() -> list[tuple[str, list[str]]]:
    """Return script and listed modules of every rule."""
    rules = ROOT / "workflow" / "rules"
    # naming.smk is plain Python: its constants may stand in a list as *NAME.
    constants = {
        target.id: node.value
        for node in ast.parse((rules / "naming.smk").read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = []
    for path in sorted(rules.glob("*.smk")):
        for arguments in _CALL.findall(path.read_text(encoding="utf-8")):
            listed: list[str] = []
            for one in ast.parse(arguments, mode="eval").body.elts:
                if isinstance(one, ast.Starred):
                    listed += ast.literal_eval(constants[one.value.id])
                else:
                    listed.append(ast.literal_eval(one))
            found.append((listed[0], listed[1:]))
    return found


def _imported(script: str) -> set[str]:
    """Return the modules of the package that a script imports."""
    path = ROOT / "workflow" / "scripts" / f"{script}.py"
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    modules = set()
    for name in names:
        inside = name.removeprefix("textbaselines.")
        if inside == name:
            continue
        try:
            provenance.source_files(inside)
        except ModuleNotFoundError:
            continue  # a function or a class
        modules.add(inside)
    return modules


def test_every_script_has_a_rule() -> None:
    scripts = {path.stem for path in (ROOT / "workflow" / "scripts").glob("*.py")}
    assert {script for script, _ in _lists()} == scripts


@pytest.mark.parametrize(("script", "modules"), _lists())
def test_code_lists_what_the_script_imports(script: str, modules: list[str]) -> None:
    covered = set(provenance.source_files(*modules))
    missing = {
        name for name in _imported(script) if not set(provenance.source_files(name)) <= covered
    }
    assert not missing, f"code({script!r}, ...) lacks {sorted(missing)}"


def test_training_does_not_rest_on_reporting() -> None:
    (modules,) = [modules for script, modules in _lists() if script == "train"]
    assert not [path for path in provenance.source_files(*modules) if "reporting" in path.parts]
