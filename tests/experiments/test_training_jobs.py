"""Which training tasks share a job, of a real study file."""

from pathlib import Path

from textbaselines.experiments.study import read_study
from textbaselines.experiments.training_jobs import RULE, training_jobs

ROOT = Path(__file__).parents[2]
STUDY = """
name: jobs
title: Jobs
datasets: [hg-movie, hg-nyt]
tokenizers: {words: {family: words}}
representations:
  a-b: &one {tokenizer: words, ngrams: [1, 1], weighting: binary, unk: {policy: drop}}
  a_b: {<<: *one, ngrams: [1, 2]}
  mine: {<<: *one, datasets: [hg-nyt]}
methods:
  NB: {family: mnb}
  Kernel: {family: ksvm, representations: [a-b]}
  SVM: {family: svm}
  Some: {family: bnb, representations: [mine]}
protocol: {cv: {folds: 3}}
"""


def test_quick_methods_share_a_job_and_slow_ones_have_their_own(tmp_path: Path) -> None:
    file = tmp_path / "jobs.yaml"
    file.write_text(STUDY, encoding="utf-8")
    study = read_study([file], {}, ROOT, ROOT / "workflow" / "schemas")
    jobs = training_jobs(study)
    both = ("hg-movie", "hg-nyt")
    assert [(job.rule, job.tasks, job.datasets) for job in jobs] == [
        (f"{RULE}a_b", (("a-b", "NB"), ("a-b", "SVM")), ("hg-movie",)),
        (f"{RULE}a_b_2", (("a_b", "NB"), ("a_b", "SVM")), both),
        (f"{RULE}a_b_Kernel", (("a-b", "Kernel"),), both),
        # mine rests on the counts and vocabularies of a-b.
        (
            f"{RULE}a_b_mine",
            (("a-b", "NB"), ("a-b", "SVM"), ("mine", "NB"), ("mine", "SVM"), ("mine", "Some")),
            ("hg-nyt",),
        ),
    ]
    tasks = [(dataset, *task) for job in jobs for dataset in job.datasets for task in job.tasks]
    assert sorted(tasks) == sorted(study.runs())
