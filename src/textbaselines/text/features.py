"""The features of one fold: its vocabulary, column map and weighting, fitted on training."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from textbaselines.text.counts import Counts
from textbaselines.text.vocabulary import ColumnMap, Vocabulary, map_columns
from textbaselines.text.weighting import WEIGHTINGS, Weighting


@dataclass(frozen=True)
class FoldFeatures:
    """What a method sees of one fold.

    Attributes
    ----------
    training, test : csr_array of float64, shapes (n_train, m) and (n_test, m)
    columns : ColumnMap
        Which of the corpus's n-grams became which of the m features.
    weighting : Weighting
        Fitted on the training documents.
    """

    training: sp.csr_array
    test: sp.csr_array
    columns: ColumnMap
    weighting: Weighting


def fold_features(
    counts: Counts,
    vocabulary: Vocabulary,
    training: NDArray[np.bool_],
    test: NDArray[np.bool_],
    weighting: str,
    scope: str = "training",
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
    """
    columns = map_columns(counts, training, vocabulary, scope)
    training_counts = columns.apply(counts.matrix[training])
    weights = WEIGHTINGS[weighting]().fit(training_counts)
    return FoldFeatures(
        weights.transform(training_counts),
        weights.transform(columns.apply(counts.matrix[test])),
        columns,
        weights,
    )
