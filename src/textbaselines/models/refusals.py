"""What is said of input that an estimator cannot take: the value found and what to do."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from textbaselines.models.matrices import Matrix

# Of a long text, what an error shows.
_SHOWN = 40


def explained(
    error: ValueError | TypeError, name: str, X: Matrix, y: Any = None
) -> ValueError | None:
    """Return scikit-learn's error about input in words for documents; None where its own will do.

    Parameters
    ----------
    error : ValueError or TypeError
        Of :func:`sklearn.utils.validation.validate_data` for these X and y.
    name : str
        The estimator's class.
    """
    said = str(error)
    if X is None:
        return ValueError(f"{name}: X is None; it must be a matrix with a row for each document")
    text = None if sp.issparse(X) else _first_text(X)
    told = ("could not convert", "inhomogeneous", "Expected 2D array")
    if text is not None and any(part in said for part in told):
        return ValueError(
            f"{name} takes a matrix of numbers with a row for each document, and X holds text "
            f"({text[:_SHOWN]!r}): make features of the texts first, for instance by "
            f"make_pipeline(CountVectorizer(binary=True), {name}()), which takes the texts "
            "themselves (sklearn.pipeline, sklearn.feature_extraction.text); a stored model that "
            "textbaselines.load returns takes texts as well"
        )
    if said.startswith("Expected 2D array"):
        return ValueError(
            f"{name}: X has the shape {np.shape(X)}, and must have a row for each document and a "
            "column for each feature. Reshape your data: array.reshape(1, -1) makes one document "
            "of it, array.reshape(-1, 1) one feature"
        )
    if said.startswith("Found input variables with inconsistent numbers of samples"):
        rows, labels = (one.shape[0] if hasattr(one, "shape") else len(one) for one in (X, y))
        return ValueError(
            f"{name}: X has {rows} rows and y {labels} labels; each document needs one row and one "
            "label, in the same order"
        )
    if said.startswith("Input X contains"):
        return ValueError(f"{name}: {said.splitlines()[0].rstrip('.')}{_first_odd_place(X)}")
    return None


def label_fault(name: str, y: Any) -> ValueError | None:
    """Return why labels cannot be classes, or None: one is missing, or kinds are mixed."""
    labels = y.tolist()
    missing = [place for place, label in enumerate(labels) if label is None or label != label]
    if missing:
        return ValueError(
            f"{name}: {len(missing)} documents have no label, the first in row {missing[0]}: "
            "leave them out of X and y"
        )
    kinds = sorted({type(label).__name__ for label in labels})
    if "str" in kinds and len(kinds) > 1:
        return ValueError(
            f"{name}: y has labels of several types ({', '.join(kinds)}): make all of them strings"
        )
    return None


def _first_text(X: Any) -> str | None:
    """Return the first text in X, an element or one of a row, or None."""
    if isinstance(X, str | bytes):
        return X if isinstance(X, str) else repr(X)
    for row in np.asarray(X, dtype=object).tolist():
        for value in row if isinstance(row, list | tuple | np.ndarray) else [row]:
            if isinstance(value, str | bytes):
                return value if isinstance(value, str) else repr(value)
    return None


def _first_odd_place(X: Any) -> str:
    """Return where X first has a value that is not finite, as the end of a sentence."""
    if sp.issparse(X):
        entries = sp.coo_matrix(X)
        rows, columns, values = entries.row, entries.col, entries.data
    else:
        table = np.asarray(X, dtype=np.float64)
        rows, columns = np.indices(table.shape).reshape(2, -1)
        values = table.ravel()
    odd = np.flatnonzero(~np.isfinite(values))
    if len(odd) == 0:
        return ""
    more = f", of {len(odd)} such values" if len(odd) > 1 else ""
    return f" (row {rows[odd[0]]}, column {columns[odd[0]]}{more})"
