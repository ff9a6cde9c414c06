"""Logistic regression, as LIBLINEAR solves it."""

from collections.abc import Mapping
from typing import Any, ClassVar

from textbaselines.models.classifier import LiblinearClassifier, OneAgainstRestProbabilities
from textbaselines.models.family import LIBLINEAR, MethodFamily, Rate
from textbaselines.models.parameters import Choice, Number, Parameter


class LogisticRegression(LiblinearClassifier, OneAgainstRestProbabilities):
    """Regularised logistic regression, one class against the rest (Fan et al. 2008, LIBLINEAR).

    Minimises the penalty + C * sum over documents of log(1 + exp(-y (w'x + b))). The penalty is
    1/2 w'w or the sum of |w|. Of more than two classes each has its own model, and probabilities
    are the logistic functions of the scores divided by their sum.

    Fitted: ``coef_``, ``intercept_``, ``n_iter_`` (the most of any class), ``converged_`` (whether
    every class's solver stopped by itself, not at ``max_iter``), ``gap_`` (by what share of itself
    any class's objective is above its minimum, at most).

    Parameters
    ----------
    C : float
        The cost of a loss, above 0.
    penalty : {"l2", "l1"}
        The second makes most weights zero; the bias's among them, which is penalised alike.
    dual : bool
        Whether the l2 problem is solved in the dual (LIBLINEAR ``-s 7``), not the primal
        (``-s 0``).
    tol : float
        When the solver stops. 0.01 is LIBLINEAR's own value for ``-s 0`` and ``-s 6``; its own for
        ``-s 7`` is 0.1.
    max_iter : int
        The limit of iterations.
    bias : float, optional
        None for no bias; otherwise the value of a constant feature, whose weight is penalised
        like any other: a larger value leaves the intercept freer.
    positive : label, optional
        The positive class of two: named, it wins a tie of equally frequent classes. Without
        effect for more than two classes.
    seed : int
        Of the order in which the solver visits documents or features.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        "C": Number("cost of a loss", low=0, low_open=True),
        "penalty": Choice("the penalty", ("l2", "l1")),
        "dual": Choice("solve the dual", (False, True)),
        "tol": Number("stopping tolerance", low=0, low_open=True),
        "max_iter": Number("limit of iterations", low=1, integer=True),
        "bias": Number("value of the bias feature", low=0, low_open=True, optional=True),
    }

    loss = "logistic"

    def __init__(
        self,
        C: float = 1.0,
        penalty: str = "l2",
        dual: bool = False,
        tol: float = 0.01,
        max_iter: int = 1000,
        bias: float | None = 10.0,
        positive: Any = None,
        seed: int = 0,
    ) -> None:
        self.C = C
        self.penalty = penalty
        self.dual = dual
        self.tol = tol
        self.max_iter = max_iter
        self.bias = bias
        self.positive = positive
        self.seed = seed

    @staticmethod
    def combination_fault(params: Mapping[str, Any]) -> str | None:
        """Return why the parameters do not go together, or None."""
        if params.get("penalty") == "l1" and params.get("dual") is True:
            return "the l1 penalty is solved in the primal alone: set dual to false"
        return None


FAMILIES = (
    MethodFamily(
        name="lr",
        title="LR",
        estimator=LogisticRegression,
        default_fixed={"C": 1.0},
        default_grid={"C": (0.01, 0.1, 1.0, 10.0), "penalty": ("l2", "l1")},
        needs=frozenset(),
        cost="k problems (one for two classes) of z per pass of the solver",
        citation=LIBLINEAR,
        rate=Rate("steps", 0.00255, tfidf_microseconds=0.00101),
    ),
)
