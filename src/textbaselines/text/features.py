"""The features of one fold: its vocabulary, column map and weighting, fitted on training."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textbaselines.text.counts import Counts
from textbaselines.text.reduction import make_reduction
from textbaselines.text.vocabulary import BLOCK, ColumnMap, Vocabulary, map_columns, rows_of
from textbaselines.text.weighting import WEIGHTINGS, Weighting


@dataclass(frozen=True)
class FoldFeatures:
    """What a method sees of one fold.

    Attributes
    ----------
    training, test : csr_array of float64, shapes (n_train, m) and (n_test, m)
        Under a reduction of rank k, arrays of shapes (n_train, k) and (n_test, k).
    columns : ColumnMap
        Which of the corpus's n-grams became which of the m features.
    weighting : Weighting
        Fitted on the training documents.
    """

    training: sp.csr_array | NDArray[np.float64]
    test: sp.csr_array | NDArray[np.float64]
    columns: ColumnMap
    weighting: Weighting


@dataclass(frozen=True)
class FoldCounts:
    """The counts of one fold over its features, before any weighting.

    Attributes
    ----------
    training, test : csr_array of int32, shapes (n_train, m) and (n_test, m)
    columns : ColumnMap
    """

    training: sp.csr_array
    test: sp.csr_array
    columns: ColumnMap

    def weigh(
        self, weighting: str, reduction: Mapping[str, Any] | None = None, seed: int = 0
    ) -> FoldFeatures:
        """Fit a weighting and a reduction on the training documents and apply them to both sides.

        Parameters as those of :func:`fold_features`.
        """
        weights = WEIGHTINGS[weighting]().fit(self.training)
        training, test = weights.transform(self.training), weights.transform(self.test)
        if reduction is None:
            return FoldFeatures(training, test, self.columns, weights)
        reduced = make_reduction(reduction, seed).fit(training)
        return FoldFeatures(
            reduced.transform(training), reduced.transform(test), self.columns, weights
        )


def fold_counts(
    counts: Counts,
    vocabulary: Vocabulary,
    training: NDArray[np.bool_],
    test: NDArray[np.bool_],
    scope: str = "training",
) -> FoldCounts:
    """Map the counts of both sides onto the features of a fold; all weightings share them.

    Parameters as those of :func:`fold_features`.
    """
    if counts.matrix.nnz <= BLOCK:
        training_rows = rows_of(counts.matrix, training)
        columns = map_columns(counts, training, vocabulary, scope, training_rows)
        training_counts = columns.apply(training_rows)
    else:  # no copy of all the training rows
        columns = map_columns(counts, training, vocabulary, scope)
        training_counts = columns.apply(counts.matrix, training)
    return FoldCounts(training_counts, columns.apply(counts.matrix, test), columns)


def fold_features(
    counts: Counts,
    vocabulary: Vocabulary,
    training: NDArray[np.bool_],
    test: NDArray[np.bool_],
    weighting: str,
    scope: str = "training",
    reduction: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> FoldFeatures:
    """Fit a representation on the training documents and apply it to both sides.

    Parameters
    ----------
    counts : Counts
        Of all n documents.
    vocabulary : Vocabulary
        Of this fold.
    training, test : bool arrays, shape (n,)
    weighting : str
        A name from :data:`textbaselines.text.weighting.WEIGHTINGS`.
    scope : "training" or "corpus"
        See :data:`textbaselines.text.vocabulary.SCOPES`.
    reduction : mapping, optional
        ``kind`` and options of :data:`textbaselines.text.reduction.REDUCTIONS`.
    seed : int
        Of the reduction.
    """
    mapped = fold_counts(counts, vocabulary, training, test, scope)
    return mapped.weigh(weighting, reduction, seed)
