"""Estimates of what training takes, before it runs: rates of time, and sizes of datasets."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textbaselines.datasets.catalog import Dataset
from textbaselines.models.registry import METHODS
from textbaselines.study.definition import Representation, Study
from textbaselines.study.folds import Protocol

Run = tuple[str, str, str]
"""Dataset, representation and method of a training task."""

STATED_RATES: Mapping[str, tuple[str, float]] = {
    name: (family.rate.unit, family.rate.microseconds) for name, family in METHODS.items()
}
"""Unit, and microseconds of one fit, with its predictions, per unit of its training documents; see
:class:`textbaselines.models.family.Rate`.

All seconds of a family divided by all its units, over outer and inner fits of config/survey.yaml
(docs/survey.md). With them 78 % of its 261 tasks took between a third and three times their
estimate, and all together 0.88 times; of the 171 tasks of config/wang_manning.yaml, which had no
part in them, 85 %, and all together 0.94 times. ``gpr`` was not among them and has the rate of
``gp``, ``linreg``, but on tf-idf, that of ``ridge``."""

TFIDF_RATES: Mapping[str, float] = {
    name: rate
    for name, family in METHODS.items()
    if (rate := family.rate.tfidf_microseconds) is not None
}
"""The microseconds on tf-idf, whose rows of length 1 take solvers fewer steps."""

START_SECONDS = 1.0
"""Of any job: Python and imports. From the run of docs/performance.md, as are the text's."""

TASK_SECONDS = 0.1
"""Of a training task besides. From the runs of the rates, as are the next two."""

PREPARE_SECONDS = 0.03
"""Of a training task, per million n-grams of the documents of each division: its features."""

REDUCE_SECONDS = 0.1
"""The same with a reduction."""

TOKENS_PER_DOCUMENT = 100.0
"""Assumed of a dataset that is not read yet and whose file does not say it."""


@dataclass(frozen=True)
class Size:
    """How much a dataset has: documents that are used, of which one division trains on some.

    ``tokens`` is the mean number per document; ``assumed`` says that it is not known yet.
    """

    documents: int
    training: int
    tokens: float
    assumed: bool


def stated_size(study: Study, dataset: str, audit: Mapping[str, Any] | None = None) -> Size:
    """Return how much a dataset has: from its audit if it is read, else as its file states."""
    protocol = study.protocol(dataset)
    most = study.file.max_documents
    stated = study.datasets[dataset]
    tokens = stated.expected.tokens if audit is None else float(audit["length"]["tokens"]["mean"])
    parts = _parts(stated, protocol, audit)
    used = {
        split: sum(min(count, most) if most else count for count in classes.values())
        for split, classes in parts.items()
    }
    documents = sum(used.values())
    if protocol.kind == "split":
        training = used.get("train", documents // 2)
    elif protocol.kind == "halves":
        training = documents // 2
    else:
        training = documents - documents // protocol.folds
    assumed = tokens is None
    return Size(documents, training, TOKENS_PER_DOCUMENT if tokens is None else tokens, assumed)


def _parts(
    dataset: Dataset, protocol: Protocol, audit: Mapping[str, Any] | None
) -> dict[str, dict[str, int]]:
    # A sample is drawn of each class, and of each split where there is one.
    if protocol.kind != "split":
        return {"all": dict(dataset.expected.documents)}
    if audit is not None and (found := audit.get("documents_by_split")):
        return dict(found)
    half = {name: count // 2 for name, count in dataset.expected.documents.items()}
    return {"train": half, "test": half}


def task_seconds(
    study: Study,
    task: Run,
    grid: Sequence[Mapping[str, Any]],
    inner: int,
    size: Size,
    *,
    rate: float | None = None,
    in_job: int = 1,
    on_counts: int = 1,
) -> float:
    """Return what a training task takes on one core.

    Parameters
    ----------
    grid : sequence of mappings
        All parameters of each grid point.
    inner : int
        Inner folds on which they are fitted, too.
    size : Size
        Of the dataset.
    rate : float, optional
        Seconds of a fit per unit of :data:`STATED_RATES`; that stated there by default.
    in_job, on_counts : int
        How many tasks share its job, and in it its counts: what they have in common is divided.
    """
    features = study.representations[task[1]]
    seconds = fit_seconds(study, task, grid, inner, size, rate=rate)
    seconds += TASK_SECONDS + START_SECONDS / in_job
    divisions = divisions_of(study.protocol(task[0]))
    return seconds + preparation_seconds(features, divisions, inner, size) / on_counts


def fit_seconds(
    study: Study,
    task: Run,
    grid: Sequence[Mapping[str, Any]],
    inner: int,
    size: Size,
    *,
    rate: float | None = None,
) -> float:
    """Return what the fits of a training task take on one core; parameters as task_seconds."""
    dataset, representation, method = task
    family, features = study.methods[method].family, study.representations[representation]
    if rate is None:
        rate = stated_rate(family, features.weighting)
    width = _width(features, size.tokens)
    return (rate * divisions_of(study.protocol(dataset))) * sum(
        units(family, size.training, width, params)
        + inner * units(family, inner_training(size, inner), width, params)
        for params in grid
    )


def preparation_seconds(
    representation: Representation, divisions: int, inner: int, size: Size
) -> float:
    """Return what the features of all divisions and of their inner folds take on one core."""
    tokens = divisions * (size.documents + inner * size.training) * size.tokens
    seconds = PREPARE_SECONDS if representation.reduction is None else REDUCE_SECONDS
    return seconds * 1e-6 * tokens * (representation.highest - representation.lowest + 1)


def stated_rate(family: str, weighting: str) -> float:
    """Return the stated seconds of a fit per unit, on features of a weighting."""
    rate = STATED_RATES[family][1]
    return 1e-6 * (TFIDF_RATES.get(family, rate) if weighting == "tfidf" else rate)


def inner_training(size: Size, inner: int) -> int:
    """Return how many documents train on an inner fold; 0 without inner folds."""
    return size.training * (inner - 1) // inner if inner else 0


def divisions_of(protocol: Protocol) -> int:
    """Return how many (repeat, fold) pairs a protocol has."""
    return protocol.repeats * (protocol.folds if protocol.kind == "cv" else 1)


def _width(representation: Representation, tokens: float) -> float:
    """Return how many terms, or coordinates, a document has."""
    if representation.reduction is not None:
        return float(representation.reduction["rank"])
    return tokens * (representation.highest - representation.lowest + 1)


def units(family: str, documents: int, width: float, params: Mapping[str, Any]) -> float:
    """Return the units of :data:`STATED_RATES` that a fit has.

    ``width``: terms, or coordinates, of a document; ``params``: all parameters of the grid point.
    """
    match STATED_RATES[family][0]:
        case "terms":
            return documents * width
        case "steps":
            return documents * width * math.sqrt(documents)
        case "squares":
            return float(documents) ** 2
        case "hidden":
            return float(documents * params["draws"] * (params["hidden"] / 500) ** 2)
        case "points":
            exact = params["approximation"] == "exact"
            points = documents if exact else min(params["points"], documents)
            return documents * (points / 1000) ** 2
        case _:
            return float(documents)
