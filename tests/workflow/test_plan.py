"""Plans of the real Snakefile: they count what a run would do."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("workflow")

SMALL = Path(__file__).with_name("small.yaml")


def plan(folder: Path, *arguments: str, study: Path = SMALL, code: int = 0):
    command = [sys.executable, "-m", "textbaselines", "plan", "--configfile", str(study)]
    run = subprocess.run(
        [*command, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.returncode == code, run.stderr
    return run


def test_a_plan_counts_what_a_run_would_do(fresh) -> None:
    told = json.loads(plan(fresh.folder, "--format", "json", "--cores", "2").stdout)
    planned = fresh.planned()
    assert planned.pop("train") == 4
    assert len(told["tasks"]) == 24
    assert told["other_jobs"] == planned
    assert not any(task["done"] for task in told["tasks"])
    rows = {(row["dataset"], row["method"]): row for row in told["rows"]}
    assert len(rows) == 12
    # Three folds of a hundred documents, one value more than the fixed one; two representations.
    assert rows["hg-nyt", "MNB"]["outer_fits"] == 2 * 3 * 2
    # Of them five inner folds.
    assert rows["hg-nyt", "MNB"]["inner_fits"] == 2 * 3 * 2 * 5
    assert rows["hg-nyt", "MNB"]["document_fits"] == 2 * 3 * 2 * (67 + 5 * 53)
    assert told["wall_seconds"] < told["core_seconds"]


def test_a_plan_of_what_is_done(finished) -> None:
    run = plan(finished.folder, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(run.stdout)))
    assert {(row["tasks"], row["done"], row["core_seconds"]) for row in rows} == {("2", "2", "0.0")}
    assert "0 of 24 training tasks to run, 24 done" in run.stderr


def test_a_wider_grid_is_estimated_from_finished_runs(finished, tmp_path: Path) -> None:
    wider = tmp_path / "wider.yaml"
    grid = "C: {log: [0.5, 1], num: 4}"
    text = SMALL.read_text(encoding="utf-8").replace("C: [0.5, 1.0]", grid)
    wider.write_text(text, encoding="utf-8")
    shown = plan(finished.folder, study=wider).stdout
    assert "8 of 24 training tasks to run, 16 done" in shown
    (line,) = [one for one in shown.splitlines() if one.startswith("hg-nyt") and "NBSVM" in one]
    assert "runs of this dataset" in line
    # Four values of C, two of beta, and the fixed point is among them; 3 folds, 2 representations.
    assert line.split()[2:6] == ["2", "0", "8", "48"]


def test_a_wrong_study_is_told_as_elsewhere(finished, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    text = SMALL.read_text(encoding="utf-8").replace("alpha: [0.5, 1.0]", "alpha: {log: [0, 1]}")
    bad.write_text(text, encoding="utf-8")
    run = plan(finished.folder, study=bad, code=1)
    assert "methods.MNB.grid.alpha.log" in run.stderr
    assert "Traceback" not in run.stderr
    run = plan(finished.folder, "--config", "datasets", code=1)
    assert "KEY=VALUE" in run.stderr
