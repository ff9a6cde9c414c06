"""Checks of the arguments of make and of the commands, before anything is started.

``python -m textbaselines.cli.arguments --cores 2 --study my_study.yaml`` ends with status 1 and a
message that lists all mistakes, if there are any. It imports little, so that it is quick.
"""

import argparse
import os
import socket
import sys
from pathlib import Path

from textbaselines.core.errors import Mistakes, UserError
from textbaselines.core.validation import load_mapping

PORTS = range(1, 65536)


def check_number(text: str, word: str, where: str) -> None:
    """Refuse text that is neither a positive whole number nor ``word``, such as ``all``."""
    if text != word and not (text.isascii() and text.isdigit() and int(text) > 0):
        raise UserError(
            "not a number that can be used",
            where=where,
            found=repr(text),
            expected=f"a positive whole number, or {word}",
            fix=f"for instance {where}=2",
        )


def check_port(text: str, where: str) -> None:
    """Refuse text that is not the number of a port, and a port that is in use on this machine."""
    if not (text.isascii() and text.isdigit() and int(text) in PORTS):
        raise UserError(
            "not the number of a port",
            where=where,
            found=repr(text),
            expected=f"a whole number from {PORTS[0]} to {PORTS[-1]}",
        )
    with socket.socket() as knock:
        # As servers do, so that a port whose last connections still linger counts as free.
        knock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            knock.bind(("127.0.0.1", int(text)))
        except OSError as error:
            raise UserError(
                "the port cannot be used",
                where=where,
                found=f"{text}: {error.strerror}",
                fix=f"end the program that uses it, or use another port, such as {_free_port()}",
            ) from error


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


def check_results(folder: Path) -> None:
    """Refuse a folder of results that cannot be written to. It need not exist yet."""
    if folder.exists() and not folder.is_dir():
        raise UserError(
            "the folder of results is a file", where=str(folder.absolute()), fix="move it away"
        )
    there = folder if folder.is_dir() else folder.absolute().parent
    if not os.access(there, os.W_OK | os.X_OK):
        raise UserError(
            "the folder of results cannot be written to",
            where=str(there.absolute()),
            fix="give yourself the right to write there, or work in a copy of the project",
        )


def check_checkout(root: Path) -> None:
    """Refuse a folder that is not the checkout of the code, and say where that may be."""
    if (root / "Snakefile").is_file() and (root / "workflow" / "schemas").is_dir():
        return
    own = Path(__file__).resolve().parents[3]
    known = (own / "Snakefile").is_file()
    raise UserError(
        "this is not the checkout of textbaselines",
        where=str(root.resolve()),
        found="no Snakefile with its workflow folder",
        fix=f"run it in {own if known else 'the checkout'}, or give --root "
        f"{own if known else 'CHECKOUT'}",
    )


def main() -> None:
    """Check the given arguments. An empty study is the default one."""
    parser = argparse.ArgumentParser(prog="textbaselines.cli.arguments", description=__doc__)
    for name in ("--cores", "--workers", "--port", "--study", "--results"):
        parser.add_argument(name)
    args = parser.parse_args()
    mistakes = Mistakes()
    with mistakes:
        if args.cores is not None:
            check_number(args.cores, "all", "CORES")
    with mistakes:
        if args.workers is not None:
            check_number(args.workers, "auto", "TEST_WORKERS")
    with mistakes:
        if args.port is not None:
            check_port(args.port, "PORT")
    with mistakes:
        if args.study:
            load_mapping(args.study)
    with mistakes:
        if args.results is not None:
            check_results(Path(args.results))
    try:
        mistakes.stop()
    except UserError as error:
        sys.exit(f"Error: {error}")


if __name__ == "__main__":
    main()
