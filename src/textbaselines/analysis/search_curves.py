"""How good the best of n random trials is expected to be, for every n up to the size of the grid.

Dodge, J., Gururangan, S., Card, D., Schwartz, R. and Smith, N. A. (2019). Show Your Work: Improved
Reporting of Experimental Results. EMNLP-IJCNLP, 2185-2194. Section 3.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textbaselines.evaluation.runs import Run
from textbaselines.evaluation.selection import candidates, inner_accuracies

CURVE_COLUMNS = (
    "dataset",
    "representation",
    "method",
    "trials",
    "expected_accuracy",
    "points",
    "failed_points",
    "folds",
)


def expected_maximum(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the expected maximum of n draws with replacement, for n = 1..N.

    With the scores in ascending order, P(max <= x_(i)) = (i / N)^n, so that

        E[max of n] = sum_i x_(i) ((i / N)^n - ((i - 1) / N)^n)

    (Dodge et al. 2019, section 3.1, with the empirical distribution of the N scores).

    Parameters
    ----------
    scores : array of shape (N,)
        One for each grid point. NaN for one that failed, which counts as the worst that did not.

    Returns
    -------
    array of shape (N,)
        NaN throughout when every point failed.
    """
    number = len(scores)
    known = scores[~np.isnan(scores)]
    if not len(known):
        return np.full(number, np.nan)
    ascending = np.sort(np.where(np.isnan(scores), known.min(), scores))
    shares = np.arange(number + 1) / number
    return np.array(
        [np.diff(shares**trials) @ ascending for trials in range(1, number + 1)], dtype=np.float64
    )


def search_curves(runs: Sequence[Run]) -> pd.DataFrame:
    """Return the expected best inner accuracy against the number of trials, of every run.

    A trial is a draw from the run's grid. Its score on a (repeat, fold) is its accuracy on the
    pooled inner folds, or failed when it failed on any of them.

    A run that has no scores on inner folds, because there was nothing to choose, has no curve.

    Returns
    -------
    data frame with the columns :data:`CURVE_COLUMNS`
        ``trials``: 1 to the number of ``points`` of the grid. ``expected_accuracy``: mean over the
        ``folds`` (of all repeats) of :func:`expected_maximum`; NaN when on one of them every point
        failed. ``failed_points``: how many failed on some inner fold.
    """
    frames = []
    for one in runs:
        run, inner = one.record, one.table("inner_scores")
        names = candidates(run["points"])
        inner = inner[inner["point"].isin(names)]
        if inner.empty:
            continue
        table = inner_accuracies(inner).pivot(
            index=["repeat", "fold"], columns="point", values="accuracy"
        )
        scores = table.reindex(columns=names).to_numpy(dtype=np.float64)
        curve = np.mean([expected_maximum(row) for row in scores], axis=0)
        frames.append(
            pd.DataFrame(
                {
                    **{name: run[name] for name in CURVE_COLUMNS[:3]},
                    "trials": np.arange(1, len(names) + 1),
                    "expected_accuracy": curve,
                    "points": len(names),
                    "failed_points": int(np.isnan(scores).any(axis=0).sum()),
                    "folds": len(scores),
                }
            )
        )
    if not frames:
        return pd.DataFrame(columns=list(CURVE_COLUMNS))
    return pd.concat(frames, ignore_index=True)
