"""Which training tasks share a job.

A task is one method on one representation of one dataset. Starting Python with its libraries takes
longer than many a task, so the methods whose fits are quick share the job of their representation;
each of the others has one of its own, so that cores stay busy.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from textbaselines.experiments.study import Study

QUICK = frozenset({"mnb", "bnb", "cnb", "lm", "svm", "nbsvm", "lr", "gnb"})
"""Families whose fits take about as long as some passes over the non-zeros."""

RULE = "train_methods_"
"""How the names of the workflow's training rules begin."""

TRAINED_FROM = (
    "read_corpus",
    "draw_folds",
    "tokenise_corpus",
    "count_ngrams",
    "fit_vocabularies",
    "reduce_features",
)
"""The workflow's rules that make what the tasks of a dataset are trained from."""


@dataclass(frozen=True)
class TrainingJob:
    """Tasks that one process trains, for each of some datasets.

    Attributes
    ----------
    rule : str
        The workflow's name for it.
    representation : str
    methods, datasets : tuple of str
        In the study's order.
    """

    rule: str
    representation: str
    methods: tuple[str, ...]
    datasets: tuple[str, ...]


def training_jobs(study: Study) -> list[TrainingJob]:
    """Return the training jobs of a study; each of its tasks is in one of them."""
    datasets: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for dataset in study.datasets:
        for representation, methods in _jobs_of(study, dataset):
            datasets.setdefault((representation, methods), []).append(dataset)
    jobs: list[TrainingJob] = []
    for (representation, methods), some in datasets.items():
        words = [representation, *(methods if len(methods) == 1 else ())]
        stem = rule = RULE + re.sub(r"\W", "_", "_".join(words))
        taken = {job.rule for job in jobs}
        number = 1
        while rule in taken:
            number += 1
            rule = f"{stem}_{number}"
        jobs.append(TrainingJob(rule, representation, methods, tuple(some)))
    return jobs


def _jobs_of(study: Study, dataset: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    quick: dict[str, list[str]] = {}
    alone = []
    for run_dataset, representation, method in study.runs():
        if run_dataset != dataset:
            continue
        if study.methods[method].family in QUICK:
            quick.setdefault(representation, []).append(method)
        else:
            alone.append((representation, (method,)))
    for representation, methods in quick.items():
        yield representation, tuple(methods)
    yield from alone


def grouped_tasks(study: Study, dataset: str) -> dict[str, list[dict[str, Any]]]:
    """Return, by representation, what is trained on grouped folds: the fixed points alone."""
    tasks: dict[str, list[dict[str, Any]]] = {}
    for run_dataset, representation, method in study.runs():
        fixed = [point for point in study.methods[method].points if "fixed" in point.origin]
        if run_dataset == dataset and fixed:
            task = task_of(study, dataset, representation, method)
            alone = {"points": [vars(point) for point in fixed], "chooses": False}
            tasks.setdefault(representation, []).append({**task, **alone})
    return tasks


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
