"""Rows of the tables compared over many datasets, each dataset one observation (Demsar 2006)."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import baycomp
import numpy as np
import pandas as pd
import scikit_posthocs
from numpy.typing import NDArray
from scipy import stats

from textbaselines.core.seeds import seed_from
from textbaselines.evaluation.twins import distinct, joined
from textbaselines.significance.paired_tests import LEVEL, holm

FEWEST_DATASETS = 5
FEWEST_ROWS = 3
EQUIVALENCE_POINTS = 0.5
"""The region of practical equivalence: differences of at most half a point either way."""
_POSTERIOR_DRAWS = 10_000

OMNIBUS_COLUMNS = ("test", "statistic", "df1", "df2", "p", "datasets", "rows", "note")
RANK_COLUMNS = ("row", "average_rank", "mean_accuracy", "datasets", "note")
NEMENYI_COLUMNS = ("a", "b", "rank_difference", "p")
ACROSS_COLUMNS = (
    "a",
    "b",
    "datasets",
    "mean_difference_points",
    "wins",
    "ties",
    "losses",
    "wilcoxon_p",
    "wilcoxon_p_holm",
    "bayes_a_better",
    "bayes_equivalent",
    "bayes_b_better",
    "note",
    "declared",
)


@dataclass(frozen=True)
class Across:
    """What the tests over datasets say; every table is empty of numbers where they cannot test.

    Attributes
    ----------
    ranks : data frame with the columns :data:`RANK_COLUMNS`
        Every row of the tables; no rank for one that some dataset lacks, and why in ``note``.
    omnibus : data frame with the columns :data:`OMNIBUS_COLUMNS`
        Friedman's test, that of Iman & Davenport, and the critical difference of Nemenyi's test
        (in ranks, as ``statistic``).
    nemenyi : data frame with the columns :data:`NEMENYI_COLUMNS`
        Every pair of ranked rows; ``rank_difference`` is the rank of a minus that of b.
    contrasts : data frame with the columns :data:`ACROSS_COLUMNS`
        The contrasts of the study: Wilcoxon's signed-rank test and the Bayesian one.
    """

    ranks: pd.DataFrame
    omnibus: pd.DataFrame
    nemenyi: pd.DataFrame
    contrasts: pd.DataFrame


def compare_across(
    accuracy: pd.DataFrame,
    contrasts: Sequence[tuple[str, str]],
    study: str,
    *,
    declared: bool = True,
    twins: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Across:
    """Compare rows over datasets.

    Parameters
    ----------
    accuracy : data frame
        Fractions: one line per dataset, one column per row of the tables, NaN where it has none.
    contrasts : sequence of (a, b)
        The contrasts, by the names of rows.
    study : str
        Its name seeds the draws of the posterior.
    declared : bool
        Whether the study file declares the contrasts; otherwise they are taken by default.
    twins : mapping
        Rows that are one model on every dataset
        (:func:`textbaselines.evaluation.twins.twins_everywhere`): ranked, counted and tested once,
        under their joined names.
    """
    contrast_accuracy = accuracy
    accuracy = _without_twins(accuracy, twins)
    n_datasets = len(accuracy)
    complete = accuracy.loc[:, accuracy.notna().all()]
    if n_datasets < FEWEST_DATASETS:
        why = _too_few(n_datasets)
    elif complete.shape[1] < FEWEST_ROWS:
        why = (
            f"not tested: {complete.shape[1]} rows with a result on every dataset, "
            f"at least {FEWEST_ROWS} needed"
        )
    else:
        why = ""
    omnibus: list[dict[str, Any]] = [
        {"test": test, "note": why} for test in ("Friedman", "Iman-Davenport", "Nemenyi CD")
    ]
    nemenyi: list[dict[str, Any]] = []
    average = pd.Series(dtype=np.float64)
    if not why:
        average = pd.Series(average_ranks(complete.to_numpy()), index=complete.columns)
        omnibus = _omnibus(complete.to_numpy())
        nemenyi = _nemenyi(complete, average)
    for line in omnibus:
        line |= {"datasets": n_datasets, "rows": complete.shape[1]}
    return Across(
        _ranks(accuracy, average, why),
        pd.DataFrame(omnibus, columns=list(OMNIBUS_COLUMNS)),
        pd.DataFrame(nemenyi, columns=list(NEMENYI_COLUMNS)),
        _contrasts(contrast_accuracy, contrasts, study, twins).assign(declared=declared),
    )


def _too_few(datasets: int) -> str:
    return (
        f"not tested: {datasets} dataset{'s' * (datasets != 1)}, at least {FEWEST_DATASETS} needed"
    )


def _without_twins(accuracy: pd.DataFrame, twins: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    kept = [row for row in map(str, accuracy) if row == twins.get(row, (row,))[0]]
    return accuracy[kept].rename(columns={row: joined(row, twins) for row in kept})


# Ranks -----------------------------------------------------------------------------------------


def average_ranks(accuracy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean rank of each of k columns over N datasets, 1 the best, ties sharing.

    Parameters
    ----------
    accuracy : array of shape (N, k)
    """
    return np.asarray(stats.rankdata(-_rounded(accuracy), axis=1).mean(axis=0))


def _rounded(accuracy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return accuracies without the rounding errors of means, which would break ties."""
    return np.round(accuracy, 12)


def friedman(accuracy: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """Return Friedman's chi-squared and its p, and Iman & Davenport's F and its p.

    With average ranks R_j of k columns over N datasets (Demsar 2006, section 3.2.2; the
    chi-squared divided by the correction for ties)::

        chi2 = 12 N / (k (k + 1)) (sum R_j^2 - k (k + 1)^2 / 4),  df k - 1
        F = (N - 1) chi2 / (N (k - 1) - chi2),  df k - 1 and (k - 1) (N - 1)

    Without any difference both are 0 with p = 1; ranks that agree on every dataset give an
    infinite F with p = 0.
    """
    rounded = _rounded(accuracy)
    n, k = rounded.shape
    if (rounded == rounded[:, :1]).all():
        return 0.0, 1.0, 0.0, 1.0
    found = stats.friedmanchisquare(*rounded.T)
    chi2 = float(found.statistic)
    room = n * (k - 1) - chi2
    if room < 1e-9:
        return chi2, float(found.pvalue), math.inf, 0.0
    f = (n - 1) * chi2 / room
    return chi2, float(found.pvalue), f, float(stats.f.sf(f, k - 1, (k - 1) * (n - 1)))


def critical_difference(rows: int, datasets: int, level: float = LEVEL) -> float:
    """Return the difference of average ranks from which Nemenyi's test calls two rows different.

    ``q sqrt(k (k + 1) / (6 N))``, q being the quantile of the studentised range of k means with
    infinite degrees of freedom, divided by the root of 2 (Demsar 2006, section 3.2.2, table 5a).
    """
    q = float(stats.studentized_range.ppf(1 - level, rows, np.inf)) / math.sqrt(2)
    return q * math.sqrt(rows * (rows + 1) / (6 * datasets))


def _omnibus(accuracy: NDArray[np.float64]) -> list[dict[str, Any]]:
    n, k = accuracy.shape
    chi2, p_chi2, f, p_f = friedman(accuracy)
    within = (k - 1) * (n - 1)
    critical = critical_difference(k, n)
    return [
        {"test": "Friedman", "statistic": chi2, "df1": k - 1, "p": p_chi2, "note": ""},
        {"test": "Iman-Davenport", "statistic": f, "df1": k - 1, "df2": within, "p": p_f}
        | {"note": ""},
        {"test": "Nemenyi CD", "statistic": critical, "note": f"at the level {LEVEL}"},
    ]


def _nemenyi(complete: pd.DataFrame, average: pd.Series) -> list[dict[str, Any]]:
    names = list(complete.columns)
    p = scikit_posthocs.posthoc_nemenyi_friedman(_rounded(complete.to_numpy())).to_numpy()
    return [
        {
            "a": names[a],
            "b": names[b],
            "rank_difference": average.iloc[a] - average.iloc[b],
            "p": float(p[a, b]),
        }
        for a, b in itertools.combinations(range(len(names)), 2)
    ]


def _ranks(accuracy: pd.DataFrame, average: pd.Series, why: str) -> pd.DataFrame:
    lines = []
    for name in accuracy.columns:
        had = accuracy[name].dropna()
        lacks = accuracy.index[accuracy[name].isna()]
        note = why or (f"not ranked: no result on {', '.join(lacks)}" if len(lacks) else "")
        lines.append(
            {
                "row": name,
                "average_rank": float(average.get(name, math.nan)),
                "mean_accuracy": float(had.mean()) if len(had) else math.nan,
                "datasets": len(had),
                "note": note,
            }
        )
    return pd.DataFrame(lines, columns=list(RANK_COLUMNS))


# Contrasts -------------------------------------------------------------------------------------


def smallest_wilcoxon_p(datasets: int) -> float:
    """Return the smallest two-sided p-value that N datasets can give: 2^(1 - N)."""
    return min(1.0, 2.0 ** (1 - datasets))


def most_comparisons(datasets: int, level: float = LEVEL) -> int:
    """Return how many comparisons at most can be significant together under Holm's method.

    Holm asks of the smallest p-value of m that m p < level; with more than level / 2^(1 - N)
    comparisons not even the smallest possible one is small enough, so that none can be.
    """
    ratio = level / smallest_wilcoxon_p(datasets)
    return math.ceil(ratio) - 1


def wilcoxon(differences: NDArray[np.float64]) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test.

    Ranks of zero differences are split between the two signs (Demsar 2006, section 3.1.3). The
    null distribution is exact up to 50 differences, with ties or zeros up to 13; above, normal.
    """
    rounded = np.round(differences, 10)
    if not rounded.any():
        return 1.0
    return float(stats.wilcoxon(rounded, zero_method="zsplit", method="auto").pvalue)


def bayesian_signed_rank(differences: NDArray[np.float64], seed: int) -> tuple[float, float, float]:
    """Return the posterior probabilities that a is better, that both are equivalent, b better.

    The signed-rank test with a Dirichlet process prior (Benavoli et al. 2014, 2017), a region of
    practical equivalence of :data:`EQUIVALENCE_POINTS`, and 10,000 draws.

    Parameters
    ----------
    differences : array of shape (N,)
        a minus b, in points.
    """
    found = baycomp.SignedRankTest.probs(
        np.round(differences, 10),
        np.zeros(len(differences)),
        rope=EQUIVALENCE_POINTS,
        nsamples=_POSTERIOR_DRAWS,
        random_state=seed,
    )
    return tuple(float(p) for p in found)  # type: ignore[return-value]


def _contrasts(
    accuracy: pd.DataFrame,
    contrasts: Sequence[tuple[str, str]],
    study: str,
    twins: Mapping[str, Sequence[str]],
) -> pd.DataFrame:
    lines: list[dict[str, Any]] = []
    compared = [distinct(contrast, twins) for contrast in contrasts]
    for (a, b), models in zip(contrasts, compared, strict=True):
        known = [name for name in dict.fromkeys((a, b)) if name in accuracy]
        both = accuracy[known].dropna() if len(known) == 2 else accuracy.iloc[:0]
        line: dict[str, Any] = {"a": a, "b": b, "datasets": len(both)}
        lines.append(line)
        if len(both) == 0:
            line["note"] = "not tested: no dataset has both"
            continue
        gaps = np.round(100 * (both[a] - both[b]).to_numpy(), 10)
        line |= {
            "mean_difference_points": float(gaps.mean()),
            "wins": int((gaps > 0).sum()),
            "ties": int((gaps == 0).sum()),
            "losses": int((gaps < 0).sum()),
        }
        if len(models) == 1:
            line["note"] = "not tested: the same predictions on every dataset"
            continue
        if len(both) < FEWEST_DATASETS:
            line["note"] = _too_few(len(both))
            continue
        line["wilcoxon_p"] = wilcoxon(gaps)
        better, equivalent, worse = bayesian_signed_rank(
            gaps, seed_from(study, "signed-rank", a, b)
        )
        line |= {
            "bayes_a_better": better,
            "bayes_equivalent": equivalent,
            "bayes_b_better": worse,
            "note": "",
        }
    tested = [
        (line, models) for line, models in zip(lines, compared, strict=True) if "wilcoxon_p" in line
    ]
    family = {models: line["wilcoxon_p"] for line, models in tested}
    adjusted = dict(zip(family, holm(list(family.values())), strict=True))
    for line, models in tested:
        line["wilcoxon_p_holm"] = adjusted[models]
        if most_comparisons(line["datasets"]) < len(family):
            line["note"] = (
                f"cannot be significant: {len(family)} comparisons, with "
                f"{line['datasets']} datasets at most {most_comparisons(line['datasets'])}"
            )
    return pd.DataFrame(lines, columns=list(ACROSS_COLUMNS))
