"""The support vector machine with a kernel, as LIBSVM solves it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.svm import SVC

from textbaselines.models.classifier import Classifier
from textbaselines.models.family import MethodFamily, Rate
from textbaselines.models.kernels import (
    blocks_of_rows,
    gram_matrix,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
    scale_gamma,
)
from textbaselines.models.matrices import Matrix, int32_indices
from textbaselines.models.memory import nbytes
from textbaselines.models.parameters import Choice, Number, Parameter

# LIBSVM's store of kernel columns, which holds all of some ten thousand documents'.
_CACHE_MIB = 500
# Up to this size the kernel matrix is worked out once, for every C; beyond it (11585 documents)
# LIBSVM works out the columns that it wants.
_GRAM_GIB = 1.0


@dataclass(frozen=True)
class _Problem:
    """The training rows, their class codes and their kernel matrix, None where it is too large."""

    X: Matrix
    codes: NDArray[np.intp]
    gram: NDArray[np.float64] | None


class _Machine(SVC):  # type: ignore[misc]
    """LIBSVM in silence: ``converged_`` says what its warning does.

    The filters of the warnings module are the process's, so threads cannot change them for a while.
    """

    def _warn_from_fit_status(self) -> None:
        pass


class KernelSVM(Classifier):
    """Soft-margin SVM with a kernel, one class against the rest (Chang & Lin 2011, LIBSVM).

    Minimises 1/2 |w|^2 + C * sum of max(0, 1 - y (w'phi(x) + b)); the bias b is free. Kernels:
    ``"linear"`` x'z; ``"polynomial"`` (x'z + 1)^degree; ``"rbf"`` exp(-gamma |x - z|^2). Sparse
    rows stay sparse. There are no probabilities, which LIBSVM's own would contradict: calibrate.

    Fitted: ``support_``: the numbers of the training rows that are support vectors of some
    problem, ``support_vectors_`` those rows, ``dual_coef_`` (problems, support vectors): y times
    alpha, from -C to C and summing to 0, ``intercept_`` (problems,), ``margin_`` (problems,),
    ``gamma_``, ``n_iter_`` (the most of any class), ``converged_``. There is one problem for two
    classes, oriented to ``classes_[1]``, otherwise one for each class, and w'phi(x) is the sum
    over the support vectors z of dual_coef k(z, x).

    Parameters
    ----------
    C : float
        The cost of a loss, above 0.
    kernel : {"linear", "polynomial", "rbf"}
    degree : int
        The exponent of the polynomial kernel.
    gamma : float, optional
        Of the rbf kernel, above 0; None for 1 over the mean squared distance of the training rows
        from their mean (:func:`textbaselines.models.kernels.scale_gamma`).
    tol : float
        When the solver stops; 0.001 is LIBSVM's own.
    max_iter : int
        The limit of iterations, each of two documents.
    positive : label, optional
        The positive class of two: named, it wins a tie of equally frequent classes. Without
        effect for more than two classes.
    """

    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {
        "C": Number("cost of a loss", low=0, low_open=True),
        "kernel": Choice("the kernel", ("linear", "polynomial", "rbf")),
        "degree": Number("exponent of the polynomial kernel", low=1, integer=True),
        "gamma": Number("gamma of the rbf kernel", low=0, low_open=True, optional=True),
        "tol": Number("stopping tolerance", low=0, low_open=True),
        "max_iter": Number("limit of iterations", low=1, integer=True),
    }
    OWN: ClassVar[frozenset[str]] = frozenset({"C", "tol", "max_iter"})

    def __init__(
        self,
        C: float = 1.0,
        kernel: str = "linear",
        degree: int = 2,
        gamma: float | None = None,
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

    @classmethod
    def _outputs_of(cls, group: Sequence[Self], X: Matrix) -> list[NDArray[np.float64]]:
        # The kernel with the support vectors of all, and each one's coefficients among these.
        support, first = np.unique(
            np.concatenate([one.support_ for one in group]), return_index=True
        )
        vectors: Matrix
        if sp.issparse(group[0].support_vectors_):
            vectors = sp.vstack([one.support_vectors_ for one in group], format="csr")[first]
        else:
            vectors = np.vstack([one.support_vectors_ for one in group])[first]
        widths = [len(one.dual_coef_) for one in group]
        coefficients = np.zeros((len(support), sum(widths)))
        for one, end, width in zip(group, np.cumsum(widths), widths, strict=True):
            places = np.searchsorted(support, one.support_)
            coefficients[places, end - width : end] = one.dual_coef_.T
        parts = [
            group[0]._kernel_between(block, vectors) @ coefficients
            for block in blocks_of_rows(X, len(support))
        ]
        scores = np.split(np.concatenate(parts), np.cumsum(widths)[:-1], axis=1)
        return [
            own[:, 0] + one.intercept_[0] if len(one.classes_) <= 2 else own + one.intercept_
            for one, own in zip(group, scores, strict=True)
        ]

    @property
    def margin_(self) -> NDArray[np.float64]:
        """The distance 1/|w| from each problem's boundary to where y (w'phi(x) + b) is 1.

        The shape is (1,) for up to two classes, otherwise (classes,); infinite where w is 0. It is
        in the kernel's space, and worked out when asked for.
        """
        squares = np.zeros(len(self.dual_coef_))
        start = 0
        for block in blocks_of_rows(self.support_vectors_, len(self.support_)):
            end = start + block.shape[0]
            images = self._kernel_between(block, self.support_vectors_) @ self.dual_coef_.T
            squares += np.einsum("pi,ip->p", self.dual_coef_[:, start:end], images)
            start = end
        with np.errstate(divide="ignore"):
            return np.asarray(1 / np.sqrt(np.maximum(squares, 0)))

    def _kernel_between(self, A: Matrix, B: Matrix) -> NDArray[np.float64]:
        if self.kernel == "linear":
            return linear_kernel(A, B)
        if self.kernel == "polynomial":
            return polynomial_kernel(A, B, self.degree)
        return rbf_kernel(A, B, self.gamma_)

    def _preparation(self) -> dict[str, Any]:
        params = super()._preparation()
        if self.kernel != "polynomial":
            del params["degree"]
        if self.kernel != "rbf":
            del params["gamma"]
        return params

    def _prepare(self, X: Matrix, y: ArrayLike) -> _Problem:
        X, codes = self._training_data(X, y)
        self.gamma_ = scale_gamma(X) if self.gamma is None else float(self.gamma)
        gram = None
        if len(self.classes_) > 1 and nbytes(X.shape[0], X.shape[0]) <= _GRAM_GIB * 2**30:
            gram = gram_matrix(X, self._kernel_between)
        return _Problem(X, codes, gram)

    def _solve_one(self, problem: _Problem, positive: NDArray[np.bool_]) -> Any:
        kernel = "poly" if self.kernel == "polynomial" else self.kernel
        machine = _Machine(
            C=self.C,
            kernel=kernel if problem.gram is None else "precomputed",
            degree=self.degree,
            gamma=1.0 if self.kernel == "polynomial" else self.gamma_,
            coef0=1.0,
            tol=self.tol,
            max_iter=self.max_iter,
            cache_size=_CACHE_MIB,
        )
        rows = int32_indices(problem.X) if problem.gram is None else problem.gram
        return machine.fit(rows, positive.astype(np.int8))

    def _complete(self, prepared: _Problem) -> None:
        X = prepared.X
        n = X.shape[0]
        machines = [
            self._solve_one(prepared, mask) for mask in self._one_against_rest(prepared.codes)
        ]
        rows = []
        for machine in machines:
            coefficients = machine.dual_coef_
            row = np.zeros(n)
            row[machine.support_] = (
                coefficients.toarray() if sp.issparse(coefficients) else coefficients
            )[0]
            rows.append(row)
        dual_coef = self._oriented(rows, width=n)
        self.support_ = np.flatnonzero(dual_coef.any(axis=0))
        self.support_vectors_ = X[self.support_]
        self.dual_coef_ = dual_coef[:, self.support_]
        self.intercept_ = self._oriented([machine.intercept_ for machine in machines], width=1)[
            :, 0
        ]
        self.n_iter_ = max((int(machine.n_iter_.max()) for machine in machines), default=0)
        self.converged_ = all(machine.fit_status_ == 0 for machine in machines)


FAMILIES = (
    MethodFamily(
        name="ksvm",
        title="Kernel SVM",
        estimator=KernelSVM,
        default_fixed={"C": 1.0, "kernel": "linear"},
        default_grid={"C": (0.1, 1.0, 10.0), "kernel": ("linear", "polynomial", "rbf")},
        needs=frozenset(),
        cost="k problems (one for two classes), each between n z and n^2 z",
        citation="Chang, C.-C. and Lin, C.-J. (2011). LIBSVM: A Library for Support Vector "
        "Machines. ACM TIST 2(3), 27.",
        rate=Rate("squares", 0.0235),
        stored=("support_", "support_vectors_", "dual_coef_", "intercept_", "gamma_"),
        by_feature=frozenset({"support_vectors_"}),
    ),
)
