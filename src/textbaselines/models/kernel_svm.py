"""The support vector machine with a kernel, as LIBSVM solves it."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from textbaselines.models.classifier import Classifier
from textbaselines.models.matrices import Matrix, int32_indices
from textbaselines.models.parameters import Choice, Number, Parameter


@dataclass(frozen=True)
class _Machines:
    machines: list[Any]
    n_iter: int
    converged: bool


class KernelSVM(Classifier):
    """Soft-margin SVM with a kernel, one class against the rest (Chang & Lin 2011, LIBSVM).

    Minimises 1/2 |w|^2 + C * sum of max(0, 1 - y (w'phi(x) + b)); the bias b is free. Kernels:
    ``"linear"`` x'z; ``"polynomial"`` (x'z + 1)^degree; ``"rbf"`` exp(-gamma |x - z|^2). Sparse
    rows stay sparse. There are no probabilities, which LIBSVM's own would contradict: calibrate.

    Fitted: ``n_iter_`` (the most of any class), ``converged_``, ``machines_``: the solved
    problems, one for two classes, otherwise one for each class.

    Parameters
    ----------
    C : float
        The cost of a loss, above 0.
    kernel : {"linear", "polynomial", "rbf"}
    degree : int
        The exponent of the polynomial kernel.
    gamma : float
        The width of the rbf kernel.
    tol : float
        When the solver stops; 0.001 is LIBSVM's own.
    max_iter : int
        The limit of iterations, each of two documents.
    positive : label, optional
        The class that a score of zero speaks against; by default ``classes_[1]``. Without effect
        for more than two classes.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        "C": Number("cost of a loss", low=0, low_open=True),
        "kernel": Choice("the kernel", ("linear", "polynomial", "rbf")),
        "degree": Number("exponent of the polynomial kernel", low=1, integer=True),
        "gamma": Number("width of the rbf kernel", low=0, low_open=True),
        "tol": Number("stopping tolerance", low=0, low_open=True),
        "max_iter": Number("limit of iterations", low=1, integer=True),
    }

    def __init__(
        self,
        C: float = 1.0,
        kernel: str = "linear",
        degree: int = 2,
        gamma: float = 0.01,
        tol: float = 0.001,
        max_iter: int = 1_000_000,
        positive: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.tol = tol
        self.max_iter = max_iter
        self.positive = positive

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Return the scores: shape (n,) for up to two classes, otherwise (n, classes)."""
        X = int32_indices(self._new_data(X))
        rows = [machine.decision_function(X) for machine in self.machines_]
        scores = self._oriented(rows, width=X.shape[0])
        return scores[0] if len(self.classes_) <= 2 else np.ascontiguousarray(scores.T)

    def _prepare(self, X: Matrix, y: ArrayLike) -> _Machines:
        X, codes = self._training_data(X, y)
        X = int32_indices(X)
        machines = []
        for mask in self._one_against_rest(codes):
            machine = SVC(
                C=self.C,
                kernel="poly" if self.kernel == "polynomial" else self.kernel,
                degree=self.degree,
                gamma=1.0 if self.kernel == "polynomial" else self.gamma,
                coef0=1.0,
                tol=self.tol,
                max_iter=self.max_iter,
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                machines.append(machine.fit(X, mask.astype(np.int8)))
        return _Machines(
            machines,
            n_iter=max((int(machine.n_iter_.max()) for machine in machines), default=0),
            converged=all(machine.fit_status_ == 0 for machine in machines),
        )

    def _complete(self, prepared: _Machines) -> None:
        self.machines_ = prepared.machines
        self.n_iter_, self.converged_ = prepared.n_iter, prepared.converged
