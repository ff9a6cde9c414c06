"""Which training tasks share a job.

A task is one method on one representation of one dataset. Starting Python with its libraries takes
longer than many a task, so the methods whose fits are quick share a job, with all representations
that rest on the same counts and vocabularies, and in it what they have in common is worked out
once; small datasets have several counts in a job. Each of the other methods has a job of its own,
so that cores stay busy.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from textbaselines.experiments.counting_jobs import RULE as COUNTING_RULE
from textbaselines.experiments.counting_jobs import rule_name
from textbaselines.experiments.estimates import START_SECONDS, Size, stated_size, task_seconds
from textbaselines.experiments.selection import candidates
from textbaselines.experiments.study import Study

QUICK = frozenset({"mnb", "bnb", "cnb", "lm", "svm", "nbsvm", "lr", "gnb"})
"""Families whose fits take about as long as some passes over the non-zeros."""

JOB_SECONDS = 30.0
"""Quick methods on several counts share a job as long as it takes no more, by estimate."""

Part = tuple[tuple[str, str], ...]
"""Tasks of a dataset on the same counts: (representation, method)."""

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
    parts : tuple of tuples of (representation, method)
        In the study's order. The representations of a part rest on the same counts and
        vocabularies.
    datasets : tuple of str
        In the study's order.
    """

    rule: str
    parts: tuple[Part, ...]
    datasets: tuple[str, ...]

    @property
    def tasks(self) -> tuple[tuple[str, str], ...]:
        """All tasks, part by part."""
        return tuple(task for part in self.parts for task in part)


def training_jobs(study: Study) -> list[TrainingJob]:
    """Return the training jobs of a study; each of its tasks is in one of them."""
    datasets: dict[tuple[Part, ...], list[str]] = {}
    for dataset in study.datasets:
        for parts in _jobs_of(study, dataset):
            datasets.setdefault(parts, []).append(dataset)
    jobs: list[TrainingJob] = []
    for parts, some in datasets.items():
        tasks = [task for part in parts for task in part]
        words = list(dict.fromkeys(representation for representation, _ in tasks))
        if len(tasks) == 1:
            words.append(tasks[0][1])
        rule = rule_name(RULE, words, {job.rule for job in jobs})
        jobs.append(TrainingJob(rule, parts, tuple(some)))
    return jobs


def _jobs_of(study: Study, dataset: str) -> Iterator[tuple[Part, ...]]:
    quick: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    alone: list[Part] = []
    for task in study.runs_of(dataset):
        name, method = task
        if study.methods[method].family in QUICK:
            representation = study.representations[name]
            files = representation.counts, representation.vocabulary
            # Reduced coordinates are a file of their own, which few methods share.
            key = files if representation.reduction is None else (*files, name)
            quick.setdefault(key, []).append(task)
        else:
            alone.append((task,))
    # As the files of the study and the dataset say, whatever was run before.
    size = stated_size(study, dataset)
    together: list[Part] = []
    filled = 0.0
    for tasks in quick.values():
        seconds = sum(_seconds(study, dataset, task, size, len(tasks)) for task in tasks)
        if together and filled + seconds > JOB_SECONDS:
            yield tuple(together)
            together, filled = [], 0.0
        together.append(tuple(tasks))
        filled += seconds
    if together:
        yield tuple(together)
    for part in alone:
        yield (part,)


def _seconds(
    study: Study, dataset: str, task: tuple[str, str], size: Size, on_counts: int
) -> float:
    method = task[1]
    inner = study.protocol(dataset).inner if study.chooses(dataset, method) else 0
    grid = [point.params for point in study.methods[method].points]
    # Without the start, which is what a job saves.
    return (
        task_seconds(study, (dataset, *task), grid, inner, size, on_counts=on_counts)
        - START_SECONDS
    )


def grouped_tasks(study: Study, dataset: str) -> list[list[dict[str, Any]]]:
    """Return what is trained on grouped folds, tasks on the same counts together.

    All points where inner folds choose among them, else the fixed one, and an only candidate; a
    task with neither is left out.
    """
    tasks: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for name, method in study.runs_of(dataset):
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
    """Return what a training task does: the fields of :class:`~.tasks.Task`."""
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
        "ties": study.file.protocol.ties,
    }
