"""Where results come from: the source files a step runs, and the commit."""

import ast
import functools
import subprocess
from collections.abc import Iterator
from pathlib import Path

from textbaselines.core.storage import file_digest

PACKAGE = "textbaselines"
_SOURCE = Path(__file__).resolve().parents[1]


def source_files(*modules: str) -> list[Path]:
    """Return the files of this package that the modules run, in sorted order.

    Follows the package's own ``import`` statements, so that a workflow step can depend on the
    code that makes its output and on no other.

    ``*modules``: Names within the package, for instance ``"text.counts"``. Raises
    :class:`ModuleNotFoundError` for a name that is no module of the package.
    """
    return _follow([f"{PACKAGE}.{module}" for module in modules])


def files_imported_by(script: Path) -> list[Path]:
    """Return the files of this package that a script runs, in sorted order.

    ``script``: a Python file outside the package; its imports are followed as :func:`source_files`
    does.
    """
    return _follow(_imports(script))


def _follow(names: list[str]) -> list[Path]:
    """Return the files of modules, given by their full names, and of all that they import."""
    found: dict[str, Path] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        path = _path_of(name)
        if path is None:
            raise ModuleNotFoundError(f"no module {name} in {_SOURCE}")
        found[name] = path
        waiting.extend(_imports(path))
        parent = name.rpartition(".")[0]
        if parent.startswith(PACKAGE):
            waiting.append(parent)
    return sorted(found.values())


def _path_of(name: str) -> Path | None:
    stem = _SOURCE.joinpath(*name.split(".")[1:])
    for path in (stem.with_suffix(".py"), stem / "__init__.py"):
        if path.is_file() and path != _SOURCE.with_suffix(".py"):
            return path
    return None


@functools.cache
def _imports(path: Path) -> list[str]:
    names: list[str] = []
    for node in _run_nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            names.append(node.module)
            names.extend(f"{node.module}.{alias.name}" for alias in node.names)
    return [name for name in names if name.split(".")[0] == PACKAGE and _path_of(name) is not None]


def _run_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield every node but those under ``if TYPE_CHECKING:``, which never run."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            waiting.extend(node.orelse)
        else:
            waiting.extend(ast.iter_child_nodes(node))


def git_state(folder: Path) -> tuple[str, bool]:
    """Return the commit of a checkout and whether it has uncommitted changes.

    ``("unknown", False)`` where there is no checkout or no git.
    """
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        return commit, bool(_git(folder, "status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.CalledProcessError):
        return "unknown", False


def commit_named(folder: Path, name: str) -> str | None:
    """Return the hash of the commit that git knows by a name in a checkout, or None."""
    try:
        return _git(
            folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
        )
    except (OSError, subprocess.CalledProcessError):
        return None


def code_tags(folder: Path) -> dict[str, str]:
    """Return what says which code is at hand: git_commit, git_dirty, and lock, the lock's sha256.

    The lock is left out where ``folder`` has no requirements.lock.
    """
    commit, dirty = git_state(folder)
    tags = {"git_commit": commit, "git_dirty": str(dirty).lower()}
    lock = folder / "requirements.lock"
    if lock.is_file():
        tags["lock"] = file_digest(lock)
    return tags


def _git(folder: Path, *arguments: str) -> str:
    run = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True
    )
    return run.stdout.strip()
