"""The linear support vector machine, as LIBLINEAR solves it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from textbaselines.models.classifier import LiblinearClassifier
from textbaselines.models.family import LIBLINEAR, MethodFamily, Rate
from textbaselines.models.matrices import Matrix
from textbaselines.models.parameters import Choice, Number, Parameter


class LinearSVM(LiblinearClassifier):
    """L2-regularised linear SVM, one class against the rest (Fan et al. 2008, LIBLINEAR).

    Minimises 1/2 w'w + C * sum over documents of max(0, 1 - y w'x)^2 (or its first power, with
    ``loss="hinge"``). The defaults are the SVM of Wang & Manning (2012): C = 0.1, squared hinge,
    solved in the dual, no bias.

    Fitted: ``coef_``, ``intercept_``, ``n_iter_`` (the most of any class), ``converged_`` (whether
    every class's solver stopped by itself, not at ``max_iter``), ``gap_`` (by what share of itself
    any class's objective is above its minimum, at most; NaN for the hinge).

    Parameters
    ----------
    C : float
        The cost of a loss, above 0.
    loss : {"squared_hinge", "hinge"}
        "hinge" is solved in the dual alone.
    dual : bool
        Coordinate descent in the dual (LIBLINEAR ``-s 1`` and ``-s 3``) or a trust-region method
        in the primal (``-s 2``).
    tol : float
        When the solver stops. 0.1 is LIBLINEAR's own value for ``-s 1`` and ``-s 3``, and gave
        the paper's numbers; its own for ``-s 2`` is 0.01.
    max_iter : int
        The limit of iterations; 1000 is LIBLINEAR's own.
    bias : float, optional
        None for no bias; otherwise the value of a constant feature. Its weight is penalised like
        any other, so on unbalanced classes a small value pulls the intercept towards zero: a
        larger one, for instance 10, leaves it freer.
    positive : label, optional
        The positive class of two: named, it wins a tie of equally frequent classes. A document
        without known features has the score 0, a tie, when there is no bias.
    seed : int
        Of the order in which the dual solver visits documents.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        "C": Number("cost of a loss", low=0, low_open=True),
        "loss": Choice("the loss", ("squared_hinge", "hinge")),
        "dual": Choice("solve the dual", (True, False)),
        "tol": Number("stopping tolerance", low=0, low_open=True),
        "max_iter": Number("limit of iterations", low=1, integer=True),
        "bias": Number("value of the bias feature", low=0, low_open=True, optional=True),
    }
    SOLVED: ClassVar[frozenset[str]] = frozenset(PARAMETERS)

    def __init__(
        self,
        C: float = 0.1,
        loss: str = "squared_hinge",
        dual: bool = True,
        tol: float = 0.1,
        max_iter: int = 1000,
        bias: float | None = None,
        positive: Any = None,
        seed: int = 0,
    ) -> None:
        self.C = C
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.max_iter = max_iter
        self.bias = bias
        self.positive = positive
        self.seed = seed

    @staticmethod
    def combination_fault(params: Mapping[str, Any]) -> str | None:
        """Return why the parameters do not go together, or None."""
        if params.get("loss") == "hinge" and params.get("dual") is False:
            return "loss 'hinge' is solved in the dual alone: set dual to true"
        return None

    def objective(self, X: Matrix, y: ArrayLike) -> NDArray[np.float64]:
        """Return the primal objective on X and y of each problem solved.

        The shape is (1,) for two classes, otherwise (classes,).
        """
        return np.array([problem.primal() for problem in self._problems(X, y)])

    def duality_gap(self, X: Matrix, y: ArrayLike) -> NDArray[np.float64]:
        """Return by how much at most each objective on X and y is above its minimum.

        The gap to a feasible point of the dual, which is sought anew from the weights (LIBLINEAR
        does not hand out its own): never too small, and as tight as that search is. It costs some
        hundred products with X.
        """
        return np.array([problem.primal() - problem.dual() for problem in self._problems(X, y)])

    def _problems(self, X: Matrix, y: ArrayLike) -> list["_Problem"]:
        X = self._new_data(X)
        labels = np.asarray(y)
        bias = 0.0 if self.bias is None else self.bias
        classes = self.classes_ if len(self.classes_) > 2 else self.classes_[1:]
        return [
            _Problem(
                X=X,
                signs=np.where(labels == label, 1.0, -1.0),
                weights=self.coef_[row],
                bias_weight=0.0 if self.bias is None else float(self.intercept_[row]) / bias,
                bias=bias,
                C=self.C,
                squared=self.loss == "squared_hinge",
            )
            for row, label in enumerate(classes)
        ]


@dataclass(frozen=True)
class _Problem:
    """One class against the rest: the primal at the weights, the dual at its best point found."""

    X: Matrix
    signs: NDArray[np.float64]
    weights: NDArray[np.float64]
    bias_weight: float
    bias: float
    C: float
    squared: bool

    def _slack(self) -> NDArray[np.float64]:
        scores = self.X @ self.weights + self.bias * self.bias_weight
        return np.asarray(np.maximum(0.0, 1.0 - self.signs * scores))

    def primal(self) -> float:
        slack = self._slack()
        penalty = 0.5 * (self.weights @ self.weights + self.bias_weight**2)
        return float(penalty + self.C * np.sum(slack**2 if self.squared else slack))

    def dual(self) -> float:
        """Return the largest value found of sum a - 1/2 |sum a y x|^2 (- sum a^2 / 4C, squared).

        Over 0 <= a (<= C for the hinge), from what the slacks say of a at the optimum.
        """
        slack = self._slack()
        start = 2 * self.C * slack if self.squared else np.where(slack > 0, self.C, 0.0)
        found = minimize(
            self._negative_dual,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None if self.squared else self.C)] * len(start),
            options={"maxiter": 500, "maxfun": 1000, "ftol": 1e-12, "gtol": 1e-8},
        )
        return -float(found.fun)

    def _negative_dual(self, a: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        signed = a * self.signs
        w = self.X.T @ signed
        b = self.bias * signed.sum()
        value = 0.5 * (w @ w + b * b) - a.sum()
        gradient = self.signs * (self.X @ w + self.bias * b) - 1.0
        if self.squared:
            value += a @ a / (4 * self.C)
            gradient += a / (2 * self.C)
        return float(value), gradient


FAMILIES = (
    MethodFamily(
        name="svm",
        title="SVM",
        estimator=LinearSVM,
        default_fixed={"C": 0.1},
        default_grid={"C": (0.001, 0.01, 0.1, 1.0, 10.0)},
        needs=frozenset(),
        cost="k problems (one for two classes) of z per pass of the solver",
        citation=LIBLINEAR,
        rate=Rate("steps", 0.000335, tfidf_microseconds=0.000242),
    ),
)
