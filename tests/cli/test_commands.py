import copy
import csv
import json
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import pandas as pd
import pytest
from click.testing import CliRunner

from stored_runs import store_run
from textbaselines.cli.commands import main
from textbaselines.core.result_paths import StudyFolder
from textbaselines.core.storage import write_json, write_parquet
from textbaselines.evaluation.all_results import cells_of_studies, studies_in
from textbaselines.reporting.tables.exported_lists import write_frame
from textbaselines.reporting.tracking.cells_at_commits import keep_cells

POINTS = [
    {"point": "aaaa", "params": {"alpha": 1.0}, "origin": ["fixed", "grid"]},
    {"point": "bbbb", "params": {"alpha": 0.1}, "origin": ["grid"]},
]


def make_results(
    folder,
    name="small",
    correct=(8, 9),
    tested=10,
    better=-4,
    dataset="cr",
    method="MNB",
    alpha=None,
):
    """A study of two methods on two folds; the second method's job is not finished.

    Of every fold ``better`` more documents are right at the second point.
    """
    runs = [[dataset, "uni", method], [dataset, "uni", "SVM"]]
    write_json(
        folder / name / "study.json",
        {"name": name, "title": "Small", "runs": runs, "tracking": "mlflow", "tracking_uri": None},
    )
    run = folder / name / "runs" / dataset / "uni" / method
    rows = [
        {
            "point": point["point"],
            "repeat": 0,
            "fold": fold,
            "n_test": tested,
            "correct": correct[fold] + better * place,
            "accuracy": (correct[fold] + better * place) / tested,
            "train_by_class": [6, 4],
            "test_by_class": [10, 0],
            "predicted_by_class": [10, 0],
            "correct_by_class": [correct[fold] + better * place, 0],
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
    points = copy.deepcopy(POINTS)
    if alpha is not None:
        points[0]["params"]["alpha"] = alpha
    write_json(
        run / "run.json",
        {
            **dict(zip(("dataset", "representation", "method"), runs[0], strict=True)),
            "family": "mnb",
            "classes": ["x", "y"],
            "points": points,
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
    assert [row["selection"] for row in rows] == ["majority", "fixed"]
    assert rows[1]["accuracy"] == 17 / 20
    assert json.loads(rows[1]["params"]) == {"alpha": 1.0}
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


def test_what_was_chosen_on_the_test_folds_is_shown_only_when_asked_for(tmp_path):
    # The second point, which no study file names, is the better one on the test folds.
    folder = make_results(tmp_path / "results", better=1)
    base = ("results", "show", "--results", folder, "--sort", "accuracy", "--form", "json")
    told = run(*base, "--filter", "method == 'MNB'")
    assert [(r["selection"], r["accuracy"]) for r in json.loads(told.stdout)] == [("fixed", 0.85)]
    assert "chosen on the test folds, left out: 1 (--optimistic" in told.stderr
    asked = run(*base, "--optimistic", "--top", "2")
    assert [(r["selection"], r["accuracy"]) for r in json.loads(asked.stdout)] == [
        ("majority", 1.0),
        ("oracle", 0.95),
    ]
    assert "optimistic: chosen on the test folds" in asked.stderr
    diff = ("results", "diff", folder, folder, "--form", "json")
    assert "oracle" not in run(*diff).stdout
    assert "--optimistic" in run(*diff).stderr
    assert "oracle" in run(*diff, "--optimistic").stdout


def test_grid_points_sorted_by_a_measure_are_called_optimistic(folder):
    base = ("results", "show", "--results", folder, "--points")
    for measure in ("accuracy", "macro_f1"):
        assert "its number is optimistic" in " ".join(run(*base, "--sort", measure).stderr.split())
    assert "optimistic" not in run(*base, "--sort", "fit_seconds").stderr


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
    result = run("results", "diff", folder, other, "--optimistic", "--form", "json")
    _, fixed, oracle = json.loads(result.stdout)
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
    write_json(empty / "small" / "study.json", {"name": "small", "runs": []})
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
        keep_cells(StudyFolder(folder / "small").commit(commits[-1]), "small", cells, number == 1)
    return folder.parent, commits


def test_diff_takes_commits(folder, checkout):
    root, commits = checkout
    base = ("results", "diff", "--results", folder, "--root", root, "--form", "json")
    result = run(*base, "HEAD~1", "HEAD")
    majority, fixed = json.loads(result.stdout)
    assert fixed["change"] == pytest.approx(5.0)
    assert fixed["accuracy_second"] == 0.85
    assert (majority["selection"], fixed["selection"]) == ("majority", "fixed")
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
    code = "import sys, textbaselines.cli.commands; sys.exit('mlflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# -- bad inputs, command by command ----------------------------------------------------------

BAD = [
    ("nothing", ["No such command"]),
    ("results nothing", ["No such command"]),
    ("serve tiny --results {nowhere}", ["no model of this dataset is registered", "tiny"]),
    # plan
    ("plan --root {empty}", ["not the checkout", "no Snakefile", "--root"]),
    ("plan --root {nowhere}", ["not the checkout"]),
    ("plan --cores 0", ["--cores", "x>=1"]),
    ("plan --cores two", ["--cores", "two"]),
    ("plan --form table2", ["--form", "table2"]),
    ("plan --root {code} --config", ["--config", "requires an argument"]),
    ("plan --root {code} --config datasets", ["KEY=VALUE", "datasets"]),
    ("plan --root {code} --config datasets=[", ["not a value", "--config datasets"]),
    ("plan --root {code} --config trakcing=none", ["unknown key", "did you mean 'tracking'"]),
    ("plan --root {code} --configfile {nowhere}", ["no such file"]),
    ("plan --root {code} --configfile {empty}", ["a folder where a file is wanted"]),
    ("plan --root {code} --configfile {list} --configfile {binary}", ["2 mistakes", "a list"]),
    ("plan --root {code} --configfile {code}/config/config.yaml --configfile {list}", ["mapping"]),
    ("plan --root {code} --results {list}", ["the folder of results is a file"]),
    # results show
    ("results show --results {nowhere}", ["no study in this folder", "--results"]),
    ("results show --results {list}", ["no study in this folder"]),
    ("results show {r} --study smal", ["no such study", "did you mean 'small'"]),
    ("results show {r} --sort acuracy", ["no such column", "did you mean 'accuracy'"]),
    ("results show {r} --columns method,acuracy", ["no such column", "did you mean 'accuracy'"]),
    ("results show {r} --columns ,", ["no such column", "''"]),
    ("results show {r} --top 0", ["--top", "x>=1"]),
    ("results show {r} --top x", ["--top", "x"]),
    ("results show {r} --form xml", ["--form", "xml"]),
    ("results show {r} --filter acuracy>1", ["no column 'acuracy'", "did you mean 'accuracy'"]),
    ("results show {r} --filter accuracy>", ["a condition that cannot be used"]),
    ("results show {r} --filter accuracy", ["a condition that cannot be used"]),
    ("results show {r} --filter 1", ["a condition that cannot be used"]),
    ("results show {r} --filter accuracy>'x'", ["a condition that cannot be used"]),
    ("results show {r} --filter `accuracy", ["a condition that cannot be used"]),
    # results diff
    ("results diff {folder}", ["Missing argument", "SECOND"]),
    ("results diff {folder} {nowhere} --root {empty}", ["neither a study"]),
    ("results diff {folder} {folder}:smal", ["no such study", "did you mean 'small'"]),
    # results export
    ("results export {r}", ["Missing argument"]),
    ("results export {out}.xlsx {r}", ["the form of the export", "'.xlsx'", ".csv"]),
    ("results export {out} {r}", ["the form of the export", "no suffix"]),
    ("results export {out}.csv {r} --study smal", ["did you mean 'small'"]),
    ("results export {list}/a.csv {r}", ["cannot be used", "{list}"]),
    ("results export {taken} {r}", ["cannot be used", "directory"]),
    # track
    ("track --results {nowhere}", ["no study in this folder"]),
    ("track {r} --study smal", ["did you mean 'small'"]),
    ("track {r} --study small --rebuild", ["--rebuild builds the store from all studies"]),
    ("track {r} --patience -1", ["--patience", "x>=0"]),
    # ui
    ("ui {r}", ["no tracking store"]),
    ("ui {r} --port 0", ["not the number of a port", "from 1 to 65535"]),
    ("ui {r} --port http", ["not the number of a port", "'http'"]),
]


@pytest.mark.parametrize(("line", "parts"), BAD)
def test_bad_input_is_refused(folder, tmp_path, repository, line, parts):
    places = {
        "empty": tmp_path / "empty",
        "nowhere": tmp_path / "nowhere",
        "list": tmp_path / "list.yaml",
        "binary": tmp_path / "binary.yaml",
        "taken": tmp_path / "taken.csv",
        "out": tmp_path / "out",
        "folder": folder,
        "code": repository,
    }
    places["empty"].mkdir()
    places["taken"].mkdir()
    places["list"].write_text("- a\n")
    places["binary"].write_bytes(bytes(range(256)))
    places["r"] = f"--results {folder}"
    began = time.monotonic()
    result = CliRunner().invoke(main, line.format(**places).split())
    assert result.exit_code in (1, 2), result.output
    assert not isinstance(result.exception, Exception), result.exception
    for part in parts:
        assert part.format(**places) in result.output, result.output
    assert "Traceback" not in result.output
    # But for places and lists of what is allowed, which are as long as they are.
    lines = [line for line in result.output.splitlines() if line.lstrip()[:3] not in ("exp", "to ")]
    assert max(map(len, lines)) < 250
    assert time.monotonic() - began < 30
    assert not (tmp_path / "out.csv").exists()


def test_every_command_has_bad_inputs():
    commands = {name for name in main.commands if name != "results"}
    commands |= {f"results {name}" for name in main.commands["results"].commands}
    assert all(any(line.startswith(name) for line, _ in BAD) for name in commands)


def test_no_condition_runs_code(folder, tmp_path):
    touch = f"open('{tmp_path}/pwned', 'w')"
    for condition in (
        f"@pd.io.common.{touch}",
        f"@{touch}",
        f"__import__('pathlib').Path('{tmp_path}/pwned').touch()",
        f"accuracy.to_csv('{tmp_path}/pwned')",
        f"method.map({touch})",
        f"accuracy > 0 and method.to_json('{tmp_path}/pwned').str.contains('x')",
        "method.__class__ == 1",
        f"method.str.contains({touch})",
        "method.str.contains('x', flags=1)",
        "method.str.contains(method)",
        "accuracy.values.tofile('pwned')",
        "9 ** 9 ** 9 > 1",
        "[x for x in [1]]",
        "(lambda: 1)()",
        "params == f'{accuracy}'",
    ):
        result = run("results", "show", "--results", folder, "--filter", condition, code=1)
        assert "a condition that cannot be used" in result.output, condition
        assert not (tmp_path / "pwned").exists(), condition


@pytest.mark.parametrize(
    ("condition", "points"),
    [
        ("accuracy > 0.8", ["aaaa"]),
        ("0.4 < accuracy < 0.8", ["bbbb"]),
        ("`param.alpha` < 0.5 or accuracy > 0.8", ["aaaa", "bbbb"]),
        ("method == 'MNB' and not (accuracy > 0.8)", ["bbbb"]),
        ("origin.str.contains('fixed')", ["aaaa"]),
        ("point in ['bbbb', 'cccc']", ["bbbb"]),
        ("(accuracy > 0.4) & (accuracy + 0.1 < 0.6)", ["bbbb"]),
        ("failure.isna()", ["aaaa", "bbbb"]),
        ("params == '@`x`'", []),
    ],
)
def test_conditions(folder, condition, points):
    base = ("results", "show", "--results", folder, "--points", "--form", "json")
    rows = json.loads(run(*base, "--columns", "point", "--filter", condition).stdout)
    assert [row["point"] for row in rows] == points


def odd_frame():
    """Names that readers take for numbers or for nothing, and every type of a column."""
    return pd.DataFrame(
        {
            "dataset": ["nan", "007", "NA", 'a "b",\nc\rd'],
            "accuracy": [0.1 + 0.2, float("nan"), 1 / 3, 1.0],
            "documents": [1, 2, 3, 2**40],
            "failure": [None, "1e5", None, "x"],
            "converged": [True, False, True, True],
            "fold_accuracy": [[0.1, 0.2], [1 / 3], [], [1.0]],
        }
    )


def test_an_export_as_csv_is_read_back_as_it_was(tmp_path):
    frame = odd_frame()
    write_frame(tmp_path / "x.csv", frame)
    with (tmp_path / "x.csv").open(newline="", encoding="utf-8") as stream:
        head, *rows = csv.reader(stream, quoting=csv.QUOTE_NONNUMERIC)
    assert head == list(frame.columns)
    columns = dict(zip(head, zip(*rows, strict=True), strict=True))
    assert list(columns["dataset"]) == frame["dataset"].tolist()
    assert list(columns["accuracy"])[::2] == [0.1 + 0.2, 1 / 3]
    assert math.isnan(columns["accuracy"][1])
    assert list(columns["documents"]) == [1, 2, 3, 2**40]
    assert list(columns["failure"]) == ["", "1e5", "", "x"]
    assert list(columns["converged"]) == ["true", "false", "true", "true"]
    assert [json.loads(one) for one in columns["fold_accuracy"]] == frame["fold_accuracy"].tolist()


def test_an_export_as_json_lines_is_read_back_as_it_was(tmp_path):
    frame = odd_frame()
    write_frame(tmp_path / "x.jsonl", frame)
    rows = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().split("\n")[:-1]]
    assert [row["dataset"] for row in rows] == frame["dataset"].tolist()
    assert [row["accuracy"] for row in rows] == [0.1 + 0.2, None, 1 / 3, 1.0]
    assert [row["fold_accuracy"] for row in rows] == frame["fold_accuracy"].tolist()
    assert [row["converged"] for row in rows] == [True, False, True, True]


def test_the_suffix_says_what_is_exported(folder, tmp_path):
    for suffix in ("parquet", "csv", "CSV", "jsonl"):
        run("results", "export", tmp_path / f"x.{suffix}", "--results", folder)
    assert (tmp_path / "x.parquet").read_bytes()[:4] == b"PAR1"
    assert (tmp_path / "x.csv").read_text().startswith('"study","dataset",')
    assert (tmp_path / "x.CSV").read_text() == (tmp_path / "x.csv").read_text()
    assert json.loads((tmp_path / "x.jsonl").read_text().splitlines()[0])["accuracy"] == 0.85


@pytest.mark.parametrize("width", ["60", "80", "120"])
def test_a_diff_fits_the_terminal(folder, tmp_path, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", width)
    names = {"dataset": "d" * 40, "method": "m" * 40}
    shutil.rmtree(folder)
    make_results(folder, **names)
    other = make_results(tmp_path / "other", correct=(8, 10), **names)
    shown = run("results", "diff", folder, other, "--optimistic").stdout
    assert max(map(len, shown.splitlines())) <= int(width)
    for number in ("85.00", "90.00", "+5.00", "changed"):
        assert number in shown
    assert shown.count("d") >= 80  # folded, not cut
    assert shown.count("m") >= 80
    assert "params" not in shown
    exact = run("results", "diff", folder, other, "--form", "csv").stdout
    assert "params_first,documents_first,params_second,documents_second" in exact.splitlines()[0]


def test_a_diff_shows_hyper_parameters_that_differ(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    other = make_results(tmp_path / "other", correct=(8, 9), alpha=2.5)
    shown = run("results", "diff", folder, other).stdout
    assert "params that differ" in " ".join(shown.split())
    assert "alpha = 1.0 -> alpha = 2.5" in " ".join(shown.split())


def test_a_busy_port_is_refused(folder):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        result = run("ui", "--results", folder, "--port", port, code=1)
    assert f"{port}: Address already in use" in result.output


COMMAND = ["-m", "textbaselines", "results", "show"]
STEP = ["workflow/scripts/fold.py"]


@pytest.mark.parametrize(("arguments", "code"), [(COMMAND, 130), (STEP, -signal.SIGINT)])
def test_an_interrupt_ends_without_a_traceback(tmp_path, repository, arguments, code):
    """Also while libraries are imported: here pandas, which is slow to come."""
    (tmp_path / "pandas.py").write_text("print('here', flush=True)\nimport time\ntime.sleep(60)\n")
    step = {"TEXTBASELINES_STEP": "1"} if arguments is STEP else {}
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=repository,
        env={**os.environ, **step, "PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode == code
    assert told == ""
