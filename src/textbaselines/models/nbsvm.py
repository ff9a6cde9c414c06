"""NBSVM: a linear SVM on naive Bayes features, interpolated with their mean weight."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textbaselines.models.classifier import LinearClassifier
from textbaselines.models.family import WANG_MANNING, MethodFamily, Rate
from textbaselines.models.liblinear import LinearSolution, solve_linear
from textbaselines.models.log_count_ratio import log_count_ratio
from textbaselines.models.matrices import Matrix, int32_indices, products, scale_columns
from textbaselines.models.parameters import Choice, Number, Parameter


@dataclass(frozen=True)
class _Prepared:
    """The classes, the rows, and of each binary problem its positive rows and log-count ratio.

    The rows of a single problem are scaled by its ratio already, once for every C.
    """

    classes: NDArray[Any]
    X: Matrix
    masks: list[NDArray[np.bool_]]
    ratios: list[NDArray[np.float64]]

    def scale(self, problem: int) -> NDArray[np.float64] | None:
        """Return what the rows are still to be multiplied by to be the solver's, x o r."""
        return None if len(self.ratios) == 1 else self.ratios[problem]


@dataclass(frozen=True)
class _Solved:
    """The preparation, and of each binary problem the weights on x o r and their mean size.

    ``weights`` has the shape (problems, features), ``means`` (problems, 1); a row of zeros where
    there is no problem.
    """

    prepared: _Prepared
    solutions: list[LinearSolution]
    weights: NDArray[np.float64]
    means: NDArray[np.float64]


class NBSVM(LinearClassifier):
    """SVM with naive Bayes features (Wang & Manning 2012, section 2.3).

    The solver sees x o r, r the log-count ratio of the training rows; its weights w become

        w' = (1 - beta) * mean|w| + beta * w,

    the mean over all columns of X (so the caller's dictionary decides it), and the score is
    (x o r).w': no prior, no bias. The added mean is one-sided: it leans on w being positive for
    features that speak for the positive class, which holds because r and w are both oriented to
    it. With more than two classes every class is the positive one in turn, and for two this is
    the binary model.

    X is taken as given: the paper's holds 0 and 1.

    Fitted: ``log_count_ratio_`` and ``coef_`` (the folded r * w'), both shaped and oriented as
    ``coef_`` of every linear classifier here; ``n_iter_``, ``converged_`` and ``gap_`` of the
    solver, as :class:`~textbaselines.models.svm.LinearSVM` has them.

    Parameters
    ----------
    alpha : float
        Smoothing of the log-count ratio, at least 0. With 0 an infinite ratio is refused.
    C : float
        The cost of a loss, above 0.
    beta : float
        From 0 (all weights equal to the mean: naive Bayes without a prior) to 1 (the SVM on
        x o r). The paper's is 0.25.
    loss : {"squared_hinge", "hinge", "logistic"}
        The solver's loss; the paper's is the squared hinge.
    tol : float
        When the solver stops; 0.1 is LIBLINEAR's own value and gave the paper's numbers.
    max_iter : int
        The limit of iterations.
    positive : label, optional
        The class of two that r and w are oriented to, by default ``classes_[1]``; named, it wins
        a tie of equally frequent classes. Without effect for more than two classes.
    seed : int
        Of the order in which the dual solver visits documents.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        "alpha": Number("smoothing of the log-count ratio", low=0),
        "C": Number("cost of a loss", low=0, low_open=True),
        "beta": Number("share of the solver's own weights", low=0, high=1),
        "loss": Choice("the loss", ("squared_hinge", "hinge", "logistic")),
        "tol": Number("stopping tolerance", low=0, low_open=True),
        "max_iter": Number("limit of iterations", low=1, integer=True),
    }
    OWN: ClassVar[frozenset[str]] = frozenset({"beta"})
    SOLVED: ClassVar[frozenset[str]] = frozenset({"C", "loss", "tol", "max_iter"})
    NON_NEGATIVE: ClassVar[bool] = True

    def __init__(
        self,
        alpha: float = 1.0,
        C: float = 1.0,
        beta: float = 0.25,
        loss: str = "squared_hinge",
        tol: float = 0.1,
        max_iter: int = 1000,
        positive: Any = None,
        seed: int = 0,
    ) -> None:
        self.alpha = alpha
        self.C = C
        self.beta = beta
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.positive = positive
        self.seed = seed

    def _prepare(self, X: Matrix, y: ArrayLike) -> _Prepared:
        X, codes = self._training_data(X, y)
        masks = self._one_against_rest(codes)
        ratios = [log_count_ratio(X, mask, self.alpha) for mask in masks]
        X = int32_indices(X)
        if len(ratios) == 1:
            X = scale_columns(X, ratios[0])
        return _Prepared(self.classes_, X, masks, ratios)

    def _solve(self, prepared: _Prepared) -> _Solved:
        solutions = [
            solve_linear(
                prepared.X,
                mask,
                C=self.C,
                loss=self.loss,
                dual=True,
                tol=self.tol,
                max_iter=self.max_iter,
                bias=None,
                seed=self.seed,
                scale=prepared.scale(problem),
            )
            for problem, mask in enumerate(prepared.masks)
        ]
        rows = [solution.weights for solution in solutions]
        if len(rows) == 1:
            weights = rows[0][np.newaxis]
        else:
            weights = np.vstack(rows) if rows else np.zeros((1, prepared.X.shape[1]))
        means = np.array([[np.mean(np.abs(row))] for row in weights])
        return _Solved(prepared, solutions, weights, means)

    def _assess(self, solved: _Solved) -> None:
        self._measure_gaps(solved.solutions)

    def _complete(self, solved: _Solved) -> None:
        self.classes_ = solved.prepared.classes
        self._take_reports(solved.solutions)
        self.log_count_ratio_ = self._oriented(solved.prepared.ratios)
        self._weights, self._means = solved.weights, solved.means
        self.__dict__.pop("coef_", None)

    @cached_property
    def coef_(self) -> NDArray[np.float64]:  # type: ignore[override]
        """r * w', worked out when somebody asks: predictions of a grid do without."""
        return self.log_count_ratio_ * interpolated(self._weights, self._means, self.beta)

    @classmethod
    def _outputs_of(cls, group: Sequence[Self], X: Matrix) -> list[NDArray[np.float64]]:
        # x.(r * w') = (1 - beta) * mean * x.r + beta * x.(r * w): two products serve every beta.
        ratio = group[0].log_count_ratio_
        (naive_bayes,) = products(X, [ratio])
        of_solver: dict[int, NDArray[np.float64]] = {}
        outputs = []
        for one in group:
            solved = id(one._weights)
            if solved not in of_solver:
                (of_solver[solved],) = products(X, [ratio * one._weights])
            scores = interpolated(of_solver[solved], one._means.T * naive_bayes, one.beta)
            outputs.append(scores[:, 0] if len(one.classes_) <= 2 else scores)
        return outputs


def interpolated(
    weights: NDArray[np.float64], mean: NDArray[np.float64] | float, beta: float
) -> NDArray[np.float64]:
    """Return (1 - beta) * mean + beta * w, shaped as w; the mean is that of all |w|."""
    return np.asarray((1 - beta) * mean + beta * weights)


FAMILIES = (
    MethodFamily(
        name="nbsvm",
        title="NBSVM",
        estimator=NBSVM,
        default_fixed={"alpha": 1.0, "C": 1.0, "beta": 0.25},
        default_grid={"C": (0.1, 1.0, 10.0), "beta": (0.0, 0.25, 0.5, 1.0)},
        needs=frozenset({"non_negative"}),
        cost="k problems (one for two classes) of z per pass of the solver; beta costs nothing",
        citation=WANG_MANNING,
        rate=Rate("steps", 0.000123, tfidf_microseconds=0.000096),
    ),
)
