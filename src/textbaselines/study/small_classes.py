"""Classes with fewer documents than folds: which they are, and how much less they are tested."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import pandas as pd

from textbaselines.study.class_placement import NEVER_TEST
from textbaselines.study.folds import LEFT_OUT, Protocol, draw_folds, draw_inner_folds

SHOWN = 8
"""How many classes a message names."""


class SmallClass(NamedTuple):
    """A class with fewer documents than folds: it tests in ``folds`` of them, 0 for none."""

    label: str
    documents: int
    folds: int


def small_classes(documents: Mapping[str, int], folds: int) -> list[SmallClass]:
    """Return the classes that test in fewer folds than there are, the smallest first.

    ``documents``: the number of documents of each class; ``folds``: how many folds are asked for; 2
    for halves.
    """
    small = [
        SmallClass(label, count, count if count > 1 else 0)
        for label, count in documents.items()
        if count < folds
    ]
    return sorted(small, key=lambda one: one.documents)


def folds_of(protocol: Protocol) -> int:
    """Return into how many parts a protocol divides a class; 0 for an official split."""
    return {"cv": protocol.folds, "halves": 2}.get(protocol.kind, 0)


def inner_sizes(documents: Mapping[str, int], protocol: Protocol) -> dict[str, int]:
    """Return how many documents each class has at least in a training part, under cv or halves."""
    folds = folds_of(protocol)
    return {label: n - -(-n // folds) if n > 1 else n for label, n in documents.items()}


def caption(documents: Mapping[str, int], protocol: Protocol) -> str:
    """Return what a table's caption says of small classes; empty where there is none."""
    small = small_classes(documents, folds_of(protocol))
    if not small:
        return ""
    count = sum(one.documents for one in small)
    never = sum(one.documents for one in small if not one.folds)
    classes = f"{len(small)} small class{'es' if len(small) > 1 else ''}"
    if never == count:
        said = f"{_documents(count)} of {classes} never tested"
    else:
        said = f"{_documents(count)} of {classes} in fewer folds"
        said += f" ({never} never tested)" if never else ""
    return f", {'at least ' if protocol.grouped else ''}{said}"


def note(documents: Mapping[str, int], protocol: Protocol, dataset: str) -> str | None:
    """Return a line on the classes of a dataset that are tested less; None where there is none.

    ``documents``: the number of documents of each class.
    """
    folds = folds_of(protocol)
    parts = []
    if small := small_classes(documents, folds):
        what = f"the {folds} folds" if protocol.kind == "cv" else "the two halves"
        parts.append(f"{_classes(small)} fewer documents than {what}: {_listed(small, folds)}")
    if protocol.inner and folds:
        inner = small_classes(inner_sizes(documents, protocol), protocol.inner)
        if inner:
            parts.append(
                f"{_classes(inner)} fewer documents in a training part than the {protocol.inner} "
                f"inner folds: {_named(one.label for one in inner)}"
            )
    return f"dataset {dataset}: {'; '.join(parts)}" if parts else None


def check_documents(documents: Mapping[str, int], protocol: Protocol, dataset: str) -> None:
    """Raise the error of drawing folds for a dataset that is too small for them.

    ``documents``: the number of documents of each class, as the dataset file states them.

    Raises
    ------
    UserError
        As :func:`textbaselines.study.folds.draw_folds` and ``draw_inner_folds``.
    """
    if not folds_of(protocol) or max(documents.values()) > 3:
        return  # every training part has two documents of the largest class
    labels = [label for label, count in documents.items() for _ in range(count)]
    ids = [str(place) for place in range(len(labels))]
    stated = pd.DataFrame({"id": ids, "label": labels, "split": "", "group": ids})
    folds = draw_folds(stated, protocol, dataset)
    draw_inner_folds(stated, folds, protocol, dataset)


def lines_of_folds(
    corpus: pd.DataFrame, folds: pd.DataFrame, inner_folds: pd.DataFrame, protocol: Protocol
) -> list[str]:
    """Return what a log says of folds as they were drawn, from the documents themselves.

    ``folds`` and ``inner_folds``: as :func:`textbaselines.study.folds.draw_folds` and its
    inner twin returned them.
    """
    first = folds[folds["repeat"] == 0].merge(corpus[["id", "label", "group"]], on="id")
    first = first[first["fold"] != LEFT_OUT]
    unit = "group" if protocol.grouped else "id"
    lines = []
    if protocol.kind == "split":
        of_class = first.groupby("label")["fold"]
        for what, missing in (
            ("no training documents, so that they are never predicted", of_class.min() >= 0),
            ("no test documents", of_class.max() < 0),
        ):
            if missing.any():
                lines.append(f"classes with {what}: {_named(missing.index[missing])}")
    else:
        asked = folds_of(protocol)
        counts = {str(label): int(n) for label, n in first.groupby("label")[unit].nunique().items()}
        tested = first[first["fold"] != NEVER_TEST]
        if protocol.kind == "cv" and tested["fold"].nunique() < asked:
            lines.append(
                f"{tested['fold'].nunique()} folds instead of {asked}: no class has more "
                + ("distinct texts" if protocol.grouped else "documents")
            )
        if small := small_classes(counts, asked):
            in_folds = tested.groupby("label")["fold"].nunique()
            real = [one._replace(folds=int(in_folds.get(one.label, 0))) for one in small]
            kind = "distinct texts" if protocol.grouped else "documents"
            what = f"the {asked} folds" if protocol.kind == "cv" else "the two halves"
            lines.append(f"{_classes(real)} fewer {kind} than {what}: {_listed(real, asked)}")
        if protocol.kind == "cv" and (never := int((first["fold"] == NEVER_TEST).sum())):
            lines.append(f"{_documents(never)} always train and are never tested")
    if len(inner_folds):
        rows = inner_folds.merge(corpus[["id", "label"]], on="id")
        validated = rows[rows["inner"] != NEVER_TEST]
        places = validated.groupby(["repeat", "fold", "label"])["inner"].nunique()
        every = rows.groupby(["repeat", "fold", "label"]).size()
        fewer = places.reindex(every.index, fill_value=0) < protocol.inner
        if fewer.any():
            labels = dict.fromkeys(map(str, fewer.index[fewer].get_level_values("label")))
            lines.append(
                f"classes that validate in fewer than the {protocol.inner} inner folds of a "
                f"training part: {_named(labels)}"
            )
    return lines


def _listed(small: list[SmallClass], folds: int) -> str:
    named = []
    for one in small[:SHOWN]:
        tested = f"tests in {one.folds} of {folds} folds" if one.folds else "always trains"
        named.append(f"{one.label} ({one.documents}, {tested})")
    return ", ".join(named) + _more(len(small))


def _named(labels: Iterable[object]) -> str:
    names = [str(label) for label in labels]
    return ", ".join(names[:SHOWN]) + _more(len(names))


def _more(count: int) -> str:
    return f" and {count - SHOWN} more" if count > SHOWN else ""


def _classes(small: list[SmallClass]) -> str:
    return "1 class has" if len(small) == 1 else f"{len(small)} classes have"


def _documents(count: int) -> str:
    return f"{count} document" + ("" if count == 1 else "s")
