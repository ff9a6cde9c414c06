"""Complement naive Bayes: each class judged by the documents of all the others."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textbaselines.models.classifier import LinearClassifier
from textbaselines.models.family import MethodFamily, Rate
from textbaselines.models.log_count_ratio import logs_of_known
from textbaselines.models.matrices import Matrix
from textbaselines.models.naive_bayes import ClassCounts, count_classes
from textbaselines.models.parameters import Choice, Number, Parameter


class ComplementNB(LinearClassifier):
    """Complement naive Bayes (Rennie et al. 2003, table 4, steps 4 to 8).

    w(c, f) = log of (alpha + count of f in the documents of other classes) / (the sum of that over
    the training vocabulary); the predicted class has the least x.w(c). With ``norm`` each class's
    weights are first divided by the sum of their absolute values (step 6, weight normalisation;
    the table's WCNB), against the pull of classes whose words depend on each other. The table's
    steps 1 to 3 (log counts, idf, length) are the representation's weighting.

    There is no prior, as in the table: without ``norm``, two classes give the multinomial model
    with equal priors. Scores are -x.w(c), for two classes their difference; they are no
    probabilities. Features that no training document has weigh 0.

    Fitted: ``complement_weights_`` w of shape (classes, features), ``coef_``, ``intercept_``.

    Parameters
    ----------
    alpha : float
        Smoothing, at least 0. With 0 a probability of zero is refused at fitting.
    norm : bool
        Whether to normalise the weights.
    positive : label, optional
        The positive class of two: named, it wins a tie of equally frequent classes. Without
        effect for more than two classes.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        "alpha": Number("smoothing, added to every count", low=0),
        "norm": Choice("weight normalisation", (False, True)),
    }
    OWN: ClassVar[frozenset[str]] = frozenset({"alpha", "norm"})
    NON_NEGATIVE: ClassVar[bool] = True

    def __init__(self, alpha: float = 1.0, norm: bool = False, positive: Any = None) -> None:
        self.alpha = alpha
        self.norm = norm
        self.positive = positive

    def _prepare(self, X: Matrix, y: ArrayLike) -> tuple[ClassCounts, NDArray[np.float64]]:
        X, codes = self._training_data(X, y)
        counts = count_classes(X, codes, self.classes_)
        # A sum over the others, not total less own: for tf-idf that would leave rounding errors
        # where a class has all of a feature.
        others = [np.delete(counts.known, c, axis=0).sum(axis=0) for c in range(len(self.classes_))]
        return counts, np.array(others)

    def _complete(self, prepared: tuple[ClassCounts, NDArray[np.float64]]) -> None:
        counts, others = prepared
        self.classes_ = counts.classes
        if len(self.classes_) == 1:
            self.complement_weights_ = np.zeros_like(counts.feature_count)
            self.coef_, self.intercept_ = np.zeros_like(counts.feature_count), np.zeros(1)
            return
        weights = logs_of_known(others, self.alpha, counts.columns)
        if self.norm:
            size = np.abs(weights).sum(axis=1, keepdims=True)
            weights = np.divide(weights, size, out=weights, where=size > 0)
        weights = counts.widened(weights)
        self.complement_weights_ = weights
        if len(self.classes_) == 2:
            self.coef_, self.intercept_ = weights[:1] - weights[1:], np.zeros(1)
        else:
            self.coef_, self.intercept_ = -weights, np.zeros(len(self.classes_))


FAMILIES = (
    MethodFamily(
        name="cnb",
        title="CNB",
        estimator=ComplementNB,
        default_fixed={"alpha": 1.0},
        default_grid={"alpha": (0.01, 0.1, 0.5, 1.0, 2.0), "norm": (False, True)},
        needs=frozenset({"non_negative"}),
        cost="one pass over z, then k m logarithms and k^2 m additions",
        citation="Rennie, J. D. M., Shih, L., Teevan, J. and Karger, D. R. (2003). Tackling "
        "the Poor Assumptions of Naive Bayes Text Classifiers. ICML, 616-623.",
        rate=Rate("terms", 0.0023),
    ),
)
