"""The plan of a study: what every job does, in one file that jobs look their names up in.

Rules and jobs know a batch by its dataset and name. What that means, which tasks with which grid
points, stands in the plan: a command line would not hold it (Linux takes 128 KiB an argument). A
rule's parameter is the digest of its own part of the plan alone, so that a changed grid runs its
own batch again and no other. The file is no input of a rule: Snakemake does not look at the
parameters of jobs behind one that has to run. Here it is read; study.batches makes it, so
that training does not rest on the code that checks studies.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

from textbaselines.core import storage
from textbaselines.core.errors import UserError
from textbaselines.core.result_paths import Results
from textbaselines.evaluation.selection import candidates

Name = tuple[str, str]
"""Representation and method of a training task."""


@dataclass(frozen=True)
class Part:
    """Training tasks on the same counts and vocabularies.

    ``counts``, ``vocabularies`` and ``reduced`` are the names of what their features are made of;
    ``tasks`` have the fields of :class:`~textbaselines.study.tasks.Task`.
    """

    tokenizer: str
    counts: str
    vocabularies: str
    reduced: str | None
    policy: str
    min_count: int
    tasks: list[dict[str, Any]]


@dataclass(frozen=True)
class Plan:
    """What the jobs of a study do; ``content`` is plain data, as in the file."""

    content: dict[str, Any]

    @classmethod
    def read(cls, path: str | Path) -> "Plan":
        """Read the plan that :meth:`write` wrote."""
        return cls(storage.read_json(path))

    def path(self, results: str | Path) -> Path:
        """Return the file of the plan, named by its content.

        So a study that changes while it runs does not change what the running jobs read.
        """
        return Results(Path(results)).study(self.content["study"]).plan(self.digest())

    def write(self, results: str | Path) -> Path:
        """Write the plan as JSON, unless it is there, and return its file."""
        path = self.path(results)
        if not path.is_file():
            storage.write_text(path, storage.canonical_json(self.content) + "\n")
        return path

    def digest(self) -> str:
        """Return the digest of the whole plan."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        return storage.short_digest(self.content)

    def description_digest(self) -> str:
        """Return the digest of the study's description and of which run is in which batch."""
        of = self.content["datasets"]
        batches = {name: one["batches"] for name, one in of.items()}
        return storage.short_digest([self.content["description"], batches])

    def batches(self, dataset: str) -> dict[str, list[Name]]:
        """Return (representation, method) of the tasks of each batch of a dataset."""
        return self._batches[dataset]

    @cached_property
    def _batches(self) -> dict[str, dict[str, list[Name]]]:
        return {
            dataset: {
                name: [(task[0], task[1]) for task in tasks]
                for name, tasks in of["batches"].items()
            }
            for dataset, of in self.content["datasets"].items()
        }

    def task(self, dataset: str, representation: str, method: str) -> dict[str, Any]:
        """Return the fields of a training task, with all its grid points."""
        return self._task(dataset, representation, method, self._points[method])

    def batch(self, dataset: str, name: str) -> list[Part]:
        """Return what a training job does.

        Raises
        ------
        UserError
            When the plan has no batch of this name.
        """
        return self._parts(self.task(dataset, *run) for run in self._tasks(dataset, name))

    def batch_digest(self, dataset: str, name: str) -> str:
        """Return the digest of what a training job does."""
        # The points, of which there may be thousands, enter by the digest of their method's list.
        return storage.short_digest(
            [
                [
                    self._task(dataset, *run, []),
                    self.content["representations"][run[0]]["files"],
                    self._points_digests[run[1]],
                ]
                for run in self._tasks(dataset, name)
            ]
        )

    def grouped(self, dataset: str, name: str) -> list[Part]:
        """Return what a batch trains on grouped folds.

        All points where inner folds choose among them, else the fixed one, and an only candidate;
        a task with neither is left out.
        """
        return self._parts(
            task
            for run in self._tasks(dataset, name)
            if (task := self.grouped_task(dataset, *run))["points"]
        )

    def grouped_runs(self, dataset: str) -> list[Name]:
        """Return (representation, method) of what is trained on grouped folds.

        In the study's order, but those on the same counts and vocabularies together.
        """
        every = self.content["representations"]
        found: dict[tuple[str, str], list[Name]] = {}
        for representation, method in self.content["datasets"][dataset]["runs"]:
            if self.grouped_task(dataset, representation, method)["points"]:
                one = every[representation]
                key = one["counts"], one["vocabularies"]
                found.setdefault(key, []).append((representation, method))
        return [run for runs in found.values() for run in runs]

    def grouped_task(self, dataset: str, representation: str, method: str) -> dict[str, Any]:
        """Return what is trained of one task on grouped folds; it may have no points."""
        task = self.task(dataset, representation, method)
        if not task["chooses"]:
            names = candidates(task["points"])
            only = names if len(names) == 1 else []
            task["points"] = [
                point
                for point in task["points"]
                if "fixed" in point["origin"] or point["point"] in only
            ]
        return task

    def curve(self, dataset: str, representation: str) -> dict[str, Any]:
        """Return what a job of learning curves does: the fields of its task."""
        one = self.content["representations"][representation]
        of = self.content["datasets"][dataset]
        methods = []
        for name in of["curves"][representation]:
            (fixed,) = [point for point in self._points[name] if "fixed" in point["origin"]]
            family = self.content["methods"][name]["family"]
            methods.append({"name": name, "family": family, "params": fixed["params"]})
        wanted = ("weighting", "scope", "reduction", "policy", "min_count")
        return {
            "dataset": dataset,
            "representation": representation,
            "classes": of["classes"],
            **{key: one[key] for key in wanted},
            "methods": methods,
            "fractions": self.content["fractions"],
            "ties": self.content["ties"],
        }

    def _tasks(self, dataset: str, name: str) -> list[Name]:
        batches = self.batches(dataset)
        if name not in batches:
            raise UserError(
                "no such batch in the plan",
                where=f"study {self.content['study']}, dataset {dataset}",
                found=name,
                expected="one of " + ", ".join(batches),
            )
        return batches[name]

    @property
    def _points(self) -> Mapping[str, list[dict[str, Any]]]:
        return {name: method["points"] for name, method in self.content["methods"].items()}

    @cached_property
    def _points_digests(self) -> dict[str, str]:
        return {name: storage.short_digest(points) for name, points in self._points.items()}

    def _task(
        self, dataset: str, representation: str, method: str, points: list[dict[str, Any]]
    ) -> dict[str, Any]:
        one, of = self.content["representations"][representation], self.content["datasets"][dataset]
        return {
            "dataset": dataset,
            "representation": representation,
            "method": method,
            "family": self.content["methods"][method]["family"],
            "classes": of["classes"],
            "weighting": one["weighting"],
            "scope": one["scope"],
            "reduction": one["reduction"],
            "points": points,
            "chooses": method in of["chooses"],
            "details": {
                "protocol": of["protocol"],
                "tokenizer": of["tokenizers"][one["tokenizer"]],
                "ngrams": [one["lowest"], one["highest"]],
                "unk": {"policy": one["policy"], "min_count": one["min_count"]},
            },
            "ties": self.content["ties"],
        }

    def _parts(self, tasks: Iterable[dict[str, Any]]) -> list[Part]:
        every = self.content["representations"]
        parts = []
        for _, group in groupby(tasks, key=lambda task: every[task["representation"]]["files"]):
            mine = list(group)
            one = every[mine[0]["representation"]]
            wanted = ("tokenizer", "counts", "vocabularies", "reduced", "policy", "min_count")
            parts.append(Part(**{key: one[key] for key in wanted}, tasks=mine))
        return parts
