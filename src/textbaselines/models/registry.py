"""The methods a study may name: their estimators, parameters, grids and costs, and grid fitting."""

import functools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textbaselines.errors import UserError
from textbaselines.models.complement_nb import ComplementNB
from textbaselines.models.estimator import Estimator
from textbaselines.models.extreme_learning import ExtremeLearningMachine
from textbaselines.models.gaussian import GaussianDiscriminantAnalysis, GaussianNB
from textbaselines.models.gaussian_process import (
    GaussianProcessClassifier,
    GaussianProcessRegressor,
)
from textbaselines.models.kernel_svm import KernelSVM
from textbaselines.models.language_model import ClassLanguageModel
from textbaselines.models.logistic_regression import LogisticRegression
from textbaselines.models.matrices import Matrix
from textbaselines.models.naive_bayes import BernoulliNB, MultinomialNB
from textbaselines.models.nbsvm import NBSVM
from textbaselines.models.parameters import Parameter, parameter_fault
from textbaselines.models.ridge import LinearRegression, RidgeClassifier
from textbaselines.models.svm import LinearSVM
from textbaselines.models.translation_model import TranslationLanguageModel

WANG_MANNING = (
    "Wang, S. and Manning, C. D. (2012). Baselines and Bigrams: Simple, Good Sentiment and Topic "
    "Classification. ACL, short papers, 90-94."
)
MRS = "Manning, C. D., Raghavan, P. and Schuetze, H. (2008). Introduction to Information Retrieval."
ESL = (
    "Hastie, T., Tibshirani, R. and Friedman, J. (2009). The Elements of Statistical Learning, "
    "2nd edition."
)
GPML = "Rasmussen, C. E. and Williams, C. K. I. (2006). Gaussian Processes for Machine Learning."
LIBLINEAR = (
    "Fan, R.-E., Chang, K.-W., Hsieh, C.-J., Wang, X.-R. and Lin, C.-J. (2008). LIBLINEAR: A "
    "Library for Large Linear Classification. JMLR 9, 1871-1874."
)

# The bytes of fitted estimators that wait for the outputs they are given together.
_HELD = 2**26
# Values that hold no array.
_PLAIN = (float, int, str, type(None))


@dataclass(frozen=True)
class MethodFamily:
    """One method of a study.

    Attributes
    ----------
    name, title : str
        The key in study files and the name in tables.
    estimator : type
        A scikit-learn estimator.
    default_fixed : mapping
        The parameters of a study that tunes nothing: the source's values.
    default_grid : mapping of str to tuple
        The values of a study that tunes.
    needs : frozenset of str
        What the data must be: ``non_negative``, ``dense``, ``two_classes``, ``numeric_target``.
    cost : str
        Of fitting one grid point, for n documents, m features, z non-zeros and k classes.
    citation : str
        Where the method is described.
    """

    name: str
    title: str
    estimator: type[Estimator]
    default_fixed: Mapping[str, Any]
    default_grid: Mapping[str, tuple[Any, ...]]
    needs: frozenset[str]
    cost: str
    citation: str

    @property
    def defaults(self) -> dict[str, Any]:
        """Every parameter with its value where a study says nothing."""
        own = self.estimator().get_params(deep=False)
        return {**{name: own[name] for name in self.parameters}, **self.default_fixed}

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters a study may set, each with its range and description."""
        return self.estimator.PARAMETERS


@dataclass(frozen=True)
class FittedPoint:
    """One grid point after fitting.

    Attributes
    ----------
    estimator : estimator or None
        Fitted; None when the point could not be fitted.
    fit_seconds : float
        Wall-clock seconds of this point's own work, plus an equal share of the work that it had
        in common with other points.
    converged : bool
        False when an iterative solver stopped at its limit, or the point failed. Closed forms
        converge.
    n_iter : int
        The solver's iterations; 0 for closed forms.
    gap : float
        By what share of itself a linear solver's objective is above its minimum, at most; NaN for
        what has no such solver.
    failure : str or None
        Why the point could not be fitted.
    outputs : array or None
        Where rows to predict were given and the point could be fitted: the scores that
        ``decision_function`` has for them, or the numbers that a regressor predicts.
    predict_seconds : float
        Wall-clock seconds that the outputs took: an equal share of what was worked out at a time.
    """

    estimator: Any
    fit_seconds: float
    converged: bool
    n_iter: int
    failure: str | None = None
    gap: float = math.nan
    outputs: NDArray[np.float64] | None = None
    predict_seconds: float = 0.0


def make_estimator(
    name: str, params: Mapping[str, Any], *, positive: Any = None, seed: int = 0
) -> Estimator:
    """Return an unfitted estimator of the method with these parameters.

    Parameters
    ----------
    positive : label, optional
        The positive class of two; handed to methods that have one.
    seed : int
        Handed to methods that draw random numbers.

    Raises
    ------
    UserError
        When the method, a parameter or a value does not exist.
    """
    validate_params(name, params)
    estimator = METHODS[name].estimator(**params)
    accepted = estimator.get_params(deep=False)
    given = {"positive": positive, "seed": seed}
    estimator.set_params(**{key: value for key, value in given.items() if key in accepted})
    return estimator


def validate_params(name: str, params: Mapping[str, Any]) -> None:
    """Raise :class:`UserError` unless the method exists and takes these parameters and values."""
    if name not in METHODS:
        raise UserError(
            "unknown method", found=repr(name), expected="one of " + ", ".join(sorted(METHODS))
        )
    family = METHODS[name]
    for key in params:
        if key not in family.parameters:
            raise UserError(
                f"method {name!r} has no such parameter",
                found=repr(key),
                expected="one of " + ", ".join(sorted(family.parameters)),
            )
    fault = parameter_fault(family.parameters, params)
    if fault is not None:
        key, value, allowed = fault
        raise UserError(
            f"a value that method {name!r} cannot take",
            where=f"parameter {key!r} ({family.parameters[key].description})",
            found=repr(value),
            expected=allowed,
        )
    reason = family.estimator.combination_fault(
        {**family.estimator().get_params(deep=False), **params}
    )
    if reason is not None:
        raise UserError(
            f"parameters of method {name!r} that do not go together: {reason}",
            found=", ".join(f"{key} = {value!r}" for key, value in params.items()),
        )


def fit_grid(
    name: str,
    X: Matrix,
    y: ArrayLike,
    points: Sequence[Mapping[str, Any]],
    *,
    positive: Any = None,
    seed: int = 0,
    X_test: Matrix | None = None,
) -> Iterator[tuple[int, FittedPoint]]:
    """Fit every grid point and yield its index in ``points`` with the result.

    Work that several points have in common is done once (class counts for every smoothing of naive
    Bayes, the kernel matrix for every C, the solver's run for every beta of NBSVM, one product with
    ``X_test`` for many points), so they come
    grouped by it, not in order of the indices. Each estimator equals one fitted alone. Drop an
    estimator before asking for the next to keep few sets of weights in memory: one, or with
    ``X_test`` as many as take some 64 MiB.

    Parameters
    ----------
    X : array or CSR matrix of shape (documents, features)
    y : array of shape (documents,)
    points : sequence of mappings
        The parameters of each point; the others have the estimator's defaults.
    X_test : array or CSR matrix of shape (rows, features), optional
        Rows whose outputs each point is to have.

    Raises
    ------
    UserError
        Before any fit, when a point names a parameter or value that the method does not take. A
        point that the data make impossible is yielded with its ``failure``.
    """
    estimators = [make_estimator(name, point, positive=positive, seed=seed) for point in points]
    # By preparation, then by solution.
    groups: dict[str, dict[str, list[tuple[int, Estimator]]]] = {}
    for index, estimator in enumerate(estimators):
        group = groups.setdefault(_key(estimator._preparation()), {})
        group.setdefault(_key(estimator._solution()), []).append((index, estimator))
    return _fitted([list(group.values()) for group in groups.values()], X, y, X_test)


def _key(params: Mapping[str, Any]) -> str:
    return repr(sorted((name, repr(value)) for name, value in params.items()))


def _fitted(
    groups: list[list[list[tuple[int, Estimator]]]], X: Matrix, y: ArrayLike, X_test: Matrix | None
) -> Iterator[tuple[int, FittedPoint]]:
    """Fit group after group; of what is yielded or used up nothing is kept."""
    while groups:
        held: list[tuple[int, FittedPoint]] = []
        size, counted = 0, set[int]()
        for index, point in _fitted_group(groups.pop(0), X, y):
            if X_test is None:
                yield index, point
                continue
            held.append((index, point))
            size += _nbytes(point.estimator, counted)
            del point
            if size > _HELD:
                yield from _with_outputs(held, X_test)
                size, counted = 0, set()
        if held:
            yield from _with_outputs(held, X_test)


def _fitted_group(
    group: list[list[tuple[int, Estimator]]], X: Matrix, y: ArrayLike
) -> Iterator[tuple[int, FittedPoint]]:
    """Fit estimators that have their preparation in common, and those of a part its solution.

    Several parts are solved before their solutions are assessed, as many as fit into ``_HELD``.
    """
    lead = group[0][0][1]
    prepared, shared, seconds, failure = _timed(lead, functools.partial(lead._prepare, X, y))
    del lead
    share_of_all = seconds / sum(map(len, group))
    while group:
        parts = _solved_parts(group, prepared, shared, failure)
        for part in parts:
            if part.reason is None:
                first = part.points[0][1]
                assess = functools.partial(first._assess, part.solved)
                _, _, seconds, part.reason = _timed(first, assess)
                part.seconds += seconds
                del first, assess
        while parts:
            yield from _completed(parts.pop(0), shared, share_of_all)


@dataclass
class _Part:
    """Points that agree in what is solved, the solution, its seconds, or why there is none."""

    points: list[tuple[int, Estimator]]
    solved: Any
    seconds: float
    reason: str | None


def _solved_parts(
    group: list[list[tuple[int, Estimator]]],
    prepared: Any,
    shared: Mapping[str, Any],
    failure: str | None,
) -> list[_Part]:
    """Take parts from a group and solve them, until the solutions take more than ``_HELD``."""
    parts: list[_Part] = []
    counted = set[int]()
    _nbytes(prepared, counted)
    size = 0
    while group and size <= _HELD:
        points = group.pop(0)
        if failure is not None:
            parts.append(_Part(points, None, 0.0, failure))
            continue
        first = points[0][1]
        _take(first, shared)
        solve = functools.partial(first._solve, prepared)
        solved, _, seconds, reason = _timed(first, solve)
        size += _nbytes(solved, counted)
        parts.append(_Part(points, solved, seconds, reason))
    return parts


def _completed(
    part: _Part, shared: Mapping[str, Any], share_of_all: float
) -> Iterator[tuple[int, FittedPoint]]:
    """Complete the points of a part one after another; of what is yielded nothing is kept."""
    share = share_of_all + part.seconds / len(part.points)
    while part.points:
        index, estimator = part.points.pop(0)
        if part.reason is not None:
            yield index, FittedPoint(None, share, False, 0, part.reason)
            continue
        _take(estimator, shared)
        complete = functools.partial(estimator._complete, part.solved)
        _, _, seconds, own_reason = _timed(estimator, complete)
        if own_reason is not None:
            yield index, FittedPoint(None, share + seconds, False, 0, own_reason)
            continue
        point = FittedPoint(
            estimator,
            share + seconds,
            converged=getattr(estimator, "converged_", True),
            n_iter=getattr(estimator, "n_iter_", 0),
            gap=getattr(estimator, "gap_", math.nan),
        )
        del estimator, complete
        yield index, point
        del point


def _timed(
    estimator: Estimator, step: Callable[[], Any]
) -> tuple[Any, dict[str, Any], float, str | None]:
    """Return a step's result, what the estimator has learnt by it, its seconds, and its failure."""
    start = time.perf_counter()
    try:
        result, failure = step(), None
    except (ValueError, MemoryError, np.linalg.LinAlgError) as error:
        result, failure = None, str(error)
    seconds = time.perf_counter() - start
    learnt = {name: value for name, value in vars(estimator).items() if name.endswith("_")}
    return result, learnt, seconds, failure


def _take(estimator: Estimator, learnt: Mapping[str, Any]) -> None:
    for attribute, value in learnt.items():
        setattr(estimator, attribute, value)


def _with_outputs(
    held: list[tuple[int, FittedPoint]], X_test: Matrix
) -> Iterator[tuple[int, FittedPoint]]:
    """Yield points of one group with their outputs, emptying the list."""
    start = time.perf_counter()
    estimators = [point.estimator for _, point in held if point.failure is None]
    outputs = iter(estimators[0].outputs_of(estimators, X_test) if estimators else ())
    share = (time.perf_counter() - start) / max(1, len(estimators))
    del estimators
    while held:
        index, point = held.pop(0)
        if point.failure is None:
            point = replace(point, outputs=next(outputs), predict_seconds=share)
        yield index, point
        del point


def _nbytes(value: Any, counted: set[int]) -> int:
    """Return the bytes of the arrays in an estimator, or in what one has learnt.

    Arrays that several have in common are counted once: ``counted`` has the identity of each that
    is held already, and takes those that come.
    """
    if isinstance(value, np.ndarray):
        owner = value if value.base is None else value.base
        if id(owner) in counted:
            return 0
        counted.add(id(owner))
        return value.nbytes
    if isinstance(value, list | tuple):
        inside: Iterable[Any] = value
    else:  # estimators, sparse matrices and records of what was learnt
        inside = vars(value).values() if hasattr(value, "__dict__") else ()
    return sum(_nbytes(one, counted) for one in inside if not isinstance(one, _PLAIN))


METHODS: dict[str, MethodFamily] = {
    family.name: family
    for family in (
        MethodFamily(
            name="mnb",
            title="MNB",
            estimator=MultinomialNB,
            default_fixed={"alpha": 1.0},
            default_grid={"alpha": (0.01, 0.1, 0.5, 1.0, 2.0)},
            needs=frozenset({"non_negative"}),
            cost="one pass over z, then k m logarithms",
            citation=WANG_MANNING,
        ),
        MethodFamily(
            name="bnb",
            title="BNB",
            estimator=BernoulliNB,
            default_fixed={"alpha": 1.0},
            default_grid={"alpha": (0.01, 0.1, 0.5, 1.0, 2.0)},
            needs=frozenset({"non_negative"}),
            cost="one pass over z, then 2 k m logarithms",
            citation=MRS,
        ),
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
        ),
        MethodFamily(
            name="lm",
            title="LM",
            estimator=ClassLanguageModel,
            default_fixed={"smoothing": "jelinek_mercer", "mixture": 0.7},
            default_grid={"mixture": (0.1, 0.3, 0.5, 0.7, 0.9)},
            needs=frozenset({"non_negative"}),
            cost="one pass over z, then k m logarithms",
            citation="Zhai, C. and Lafferty, J. (2004). A Study of Smoothing Methods for Language "
            "Models Applied to Information Retrieval. ACM TOIS 22(2), 179-214.",
        ),
        MethodFamily(
            name="tlm",
            title="TLM",
            estimator=TranslationLanguageModel,
            default_fixed={"smoothing": "jelinek_mercer", "mixture": 0.7, "self_translation": 0.5},
            default_grid={"mixture": (0.3, 0.5, 0.7), "self_translation": (0.1, 0.5, 0.9)},
            needs=frozenset({"non_negative"}),
            cost="the squared numbers of frequent terms of each document, once for the grid; then "
            "as lm",
            citation="Karimzadehgan, M. and Zhai, C. (2010). Estimation of Statistical Translation "
            "Models Based on Mutual Information for Ad Hoc Information Retrieval. SIGIR, 323-330.",
        ),
        MethodFamily(
            name="gnb",
            title="GaussNB",
            estimator=GaussianNB,
            default_fixed={"var_smoothing": 1e-9},
            default_grid={"var_smoothing": (1e-9, 1e-6, 1e-3, 1e-1)},
            needs=frozenset({"dense"}),
            cost="two passes over the n m values",
            citation=ESL,
        ),
        MethodFamily(
            name="gda",
            title="GDA",
            estimator=GaussianDiscriminantAnalysis,
            default_fixed={"covariance": "shared", "shrinkage": 0.1},
            default_grid={
                "covariance": ("shared", "per_class"),
                "shrinkage": (0.01, 0.1, 0.5, 1.0),
            },
            needs=frozenset({"dense"}),
            cost="n m^2 products, and m^3 for each covariance",
            citation=ESL,
        ),
        MethodFamily(
            name="svm",
            title="SVM",
            estimator=LinearSVM,
            default_fixed={"C": 0.1},
            default_grid={"C": (0.001, 0.01, 0.1, 1.0, 10.0)},
            needs=frozenset(),
            cost="k problems (one for two classes) of z per pass of the solver",
            citation=LIBLINEAR,
        ),
        MethodFamily(
            name="nbsvm",
            title="NBSVM",
            estimator=NBSVM,
            default_fixed={"alpha": 1.0, "C": 1.0, "beta": 0.25},
            default_grid={"C": (0.1, 1.0, 10.0), "beta": (0.0, 0.25, 0.5, 1.0)},
            needs=frozenset({"non_negative"}),
            cost="k problems (one for two classes) of z per pass of the solver; beta costs nothing",
            citation=WANG_MANNING,
        ),
        MethodFamily(
            name="lr",
            title="LR",
            estimator=LogisticRegression,
            default_fixed={"C": 1.0},
            default_grid={"C": (0.01, 0.1, 1.0, 10.0), "penalty": ("l2", "l1")},
            needs=frozenset(),
            cost="k problems (one for two classes) of z per pass of the solver",
            citation=LIBLINEAR,
        ),
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
        ),
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
        ),
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
        ),
        MethodFamily(
            name="gp",
            title="GP",
            estimator=GaussianProcessClassifier,
            default_fixed={"kernel": "linear", "variance": 1.0},
            default_grid={"kernel": ("linear", "rbf"), "variance": (0.1, 1.0, 10.0)},
            needs=frozenset(),
            cost="p z for the kernel with p points, then k problems (one for two classes) of n p^2 "
            "per Newton step; memory 24 n p bytes and 8 (4 + k) p^2; exact with p = n",
            citation=GPML,
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
        ),
        MethodFamily(
            name="gpr",
            title="GP regression",
            estimator=GaussianProcessRegressor,
            default_fixed={"kernel": "linear", "variance": 1.0, "noise": 1.0},
            default_grid={"variance": (0.01, 0.1, 1.0), "noise": (0.1, 1.0, 10.0)},
            needs=frozenset({"numeric_target"}),
            cost="p z for the kernel with p points, then n p^2; memory 24 n p bytes and 40 p^2; "
            "exact with p = n",
            citation=GPML,
        ),
    )
}
