"""Which training tasks share a job.

A task is one method on one representation of one dataset. A batch is what one job trains: tasks of
one dataset, with all grid points. The start of Python with its libraries takes longer than many a
task, and tasks on the same counts share the features of every fold, so that large batches are
cheaper; small ones keep more cores busy. A study with much work has batches of up to
:data:`LONGEST` seconds by estimate; one with less is cut into about :data:`SHARES` batches, none
of them below :data:`SHORTEST` seconds but for a dataset's last. The cut depends on the study alone,
never on the cores at hand.
"""

from collections.abc import Iterator

from textbaselines.core.storage import short_digest
from textbaselines.study.definition import Study
from textbaselines.study.estimates import (
    TASK_SECONDS,
    divisions_of,
    fit_seconds,
    preparation_seconds,
    stated_size,
)
from textbaselines.study.plan import Plan

Task = tuple[str, str]
"""Representation and method of a training task."""

SHARES = 16
"""Into so many batches a study is cut while they stay between the shortest and the longest."""

SHORTEST = 4.0
"""Seconds of a batch by estimate: some four times the start of a job."""

LONGEST = 30.0
"""Seconds of a batch by estimate; a task that takes longer is a batch of its own."""

STEPS = (SHORTEST, 6.0, 9.0, 13.0, 20.0, LONGEST)
"""The lengths that a batch is aimed at: a grid that grows a little moves no cut."""


def batches_of(study: Study) -> dict[str, dict[str, tuple[Task, ...]]]:
    """Return the batches of each dataset by their names; each task of the study is in one.

    The name has the first task's representation and a digest of all tasks: it says which tasks a
    batch has, whatever their grids.
    """
    seconds = {dataset: list(_seconds(study, dataset)) for dataset in study.datasets}
    total = sum(map(_length, seconds.values()))
    length = max(step for step in STEPS if step <= max(total / SHARES, SHORTEST))
    batches: dict[str, dict[str, tuple[Task, ...]]] = {}
    for dataset, found in seconds.items():
        named = batches.setdefault(dataset, {})
        for tasks in _cut(found, length):
            named[f"{tasks[0][0]}-{short_digest(tasks, 8)}"] = tasks
    return batches


Estimated = tuple[Task, tuple[str, ...], float, float]
"""A task, what its features are made of, the seconds of its fits, and of its features."""


def _seconds(study: Study, dataset: str) -> Iterator[Estimated]:
    """Yield the tasks of a dataset with estimates, those on the same features together."""
    # As the files of the study and the dataset say, whatever was run before.
    size = stated_size(study, dataset)
    divisions = divisions_of(study.protocol(dataset))
    groups: dict[tuple[str, ...], list[Estimated]] = {}
    for name, method in study.runs_of(dataset):
        representation = study.representations[name]
        files = files_of(study, name)
        inner = study.protocol(dataset).inner if study.chooses(dataset, method) else 0
        grid = [point.params for point in study.methods[method].points]
        fits = fit_seconds(study, (dataset, name, method), grid, inner, size)
        shared = preparation_seconds(representation, divisions, inner, size)
        groups.setdefault(files, []).append(((name, method), files, fits + TASK_SECONDS, shared))
    for group in groups.values():
        yield from group


def files_of(study: Study, representation: str) -> tuple[str, ...]:
    """Return what features are made of: tasks with the same files share a fold's features."""
    one = study.representations[representation]
    files = one.counts, one.vocabulary
    # Reduced coordinates are a file of their own.
    return files if one.reduction is None else (*files, one.reduced, representation)


def _shared(found: list[Estimated]) -> Iterator[float]:
    most: dict[tuple[str, ...], float] = {}
    for _, files, _, shared in found:
        most[files] = max(most.get(files, 0.0), shared)
    yield from most.values()


def _cut(found: list[Estimated], length: float) -> Iterator[tuple[Task, ...]]:
    """Cut tasks into batches of about a length, where the next task would exceed it."""
    together: list[Estimated] = []
    for one in found:
        if together and _length([*together, one]) > length:
            yield tuple(task for task, *_ in together)
            together = []
        together.append(one)
    if together:
        yield tuple(task for task, *_ in together)


def _length(tasks: list[Estimated]) -> float:
    return sum(fits for _, _, fits, _ in tasks) + sum(_shared(tasks))


def plan_of(study: Study, command: str = "snakemake --cores all") -> Plan:
    """Return the plan of a study.

    Parameters
    ----------
    study : Study
    command : str
        What runs it, for its description.
    """
    curves = study.config["learning_curves"]
    batches = batches_of(study)
    return Plan(
        {
            "study": study.name,
            "ties": study.config["protocol"]["ties"],
            "description": {**study.description(), "command": command},
            "methods": {
                name: {
                    "family": method.family,
                    "points": [vars(point) for point in method.points],
                }
                for name, method in study.methods.items()
            },
            "representations": {
                name: {
                    **{key: value for key, value in vars(one).items() if key != "datasets"},
                    "counts": one.counts,
                    "vocabularies": one.vocabulary,
                    "reduced": None if one.reduction is None else one.reduced,
                    "files": list(files_of(study, name)),
                }
                for name, one in study.representations.items()
            },
            "datasets": {
                name: {
                    "classes": dataset.classes,
                    "protocol": vars(study.protocol(name)),
                    "max_documents": study.config["max_documents"],
                    "tokenizers": {
                        tokenizer: study.tokenizer(tokenizer, name)
                        for tokenizer in study.config["tokenizers"]
                    },
                    "chooses": [method for method in study.methods if study.chooses(name, method)],
                    "runs": [list(run) for run in study.runs_of(name)],
                    "batches": {
                        batch: [list(task) for task in tasks]
                        for batch, tasks in batches[name].items()
                    },
                    "curves": {
                        representation: study.curve_methods(name, representation)
                        for of, representation in study.curve_runs()
                        if of == name
                    },
                }
                for name, dataset in study.datasets.items()
            },
            "models": [
                *([dataset, "best"] for dataset in study.datasets_with_best()),
                *(list(run) for run in study.kept_models()),
            ],
            "fractions": None if curves is None else curves["fractions"],
        }
    )
