import json
import subprocess
import sys

import pandas as pd
import pytest
from click.testing import CliRunner

from stored_runs import store_run
from textbaselines.commands import main
from textbaselines.experiments.collection import cells_of_studies, studies_in
from textbaselines.reporting.commits import file_of_commit, keep_cells
from textbaselines.storage import write_json, write_parquet

POINTS = [
    {"point": "aaaa", "params": {"alpha": 1.0}, "origin": ["fixed", "grid"]},
    {"point": "bbbb", "params": {"alpha": 0.1}, "origin": ["grid"]},
]


def make_results(folder, name="small", correct=(8, 9), tested=10):
    """A study of two methods on two folds; the second method's job is not finished."""
    runs = [["cr", "uni", "MNB"], ["cr", "uni", "SVM"]]
    write_json(
        folder / "studies" / f"{name}.json",
        {"name": name, "title": "Small", "runs": runs, "tracking": "mlflow", "tracking_uri": None},
    )
    run = folder / "runs" / name / "cr" / "uni" / "MNB"
    rows = [
        {
            "point": point["point"],
            "repeat": 0,
            "fold": fold,
            "n_test": tested,
            "correct": correct[fold] - 4 * place,
            "accuracy": (correct[fold] - 4 * place) / tested,
            "macro_f1": 0.5,
            "rmse": float("nan"),
            "converged": True,
            "failure": None,
            "fit_seconds": 0.5,
            "predict_seconds": 0.25,
            "started": 10.0 + fold,
            "ended": 11.0 + fold,
        }
        for place, point in enumerate(POINTS)
        for fold in (0, 1)
    ]
    write_json(
        run / "run.json",
        {
            **dict(zip(("dataset", "representation", "method"), runs[0], strict=True)),
            "family": "mnb",
            "points": POINTS,
            "content_digest": "c0ffee",
            "protocol": {"inner": 0},
        },
    )
    for name in ("scores", "timings", "predictions"):
        write_parquet(run / f"{name}.parquet", pd.DataFrame(rows))
    for name in ("inner_scores", "inner_predictions"):
        write_parquet(run / f"{name}.parquet", pd.DataFrame(rows[:0], columns=list(rows[0])))
    store_run(run)
    half = store_run(run.with_name("SVM"))
    half.path("timings").unlink()
    return folder


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def folder(tmp_path):
    return make_results(tmp_path / "results")


def test_show_gives_exact_numbers_as_json_and_percent_in_tables(folder):
    rows = json.loads(run("results", "show", "--results", folder, "--form", "json").stdout)
    assert [row["selection"] for row in rows] == ["fixed", "oracle"]
    assert rows[0]["accuracy"] == 17 / 20
    assert json.loads(rows[0]["params"]) == {"alpha": 1.0}
    shown = run("results", "show", "--results", folder).stdout
    assert "accuracy %" in shown
    assert "85.00" in shown
    assert "alpha = 1.0" in shown
    markdown = run("results", "show", "--results", folder, "--form", "markdown").stdout
    assert markdown.splitlines()[1].count("---") == markdown.splitlines()[0].count("|") - 1
    assert "| 85.00 |" in markdown
    csv = run("results", "show", "--results", folder, "--form", "csv").stdout
    assert csv.splitlines()[0].startswith("study,dataset,representation,method,selection,accuracy")


def test_show_sorts_filters_and_cuts(folder):
    base = ("results", "show", "--results", folder, "--points", "--form", "json")
    rows = json.loads(run(*base, "--sort", "accuracy", "--ascending", "--columns", "point").stdout)
    assert rows == [{"point": "bbbb"}, {"point": "aaaa"}]
    rows = json.loads(run(*base, "--sort", "accuracy", "--top", "1").stdout)
    assert [row["accuracy"] for row in rows] == [0.85]
    found = run(*base, "--filter", "`param.alpha` < 0.5", "--columns", "point,param.alpha")
    assert json.loads(found.stdout) == [{"point": "bbbb", "param.alpha": 0.1}]
    assert "1 of 2 rows" in found.stderr


def test_what_was_tuned_on_the_test_folds_is_marked(folder):
    everything = run("results", "show", "--results", folder)
    assert "optimistic" in everything.stderr
    fixed = run("results", "show", "--results", folder, "--filter", "selection == 'fixed'")
    assert "optimistic" not in fixed.stderr


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (("--sort", "acuracy"), ["no such column", "'acuracy'", "macro_f1"]),
        (("--columns", "method,what"), ["no such column", "'what'"]),
        (("--filter", "accuracy >"), ["a condition that cannot be used", "accuracy >"]),
        (("--filter", "acuracy > 1"), ["a condition that cannot be used", "acuracy"]),
        (("--study", "smal"), ["no such study", "'smal'", "small"]),
    ],
)
def test_mistakes_are_told(folder, option, told):
    result = run("results", "show", "--results", folder, *option, code=1)
    for part in told:
        assert part in result.output
    assert "Traceback" not in result.output


def test_a_folder_without_results(tmp_path):
    assert "no study" in run("results", "show", "--results", tmp_path, code=1).output


def test_diff_says_what_changed(folder, tmp_path):
    other = make_results(tmp_path / "other", "later", correct=(8, 10))
    result = run("results", "diff", folder, other, "--form", "json")
    fixed, oracle = json.loads(result.stdout)
    assert (fixed["accuracy_first"], fixed["accuracy_second"]) == (0.85, 0.9)
    assert fixed["change"] == pytest.approx(5.0)
    assert (fixed["status"], oracle["status"]) == ("changed", "changed")
    assert "+5.00" in run("results", "diff", folder, f"{other}:later").stdout
    same = run("results", "diff", "small", folder, "--results", folder, "--changed")
    assert "2 cells, 2 the same" in same.stderr
    fewer = make_results(tmp_path / "fewer", tested=20)
    rows = json.loads(run("results", "diff", folder, fewer, "--form", "json").stdout)
    assert {row["status"] for row in rows} == {"not comparable"}


def test_diff_says_what_only_one_has(folder, tmp_path):
    empty = tmp_path / "empty"
    write_json(empty / "studies" / "small.json", {"name": "small", "runs": []})
    rows = json.loads(run("results", "diff", folder, empty, "--form", "json").stdout)
    assert {row["status"] for row in rows} == {"only first"}
    make_results(folder, "again")
    assert "two studies" in run("results", "diff", folder, empty, code=1).output


def git(folder, *arguments):
    names = ["-c", "user.name=A", "-c", "user.email=a@b"]
    done = subprocess.run(
        ["git", "-C", str(folder), *names, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(folder):
    """Two commits, at each of which the study was logged; the results of now are the second's."""
    git(folder.parent, "init", "--quiet")
    commits = []
    for number in (1, 2):
        git(folder.parent, "commit", "--quiet", "--allow-empty", "-m", f"commit {number}")
        commits.append(git(folder.parent, "rev-parse", "HEAD"))
        cells = cells_of_studies(folder, studies_in(folder))
        if number == 1:
            cells["accuracy"] -= 0.05
        keep_cells(
            file_of_commit(folder / "tracking", commits[-1], "small"), "small", cells, number == 1
        )
    return folder.parent, commits


def test_diff_takes_commits(folder, checkout):
    root, commits = checkout
    base = ("results", "diff", "--results", folder, "--root", root, "--form", "json")
    result = run(*base, "HEAD~1", "HEAD")
    fixed, oracle = json.loads(result.stdout)
    assert fixed["change"] == pytest.approx(5.0)
    assert fixed["accuracy_second"] == 0.85
    assert (fixed["selection"], oracle["selection"]) == ("fixed", "oracle")
    assert "HEAD~1: logged with changes that were not committed" in result.stderr
    rows = json.loads(run(*base, f"{commits[0][:8]}:small", "small").stdout)
    assert rows[0]["change"] == pytest.approx(5.0)
    rows = json.loads(run(*base, "HEAD", "small").stdout)
    assert {row["status"] for row in rows} == {"same"}
    elsewhere = (*base[:4], "--root", "/", "--form", "json")  # no checkout
    assert json.loads(run(*elsewhere, commits[0][:8], commits[1][:8]).stdout)[0]["change"] > 4


def test_a_commit_without_results_is_told_with_those_that_have(folder, checkout):
    root, commits = checkout
    git(root, "commit", "--quiet", "--allow-empty", "-m", "nothing was run")
    base = ("results", "diff", "--results", folder, "--root", root)
    told = run(*base, "HEAD", "HEAD~1", code=1).output
    assert "no results of commit " + git(root, "rev-parse", "HEAD")[:12] in told
    assert commits[0][:12] in told
    assert commits[1][:12] in told
    told = run(*base, "HEAD~1:other", "HEAD~1", code=1).output
    assert "of study 'other'" in told
    told = run(*base, "smal", "HEAD~1", code=1).output
    assert "neither a study, nor a folder of results, nor a commit" in told
    assert "a study (small)" in told
    assert "Traceback" not in told


def test_export_has_every_run(folder, tmp_path):
    run("results", "export", tmp_path / "all.parquet", "--results", folder)
    frame = pd.read_parquet(tmp_path / "all.parquet")
    assert frame["point"].tolist() == ["aaaa", "bbbb"]
    assert frame["param.alpha"].tolist() == [1.0, 0.1]
    assert frame["accuracy"].tolist() == [0.85, 0.45]
    assert frame["fold_accuracy"].map(list).tolist() == [[0.8, 0.9], [0.4, 0.5]]
    assert (frame["started"].iloc[0], frame["ended"].iloc[0]) == (10.0, 12.0)


def test_results_need_no_mlflow():
    code = "import sys, textbaselines.commands; sys.exit('mlflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
