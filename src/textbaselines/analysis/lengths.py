"""Accuracy against document length: the fifths of a dataset's test documents by tokens.

Wang & Manning (2012, section 4) find the order of methods turned round between snippets and longer
documents; this shows it within a dataset.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textbaselines.core.errors import UserError
from textbaselines.evaluation.reported_cells import KEY
from textbaselines.evaluation.selection import cell_predictions
from textbaselines.text.tokens import BREAK, Tokens

N_PARTS = 5
"""Quintiles."""

LENGTH_COLUMNS = (
    *KEY,
    "part",
    "tokens_from",
    "tokens_to",
    "documents",
    "predictions",
    "accuracy",
    "low",
    "high",
)


def document_lengths(tokens: Tokens) -> pd.Series:
    """Return the number of tokens of each document, by document id; sentence ends do not count."""
    before = np.zeros(len(tokens.ids) + 1, dtype=np.int64)
    np.cumsum(tokens.ids != BREAK, out=before[1:])
    lengths = np.diff(before[tokens.offsets])
    return pd.Series(lengths, index=pd.Index(tokens.documents, dtype="str"), name="tokens")


def length_parts(lengths: pd.Series) -> pd.DataFrame:
    """Divide documents into fifths by length, the shortest first.

    The bounds are quantiles that are lengths of documents; documents of one length are never
    divided, so the parts are as equal as the lengths allow, and fewer where a length is frequent.

    Returns a data frame with index id and columns part (from 1), tokens_from, tokens_to.
    """
    values = lengths.to_numpy()
    shares = np.arange(1, N_PARTS) / N_PARTS
    bounds = np.unique(np.quantile(values, shares, method="inverted_cdf"))
    # Where a bound is the greatest length, nothing lies above it.
    bounds = bounds[bounds < values.max()]
    parts = np.searchsorted(bounds, values, side="left") + 1
    frame = pd.DataFrame({"part": parts, "tokens": values}, index=lengths.index)
    groups = frame.groupby("part")["tokens"]
    frame["tokens_from"], frame["tokens_to"] = groups.transform("min"), groups.transform("max")
    return frame.drop(columns="tokens")


def parts_of_predictions(predictions: pd.DataFrame, lengths: pd.Series) -> pd.DataFrame:
    """Return the length part of each distinct document of some predictions.

    Raises :class:`UserError` when a predicted document has no tokens file entry.
    """
    ids = pd.Index(predictions["id"].unique())
    missing = ids.difference(lengths.index)
    if len(missing):
        raise UserError(
            "a predicted document is not among the tokenised ones",
            where=f"document {missing[0]}",
            found=f"{len(missing)} such documents",
            fix="delete the dataset's tokens and run again",
        )
    return length_parts(lengths.loc[ids])


def accuracy_by_length(predictions: pd.DataFrame, parts: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy of each length part with Wilson's 95 % interval.

    Parameters
    ----------
    predictions : data frame
        Columns repeat, id, label, predicted. Repeats are pooled; the interval is for the number
        of predictions of one repeat, as that of a cell is.
    parts : data frame
        What :func:`length_parts` returned for these documents.

    Returns
    -------
    data frame with the columns of :data:`LENGTH_COLUMNS` from ``part`` on
    """
    joined = predictions.join(parts, on="id")
    joined["right"] = joined["label"] == joined["predicted"]
    repeats = predictions["repeat"].nunique()
    groups = joined.groupby(["part", "tokens_from", "tokens_to"], sort=True)
    rows = groups.agg(
        documents=("id", "nunique"), predictions=("id", "size"), accuracy=("right", "mean")
    ).reset_index()
    rows["low"], rows["high"] = wilson(
        rows["accuracy"].to_numpy(), rows["predictions"].to_numpy() / repeats
    )
    return rows


def wilson(
    shares: NDArray[np.float64], numbers: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Wilson's 95 % interval of shares of some numbers of trials, both of shape (n,)."""
    # Here, for the many jobs that need no interval: this import takes a second.
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(shares * numbers, numbers, alpha=0.05, method="wilson")
    return np.asarray(low), np.asarray(high)


def accuracy_of_cells(
    runs_folder: str | Path,
    cells: pd.DataFrame,
    selections: pd.DataFrame,
    lengths: Mapping[str, pd.Series],
) -> pd.DataFrame:
    """Return the accuracy of each cell in each length part of its dataset.

    ``cells``: rows of the study's cells, none failed; ``lengths``: by dataset: the tokens of each
    document, by its id. Returns a data frame with the columns :data:`LENGTH_COLUMNS`.
    """
    frames = []
    for cell in cells.to_dict("records"):
        named = {str(name): value for name, value in cell.items()}
        predictions = cell_predictions(Path(runs_folder), named, selections)
        parts = parts_of_predictions(predictions, lengths[cell["dataset"]])
        table = accuracy_by_length(predictions, parts)
        frames.append(table.assign(**{name: cell[name] for name in KEY})[list(LENGTH_COLUMNS)])
    empty = pd.DataFrame(columns=list(LENGTH_COLUMNS))
    return pd.concat(frames, ignore_index=True) if frames else empty
