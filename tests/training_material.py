"""The files of a training job, made from token lists."""

import logging
from collections.abc import Iterator

import numpy as np
import pandas as pd

from textbaselines.study.folds import (
    Division,
    Protocol,
    divisions,
    draw_folds,
    draw_inner_folds,
)
from textbaselines.study.tasks import Task
from textbaselines.text.counts import Counts, count_ngrams
from textbaselines.text.tokens import Tokens, encode
from textbaselines.text.vocabulary import fit_vocabulary
from textbaselines.training.train import Trained, train

LOG = logging.getLogger("test")


def some_text(n: int, seed: int) -> list[list[str]]:
    """n documents whose odd ones lean to other words than the even ones."""
    draw = np.random.default_rng(seed)
    words = [f"w{number}" for number in range(30)]
    lean = np.linspace(1, 3, 30)
    chances = [lean / lean.sum(), lean[::-1] / lean.sum()]
    return [
        draw.choice(words, size=draw.integers(3, 12), p=chances[row % 2]).tolist()
        for row in range(n)
    ]


class Material:
    """The files of a training job, made from token lists."""

    def __init__(self, lists: list[list[str]], policy: str = "unk", min_count: int = 2) -> None:
        n = len(lists)
        self.ids = [f"d{row}" for row in range(n)]
        self.labels = pd.Series(["neg", "pos"] * (n // 2), index=self.ids)
        self.frame = pd.DataFrame(
            {"id": self.ids, "label": self.labels.to_numpy(), "split": "", "group": self.ids}
        )
        self.ratings = np.full(n, np.nan)
        protocol = Protocol("cv", 5, inner=3)
        self.folds = draw_folds(self.frame, protocol, "d")
        self.inner_folds = draw_inner_folds(self.frame, self.folds, protocol, "d")
        self.tokens: Tokens = encode(self.ids, lists)
        self.counts: Counts = count_ngrams(self.tokens, 1, 2)
        self.vocabularies = {
            d.key: fit_vocabulary(self.tokens, d.training, policy, min_count)
            for d in self.divisions()
        }

    def divisions(self) -> list[Division]:
        return list(divisions(self.folds, self.ids, self.inner_folds))

    def corpus(self) -> pd.DataFrame:
        labels = self.labels
        return pd.DataFrame(
            {"id": labels.index, "label": labels.to_numpy(), "rating": self.ratings[: len(labels)]}
        )

    def train(self, *of_task, **more):
        """Train a task, given as for :meth:`task`, alone."""
        task = self.task(*of_task, **more)
        (trained,) = self.train_all([task])
        return task, trained.results

    def task(
        self,
        family: str,
        points: list[dict],
        weighting: str = "binary",
        reduction=None,
        chooses: bool = False,
        origin: str = "fixed",
        scope: str = "training",
    ) -> Task:
        named = [
            {"point": f"p{number}", "params": params, "origin": [origin]}
            for number, params in enumerate(points)
        ]
        return Task(
            "d",
            "bi",
            "M",
            family,
            ["pos", "neg"],
            weighting,
            scope,
            reduction,
            named,
            chooses,
            {"k": "v", "protocol": {"inner": 3}},
        )

    def train_all(self, tasks: list[Task]) -> Iterator[Trained]:
        return train(
            tasks,
            self.counts,
            self.vocabularies,
            self.folds,
            self.inner_folds,
            self.corpus(),
            1,
            LOG,
        )
