"""Which training tasks share a job.

A task is one method on one representation of one dataset. Starting Python with its libraries takes
longer than many a task, so the methods whose fits are quick share a job, with all representations
that rest on the same counts and vocabularies, and in it what they have in common is worked out
once; each of the others has a job of its own, so that cores stay busy.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from textbaselines.experiments.counting_jobs import RULE as COUNTING_RULE
from textbaselines.experiments.counting_jobs import rule_name
from textbaselines.experiments.selection import candidates
from textbaselines.experiments.study import Study

QUICK = frozenset({"mnb", "bnb", "cnb", "lm", "svm", "nbsvm", "lr", "gnb"})
"""Families whose fits take about as long as some passes over the non-zeros."""

RULE = "train_methods_"
"""How the names of the workflow's training rules begin."""

TRAINED_FROM = ("read_corpus", "draw_folds", "tokenise_corpus", COUNTING_RULE, "reduce_features")
"""How the names of the workflow's rules begin that make what a dataset's tasks are trained from."""


@dataclass(frozen=True)
class TrainingJob:
    """Tasks that one process trains, for each of some datasets.

    Attributes
    ----------
    rule : str
        The workflow's name for it.
    tasks : tuple of (representation, method)
        In the study's order. Their representations rest on the same counts and vocabularies.
    datasets : tuple of str
        In the study's order.
    """

    rule: str
    tasks: tuple[tuple[str, str], ...]
    datasets: tuple[str, ...]

    @property
    def representation(self) -> str:
        """One of its representations: they are made of the same files."""
        return self.tasks[0][0]


def training_jobs(study: Study) -> list[TrainingJob]:
    """Return the training jobs of a study; each of its tasks is in one of them."""
    datasets: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for dataset in study.datasets:
        for tasks in _jobs_of(study, dataset):
            datasets.setdefault(tasks, []).append(dataset)
    jobs: list[TrainingJob] = []
    for tasks, some in datasets.items():
        words = list(dict.fromkeys(representation for representation, _ in tasks))
        if len(tasks) == 1:
            words.append(tasks[0][1])
        rule = rule_name(RULE, words, {job.rule for job in jobs})
        jobs.append(TrainingJob(rule, tasks, tuple(some)))
    return jobs


def _jobs_of(study: Study, dataset: str) -> Iterator[tuple[tuple[str, str], ...]]:
    quick: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    alone = []
    for run_dataset, name, method in study.runs():
        if run_dataset != dataset:
            continue
        if study.methods[method].family in QUICK:
            representation = study.representations[name]
            files = representation.counts, representation.vocabulary
            # Reduced coordinates are a file of their own, which few methods share.
            key = files if representation.reduction is None else (*files, name)
            quick.setdefault(key, []).append((name, method))
        else:
            alone.append(((name, method),))
    yield from map(tuple, quick.values())
    yield from alone


def grouped_tasks(study: Study, dataset: str) -> list[list[dict[str, Any]]]:
    """Return what is trained on grouped folds, tasks on the same counts together.

    All points where inner folds choose among them, else the fixed one, and an only candidate; a
    task with neither is left out.
    """
    tasks: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for run_dataset, name, method in study.runs():
        if run_dataset != dataset:
            continue
        task = task_of(study, dataset, name, method)
        if not task["chooses"]:
            names = candidates(task["points"])
            only = names if len(names) == 1 else []
            task["points"] = [
                point
                for point in task["points"]
                if "fixed" in point["origin"] or point["point"] in only
            ]
        if not task["points"]:
            continue
        representation = study.representations[name]
        key = representation.counts, representation.vocabulary
        tasks.setdefault(key, []).append(task)
    return list(tasks.values())


def task_of(study: Study, dataset: str, representation: str, method: str) -> dict[str, Any]:
    """Return what a training task does: the fields of :class:`~.training.Task`."""
    features, chosen = study.representations[representation], study.methods[method]
    return {
        "dataset": dataset,
        "representation": representation,
        "method": method,
        "family": chosen.family,
        "classes": study.datasets[dataset].classes,
        "weighting": features.weighting,
        "scope": features.scope,
        "reduction": features.reduction,
        "points": [vars(point) for point in chosen.points],
        "chooses": study.chooses(dataset, method),
        "details": {
            "protocol": vars(study.protocol(dataset)),
            "tokenizer": study.tokenizer(features.tokenizer, dataset),
            "ngrams": [features.lowest, features.highest],
            "unk": {"policy": features.policy, "min_count": features.min_count},
        },
    }
