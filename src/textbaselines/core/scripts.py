"""A workflow script: its options, its log, and its end."""

import argparse
import inspect
import json
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from textbaselines.core.logs import run_script, run_to_end
from textbaselines.core.result_paths import StudyFolder

_NAMING = ("dataset", "representation", "method", "batch")
"""Options that say in the log which job it is."""


def run(main: Callable[..., None]) -> NoReturn:
    """Run a script, and end the process as soon as it is done.

    Parameters
    ----------
    main : callable
        Its first argument is the logger. Each keyword is an option of the command line, such as
        ``--inner-folds`` for ``inner_folds``: a str, int or Path, a list of Path, a dict as JSON,
        or a StudyFolder, of which ``study.json`` is given. One with a default may be left out.
    """
    script = Path(inspect.getfile(main)).stem
    given, log_file = _options(main, script)
    names = [str(given[name]) for name in _NAMING if given.get(name)]

    def logged() -> None:
        with run_script(" ".join([script.replace("_", " "), *names]), log_file) as log:
            main(log, **given)

    run_to_end(logged)


def _options(main: Callable[..., None], script: str) -> tuple[dict[str, Any], Path | None]:
    """Return the keywords of a call that the command line gives, and the log file."""
    parser = argparse.ArgumentParser(prog=script, description=main.__doc__)
    kinds = typing.get_type_hints(main)
    keywords = list(inspect.signature(main).parameters.values())[1:]
    for keyword in keywords:
        needed = keyword.default is inspect.Parameter.empty
        parser.add_argument(
            f"--{keyword.name.replace('_', '-')}",
            required=needed,
            default=None if needed else keyword.default,
            **_argument(kinds[keyword.name]),
        )
    parser.add_argument("--log", type=Path)
    given = vars(parser.parse_args())
    return {keyword.name: given[keyword.name] for keyword in keywords}, given["log"]


def _argument(kind: Any) -> dict[str, Any]:
    """Return how a keyword of a kind is read from the command line."""
    options = [one for one in typing.get_args(kind) if one is not type(None)]
    if typing.get_origin(kind) is list:
        return {"type": options[0], "nargs": "+"}
    if typing.get_origin(kind) is dict:
        return {"type": json.loads}
    if options:
        return _argument(options[0])
    if kind is StudyFolder:
        return {"type": lambda file: StudyFolder(Path(file).parent)}
    return {"type": kind}
