"""What all estimators share: parameter ranges, checked input, and a fit that grid points share."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from textbaselines.models.matrices import Matrix, canonical
from textbaselines.models.memory import gib, nbytes
from textbaselines.models.parameters import Parameter, parameter_fault
from textbaselines.models.refusals import explained


class Estimator(BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator whose fit has a part that grid points may share.

    ``fit`` is ``_complete(_solve(_prepare(X, y)))``. What ``_prepare`` returns depends on no more
    than ``_preparation`` says, and what ``_solve`` makes of it on no more than ``_solution`` adds,
    so points of a grid that agree in them share the preparation and the solution
    (:func:`textbaselines.models.registry.fit_grid`), and their outputs for new rows come from one
    call of ``_outputs_of``.
    """

    # The range of each parameter that a study may set.
    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {}
    # Parameters that only _complete looks at.
    OWN: ClassVar[frozenset[str]] = frozenset()
    # Parameters that _solve looks at and _prepare does not.
    SOLVED: ClassVar[frozenset[str]] = frozenset()
    # Whether negative values of X are refused.
    NON_NEGATIVE: ClassVar[bool] = False
    # Whether X may be sparse.
    SPARSE: ClassVar[bool] = True

    n_features_in_: int

    @classmethod
    @functools.cache
    def _get_param_names(cls) -> list[str]:
        # Read from the signature once, not for each of a grid's points on each fold.
        return list(super()._get_param_names())

    def fit(self, X: Matrix, y: ArrayLike) -> Self:
        """Train on X of shape (documents, features) and the target of each document.

        Raises
        ------
        ValueError
            When a parameter is out of its range, or X or y cannot be used (NaN, infinity, a
            negative value or a sparse matrix where the method forbids it, lengths that differ).
        """
        self._check_parameters()
        self._complete(self._solve(self._prepare(X, y)))
        return self

    @classmethod
    def outputs_of(cls, group: Sequence[Self], X: Matrix) -> list[NDArray[np.float64]]:
        """Return the output of each fitted estimator for the rows of X.

        The output is what predictions follow from: the scores of a classifier, shaped as its
        ``decision_function``, or the numbers that a regressor predicts, shape (rows,). It equals
        that of the estimator asked alone, up to the order of sums.

        Parameters
        ----------
        group : sequence of estimators
            Fitted to the same documents by one preparation.
        X : array or CSR matrix of shape (rows, features)
        """
        return cls._outputs_of(group, group[0]._new_data(X))

    @staticmethod
    def combination_fault(params: Mapping[str, Any]) -> str | None:
        """Return why parameters that are each allowed do not go together, or None."""
        return None

    def _preparation(self) -> dict[str, Any]:
        """Return the parameters that ``_prepare`` looks at: neither ``OWN`` nor ``SOLVED``."""
        later = self.OWN | self.SOLVED
        return {k: v for k, v in self.get_params(deep=False).items() if k not in later}

    def _solution(self) -> dict[str, Any]:
        """Return the parameters that ``_solve`` looks at besides."""
        return {k: v for k, v in self.get_params(deep=False).items() if k in self.SOLVED}

    def _prepare(self, X: Matrix, y: ArrayLike) -> Any:
        raise NotImplementedError

    def _solve(self, prepared: Any) -> Any:
        """Return what ``_complete`` takes; the preparation itself where nothing is solved."""
        return prepared

    def _assess(self, solved: Any) -> None:
        """Work out what is told of a solution's quality, where that is quicker for many in a row.

        Only the time differs: ``_complete`` works it out otherwise.
        """

    def _complete(self, solved: Any) -> None:
        raise NotImplementedError

    @classmethod
    def _outputs_of(cls, group: Sequence[Self], X: Matrix) -> list[NDArray[np.float64]]:
        """Return what :meth:`outputs_of` does, of rows that are checked."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        params = self.get_params(deep=False)
        fault = parameter_fault(self.PARAMETERS, params)
        if fault is not None:
            name, value, allowed = fault
            raise ValueError(f"{type(self).__name__}: {name} must be {allowed}, got {value!r}")
        reason = self.combination_fault(params)
        if reason is not None:
            raise ValueError(f"{type(self).__name__}: {reason}")

    def _fit_data(self, X: Matrix, y: ArrayLike, *, numeric: bool = False) -> tuple[Matrix, Any]:
        """Return X as canonical float64, and y (as numbers when ``numeric``), both checked."""
        self._refuse_sparse(X)
        given = X
        try:
            X, y = validate_data(self, X, y, y_numeric=numeric, **self._input())
        except (ValueError, TypeError) as error:
            told = explained(error, type(self).__name__, given, y)
            if told is None:
                raise
            raise told from error
        self._refuse_negative(X)
        return canonical(X), y

    def _new_data(self, X: Matrix) -> Matrix:
        """Return rows to predict as canonical float64, checked against those of training."""
        check_is_fitted(self)
        self._refuse_sparse(X)
        given = X
        try:
            X = validate_data(self, X, reset=False, **self._input())
        except (ValueError, TypeError) as error:
            told = explained(error, type(self).__name__, given)
            if told is None:
                raise
            raise told from error
        self._refuse_negative(X)
        return canonical(X)

    def _input(self) -> dict[str, Any]:
        return {
            "accept_sparse": "csr" if self.SPARSE else False,
            "dtype": np.float64,
            "order": "C",
        }

    def _refuse_sparse(self, X: Matrix) -> None:
        if sp.issparse(X) and not self.SPARSE:
            raise ValueError(
                f"{type(self).__name__} does not take sparse input: a dense copy of shape "
                f"{X.shape} would take {gib(nbytes(*X.shape))}; reduce X first, for instance by "
                "SVD to a few hundred columns"
            )

    def _refuse_negative(self, X: Matrix) -> None:
        if self.NON_NEGATIVE:
            check_non_negative(X, type(self).__name__)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what input the method takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.SPARSE
        tags.input_tags.positive_only = self.NON_NEGATIVE
        return tags
