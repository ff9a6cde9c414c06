"""Least squares with a penalty: on ratings as numbers, and on class membership as +1 and -1."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator, lsqr
from sklearn.base import RegressorMixin

from textbaselines.models.classifier import LinearClassifier
from textbaselines.models.estimator import Estimator
from textbaselines.models.family import ESL, MethodFamily, Rate
from textbaselines.models.kernels import linear_kernel
from textbaselines.models.liblinear import LinearSolution
from textbaselines.models.matrices import Matrix, products
from textbaselines.models.memory import nbytes, refuse_beyond
from textbaselines.models.parameters import Choice, Number, Parameter

_PARAMETERS: Mapping[str, Parameter] = {
    "alpha": Number("weight of the penalty", low=0),
    "intercept": Choice("fit an intercept", (True, False)),
    "tol": Number("stopping tolerance", low=0, low_open=True),
    "max_iter": Number("limit of iterations", low=1, integer=True),
    "max_gib": Number("limit of memory of the closed form in GiB", low=0, low_open=True),
}


@dataclass(frozen=True)
class CentredRows:
    """X less its column means, without being made dense; X itself without an intercept.

    ``means`` has the shape (features,), zeros without an intercept.
    """

    X: Matrix
    means: NDArray[np.float64]

    def times(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the centred rows times w of shape (features,) or (features, targets)."""
        return np.asarray(self.X @ w - self.means @ w)

    def transposed_times(self, r: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the transposed centred rows times r of shape (rows,) or (rows, targets)."""
        shift = np.multiply.outer(self.means, r.sum(axis=0))
        return np.asarray(self.X.T @ r - shift)


@dataclass(frozen=True)
class LeastSquares:
    """Minimise |X w + b - t|^2 + alpha |w|^2 for each target t; b is not penalised.

    ``targets`` has the shape (rows, targets), less ``target_means`` (zeros without an intercept).
    """

    rows: CentredRows
    targets: NDArray[np.float64]
    target_means: NDArray[np.float64]

    @classmethod
    def of(cls, X: Matrix, targets: NDArray[np.float64], intercept: bool) -> "LeastSquares":
        """Return the problem of X and targets of shape (rows, targets)."""
        if not intercept:
            return cls(CentredRows(X, np.zeros(X.shape[1])), targets, np.zeros(targets.shape[1]))
        means = np.asarray(X.mean(axis=0)).ravel()
        target_means = targets.mean(axis=0)
        return cls(CentredRows(X, means), targets - target_means, target_means)

    def solution(
        self, column: int, weights: NDArray[np.float64], n_iter: int, converged: bool
    ) -> LinearSolution:
        """Return the solution of one target with its intercept."""
        intercept = float(self.target_means[column] - self.rows.means @ weights)
        return LinearSolution(weights, intercept, n_iter, converged)

    def by_lsqr(self, alpha: float, tol: float, max_iter: int) -> list[LinearSolution]:
        """Solve by LSQR (Paige & Saunders 1982), of many solutions for that with the least |w|.

        ``tol`` is both of LSQR's relative tolerances.
        """
        operator = LinearOperator(
            self.rows.X.shape,
            matvec=lambda w: self.rows.times(np.ravel(w)),
            rmatvec=lambda r: self.rows.transposed_times(np.ravel(r)),
            dtype=np.float64,
        )
        solutions = []
        for column, target in enumerate(self.targets.T):
            weights, stop, n_iter, *_ = lsqr(
                operator,
                target,
                damp=np.sqrt(alpha),
                atol=tol,
                btol=tol,
                conlim=0.0,
                iter_lim=max_iter,
            )
            solutions.append(self.solution(column, weights, int(n_iter), bool(stop != 7)))
        return solutions


@dataclass(frozen=True)
class ClosedForm:
    """The eigenvalues of the smaller Gram matrix, from which every alpha's solution follows.

    With features in the minority w = V (values + alpha)^-1 V'X't, from X'X = V values V'; otherwise
    w = X'U (values + alpha)^-1 U't, from X X' = U values U'. Directions that are rounding noise are
    left out, so alpha = 0 gives the solution with the least |w|.
    """

    problem: LeastSquares
    values: NDArray[np.float64]
    vectors: NDArray[np.float64]

    @classmethod
    def of(cls, problem: LeastSquares, max_gib: float) -> "ClosedForm":
        """Factorise; :class:`ValueError` when that would take more than ``max_gib`` GiB."""
        X, means = problem.rows.X, problem.rows.means
        n, m = X.shape
        size = min(n, m)
        refuse_beyond(
            max_gib,
            4 * nbytes(size, size),
            f"the Gram matrix of {size} {'features' if m <= n else 'documents'} and its factors",
            "use solver 'lsqr'",
        )
        if m <= n:
            gram = linear_kernel(X.T, X.T) - n * np.outer(means, means)
        else:
            gram = linear_kernel(X, X)
            shift = np.asarray(X @ means)
            gram += means @ means - shift[:, None] - shift[None, :]
        values, vectors = np.linalg.eigh(gram)
        kept = values > max(values[-1], 0.0) * max(n, m) * np.finfo(np.float64).eps
        return cls(problem, values[kept], vectors[:, kept])

    def solutions(self, alpha: float) -> list[LinearSolution]:
        """Return the solution of each target."""
        rows, targets = self.problem.rows, self.problem.targets
        n, m = rows.X.shape
        in_features = m <= n
        right = rows.transposed_times(targets) if in_features else targets
        weights = self.vectors @ ((self.vectors.T @ right) / (self.values + alpha)[:, None])
        if not in_features:
            weights = rows.transposed_times(weights)
        return [
            self.problem.solution(column, weights[:, column].copy(), 0, True)
            for column in range(targets.shape[1])
        ]


@dataclass(frozen=True)
class Descent:
    """The course of gradient descent: the solution, the loss at each step, the learning rate."""

    solution: LinearSolution
    loss_curve: NDArray[np.float64]
    learning_rate: float


def gradient_descent(
    problem: LeastSquares,
    *,
    alpha: float,
    learning_rate: float | None,
    tol: float,
    max_iter: int,
) -> Descent:
    """Minimise (|X w + b - t|^2 + alpha |w|^2) / 2n of one target by steps against the gradient.

    From w = 0 on, until a step lowers the loss by no more than ``tol`` times the first loss.

    Parameters
    ----------
    problem : LeastSquares
        With one target.
    learning_rate : float or None
        The factor of the gradient; None for 1 / L, L the largest curvature of the loss.

    Raises
    ------
    ValueError
        When the loss rises: the learning rate is too large.
    """
    rows, target = problem.rows, problem.targets[:, 0]
    n, m = rows.X.shape
    curvature = _largest_curvature(rows, alpha)
    if learning_rate is None:
        learning_rate = 1.0 / curvature if curvature > 0 else 1.0
    w, residual = np.zeros(m), -target
    losses = [float(residual @ residual) / (2 * n)]
    converged = False
    while len(losses) <= max_iter and not converged:
        w = w - learning_rate * (rows.transposed_times(residual) + alpha * w) / n
        residual = rows.times(w) - target
        losses.append(float(residual @ residual + alpha * w @ w) / (2 * n))
        gained = losses[-2] - losses[-1]
        if not gained >= -tol * losses[0]:
            raise ValueError(
                f"gradient descent diverges: step {len(losses) - 1} raised the loss from "
                f"{losses[-2]:.6g} to {losses[-1]:.6g}; learning_rate is {learning_rate:g}, use "
                f"one below {2 / curvature:.3g} or null"
            )
        converged = gained <= tol * losses[0]
    return Descent(
        problem.solution(0, w, len(losses) - 1, converged), np.array(losses), learning_rate
    )


def _largest_curvature(rows: CentredRows, alpha: float) -> float:
    """Return the largest eigenvalue of (X'X + alpha I) / n, nearly, by the power method."""
    n, m = rows.X.shape
    vector = np.random.default_rng(0).standard_normal(m)
    value = 0.0
    for _ in range(50):
        vector /= np.linalg.norm(vector)
        image = rows.transposed_times(rows.times(vector))
        value = float(vector @ image)
        if value <= 0:
            break
        vector = image
    return float((max(value, 0.0) + alpha) / n)


class RidgeClassifier(LinearClassifier):
    """Least squares on +1 and -1, with an l2 penalty; one class against the rest.

    Minimises |X w + b - t|^2 + alpha |w|^2, t being +1 for the class's documents and -1 for the
    others (Hastie et al. 2009, sections 3.4.1 and 4.2). The intercept is not penalised.

    Fitted: ``coef_``, ``intercept_``, ``n_iter_`` (0 for the closed form), ``converged_``.

    Parameters
    ----------
    alpha : float
        Weight of the penalty, at least 0.
    intercept : bool
    solver : {"lsqr", "closed_form"}
        The second factorises a Gram matrix of the features or the documents, whichever are fewer,
        once for every alpha of a grid.
    tol : float
        The relative tolerance of LSQR.
    max_iter : int
        The limit of its iterations.
    max_gib : float
        The limit of memory for the closed form; beyond it fitting is refused.
    positive : label, optional
        The positive class of two: named, it wins a tie of equally frequent classes. Without
        effect for more than two classes.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        **_PARAMETERS,
        "solver": Choice("how it is solved", ("lsqr", "closed_form")),
    }
    OWN: ClassVar[frozenset[str]] = frozenset({"alpha"})

    def __init__(
        self,
        alpha: float = 1.0,
        intercept: bool = True,
        solver: str = "lsqr",
        tol: float = 1e-6,
        max_iter: int = 10_000,
        max_gib: float = 4.0,
        positive: Any = None,
    ) -> None:
        self.alpha = alpha
        self.intercept = intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.max_gib = max_gib
        self.positive = positive

    def _prepare(
        self, X: Matrix, y: ArrayLike
    ) -> tuple[NDArray[Any], LeastSquares | ClosedForm | None]:
        X, codes = self._training_data(X, y)
        masks = self._one_against_rest(codes)
        if not masks:
            return self.classes_, None
        targets = np.column_stack([np.where(mask, 1.0, -1.0) for mask in masks])
        problem = LeastSquares.of(X, targets, self.intercept)
        if self.solver == "closed_form":
            return self.classes_, ClosedForm.of(problem, self.max_gib)
        return self.classes_, problem

    def _complete(self, prepared: tuple[NDArray[Any], LeastSquares | ClosedForm | None]) -> None:
        self.classes_, problem = prepared
        if problem is None:
            self._take_solutions([])
        elif isinstance(problem, ClosedForm):
            self._take_solutions(problem.solutions(self.alpha))
        else:
            self._take_solutions(problem.by_lsqr(self.alpha, self.tol, self.max_iter))


class LinearRegression(RegressorMixin, Estimator):  # type: ignore[misc]
    """Linear regression on ratings, with an optional l2 penalty.

    Minimises |X w + b - y|^2 + alpha |w|^2 (Hastie et al. 2009, section 3.4.1); with ``alpha`` 0
    ordinary least squares, and of many solutions the one with the least |w|. The intercept is not
    penalised.

    Fitted: ``coef_`` (features,), ``intercept_`` (a number), ``n_iter_`` (0 for the closed form),
    ``converged_``; by gradient descent also ``loss_curve_`` (n_iter + 1,): the loss
    (|X w + b - y|^2 + alpha |w|^2) / 2n before the first step and after each, and
    ``learning_rate_``.

    Parameters
    ----------
    alpha : float
        Weight of the penalty, at least 0.
    intercept : bool
    solver : {"lsqr", "closed_form", "gradient_descent"}
        The second factorises a Gram matrix of the features or the documents, whichever are fewer,
        once for every alpha of a grid.
    learning_rate : float, optional
        The factor of the gradient, above 0; None for 1 / L, L the largest curvature of the loss.
        Above 2 / L gradient descent diverges, which is refused.
    tol : float
        The relative tolerance of LSQR. Gradient descent stops when a step lowers the loss by no
        more than this share of the first loss.
    max_iter : int
        The limit of their iterations.
    max_gib : float
        The limit of memory for the closed form; beyond it fitting is refused.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        **_PARAMETERS,
        "solver": Choice("how it is solved", ("lsqr", "closed_form", "gradient_descent")),
        "learning_rate": Number("factor of the gradient", low=0, low_open=True, optional=True),
    }
    OWN: ClassVar[frozenset[str]] = frozenset({"alpha"})

    def __init__(
        self,
        alpha: float = 1.0,
        intercept: bool = True,
        solver: str = "lsqr",
        learning_rate: float | None = None,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        max_gib: float = 4.0,
    ) -> None:
        self.alpha = alpha
        self.intercept = intercept
        self.solver = solver
        self.learning_rate = learning_rate
        self.tol = tol
        self.max_iter = max_iter
        self.max_gib = max_gib

    def predict(self, X: Matrix) -> NDArray[np.float64]:
        """Return the predicted number of each row, shape (n,)."""
        return self.outputs_of([self], X)[0]

    @classmethod
    def _outputs_of(cls, group: Sequence[Self], X: Matrix) -> list[NDArray[np.float64]]:
        numbers = products(X, [one.coef_[None, :] for one in group])
        return [own[:, 0] + one.intercept_ for one, own in zip(group, numbers, strict=True)]

    def _prepare(self, X: Matrix, y: ArrayLike) -> LeastSquares | ClosedForm:
        X, target = self._fit_data(X, y, numeric=True)
        target = np.asarray(target, dtype=np.float64)
        problem = LeastSquares.of(X, target[:, None], self.intercept)
        return ClosedForm.of(problem, self.max_gib) if self.solver == "closed_form" else problem

    def _complete(self, prepared: LeastSquares | ClosedForm) -> None:
        if isinstance(prepared, ClosedForm):
            (solution,) = prepared.solutions(self.alpha)
        elif self.solver == "lsqr":
            (solution,) = prepared.by_lsqr(self.alpha, self.tol, self.max_iter)
        else:
            descent = gradient_descent(
                prepared,
                alpha=self.alpha,
                learning_rate=self.learning_rate,
                tol=self.tol,
                max_iter=self.max_iter,
            )
            solution = descent.solution
            self.loss_curve_, self.learning_rate_ = descent.loss_curve, descent.learning_rate
        self.coef_, self.intercept_ = solution.weights, solution.intercept
        self.n_iter_, self.converged_ = solution.n_iter, solution.converged


FAMILIES = (
    MethodFamily(
        name="ridge",
        title="Ridge",
        estimator=RidgeClassifier,
        default_fixed={"alpha": 1.0},
        default_grid={"alpha": (0.1, 1.0, 10.0, 100.0)},
        needs=frozenset(),
        cost="k problems (one for two classes) of 2 z per iteration; in closed form one "
        "factorisation of min(n, m)^3 for all alpha",
        citation=ESL,
        rate=Rate("steps", 0.0065, tfidf_microseconds=0.00101),
    ),
    MethodFamily(
        name="linreg",
        title="Linear regression",
        estimator=LinearRegression,
        default_fixed={"alpha": 1.0},
        default_grid={"alpha": (0.1, 1.0, 10.0, 100.0)},
        needs=frozenset({"numeric_target"}),
        cost="2 z per iteration; in closed form one factorisation of min(n, m)^3 for all alpha",
        citation=ESL,
        rate=Rate("steps", 0.0065, tfidf_microseconds=0.0009),
    ),
)
