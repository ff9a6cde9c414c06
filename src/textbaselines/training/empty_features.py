"""Training documents without a single feature: refused before any fit, with what to change."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from textbaselines.core.errors import UserError
from textbaselines.study.folds import OUTER, Division

NO_FEATURES = "no training document has a feature"


def lacks_features(features: Any) -> bool:
    """Return whether a matrix of documents has no value but zero, or no column.

    Parameters
    ----------
    features : CSR matrix or array, shape (n, m)
    """
    return not (features.nnz if hasattr(features, "nnz") else np.any(features))


def refuse_empty(
    training: Any, division: Division, dataset: str, used: str, details: Mapping[str, Any]
) -> None:
    """Raise :class:`UserError` where no training document of a division has a feature.

    Parameters
    ----------
    training : CSR matrix, shape (n, m)
    used : str
        The representation, for the message.
    details : mapping
        ``unk`` with ``policy`` and ``min_count``, and ``ngrams``, where they are known.
    """
    if not lacks_features(training):
        return
    place = f"repeat {division.repeat}, fold {division.fold}"
    if division.inner != OUTER:
        place += f", inner fold {division.inner}"
    causes, changes = [], []
    unk = details.get("unk")
    if unk is None or unk["min_count"] > 1:
        value = "" if unk is None else f" (now {unk['min_count']})"
        causes.append("words that come up less often than min_count are left out")
        changes.append(f"lower unk.min_count{value}")
    ngrams = details.get("ngrams")
    if ngrams is None or ngrams[0] > 1:
        value = "" if ngrams is None else f" (now {ngrams})"
        causes.append("documents are shorter than the shortest n-gram")
        changes.append(f"let ngrams start at 1{value}")
    causes.append("documents are empty, or the tokenizer finds nothing in them")
    changes.append("choose another tokenizer")
    raise UserError(
        NO_FEATURES,
        where=f"dataset {dataset}, key representations.{used}, {place}",
        found=f"{training.shape[0]} training documents, {training.shape[1]} features",
        expected="a feature in some training document; there is none where " + ", or ".join(causes),
        fix=f"{', '.join(changes)}, or look at the documents: results/corpora/{dataset}/audit.json",
    )
