"""Which counts and vocabularies share a job: those of a dataset that rest on the same tokens.

Each takes less time than the start of Python, so one job makes them all.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from textbaselines.experiments.study import Representation, Study

RULE = "count_ngrams_"
"""How the names of the workflow's counting rules begin."""


@dataclass(frozen=True)
class CountingJob:
    """Counts and vocabularies that one process makes, for each of some datasets.

    Attributes
    ----------
    rule : str
        The workflow's name for it.
    tokenizer : str
    counts, vocabularies : tuple of Representation
        One representation for each of them: others that have the same differ later.
    datasets : tuple of str
        In the study's order.
    """

    rule: str
    tokenizer: str
    counts: tuple[Representation, ...]
    vocabularies: tuple[Representation, ...]
    datasets: tuple[str, ...]


def counting_jobs(study: Study) -> list[CountingJob]:
    """Return the counting jobs of a study; every run's counts and vocabularies are in one."""
    datasets: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for dataset in study.datasets:
        names = dict.fromkeys(name for name, _ in study.runs_of(dataset))
        by_tokenizer: dict[str, list[str]] = {}
        for name in names:
            by_tokenizer.setdefault(study.representations[name].tokenizer, []).append(name)
        for tokenizer, mine in by_tokenizer.items():
            datasets.setdefault((tokenizer, tuple(mine)), []).append(dataset)
    jobs: list[CountingJob] = []
    for (tokenizer, representing), some in datasets.items():
        rule = rule_name(RULE, [tokenizer], {job.rule for job in jobs})
        counts: dict[str, Representation] = {}
        vocabularies: dict[str, Representation] = {}
        for name in representing:
            one = study.representations[name]
            counts.setdefault(one.counts, one)
            vocabularies.setdefault(one.vocabulary, one)
        jobs.append(
            CountingJob(
                *(rule, tokenizer),
                tuple(counts.values()),
                tuple(vocabularies.values()),
                tuple(some),
            )
        )
    return jobs


def counting_of(job: CountingJob, study: Study, dataset: str) -> dict[str, Any]:
    """Return what a counting job does for a dataset, by the names of what it makes."""
    return {
        "tokenizer": study.tokenizer(job.tokenizer, dataset),
        "counts": {one.counts: [one.lowest, one.highest] for one in job.counts},
        "vocabularies": {one.vocabulary: [one.policy, one.min_count] for one in job.vocabularies},
    }


def rule_name(prefix: str, words: Iterable[str], taken: Collection[str]) -> str:
    """Return a name for a rule of Snakemake, of letters, digits and underscores, not yet taken."""
    stem = rule = prefix + re.sub(r"\W", "_", "_".join(words))
    number = 1
    while rule in taken:
        number += 1
        rule = f"{stem}_{number}"
    return rule
