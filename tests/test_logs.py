"""Logs: lines on the terminal and in the file, and faults of the user without a traceback."""

import re
import subprocess
import sys

PROGRAM = """
import sys
from textbaselines.errors import UserError
from textbaselines.logs import run_script

with run_script("count cr", sys.argv[1]) as log:
    log.info("half way")
    if sys.argv[2] == "fail":
        raise UserError("no such file", where="a.txt", fix="make it")
"""


def run(path, how: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM, str(path), how]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_file_alone_says_how_long_it_took(tmp_path) -> None:
    done = run(tmp_path / "log", "end")
    assert done.returncode == 0
    assert done.stderr == "count cr: half way\n"
    told = (tmp_path / "log").read_text().splitlines()
    assert told[0].endswith("INFO half way")
    seconds = re.search(r"DEBUG done in (\d+\.\d\d) s, after (\d+\.\d\d) s to start$", told[1])
    assert 0 <= float(seconds[1]) < 5
    assert 0 < float(seconds[2]) < 30


def test_a_fault_of_the_user_has_no_traceback(tmp_path) -> None:
    failed = run(tmp_path / "log", "fail")
    assert failed.returncode == 1
    told = (tmp_path / "log").read_text()
    for text in (failed.stderr, told):
        assert "no such file" in text
        assert "a.txt" in text
        assert "Traceback" not in text
    assert "done in" not in told
