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
    study = read_study([file], {}, ROOT)
    jobs = training_jobs(study)
    both = ("hg-movie", "hg-nyt")
    uni, bi = (("a-b", "NB"), ("a-b", "SVM")), (("a_b", "NB"), ("a_b", "SVM"))
    # mine rests on the counts and vocabularies of a-b.
    more = (*uni, ("mine", "NB"), ("mine", "SVM"), ("mine", "Some"))
    assert [(job.rule, job.parts, job.datasets) for job in jobs] == [
        (f"{RULE}a_b_a_b", (uni, bi), ("hg-movie",)),
        (f"{RULE}a_b_Kernel", ((("a-b", "Kernel"),),), both),
        (f"{RULE}a_b_mine_a_b", (more, bi), ("hg-nyt",)),
    ]
    tasks = [(dataset, *task) for job in jobs for dataset in job.datasets for task in job.tasks]
    assert sorted(tasks) == sorted(study.runs())


def test_counts_share_a_job_as_long_as_it_takes_thirty_seconds(tmp_path: Path) -> None:
    """By estimate: hg-nyt, of 2,970 documents of 18 tokens, and rt-2k, of 2,000 of 746."""
    file = tmp_path / "jobs.yaml"
    text = STUDY.replace("datasets: [hg-movie, hg-nyt]", "datasets: [hg-nyt, rt-2k]")
    text = text.replace("cv: {folds: 3}", "cv: {folds: 10, repeats: 10}")
    file.write_text(text.replace("SVM: {family: svm}", "SVM: {family: svm, grid: default}"))
    study = read_study([file], {}, ROOT)
    parts = {
        dataset: [
            [part[0][0] for part in job.parts]
            for job in training_jobs(study)
            if dataset in job.datasets and "Kernel" not in job.rule
        ]
        for dataset in study.datasets
    }
    # SVM: 100 x 6 fits x 0.034 us x 1,800 x 746 or 2,673 x 18 terms, for bigrams twice as many.
    assert parts == {"hg-nyt": [["a-b", "a_b"]], "rt-2k": [["a-b"], ["a_b"]]}
