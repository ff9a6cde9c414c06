"""The extreme learning machine: a random hidden layer and least squares on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from textbaselines.models.classifier import Classifier
from textbaselines.models.family import MethodFamily, Rate
from textbaselines.models.matrices import Matrix
from textbaselines.models.memory import nbytes, refuse_beyond
from textbaselines.models.parameters import Choice, Number, Parameter

# Input weights are drawn for this many numbers at a time, whatever the number of features.
_BLOCK = 2**22


@dataclass(frozen=True)
class Solved:
    """H = U diag(values) right without the directions that are rounding noise; U'T."""

    values: NDArray[np.float64]
    right: NDArray[np.float64]
    targets: NDArray[np.float64]

    def weights(self, ridge: float) -> NDArray[np.float64]:
        """Return V diag(s / (s^2 + ridge)) U'T; with 0 the pseudo-inverse's, at any rank."""
        gains = self.values / (self.values**2 + ridge)
        return np.asarray((self.right.T * gains) @ self.targets)


def solve(H: NDArray[np.float64], T: NDArray[np.float64]) -> Solved:
    """Solve for the beta of least |H beta - T|^2 + ridge |beta|^2, for any ridge."""
    left, values, right = np.linalg.svd(H, full_matrices=False)
    kept = values > values.max(initial=0.0) * max(H.shape) * np.finfo(np.float64).eps
    return Solved(values[kept], right[kept], left[:, kept].T @ T)


class ExtremeLearningMachine(Classifier):
    """Extreme learning machine (Huang, Zhu & Siew 2006; ridge: Huang et al. 2012).

    H = g(X A + b) with A and b drawn once, uniform in [-scale, scale]; the output weights beta
    are least squares of H on +1 and -1, one column for each class against the rest. The random
    weights are drawn from the seed in blocks of features, anew for each use, so neither they nor
    a dense X are ever held whole. With ``draws`` above 1 the scores are the mean of so many
    networks, each drawn for itself.

    Fitted: ``output_weights_`` of shape (draws, hidden, problems): one problem for two classes,
    otherwise one for each class.

    Parameters
    ----------
    hidden : int
        The number of hidden units.
    activation : {"sigmoid", "tanh", "relu", "sine"}
    scale : float
        The bound of the random weights, above 0. Long rows need a small one, or the units saturate.
    ridge : float
        Weight of the penalty, at least 0; 0 is the pseudo-inverse.
    draws : int
        The number of networks whose scores are averaged.
    max_gib : float
        The limit of memory for the hidden layer of the training rows; beyond it fitting is
        refused.
    positive : label, optional
        The positive class of two: named, it wins a tie of equally frequent classes. Without
        effect for more than two classes.
    seed : int
        Of the random weights.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        "hidden": Number("number of hidden units", low=1, integer=True),
        "activation": Choice("activation of the hidden units", ("sigmoid", "tanh", "relu", "sine")),
        "scale": Number("bound of the random weights", low=0, low_open=True),
        "ridge": Number("weight of the penalty", low=0),
        "draws": Number("number of networks averaged", low=1, integer=True),
        "max_gib": Number("limit of memory in GiB", low=0, low_open=True),
    }
    OWN: ClassVar[frozenset[str]] = frozenset({"ridge"})

    def __init__(
        self,
        hidden: int = 500,
        activation: str = "sigmoid",
        scale: float = 1.0,
        ridge: float = 1.0,
        draws: int = 1,
        max_gib: float = 4.0,
        positive: Any = None,
        seed: int = 0,
    ) -> None:
        self.hidden = hidden
        self.activation = activation
        self.scale = scale
        self.ridge = ridge
        self.draws = draws
        self.max_gib = max_gib
        self.positive = positive
        self.seed = seed

    @classmethod
    def _outputs_of(cls, group: Sequence[Self], X: Matrix) -> list[NDArray[np.float64]]:
        lead = group[0]
        sums = [np.zeros((X.shape[0], one.output_weights_.shape[2])) for one in group]
        for draw in range(lead.draws):
            hidden = lead._hidden_layer(X, draw)
            for one, total in zip(group, sums, strict=True):
                total += hidden @ one.output_weights_[draw]
        results = []
        for one, total in zip(group, sums, strict=True):
            scores = one._oriented(list(total.T / lead.draws), width=X.shape[0])
            results.append(scores[0] if len(one.classes_) <= 2 else np.ascontiguousarray(scores.T))
        return results

    def _prepare(self, X: Matrix, y: ArrayLike) -> tuple[NDArray[Any], list[Solved]]:
        X, codes = self._training_data(X, y)
        n = X.shape[0]
        # H, and the factors of its SVD, of which every draw keeps the right one.
        size = 2 * nbytes(n, self.hidden) + self.draws * nbytes(self.hidden, self.hidden)
        refuse_beyond(
            self.max_gib,
            size,
            f"the hidden layer of {n} documents and {self.hidden} units",
            "use fewer hidden units or documents",
        )
        targets = [np.where(mask, 1.0, -1.0) for mask in self._one_against_rest(codes)]
        T = np.array(targets).reshape(len(targets), n).T
        return self.classes_, [solve(self._hidden_layer(X, draw), T) for draw in range(self.draws)]

    def _complete(self, prepared: tuple[NDArray[Any], list[Solved]]) -> None:
        self.classes_, draws = prepared
        self.output_weights_ = np.array([solved.weights(self.ridge) for solved in draws])

    def _hidden_layer(self, X: Matrix, draw: int) -> NDArray[np.float64]:
        """Return the draw's g(X A + b), shape (documents, hidden)."""
        n, m = X.shape
        rows = max(1, _BLOCK // self.hidden)
        columns = X.tocsc() if sp.issparse(X) else X
        generator = np.random.default_rng([self.seed, draw, 0])
        bias = generator.uniform(-self.scale, self.scale, self.hidden)
        total = np.tile(bias, (n, 1))
        for block, start in enumerate(range(0, m, rows), start=1):
            part = columns[:, start : start + rows]
            generator = np.random.default_rng([self.seed, draw, block])
            weights = generator.uniform(-self.scale, self.scale, (part.shape[1], self.hidden))
            total += part @ weights
        if self.activation == "sigmoid":
            return np.asarray(expit(total, out=total))
        if self.activation == "tanh":
            return np.asarray(np.tanh(total, out=total))
        if self.activation == "sine":
            return np.asarray(np.sin(total, out=total))
        return np.asarray(np.maximum(total, 0, out=total))


FAMILIES = (
    MethodFamily(
        name="elm",
        title="ELM",
        estimator=ExtremeLearningMachine,
        default_fixed={"hidden": 500, "scale": 1.0, "ridge": 1.0},
        default_grid={"scale": (0.1, 1.0), "ridge": (0.01, 1.0, 100.0)},
        needs=frozenset(),
        cost="for each draw m h random numbers, z h products and an SVD of n h^2, for h hidden "
        "units; ridge costs nothing",
        citation="Huang, G.-B., Zhu, Q.-Y. and Siew, C.-K. (2006). Extreme learning machine: "
        "Theory and applications. Neurocomputing 70, 489-501.",
        rate=Rate("hidden", 61.0),
        stored=("output_weights_",),
    ),
)
