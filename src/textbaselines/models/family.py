"""The statement of a family of methods, made once, in the module of its estimator."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from textbaselines.models.estimator import Estimator
from textbaselines.models.parameters import Parameter

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


@dataclass(frozen=True)
class Rate:
    """What a fit takes, with its predictions, before any run has measured it.

    Attributes
    ----------
    unit : str
        What the time is proportional to: the n-grams or coordinates of the training documents
        (``terms``), the same times the root of the number of documents, since passes grow with it
        (``steps``), the number of documents (``documents``), its square (``squares``), or the
        documents times the square of the share that the point has of 500 hidden units, for each
        draw (``hidden``), or of 1000 points (``points``).
    microseconds : float
        Of one unit.
    tfidf_microseconds : float, optional
        The same on tf-idf, whose rows of length 1 take solvers fewer steps.
    """

    unit: Literal["terms", "steps", "documents", "squares", "hidden", "points"]
    microseconds: float
    tfidf_microseconds: float | None = None


@dataclass(frozen=True)
class MethodFamily:
    """A kind of estimator that the methods of a study may name.

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
    rate : Rate
        The time of a fit, for estimates.
    stored : tuple of str
        The fitted attributes that predictions need. Empty for what is linear in its features: its
        weights are stored.
    by_feature : frozenset of str
        Those of ``stored`` that have a column for each feature.
    """

    name: str
    title: str
    estimator: type[Estimator]
    default_fixed: Mapping[str, Any]
    default_grid: Mapping[str, tuple[Any, ...]]
    needs: frozenset[str]
    cost: str
    citation: str
    rate: Rate
    stored: tuple[str, ...] = ()
    by_feature: frozenset[str] = frozenset()

    @property
    def defaults(self) -> dict[str, Any]:
        """Every parameter with its value where a study says nothing."""
        own = self.estimator().get_params(deep=False)
        return {**{name: own[name] for name in self.parameters}, **self.default_fixed}

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters a study may set, each with its range and description."""
        return self.estimator.PARAMETERS
