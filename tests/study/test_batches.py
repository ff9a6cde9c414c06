"""Which training tasks share a batch, and what a plan says of it, of a real study file."""

from pathlib import Path

import pytest

from textbaselines.core.errors import UserError
from textbaselines.study.batches import LONGEST, SHARES, SHORTEST, plan_of
from textbaselines.study.definition import Study, read_study
from textbaselines.study.plan import Plan
from textbaselines.study.tasks import Task

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
  SVM: {family: svm}
  Some: {family: bnb, representations: [mine]}
protocol: {cv: {folds: 3}}
"""


def study_of(tmp_path: Path, text: str = STUDY, **config) -> Study:
    file = tmp_path / "jobs.yaml"
    file.write_text(text, encoding="utf-8")
    return read_study([file], config, ROOT, ROOT / "workflow" / "schemas")


def test_little_work_is_one_batch_of_each_dataset(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    plan = plan_of(study)
    (batch,) = plan.batches("hg-nyt")
    # mine rests on the counts and vocabularies of a-b, and shares its features.
    uni = [("a-b", "NB"), ("a-b", "SVM"), ("mine", "NB"), ("mine", "SVM"), ("mine", "Some")]
    bi = [("a_b", "NB"), ("a_b", "SVM")]
    assert plan.batches("hg-nyt")[batch] == [*uni, *bi]
    parts = plan.batch("hg-nyt", batch)
    assert [(part.counts, part.vocabularies, len(part.tasks)) for part in parts] == [
        ("words/1-1", "words/drop-1", 5),
        ("words/1-2", "words/drop-1", 2),
    ]


@pytest.mark.parametrize("datasets", [["rt-s"], ["imdb"], None])
def test_one_dataset_is_cut_for_many_cores_and_many_have_large_batches(
    tmp_path: Path, datasets
) -> None:
    """The survey of one dataset and of all; every task is in one batch."""
    text = (ROOT / "config" / "survey.yaml").read_text(encoding="utf-8")
    study = study_of(tmp_path, text, **({} if datasets is None else {"datasets": datasets}))
    plan = plan_of(study)
    tasks = [
        (dataset, *task)
        for dataset in study.datasets
        for batch in plan.batches(dataset).values()
        for task in batch
    ]
    assert sorted(tasks) == sorted(study.runs())
    assert len(set(tasks)) == len(tasks)
    sizes = {dataset: len(plan.batches(dataset)) for dataset in study.datasets}
    if datasets is not None:
        assert 8 <= sizes[datasets[0]] <= 2 * SHARES
    else:
        assert sizes["athr"] == sizes["cr"] == 1
        assert sum(sizes.values()) < len(tasks) / 5
    assert SHORTEST < LONGEST


def test_a_changed_grid_changes_the_digest_of_its_own_batch_alone(tmp_path: Path) -> None:
    text = (ROOT / "config" / "survey.yaml").read_text(encoding="utf-8")
    before = plan_of(study_of(tmp_path, text, datasets=["rt-s"]))
    changed = text.replace("grid: {mu: [100, 500, 2000]}", "grid: {mu: [100, 500, 2001]}")
    after = plan_of(study_of(tmp_path, changed, datasets=["rt-s"]))
    assert before.batches("rt-s") == after.batches("rt-s")
    differing = [
        batch
        for batch in before.batches("rt-s")
        if before.batch_digest("rt-s", batch) != after.batch_digest("rt-s", batch)
    ]
    assert differing == [
        batch
        for batch, tasks in before.batches("rt-s").items()
        if any(method == "LM-Dirichlet" for _, method in tasks)
    ]


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    study = study_of(tmp_path)
    plan = plan_of(study)
    path = plan.write(tmp_path)
    again = Plan.read(path)
    assert plan.write(tmp_path) == path
    for dataset in study.datasets:
        assert again.batches(dataset) == plan.batches(dataset)
        assert again.grouped_runs(dataset) == plan.grouped_runs(dataset)
        for batch in plan.batches(dataset):
            assert again.batch_digest(dataset, batch) == plan.batch_digest(dataset, batch)
            for part in again.batch(dataset, batch):
                assert [Task(**fields).dataset for fields in part.tasks]
    with pytest.raises(UserError, match="no such batch"):
        again.batch("hg-nyt", "another")


def test_names_that_join_alike_share_no_file(tmp_path: Path) -> None:
    """Tokenizers a-1 and a: their counts are of different paths."""
    text = STUDY.replace("words: {family", "a: {family: words}, a-1: {family")
    text = text.replace("tokenizer: words, ngrams: [1, 1]", "tokenizer: a-1, ngrams: [1, 2]")
    study = study_of(
        tmp_path, text.replace("{<<: *one, ngrams: [1, 2]}", "{<<: *one, tokenizer: a}")
    )
    names = {one.counts for one in study.representations.values()}
    assert names == {"a-1/1-2", "a/1-2"}


def test_rows_that_readers_cannot_tell_apart_are_refused(tmp_path: Path) -> None:
    text = STUDY.replace("a_b:", "b:").replace("  NB:", "  NB-a: {family: mnb}\n  NB:")
    with pytest.raises(UserError, match="same name") as error:
        study_of(tmp_path, text)
    assert "NB-a-b" in str(error.value)
