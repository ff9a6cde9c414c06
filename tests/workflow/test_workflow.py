"""The real Snakefile from fetch to tables: right numbers, resumable, the same bytes."""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import textbaselines
from textbaselines.core.storage import read_json
from textbaselines.evaluation.runs import run_of
from textbaselines.reporting.report.blocks import Commands, Picture, Results, Sheet
from textbaselines.reporting.report.sections import sections_of
from textbaselines.text.tokenizers import words

pytestmark = pytest.mark.xdist_group("workflow")

SMALL = Path(__file__).with_name("small.yaml")
DATASETS = ("hg-movie", "hg-amazon", "hg-nyt", "hg-tweets")
STUDY = "small-trial50"
N_RUNS = 4 * 2 * 3
# The methods are quick ones and the datasets small, so that one job trains all of a dataset.
N_TRAINING_JOBS = 4
METHODS = ("MNB", "SVM", "NBSVM")
N_POINTS = 4 * 2 * (2 + 1 + 4)
# Fixed and chosen hyper-parameters of each run, and the representation chosen of each
# dataset and method.
N_FINAL_RUNS = 2 * N_RUNS + 4 * 3


def test_the_table_shows_what_the_predictions_say(finished) -> None:
    root = finished.folder / "results"
    shown = pd.read_csv(root / STUDY / "tables" / "comparison.csv")
    fixed = shown[shown["selection"] == "fixed"]
    assert len(fixed) == N_RUNS
    for row in fixed.itertuples():
        run = run_of(root / STUDY / "runs", row.dataset, row.representation, row.method)
        predictions = run.table("predictions")
        points = run.record["points"]
        (fixed_point,) = [point for point in points if "fixed" in point["origin"]]
        assert json.loads(row.params) == fixed_point["params"]
        point = predictions[predictions["point"] == fixed_point["point"]]
        corpus = pd.read_parquet(root / "corpora" / row.dataset / "corpus.parquet")
        truth = point["id"].map(corpus.set_index("id")["label"])
        assert len(point) == point["id"].nunique() == 100
        assert (truth == point["predicted"]).mean() == pytest.approx(row.accuracy, abs=1e-12)
    # The fixed point of each method is the registry's default, on the grid or not.
    params = fixed.groupby("method")["params"].unique().map(lambda p: json.loads(p[0]))
    published = {"alpha": 1.0, "C": 1.0, "beta": 0.25}
    assert {name: params["NBSVM"][name] for name in published} == published


def test_macro_f1_is_pooled_over_the_out_of_fold_predictions_everywhere(finished) -> None:
    root = finished.folder / "results"
    shown = pd.read_csv(root / STUDY / "tables" / "comparison.csv", keep_default_na=False)
    fixed = shown[shown["selection"] == "fixed"].set_index(["dataset", "representation", "method"])
    wanted = {}
    for dataset, representation, method in fixed.index:
        run = run_of(root / STUDY / "runs", dataset, representation, method)
        predictions, points = run.table("predictions"), run.record["points"]
        (point,) = [p["point"] for p in points if "fixed" in p["origin"]]
        mine = predictions[predictions["point"] == point]
        wanted[dataset, representation, method] = f1_score(
            mine["label"], mine["predicted"], average="macro"
        )
    found = fixed["macro_f1"].astype(float).to_dict()
    assert found == pytest.approx(wanted, abs=1e-12)
    for dataset in DATASETS:
        told = read_json(root / STUDY / "models" / dataset / "best" / "model.json")
        key = (dataset, told["representation"], told["method"])
        assert told["evaluation"]["macro_f1"] == pytest.approx(wanted[key], abs=1e-12)
    query = """
        select d.value, r.value, m.value, metrics.value from metrics
        join tags d on d.run_uuid = metrics.run_uuid and d.key = 'dataset'
        join tags r on r.run_uuid = metrics.run_uuid and r.key = 'representation'
        join tags m on m.run_uuid = metrics.run_uuid and m.key = 'method'
        join tags s on s.run_uuid = metrics.run_uuid and s.key = 'selection'
        where metrics.key = 'macro_f1' and s.value = 'fixed'
    """
    with sqlite3.connect(root / "mlflow.db") as store:
        logged = {tuple(row[:3]): row[3] for row in store.execute(query)}
    assert logged == pytest.approx(wanted, abs=1e-12)


def test_the_tables_have_the_majority_class_and_the_train_test_overlap(finished) -> None:
    root = finished.folder / "results"
    shown = pd.read_csv(root / STUDY / "tables" / "comparison.csv", keep_default_na=False)
    floor = shown[shown["selection"] == "majority"].set_index("dataset")
    text = (root / STUDY / "tables" / "comparison.txt").read_text(encoding="utf-8")
    assert text.count("Majority class  ") == 3
    for dataset in DATASETS:
        corpus = pd.read_parquet(root / "corpora" / dataset / "corpus.parquet").set_index("id")
        folds = pd.read_parquet(root / STUDY / "folds" / f"{dataset}.parquet")
        folds = folds[folds["fold"] >= 0].set_index("id")["fold"]
        classes = list(run_of(root / STUDY / "runs", dataset, "uni", "MNB").record["classes"])
        right = overlapping = 0
        for fold in range(3):
            training = corpus.loc[folds.index[folds != fold]]
            test = corpus.loc[folds.index[folds == fold]]
            counts = [(training["label"] == name).sum() for name in classes]
            right += (test["label"] == classes[counts.index(max(counts))]).sum()
            overlapping += test["group"].isin(set(training["group"])).sum()
        assert floor.loc[dataset, "accuracy"] == right / 100
        mine = shown[shown["dataset"] == dataset]
        assert set(mine["train_test_overlap"].astype(float)) == {overlapping / 100}
        datasets = read_json(root / STUDY / "study.json")["datasets"]
        (title,) = [entry["title"] for entry in datasets if entry["name"] == dataset]
        assert (f"{title} {overlapping}.0 %" in text) == (overlapping > 1)


def test_the_numbers_are_those_of_a_plain_scikit_learn_loop(finished) -> None:
    root = finished.folder / "results"
    for dataset in DATASETS:
        corpus = pd.read_parquet(root / "corpora" / dataset / "corpus.parquet").set_index("id")
        folds = pd.read_parquet(root / STUDY / "folds" / f"{dataset}.parquet")
        folds = folds[folds["fold"] >= 0]
        correct = {}
        for fold in range(3):
            training = corpus.loc[folds[folds["fold"] != fold]["id"]]
            test = corpus.loc[folds[folds["fold"] == fold]["id"]]
            model = make_pipeline(
                TfidfVectorizer(tokenizer=words, token_pattern=None, ngram_range=(1, 2)),
                MultinomialNB(),
            )
            model.fit(training["text"], training["label"])
            correct[fold] = (model.predict(test["text"]) == test["label"]).sum()
        run = run_of(root / STUDY / "runs", dataset, "tfidf-bi", "MNB")
        scores = run.table("scores")
        (point,) = [p["point"] for p in run.record["points"] if "fixed" in p["origin"]]
        ours = scores[scores["point"] == point].set_index("fold")["correct"].to_dict()
        assert ours == correct


def test_nested_selection_is_that_of_a_plain_scikit_learn_loop(finished) -> None:
    root = finished.folder / "results"
    shown = pd.read_csv(root / STUDY / "tables" / "comparison.csv")
    nested = shown[shown["selection"] == "nested"].set_index(
        ["dataset", "representation", "method"]
    )
    selections = pd.read_parquet(root / STUDY / "evaluation" / "selections.parquet")
    for dataset in DATASETS:
        corpus = pd.read_parquet(root / "corpora" / dataset / "corpus.parquet").set_index("id")
        folds = pd.read_parquet(root / STUDY / "folds" / f"{dataset}.parquet")
        inner = pd.read_parquet(root / STUDY / "inner_folds" / f"{dataset}.parquet")
        tested = 0
        for fold in range(3):
            mine = inner[inner["fold"] == fold]

            def correct(alpha: float, training: pd.Series, test: pd.Series) -> int:
                model = make_pipeline(
                    TfidfVectorizer(tokenizer=words, token_pattern=None, ngram_range=(1, 2)),
                    MultinomialNB(alpha=alpha),
                )
                known, asked = corpus.loc[training], corpus.loc[test]  # noqa: B023
                model.fit(known["text"], known["label"])
                return int((model.predict(asked["text"]) == asked["label"]).sum())

            pooled = {
                alpha: sum(
                    correct(alpha, mine[mine["inner"] != k]["id"], mine[mine["inner"] == k]["id"])
                    for k in range(5)
                )
                for alpha in (1.0, 0.5)
            }
            best = max(pooled, key=pooled.get)
            test = folds[folds["fold"] == fold]["id"]
            assert not set(test) & set(mine["id"])
            tested += correct(best, mine["id"], test)
            (chosen,) = selections[
                (selections["dataset"] == dataset)
                & (selections["representation"] == "tfidf-bi")
                & (selections["method"] == "MNB")
                & (selections["fold"] == fold)
            ].itertuples()
            assert chosen.inner_accuracy == pytest.approx(pooled[best] / len(mine))
        assert nested.loc[(dataset, "tfidf-bi", "MNB"), "accuracy"] == pytest.approx(tested / 100)
        assert 0.4 < nested.loc[(dataset, "selected", "MNB"), "accuracy"] < 1


def test_the_corpora_are_the_real_sets(finished) -> None:
    for name, lines in zip(DATASETS, (10605, 3708, 5190, 4200), strict=True):
        audit = json.loads(
            (finished.folder / "results" / "corpora" / name / "audit.json").read_text()
        )
        left_out = sum(audit["left_out"].values())
        assert left_out > 0
        assert audit["documents"] + left_out == lines
        corpus = pd.read_parquet(finished.folder / "results" / "corpora" / name / "corpus.parquet")
        assert (corpus["rating"].abs() >= 0.5).all()
        assert ((corpus["rating"] > 0) == (corpus["label"] == "pos")).all()


def test_every_method_of_a_fold_has_the_same_vocabulary(finished) -> None:
    root = finished.folder / "results" / STUDY / "runs"
    for dataset in DATASETS:
        for representation in ("uni", "tfidf-bi"):
            digests = {
                tuple(
                    run_of(root, dataset, representation, method)
                    .table("scores", ["repeat", "fold", "vocabulary"])
                    .drop_duplicates()
                    .itertuples(index=False, name=None)
                )
                for method in METHODS
            }
            assert len(digests) == 1


def test_it_ends_with_the_table_and_where_everything_lies(finished) -> None:
    printed = finished.printed
    assert re.search(r"NBSVM-uni +\d+\.\d", printed)
    for place in (
        f"results/{STUDY}/tables/",
        f"results/{STUDY}/models/",
        "make ui, then open one of these:",
    ):
        assert place in printed
    assert re.search(r"results: Results +http://127.0.0.1:5000/#/experiments/\d+/runs\?", printed)
    for dataset in DATASETS:
        assert f"{dataset}: NBSVM: chart" in printed
    for form in ("md", "tex", "csv", "html", "txt"):
        assert (finished.folder / "results" / STUDY / "tables" / f"comparison.{form}").stat()
    assert "of 45 steps" in printed or "steps (100%) done" in printed


def test_a_second_run_does_nothing(finished) -> None:
    assert finished.planned() == {}
    assert "Nothing to be done" in finished.snakemake("--cores", "2")


def test_every_run_is_in_mlflow_once(finished) -> None:
    receipt = json.loads(
        (finished.folder / "results" / STUDY / "tracking" / "runs.json").read_text()
    )
    assert len(receipt["runs"]) == N_POINTS + N_FINAL_RUNS
    with sqlite3.connect(finished.folder / "results" / "mlflow.db") as store:
        count = "select count(*) from runs where status = 'FINISHED' and lifecycle_stage = 'active'"
        assert store.execute(count).fetchone()[0] == N_POINTS + N_FINAL_RUNS
        assert store.execute("select count(*) from runs").fetchone()[0] == len(receipt["runs"])


def test_the_best_model_of_each_dataset_is_kept(finished) -> None:
    root = finished.folder / "results"
    shown = pd.read_csv(root / STUDY / "tables" / "comparison.csv")
    fixed = shown[shown["selection"] == "fixed"]
    receipt = json.loads((root / STUDY / "tracking" / "models.json").read_text())
    assert set(receipt) == set(DATASETS)
    with sqlite3.connect(root / "mlflow.db") as store:
        aliases = set(store.execute("select name, alias, version from registered_model_aliases"))
    # A trial does not make a dataset's own champion.
    assert aliases == {(f"{name}-trial50", "champion", 1) for name in DATASETS}
    for dataset in DATASETS:
        model = textbaselines.load(root / STUDY / "models" / dataset / "best")
        told = model.description
        mine = fixed[fixed["dataset"] == dataset]
        assert told["evaluation"]["accuracy"] == pytest.approx(mine["accuracy"].max(), abs=1e-12)
        corpus = pd.read_parquet(root / "corpora" / dataset / "corpus.parquet").set_index("id")
        folds = pd.read_parquet(root / STUDY / "folds" / f"{dataset}.parquet")
        used = corpus.loc[folds["id"][folds["fold"] >= 0]]
        assert told["training"]["documents"] == len(used) == 100
        # It has seen these documents; others it does not know.
        assert (pd.Series(model.predict(used["text"]), used.index) == used["label"]).mean() > 0.85


def test_a_final_run_says_how_it_is_run_again_and_what_it_took(finished) -> None:
    with sqlite3.connect(finished.folder / "results" / "mlflow.db") as store:
        notes = store.execute(
            "select value from tags where key = 'mlflow.note.content' and value like '%Run it%'"
        ).fetchall()
        peaks = store.execute(
            "select count(*) from latest_metrics where key = 'job_peak_mebibytes'"
        ).fetchone()[0]
    assert len(notes) == N_FINAL_RUNS
    assert peaks == N_FINAL_RUNS
    command = re.search(r"    (snakemake .*)", notes[0][0]).group(1)
    assert "--configfile" in command
    # The command is one that the workflow takes, and there is nothing left to do.
    run = subprocess.run(
        [sys.executable, "-m", *shlex.split(command), "-n"],
        cwd=finished.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Nothing to be done" in run.stdout + run.stderr


def test_mlflow_ui_shows_the_store(finished) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "textbaselines", "ui", "--port", str(port)],
        cwd=finished.folder,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_for(f"{address}/health", 90)
        found = _post(f"{address}/api/2.0/mlflow/experiments/search", {"max_results": 50})
        names = {
            experiment["name"]: experiment["experiment_id"] for experiment in found["experiments"]
        }
        assert {f"{STUDY}-results", *(f"{STUDY}-grid-{name}" for name in DATASETS)} <= set(names)
        runs = _post(
            f"{address}/api/2.0/mlflow/runs/search",
            {"experiment_ids": [names[f"{STUDY}-results"]], "max_results": 100},
        )["runs"]
        assert len(runs) == N_FINAL_RUNS
        shown = pd.read_csv(finished.folder / "results" / STUDY / "tables" / "comparison.csv")
        wanted = sorted(shown[shown["selection"].isin(["fixed", "nested"])]["accuracy"])
        metrics = [{m["key"]: m["value"] for m in run["data"]["metrics"]} for run in runs]
        assert sorted(values["accuracy"] for values in metrics) == pytest.approx(wanted)
    finally:
        os.killpg(server.pid, signal.SIGKILL)


def _wait_for(address: str, seconds: float) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            assert time.monotonic() < end, f"no answer from {address} in {seconds} s"
            time.sleep(0.5)


def _post(address: str, body: dict) -> dict:
    request = urllib.request.Request(
        address, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def test_one_core_gives_the_same_bytes(finished, fresh) -> None:
    fresh.snakemake("--cores", "1", "--config", "tracking=none")
    ours, theirs = finished.results(), fresh.results()
    batches = [
        name for name in ours if re.fullmatch(rf"{STUDY}/runs/.*/predictions\.parquet", name)
    ]
    assert len(batches) == N_TRAINING_JOBS
    for files in (ours, theirs):
        # They say whether runs are tracked, and a plan's name says what is in it.
        for name in [*files]:
            if name.startswith((f"{STUDY}/study.json", f"{STUDY}/plans/")):
                del files[name]
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if ours[name] != theirs[name]] == []


def test_killed_five_times_it_resumes_and_ends_with_the_same_bytes(finished, fresh) -> None:
    """kill -9 at five random moments of a study with nested selection, then once to the end."""
    draw = np.random.default_rng(5)
    # How many of the files are there when it is killed, and how long after: after each fifth of
    # what comes before the last analyses.
    total = len(finished.results())
    goals = (0.75 * total * (np.arange(5) + draw.uniform(0.2, 1.0, 5)) / 5).astype(int)
    done = 0
    for goal, wait in zip(goals.tolist(), draw.uniform(0, 1.5, 5).tolist(), strict=True):
        running = subprocess.Popen(
            fresh.command("--cores", "2"),
            cwd=fresh.folder,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + 240
        while len(fresh.files()) < goal:
            assert running.poll() is None, "the run ended before it could be killed"
            assert time.monotonic() < end
            time.sleep(0.05)
        time.sleep(wait)
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        before, done = done, len(fresh.files())
        assert before <= done < total
        fresh.snakemake("--unlock")
    printed = fresh.snakemake("--cores", "2")
    again = printed.count("(Rule: train)")
    assert again < N_TRAINING_JOBS, "finished jobs were run again"
    ours, theirs = finished.results(), fresh.results()
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if ours[name] != theirs[name]] == []
    assert not list((fresh.folder / "results").rglob("*.part"))


@pytest.fixture
def copied(finished, tmp_path: Path):
    """A copy of the finished project, metadata included, that a test may change."""
    folder = tmp_path / "copied"
    shutil.copytree(finished.folder, folder, symlinks=True)
    twin = object.__new__(type(finished))
    twin.folder = folder
    return twin


def _append(path: Path, text: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def test_code_that_a_step_does_not_run_does_not_rerun_it(copied) -> None:
    source = copied.folder / "src" / "textbaselines"
    _append(source / "reporting" / "figures" / "accuracy.py", "# a comment\n")
    assert copied.planned() == {"write_tables": 1, "write_report": 1}
    _append(source / "evaluation" / "cells.py", "# a comment\n")
    planned = copied.planned()
    assert "evaluate" in planned
    assert "tokenise" not in planned
    _append(source / "models" / "nbsvm.py", "# a comment\n")
    assert _training(copied.planned()) == N_TRAINING_JOBS


def _run(project, method: str):
    """A run of hg-nyt on unigrams."""
    return run_of(project.folder / "results" / STUDY / "runs", "hg-nyt", "uni", method)


def _training(planned: dict[str, int]) -> int:
    return planned.get("train", 0)


def test_a_changed_grid_retrains_its_own_method(copied, tmp_path: Path) -> None:
    study = SMALL.read_text(encoding="utf-8")
    changed = tmp_path / "changed.yaml"
    changed.write_text(study.replace("alpha: [0.5, 1.0]", "alpha: [0.5, 0.7, 1.0]"))
    assert changed.read_text() != study
    assert _training(copied.planned("--configfile", str(changed))) == N_TRAINING_JOBS
    batch = _run(copied, "MNB").batch
    wanted = str(batch.relative_to(copied.folder) / "runs.json")
    before = {method: _run(copied, method).digest("timings") for method in METHODS}
    copied.snakemake("--configfile", str(changed), "--cores", "1", wanted)
    log = (copied.folder / f"logs/{STUDY}/train/hg-nyt/{batch.name}.log").read_text()
    # All but naive Bayes, on both representations.
    assert log.count("is trained from just this: kept") == 2 * (len(before) - 1)
    after = {method: _run(copied, method).digest("timings") for method in METHODS}
    assert [name for name in before if after[name] != before[name]] == ["MNB"]
    assert _run(copied, "MNB").table("scores")["point"].nunique() == 3
    # The measures of time are lost: they are written anew, from what is kept.
    measure = f"results/{STUDY}/benchmarks/train/hg-nyt/{batch.name}.tsv"
    told = (copied.folder / measure).read_text()
    (copied.folder / measure).unlink()
    copied.snakemake("--configfile", str(changed), "--cores", "1", measure)
    log = (copied.folder / f"logs/{STUDY}/train/hg-nyt/{batch.name}.log").read_text()
    assert log.count("is trained from just this: kept") == 2 * len(before)
    assert (copied.folder / measure).read_text() == told
    # Back to the first grid: what was trained for another is not taken for it.
    copied.snakemake("--cores", "1", wanted)
    assert _run(copied, "MNB").table("scores")["point"].nunique() == 2
    changed.write_text(study.replace("title: A small study", "title: Another title"))
    assert set(copied.planned("--configfile", str(changed))) == {
        "describe_study",
        "evaluate",
        "compare",
        "calibrate",
        "analyse",
        "write_tables",
        "write_report",
        "store_best_model",
        "track",
    }


def test_a_method_that_fails_leaves_the_others_and_is_not_taken_for_done(
    copied, tmp_path: Path
) -> None:
    """All of a method's grid fails: what another grid gave it before does not stand in for it."""
    study = SMALL.read_text(encoding="utf-8")
    changed = tmp_path / "changed.yaml"
    failing = study.replace("beta: [0.0, 0.25]}}", "beta: [0.0, 0.25]}, options: {alpha: 0.0}}")
    changed.write_text(failing.replace("alpha: [0.5, 1.0]", "alpha: [0.5, 0.7, 1.0]"))
    settings = ("--configfile", str(changed), "--cores", "1")
    wanted = str(_run(copied, "NBSVM").batch.relative_to(copied.folder) / "runs.json")
    printed = copied.snakemake(*settings, wanted, check=False)
    assert "every grid point failed" in printed
    assert "alpha = 0 leaves" in printed
    # The others of the job were trained on the new grid, and are kept by the next try.
    planned = copied.planned(wanted, "--configfile", str(changed))
    assert _training(planned) == 1
    again = copied.snakemake(*settings, wanted, check=False)
    assert "every grid point failed" in again
    for name in ("MNB", "SVM"):
        assert f"{name} on uni is trained from just this: kept" in again
    kept = copied.folder / f"results/{STUDY}/trained/hg-nyt/uni/MNB/scores.parquet"
    assert pd.read_parquet(kept)["point"].nunique() == 3
    assert not (copied.folder / wanted).exists()
    # Back to the first grid.
    copied.snakemake("--cores", "1", wanted)
    assert _training(copied.planned(wanted)) == 0
    assert _run(copied, "NBSVM").table("scores")["failure"].isna().all()


def test_a_deleted_run_is_missed_though_tables_are_there(copied) -> None:
    batch = _run(copied, "NBSVM").batch
    before = {path.name: path.read_bytes() for path in batch.iterdir()}
    # One file, then all of them.
    (batch / "inner_predictions.parquet").unlink()
    assert _training(copied.planned()) == 1
    shutil.rmtree(batch)
    assert _training(copied.planned()) == 1
    wanted = str(batch.relative_to(copied.folder) / "runs.json")
    assert "NBSVM on uni is trained from just this: kept" in copied.snakemake(
        "--cores", "1", wanted
    )
    assert {path.name: path.read_bytes() for path in batch.iterdir()} == before


def test_rules_are_named_the_same_for_every_study(copied, tmp_path: Path) -> None:
    """--until, -R, --set-threads and --set-resources take the names of the documentation."""
    other = tmp_path / "other.yaml"
    other.write_text(SMALL.read_text(encoding="utf-8").replace("name: small", "name: other"))
    planned = copied.planned("--configfile", str(other), "--until", "train")
    assert planned["train"] == N_TRAINING_JOBS
    assert "evaluate" not in planned
    assert copied.planned("-R", "train")["train"] == N_TRAINING_JOBS
    told = copied.snakemake(
        *("-n", "--quiet", "host", "-R", "train", "--cores", "4"),
        *("--set-threads", "train=2", "--set-resources", "train:mem_mb=4321"),
    )
    jobs = re.findall(r"^rule train:\n(?:    .*\n)+", told, re.MULTILINE)
    assert len(jobs) == N_TRAINING_JOBS
    assert all("threads: 2" in job and "mem_mb=4321" in job for job in jobs)


def test_another_study_fetches_and_reads_nothing_again(copied, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    study = SMALL.read_text(encoding="utf-8")
    study = study.replace("name: small", "name: other")
    other.write_text(study.replace("[hg-movie, hg-amazon, hg-nyt, hg-tweets]", "[hg-tweets]"))
    copied.snakemake("--configfile", str(other), "--cores", "2", "--until", "fold")
    assert "fetch" not in copied.planned("--configfile", str(other))
    assert copied.planned() == {}


def test_a_named_model_is_kept(copied, tmp_path: Path) -> None:
    changed = tmp_path / "changed.yaml"
    study = SMALL.read_text(encoding="utf-8")
    named = {"dataset": "hg-nyt", "representation": "tfidf-bi", "method": "NBSVM"}
    changed.write_text(f"{study}\nkeep_models: [{json.dumps(named)}]\n")
    chosen = ("--configfile", str(changed))
    # Another study file is told in the description, and nothing is trained for it.
    planned = copied.planned(*chosen)
    assert planned["store_model"] == planned["track"] == 1
    assert _training(planned) == 0
    folder = f"results/{STUDY}/models/hg-nyt/tfidf-bi/NBSVM"
    copied.snakemake(*chosen, "--cores", "1", f"{folder}/model.json")
    model = textbaselines.load(copied.folder / folder)
    assert {name: model.description[name] for name in named} == named
    assert model.description["choice"] == {"rule": "named"}
    assert model.description["params"].items() >= {"alpha": 1.0, "C": 1.0, "beta": 0.25}.items()
    changed.write_text(f"{study}\nkeep_models: none\n")
    planned = copied.planned(*chosen)
    assert "store_model" not in planned
    assert _training(planned) == 0


def test_the_report_has_every_part_and_links_to_its_files(finished) -> None:
    results = finished.folder / "results"
    latest = (results / "report.html").read_text(encoding="utf-8")
    assert "Not made in this study" not in latest
    own = (results / STUDY / "report.html").read_text(encoding="utf-8")
    assert latest.replace(f'href="{STUDY}/', 'href="') == own
    links = set(re.findall(r'href="([^"#:]+)"', latest))
    assert f"{STUDY}/significance/contrasts.csv" in links
    assert [link for link in links if not (results / link).is_file()] == []
    assert len(latest.encode()) < 5_000_000


def test_every_number_of_the_report_stands_in_a_file_that_it_names(finished, repository) -> None:
    """Numbers with decimals, of tables, of sentences and of figures in words: each is, rounded, in
    one of the block's files, as it is or in percent."""
    root = finished.folder / "results" / STUDY
    files = frozenset(str(file.relative_to(root)) for file in root.rglob("*") if file.is_file())
    study = read_json(root / "study.json")
    checked = 0
    for section in sections_of(Results(root, files), study, repository):
        for block in section.blocks:
            if section.name == "environment" or isinstance(block, Commands):
                continue
            if isinstance(block, Sheet):
                cells = [cell.text for part in block.table.groups for row in part for cell in row]
                shown = " ".join([*cells, *(note for _, note in block.table.notes or ())])
            else:
                shown = block.words if isinstance(block, Picture) else " ".join(block.sentences)
            # "<0.001" is no number of its own.
            numbers = {found.replace(",", "") for found in DECIMAL.findall(shown)} - {"0.001"}
            known = set()
            for source in block.sources:
                assert source.file.endswith(".csv"), source
                known |= _numbers_of(root / source.file)
            values = np.array(sorted(known))
            for number in numbers:
                # Rounded, halves up, to the digits shown.
                half = 0.5 * 10.0 ** -len(number.partition(".")[2])
                near = np.abs(values - float(number)) <= half + 1e-9
                assert near.any(), (section.name, block, number)
            checked += len(numbers)
    assert checked > 500


DECIMAL = re.compile(r"(?<![\w.])\d[\d,]*\.\d+(?!\w)")


def _numbers_of(path: Path) -> set[float]:
    """The size of every number in a CSV, inside of texts too, and a hundred times it."""
    table = pd.read_csv(path)
    found: set[float] = set()
    for name in table:
        values = pd.to_numeric(table[name], errors="coerce")
        found |= set(values.dropna().abs())
        for text in table[name][values.isna()].dropna():
            found |= {float(number.replace(",", "")) for number in DECIMAL.findall(str(text))}
    return found | {100 * value for value in found}


def test_report_and_graph(copied) -> None:
    copied.snakemake("--report", "report.html")
    page = (copied.folder / "report.html").read_text(encoding="utf-8")
    assert f"results/{STUDY}/report.html" in page
    assert "train" in copied.snakemake("--dag")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("title: A", "titel: A"), ["unknown key 'titel'", "did you mean 'title'"]),
        (("hg-nyt", "hg-nty"), ["key datasets[2]", "'hg-nty'", "did you mean 'hg-nyt'"]),
        (("family: nbsvm", "family: nbsmv"), ["methods.NBSVM.family", "one of ", "'nbsvm'"]),
        (("alpha: [0.5, 1.0]", "alpha: [-1]"), ["methods.MNB", "alpha", "-1"]),
        (("alpha: [0.5, 1.0]", "alhpa: [1]"), ["methods.MNB", "'alhpa'", "alpha"]),
        (("alpha: [0.5, 1.0]", "alpha: []"), ["methods.MNB.grid.alpha"]),
        (("tokenizer: words", "tokenizer: word"), ["representations.uni.tokenizer", "words"]),
        (("ngrams: [1, 1]", "ngrams: [2, 1]"), ["representations.uni.ngrams", "[2, 1]"]),
        (("policy: drop", "policy: dorp"), ["representations.tfidf-bi.unk.policy", "'drop'"]),
        (
            ("title: A", "tracking_uri: http://me:pw@host\ntitle: A"),
            ["tracking_uri", "credentials", "MLFLOW_TRACKING_USERNAME"],
        ),
        (("folds: 3", "folds: 1"), ["protocol.cv.folds", "1"]),
        (("title: A", "title: A\ntitle: B"), ["occurs twice", "lines 3 and 4"]),
    ],
)
def test_a_mistake_stops_before_any_job(
    finished, tmp_path: Path, change: tuple[str, str], told: list[str]
) -> None:
    study = SMALL.read_text(encoding="utf-8")
    assert change[0] in study
    bad = tmp_path / "bad.yaml"
    bad.write_text(study.replace(*change, 1), encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "-n", "--configfile", str(bad)]
    run = subprocess.run(command, cwd=finished.folder, capture_output=True, text=True, check=False)
    printed = run.stdout + run.stderr
    assert run.returncode != 0
    for part in told:
        assert part in printed
    assert "Traceback" not in printed
    assert "Job stats" not in printed
