"""Grids and names that once broke the hand-over from the workflow to its jobs."""

from pathlib import Path

import pytest

from textbaselines.core.result_paths import StudyFolder
from textbaselines.core.storage import canonical_json
from textbaselines.evaluation.costs import read_benchmark
from textbaselines.evaluation.runs import run_of
from textbaselines.study.plan import Plan

pytestmark = pytest.mark.xdist_group("workflow")

LARGE = """
name: large
title: A grid longer than a command line
datasets: [hg-nyt]
max_documents: 20
tokenizers:
  words: {family: words}
representations:
  a: {tokenizer: words, ngrams: [1, 1], weighting: binary, unk: {policy: drop}}
  a-b: {tokenizer: words, ngrams: [1, 1], weighting: count, unk: {policy: drop}}
  tfidf: {tokenizer: words, ngrams: [1, 1], weighting: tfidf, unk: {policy: drop}}
methods:
  b-c:
    family: nbsvm
    grid: {sample: {draws: 400, seed: first}, C: {log: [0.01, 10]}, beta: {linear: [0, 1]}}
  c: {family: mnb}
protocol: {cv: {folds: 2}, inner: null}
tracking: none
"""


def test_a_sample_of_hundreds_of_points_runs_and_names_with_hyphens_stay_apart(
    fresh, tmp_path: Path
) -> None:
    study = tmp_path / "large.yaml"
    study.write_text(LARGE)
    folder = StudyFolder(fresh.folder / "results" / "large-trial20")
    tasks = [(name, method) for name in ("a", "a-b", "tfidf") for method in ("b-c", "c")]
    fresh.snakemake(
        "--configfile", str(study), "--cores", "2", "--until", "train", "describe_study"
    )
    (file,) = (folder.folder / "plans").glob("*.json")
    plan = Plan.read(file)
    (batch,) = plan.batches("hg-nyt")
    work = [vars(part) for part in plan.batch("hg-nyt", batch)]
    assert len(canonical_json(work)) > 2**17  # what Linux takes as one argument
    runs = {task: run_of(folder.runs, "hg-nyt", *task) for task in tasks}
    points = {task: run.table("scores", ["point"])["point"].nunique() for task, run in runs.items()}
    # 400 drawn points and the fixed one; naive Bayes has the fixed one alone.
    assert points == {task: 401 if task[1] == "b-c" else 1 for task in tasks}
    # Joined by a hyphen, "a" with "b-c" was "a-b" with "c".
    measures = folder.training_benchmarks
    seconds = {task: read_benchmark(measures, run)[0] for task, run in runs.items()}
    assert seconds["a", "b-c"] > 3 * seconds["a-b", "c"]
