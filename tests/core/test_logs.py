"""Logs: lines on the terminal and in the file, and faults of the user without a traceback."""

import os
import re
import subprocess
import sys

PROGRAM = """
import sys
from textbaselines.core.errors import UserError
from textbaselines.core.logs import run_script

with run_script("count cr", sys.argv[1]) as log:
    log.info("half way")
    if sys.argv[2] == "fail":
        raise UserError("no such file", where="a.txt", fix="make it")
"""


SCRIPT = """
import atexit, sys
from textbaselines.core.logs import run_script, run_to_end

def main():
    with run_script("count cr", sys.argv[1]) as log:
        log.info("half way")
        sys.stdout.write("written, not flushed")
        if sys.argv[2] == "fail":
            raise OSError("no such luck")

atexit.register(print, "the interpreter is taken apart")
run_to_end(main)
"""


def run(path, how: str, program: str = PROGRAM) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, str(path), how]
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


def test_a_script_that_ends_leaves_at_once_with_everything_written(tmp_path) -> None:
    done = run(tmp_path / "log", "end", SCRIPT)
    assert (done.returncode, done.stdout) == (0, "written, not flushed")
    assert done.stderr == "count cr: half way\n"
    assert "DEBUG done in" in (tmp_path / "log").read_text()
    failed = run(tmp_path / "log", "fail", SCRIPT)
    assert failed.returncode == 1
    assert "no such luck" in (tmp_path / "log").read_text()


def test_a_step_collects_no_garbage_while_libraries_load(tmp_path) -> None:
    program = """
import gc, sys
from textbaselines.core.logs import run_script
print(gc.isenabled())
with run_script("count cr", sys.argv[1]):
    print(gc.isenabled())
"""
    command = [sys.executable, "-c", program, str(tmp_path / "log")]
    told = {
        step: subprocess.run(
            command, env={**os.environ, "TEXTBASELINES_STEP": step}, capture_output=True, text=True
        ).stdout.split()
        for step in ("1", "")
    }
    assert told == {"1": ["False", "True"], "": ["True", "True"]}


def test_a_fault_of_the_user_has_no_traceback(tmp_path) -> None:
    failed = run(tmp_path / "log", "fail")
    assert failed.returncode == 1
    told = (tmp_path / "log").read_text()
    for text in (failed.stderr, told):
        assert "no such file" in text
        assert "a.txt" in text
        assert "Traceback" not in text
    assert "done in" not in told
