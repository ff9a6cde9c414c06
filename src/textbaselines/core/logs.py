"""What a job says while it runs: each line on the terminal and in the rule's log file."""

import gc
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from textbaselines.core.errors import UserError

LOGGER = "textbaselines"


class _PartNamed(logging.Formatter):
    """Has ``part``: for the lines of a child of the job's logger, a space and its name."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        child = record.name.removeprefix(LOGGER).removeprefix(".")
        record.part = f" {child}" if child else ""
        return super().format(record)


def start_log(job: str, path: str | Path | None = None) -> logging.Logger:
    """Send this process's log lines to standard error and, when given, to a file.

    A child of the logger that is returned is a part of the job: its name stands in its lines.

    Parameters
    ----------
    job : str
        What the process does, for instance ``"train rt-s bi"``: put before every line on the
        terminal, where the lines of parallel jobs mix.
    path : str or Path, optional
        The log file; its folder is made, an earlier log is replaced.
    """
    logger = logging.getLogger(LOGGER)
    logger.setLevel(logging.DEBUG)
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    terminal = logging.StreamHandler(sys.stderr)
    terminal.setLevel(logging.INFO)
    terminal.setFormatter(_PartNamed(f"{job}%(part)s: %(message)s"))
    logger.addHandler(terminal)
    if path is not None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        file = logging.FileHandler(path, mode="w", encoding="utf-8")
        file.setFormatter(_PartNamed("%(asctime)s %(levelname)s%(part)s %(message)s"))
        logger.addHandler(file)
    return logger


def run_to_end(main: Callable[[], None]) -> NoReturn:
    """Run a script's ``main`` and end the process as soon as it returns.

    Everything is written by then. Taking the interpreter apart with all the libraries in it would
    take 0.2 s more of every job.
    """
    main()
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


@contextmanager
def run_script(job: str, path: str | Path | None = None) -> Iterator[logging.Logger]:
    """Run the body of a script under a log; a :class:`UserError` ends it without a traceback.

    The last line of the log file says how long the body took, and how long the processor was busy
    with the start of Python and its imports before. Parameters as :func:`start_log`.

    Raises
    ------
    SystemExit
        With status 1, after the error was logged; with 130 when the job was interrupted.
    """
    # The libraries stay: no collection looks through them again.
    gc.freeze()
    gc.enable()
    logger = start_log(job, path)
    to_start, began = time.process_time(), time.perf_counter()
    try:
        yield logger
        logger.debug("done in %.2f s, after %.2f s to start", time.perf_counter() - began, to_start)
    except UserError as error:
        logger.error("%s", error)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        logger.error("interrupted")
        raise SystemExit(130) from None
    except Exception:
        logger.exception("stopped by a fault of the program")
        raise SystemExit(1) from None
