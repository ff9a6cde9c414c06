"""Which counts and vocabularies share a job, of a real study file."""

from pathlib import Path

from textbaselines.experiments.counting_jobs import RULE, counting_jobs, counting_of
from textbaselines.experiments.study import read_study

ROOT = Path(__file__).parents[2]
STUDY = """
name: jobs
title: Jobs
datasets: [hg-movie, hg-nyt]
tokenizers:
  a-b: {family: words}
  a_b: {family: words}
representations:
  uni: &one {tokenizer: a-b, ngrams: [1, 1], weighting: binary, unk: {policy: drop}}
  uni-tfidf: {<<: *one, weighting: tfidf}
  bi: {<<: *one, ngrams: [1, 2]}
  unk: {<<: *one, unk: {policy: unk, min_count: 3}}
  other: {<<: *one, tokenizer: a_b}
  mine: {<<: *one, ngrams: [2, 3], datasets: [hg-nyt]}
methods:
  NB: {family: mnb}
  SVM: {family: svm, representations: [uni]}
protocol: {cv: {folds: 3}}
"""


def test_one_job_makes_all_that_rests_on_the_same_tokens(tmp_path: Path) -> None:
    file = tmp_path / "jobs.yaml"
    file.write_text(STUDY, encoding="utf-8")
    study = read_study([file], {}, ROOT)
    jobs = counting_jobs(study)
    drop, unk = "a-b-drop-1", "a-b-unk-3"
    found = [
        (
            *(job.rule, job.tokenizer),
            [one.counts for one in job.counts],
            [one.vocabulary for one in job.vocabularies],
            job.datasets,
        )
        for job in jobs
    ]
    orders = ["a-b-1-1", "a-b-1-2"]
    assert found == [
        (f"{RULE}a_b", "a-b", orders, [drop, unk], ("hg-movie",)),
        (f"{RULE}a_b_2", "a_b", ["a_b-1-1"], ["a_b-drop-1"], ("hg-movie", "hg-nyt")),
        (f"{RULE}a_b_3", "a-b", [*orders, "a-b-2-3"], [drop, unk], ("hg-nyt",)),
    ]
    assert counting_of(jobs[2], study, "hg-nyt") == {
        "tokenizer": study.tokenizer("a-b", "hg-nyt"),
        "counts": {"a-b-1-1": [1, 1], "a-b-1-2": [1, 2], "a-b-2-3": [2, 3]},
        "vocabularies": {drop: ["drop", 1], unk: ["unk", 3]},
    }
