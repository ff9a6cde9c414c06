"""Scorers: from weighted features to scores and probabilities, rebuilt from plain arrays and JSON.

What is linear in its features becomes one weight for each; anything else is its fitted estimator,
whose fitted attributes are stored as they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax

from textbaselines.models.classifier import (
    LinearClassifier,
    OneAgainstRestProbabilities,
    ProbabilisticClassifier,
)
from textbaselines.models.estimator import Estimator
from textbaselines.models.extreme_learning import ExtremeLearningMachine
from textbaselines.models.gaussian_process import (
    GaussianProcessClassifier,
    GaussianProcessRegressor,
)
from textbaselines.models.gaussian_process_inference import (
    ExactPosterior,
    Posterior,
    ProjectedPosterior,
)
from textbaselines.models.matrices import presence
from textbaselines.models.naive_bayes import BernoulliNB
from textbaselines.models.registry import METHODS
from textbaselines.models.ridge import LinearRegression

Arrays = Mapping[str, NDArray[Any]]

# The family of each estimator, which says what is stored of it. What Gaussian processes store
# besides follows below.
_FAMILIES = {family.estimator: family for family in METHODS.values()}
# What a posterior says of its training, which predictions do not need.
_TOLD = ("log_marginal_likelihood", "n_iter", "converged")


@dataclass(frozen=True)
class Scorer:
    """What turns weighted features into scores and probabilities.

    Attributes
    ----------
    probability : "softmax", "one_against_rest" or None
        How scores become probabilities: of two classes both are the logistic function of the
        score; of more, the exponentials of the scores, or their logistic functions, divided by
        their sum. None where scores are no log-odds.
    """

    probability: str | None

    def scores(self, features: sp.csr_array) -> NDArray[np.float64]:
        """Return the scores, shape (n,) for up to two classes, otherwise (n, classes)."""
        raise NotImplementedError

    def through(self, directions: NDArray[np.float64]) -> Self:
        """Return the scorer of features x that this one sees as x V.

        Parameters
        ----------
        directions : array, shape (rank, m)
            V transposed.
        """
        raise NotImplementedError

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store."""
        raise NotImplementedError

    def settings(self) -> dict[str, Any]:
        """Return what is stored as JSON."""
        raise NotImplementedError

    def probabilities(self, scores: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
        """Return the class probabilities that scores stand for, shape (n, n_classes)."""
        if n_classes == 1:
            return np.ones((len(scores), 1))
        if n_classes > 2 and self.probability == "one_against_rest":
            scores = log_expit(scores)
        return softmax_of(scores)


@dataclass(frozen=True)
class LinearScorer(Scorer):
    """The scores x w + b.

    Attributes
    ----------
    coefficients : float64 array, shape (1, m) for up to two classes, otherwise (classes, m)
    intercept : float64 array, shape (1,) or (classes,)
    presence : bool
        Whether a feature counts as 1 wherever it is above 0 (Bernoulli naive Bayes).
    """

    coefficients: NDArray[np.float64]
    intercept: NDArray[np.float64]
    presence: bool = False

    def scores(self, features: sp.csr_array) -> NDArray[np.float64]:
        """Return the scores; see :class:`Scorer`."""
        X = presence(features) if self.presence else features
        if len(self.coefficients) == 1:
            return np.asarray(X @ self.coefficients[0] + self.intercept[0])
        return np.asarray(X @ self.coefficients.T + self.intercept)

    def through(self, directions: NDArray[np.float64]) -> Self:
        """Multiply the directions into the weights; see :class:`Scorer`."""
        return replace(self, coefficients=np.asarray(self.coefficients @ directions))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store."""
        return {
            "coefficients": np.ascontiguousarray(self.coefficients),
            "intercept": np.ascontiguousarray(self.intercept),
        }

    def settings(self) -> dict[str, Any]:
        """Return what is stored as JSON."""
        return {"presence": self.presence, "probability": self.probability}


@dataclass(frozen=True)
class EstimatorScorer(Scorer):
    """The scores of a fitted estimator that is not linear.

    Attributes
    ----------
    estimator : fitted estimator
    threshold : float or None
        Of a regression on ratings: the score is the rating less this.
    directions : float64 array, shape (rank, m), or None
        V transposed, where the estimator takes x V.
    """

    estimator: Estimator
    threshold: float | None = None
    directions: NDArray[np.float64] | None = None

    def scores(self, features: sp.csr_array) -> NDArray[np.float64]:
        """Return the scores; see :class:`Scorer`."""
        X = features if self.directions is None else np.asarray(features @ self.directions.T)
        if X.shape[0] == 0:
            return self._no_scores()
        estimator: Any = self.estimator
        if self.threshold is not None:
            return np.asarray(estimator.predict(X) - self.threshold)
        return np.asarray(estimator.decision_function(X))

    def through(self, directions: NDArray[np.float64]) -> Self:
        """Keep the directions; see :class:`Scorer`."""
        return replace(self, directions=directions)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store."""
        found: dict[str, NDArray[Any]] = {}
        for name in _FAMILIES[type(self.estimator)].stored:
            value = getattr(self.estimator, name)
            if sp.issparse(value):
                parts = {"values": value.data, "columns": value.indices, "starts": value.indptr}
                found |= {f"{name}{part}": array for part, array in parts.items()}
            else:
                found[name.removesuffix("_")] = np.ascontiguousarray(value)
        if getattr(self.estimator, "basis_", None) is not None:
            found["basis"] = np.ascontiguousarray(self.estimator.basis_)
        for number, posterior in enumerate(_posteriors(self.estimator)):
            for field in _fields_of(type(posterior)):
                found[f"posterior_{number}_{field}"] = getattr(posterior, field)
        if isinstance(self.estimator, ExtremeLearningMachine):
            found["probe_scores"] = self._probe_scores()
        if self.directions is not None:
            found["directions"] = np.ascontiguousarray(self.directions)
        return found

    def settings(self) -> dict[str, Any]:
        """Return what is stored as JSON."""
        params = self.estimator.get_params(deep=False)
        # The classes are renumbered, the positive one is the second: the default.
        params.pop("positive", None)
        return {"estimator": params, "probability": self.probability}

    def _no_scores(self) -> NDArray[np.float64]:
        n_classes = len(getattr(self.estimator, "classes_", ()))
        return np.zeros((0, n_classes) if n_classes > 2 else 0)

    def _probe_scores(self) -> NDArray[np.float64]:
        """Return the scores of a made-up row: other random weights would give others."""
        width = self.estimator.n_features_in_
        estimator: Any = self.estimator
        return np.asarray(estimator.decision_function(np.linspace(-1, 1, width)[np.newaxis]))


def softmax_of(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the softmax of scores, shape (n, classes); of shape (n,) that of 0 and the score."""
    if scores.ndim == 1:
        return np.column_stack([expit(-scores), expit(scores)])
    return np.asarray(np.exp(log_softmax(scores, axis=1)))


def scorer_of(estimator: Estimator, threshold: float | None = None) -> Scorer:
    """Return the scorer that equals a fitted estimator.

    Parameters
    ----------
    estimator : fitted estimator
        Of any family of :data:`textbaselines.models.registry.METHODS`.
    threshold : float, optional
        Of a regression on ratings: the score is the rating less this.
    """
    if isinstance(estimator, LinearRegression) and threshold is not None:
        intercept = np.array([estimator.intercept_ - threshold])
        return LinearScorer(None, estimator.coef_[np.newaxis], intercept)
    probability = None
    if isinstance(estimator, OneAgainstRestProbabilities):
        probability = "one_against_rest"
    elif isinstance(estimator, ProbabilisticClassifier):
        probability = "softmax"
    if isinstance(estimator, LinearClassifier):
        unweighted = isinstance(estimator, BernoulliNB)
        return LinearScorer(probability, estimator.coef_, estimator.intercept_, unweighted)
    return EstimatorScorer(probability, estimator, threshold)


def stored_scorer(described: Mapping[str, Any], arrays: Arrays, n_features: int) -> Scorer:
    """Return the scorer of a stored model.

    ``described``: ``family``, ``classes``, ``rating_threshold`` and a scorer's settings;
    ``arrays``: those of a scorer, and any others.

    Raises
    ------
    KeyError
        For a missing array or setting.
    ValueError
        For arrays of another shape, and for random weights that this numpy draws otherwise.
    """
    if "estimator" in described:
        return _stored_estimator(described, arrays, n_features)
    scorer = LinearScorer(
        described["probability"], arrays["coefficients"], arrays["intercept"], described["presence"]
    )
    n_rows = len(described["classes"]) if len(described["classes"]) > 2 else 1
    wanted = (n_rows, n_features)
    if scorer.coefficients.shape != wanted or scorer.intercept.shape != (n_rows,):
        raise ValueError(f"coefficients of shape {scorer.coefficients.shape}, wanted {wanted}")
    return scorer


def _stored_estimator(
    described: Mapping[str, Any], arrays: Arrays, n_features: int
) -> EstimatorScorer:
    estimator = METHODS[described["family"]].estimator(**described["estimator"])
    directions = arrays.get("directions")
    if directions is not None and directions.shape[1] != n_features:
        raise ValueError(f"directions of shape {directions.shape} for {n_features} features")
    width = n_features if directions is None else len(directions)
    estimator.n_features_in_ = width
    family = METHODS[described["family"]]
    for name in family.stored:
        by_feature = name in family.by_feature
        setattr(estimator, name, _stored_attribute(name, arrays, width, by_feature=by_feature))
    if isinstance(estimator, GaussianProcessClassifier | GaussianProcessRegressor):
        # Exact where there is none.
        estimator.basis_ = arrays.get("basis")
    threshold = described.get("rating_threshold")
    n_classes = len(described["classes"])
    if isinstance(estimator, GaussianProcessRegressor):
        (estimator.posterior_,) = _stored_posteriors(arrays, 1)
    else:
        estimator.classes_ = np.arange(n_classes)
    if isinstance(estimator, GaussianProcessClassifier):
        n_problems = n_classes if n_classes > 2 else n_classes - 1
        estimator.posteriors_ = _stored_posteriors(arrays, n_problems)
    scorer = EstimatorScorer(described["probability"], estimator, threshold, directions)
    if isinstance(estimator, ExtremeLearningMachine) and not np.allclose(
        scorer._probe_scores(), arrays["probe_scores"], rtol=1e-9, atol=1e-9
    ):
        raise ValueError(
            "its hidden weights, drawn from a seed, come out otherwise with this version of numpy "
            f"({np.__version__}): make the model again"
        )
    return scorer


def _stored_attribute(name: str, arrays: Arrays, width: int, *, by_feature: bool) -> Any:
    if f"{name}values" in arrays:
        values, columns, starts = (arrays[f"{name}{p}"] for p in ("values", "columns", "starts"))
        return sp.csr_array((values, columns, starts), shape=(len(starts) - 1, width))
    array = arrays[name.removesuffix("_")]
    if by_feature and array.shape[1] != width:
        raise ValueError(f"{name.removesuffix('_')} of shape {array.shape}, wanted width {width}")
    return array if array.ndim else array.item()


def _posteriors(estimator: Estimator) -> Sequence[Posterior]:
    if isinstance(estimator, GaussianProcessRegressor):
        return [estimator.posterior_]
    return estimator.posteriors_ if isinstance(estimator, GaussianProcessClassifier) else []


def _stored_posteriors(arrays: Arrays, n: int) -> list[Posterior]:
    found: list[Posterior] = []
    for number in range(n):
        prefix = f"posterior_{number}_"
        kind = ExactPosterior if f"{prefix}alpha" in arrays else ProjectedPosterior
        parts: dict[str, Any] = {name: arrays[prefix + name] for name in _fields_of(kind)}
        found.append(kind(**parts, log_marginal_likelihood=float("nan")))
    return found


def _fields_of(kind: type[Any]) -> list[str]:
    return [field.name for field in fields(kind) if field.name not in _TOLD]
