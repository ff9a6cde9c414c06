"""The cells of a study as they stood at a commit of the code, kept whenever a study is logged.

``results/<study>/commits/<commit>.parquet`` holds the cells (columns of
:func:`textbaselines.evaluation.all_results.cells_of_studies` without the hyper-parameters' own)
and ``dirty``: whether the checkout had changes that were not committed.
"""

from pathlib import Path

import pandas as pd

from textbaselines.core import provenance, storage
from textbaselines.core.errors import UserError
from textbaselines.core.result_paths import Results
from textbaselines.evaluation.cells import CELL_COLUMNS

_SHOWN = 12  # hex digits of a commit in messages


def keep_cells(path: Path, study: str, cells: pd.DataFrame, dirty: bool) -> None:
    """Write the cells of a study to the file of a commit."""
    columns = [name for name in CELL_COLUMNS if name in cells]
    kept = cells[columns].assign(dirty=dirty)
    kept.insert(0, "study", study)
    storage.write_parquet(path, kept)


def cells_at_commit(
    results: Path, name: str, study: str | None = None, root: Path = Path()
) -> pd.DataFrame:
    """Return the cells that were logged in a checkout of a commit, of one study or of all.

    Parameters
    ----------
    name : str
        A commit as git names one (``HEAD~3``, a tag, a branch, the first digits of a hash); without
        git, the first digits of the hash of a commit that has results.
    root : Path
        The checkout in which git looks for it.

    Raises
    ------
    UserError
        When the name is no commit, or nothing was logged at it; it lists the commits that have
        results, the latest logged first.
    """
    files = list(results.glob("*/commits/*.parquet"))
    files.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    known = list(dict.fromkeys(path.stem for path in files))
    commit = provenance.commit_named(root, name)
    if commit is None:
        found = [one for one in known if one.startswith(name)]
        commit = found[0] if len(found) == 1 and len(name) >= 4 else None
    if commit is None:
        raise UserError(
            "neither a study, nor a folder of results, nor a commit",
            where=f"{root.absolute()} and {results}",
            found=repr(name),
            expected=_listed(results, known),
        )
    kept = sorted(path for path in files if path.stem == commit)
    if study is not None:
        kept = [path for path in kept if path.parents[1].name == study]
    if not kept:
        raise UserError(
            f"no results of commit {commit[:_SHOWN]}" + (f" of study {study!r}" if study else ""),
            where=str(results),
            found=repr(name),
            expected=_listed(results, known),
            fix="results are kept when a study is logged: check that commit out, run the study or "
            "`make track`, and come back",
        )
    return pd.concat([storage.read_parquet(path) for path in kept], ignore_index=True)


def _listed(results: Path, known: list[str]) -> str:
    studies = ", ".join(study.name for study in Results(results).studies())
    commits = ", ".join(one[:_SHOWN] for one in known)
    return f"a study ({studies or 'none here'}) or a commit with results ({commits or 'none yet'})"
