"""What Wang & Manning (2012) claim, and what a study's runs say to it."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from textbaselines.core.errors import UserError
from textbaselines.evaluation.runs import Run
from textbaselines.models.registry import METHODS
from textbaselines.reporting.tables.comparison import percent
from textbaselines.reporting.tables.layout import DASH, Cell, Table
from textbaselines.significance.paired_tests import (
    LEVEL,
    Difference,
    decisive_test,
    holm,
)

NOT_RUN = "not run in this study"

_SNIPPETS = ("rt-s", "cr", "mpqa", "subj")
_REVIEWS = ("rt-2k", "imdb")
_TOPICS = ("athr", "xgraph", "bbcrypt")
_ALL = (*_SNIPPETS, *_REVIEWS, *_TOPICS)
_METHODS = ("mnb", "svm", "nbsvm")
_N_GRAMS = {1: "uni", 2: "bi", 3: "tri"}


@dataclass(frozen=True)
class Setting:
    """One side of a comparison: a method family, n-grams up to ``n``, a weighting, and a beta."""

    family: str
    n: int
    weighting: str = "binary"
    beta: float | None = None

    def __str__(self) -> str:
        """Return the name as a table shows it, such as "NBSVM-bi" or "MNB-uni (count)"."""
        extra = [] if self.weighting == "binary" else [self.weighting]
        extra += [] if self.beta is None else [f"beta {self.beta:g}"]
        name = f"{METHODS[self.family].title}-{_N_GRAMS[self.n]}"
        return f"{name} ({', '.join(extra)})" if extra else name


@dataclass(frozen=True)
class Claim:
    """A claim as comparisons of pairs (a, b) on datasets.

    ``kind`` says what of the difference a - b is claimed: ``greater`` than zero, ``within`` the
    margin of zero on both sides, or ``not less`` than minus the margin. ``margin`` is in points of
    accuracy and is ours where the paper gives no number.
    """

    name: str
    text: str
    kind: str
    datasets: tuple[str, ...]
    pairs: tuple[tuple[Setting, Setting], ...]
    margin: float = 0.0


def _pairs(
    *, families: Sequence[str] = _METHODS, sizes: Sequence[int] = (1, 2), **changes: Any
) -> tuple[tuple[Setting, Setting], ...]:
    """Return (a, b), b being a with ``changes``, for each family and size."""
    sides = [Setting(family, n) for family in families for n in sizes]
    return tuple((side, replace(side, **changes)) for side in sides)


_BETAS = tuple(step / 20 for step in range(21))
_OUTSIDE = tuple(beta for beta in _BETAS if not 0.25 <= beta <= 0.5)


def _against_betas(betas: Sequence[float]) -> tuple[tuple[Setting, Setting], ...]:
    return tuple(
        (Setting("nbsvm", n, beta=0.25), Setting("nbsvm", n, beta=beta))
        for n in (1, 2)
        for beta in betas
    )


CLAIMS = (
    Claim(
        "1a",
        "Bigrams always help sentiment.",
        "greater",
        _SNIPPETS + _REVIEWS,
        tuple((Setting(family, 2), Setting(family, 1)) for family in _METHODS),
    ),
    Claim(
        "1b",
        "Bigrams hardly matter for topics.",
        "within",
        _TOPICS,
        tuple((Setting(family, 2), Setting(family, 1)) for family in _METHODS),
        margin=1.0,
    ),
    Claim(
        "2a",
        "On snippets, naive Bayes beats the SVM.",
        "greater",
        _SNIPPETS,
        _pairs(families=["mnb"], family="svm"),
    ),
    Claim(
        "2b",
        "On full-length reviews, the SVM beats naive Bayes.",
        "greater",
        _REVIEWS,
        _pairs(families=["svm"], family="mnb"),
    ),
    Claim(
        "3",
        "NBSVM is robust everywhere: nowhere clearly worse than MNB or SVM.",
        "not less",
        _ALL,
        _pairs(families=["nbsvm"], family="mnb") + _pairs(families=["nbsvm"], family="svm"),
        margin=1.0,
    ),
    Claim(
        "4a",
        "beta in [1/4, 1/2] is best.",
        "greater",
        _ALL,
        _against_betas(_OUTSIDE),
    ),
    Claim(
        "4b",
        "On long documents, any beta in [1/4, 1] is within 0.1 points.",
        "within",
        _REVIEWS,
        _against_betas([beta for beta in _BETAS if beta > 0.25]),
        margin=0.1,
    ),
    Claim(
        "5",
        "Multinomial naive Bayes beats Bernoulli naive Bayes, by up to 10 points with bigrams.",
        "greater",
        _ALL,
        _pairs(families=["mnb"], family="bnb"),
    ),
    Claim(
        "6a",
        "Binarised features beat counts by about 1 point on longer documents.",
        "greater",
        _REVIEWS + _TOPICS,
        _pairs(weighting="count"),
    ),
    Claim(
        "6b",
        "Binarised features and counts are the same on snippets.",
        "within",
        _SNIPPETS,
        _pairs(weighting="count"),
        margin=0.5,
    ),
    Claim(
        "7",
        "Trigrams hurt slightly.",
        "greater",
        _ALL,
        _pairs(sizes=[2], n=3),
    ),
    Claim(
        "8",
        "Logistic regression is about as good as the SVM.",
        "within",
        _ALL,
        _pairs(families=["svm"], family="lr"),
        margin=1.0,
    ),
)
"""The eight claims of the paper, as :data:`Setting` pairs."""


# What the runs say -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """One grid point of one run, with the scores of its folds.

    ``scores`` is indexed by (repeat, fold) and has ``n_train``, ``n_test`` and ``accuracy``.
    """

    run: Run
    dataset: str
    setting: Setting
    text: str
    point: str
    params: Mapping[str, Any]
    fixed: bool
    scores: pd.DataFrame = field(repr=False)


def read_points(runs: Sequence[Run]) -> list[Point]:
    """Read the grid points of runs that a claim may be about, in the order given.

    A run is known by its method family, n-grams and weighting; runs of other families, of n-grams
    without unigrams or of other weightings are no side of any claim.
    """
    families = {side.family for claim in CLAIMS for pair in claim.pairs for side in pair}
    points = []
    for source in runs:
        run = source.record
        lowest, highest = run["ngrams"]
        if run["family"] not in families or lowest != 1 or highest not in _N_GRAMS:
            continue
        scores = source.table(
            "scores", ["point", "repeat", "fold", "n_train", "n_test", "accuracy"]
        )
        by_point = {
            str(name): rows.set_index(["repeat", "fold"]).sort_index()
            for name, rows in scores.groupby("point")
        }
        for one in run["points"]:
            points.append(
                Point(
                    source,
                    run["dataset"],
                    Setting(run["family"], highest, run["weighting"]),
                    json.dumps([run["tokenizer"], run["unk"]], sort_keys=True),
                    one["point"],
                    one["params"],
                    "fixed" in one["origin"],
                    by_point[one["point"]],
                )
            )
    return points


def _sides(
    points: Sequence[Point], dataset: str, a: Setting, b: Setting
) -> tuple[Point, Point] | None:
    """Return the points of both settings that share the reading of the text, or None.

    Without a beta a setting means the fixed point; with one, the point that differs from the fixed
    one in beta alone.
    """
    for first in _fitting(points, dataset, a):
        for second in _fitting(points, dataset, b):
            if first.text == second.text and first is not second:
                return first, second
    return None


def _fitting(points: Sequence[Point], dataset: str, setting: Setting) -> Iterator[Point]:
    plain = replace(setting, beta=None)
    mine = [one for one in points if one.dataset == dataset and one.setting == plain]
    for fixed in (one for one in mine if one.fixed):
        if setting.beta is None:
            yield fixed
            continue
        wanted = {**fixed.params, "beta": setting.beta}
        yield from (one for one in mine if one.text == fixed.text and one.params == wanted)


def compare(a: Point, b: Point) -> Difference | None:
    """Return the paired difference a - b, or None when a fold of either failed.

    The test is that of the declared contrasts: see
    :func:`textbaselines.significance.paired_tests.decisive_test`.

    Raises :class:`UserError` when the two were not run on the same folds.
    """
    if not a.scores.index.equals(b.scores.index) or not (
        a.scores[["n_train", "n_test"]].equals(b.scores[["n_train", "n_test"]])
    ):
        raise UserError(
            "two runs to compare were not run on the same folds",
            where=f"{a.run} and {b.run}",
            found=f"{len(a.scores)} and {len(b.scores)} folds",
            expected="the same repeats and folds with as many documents",
            fix="train both again from the dataset's folds",
        )
    if a.scores["accuracy"].isna().any() or b.scores["accuracy"].isna().any():
        return None
    return decisive_test(
        (a.scores["accuracy"] - b.scores["accuracy"]).to_numpy(),
        a.scores["n_train"].to_numpy(),
        a.scores["n_test"].to_numpy(),
        lambda: _right_of_both(a, b),
    )


def _right_of_both(a: Point, b: Point) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return whether each test document's prediction is right, of both and in one order."""
    both = _right(a).to_frame("a").join(_right(b).rename("b"), how="outer")
    if both.isna().any().any():
        raise UserError(
            "two runs to compare did not predict the same documents",
            where=f"{a.run} and {b.run}",
            found=f"{int(both.isna().any(axis=1).sum())} documents in one of them only",
            fix="train both again from the dataset's folds",
        )
    return both["a"].to_numpy(dtype=bool), both["b"].to_numpy(dtype=bool)


def _right(point: Point) -> pd.Series:
    """Return whether each test document's prediction is right, by document id."""
    rows = point.run.table("predictions", ["id", "label", "predicted"], point.point)
    return pd.Series((rows["label"] == rows["predicted"]).to_numpy(), index=rows["id"])


def judge_claims(points: Sequence[Point], claims: Sequence[Claim] = CLAIMS) -> pd.DataFrame:
    """Return every comparison of every claim: one row each.

    Returns
    -------
    pandas.DataFrame
        ``claim``, ``dataset``, ``a``, ``b``; ``difference``, ``low`` and ``high`` (95 % interval),
        in points of accuracy; ``test``; ``pairs``; ``p_for`` and ``p_against``, adjusted by
        Holm's method over the claim's comparisons; ``outcome``: for, against, open, or not run in
        this study.

    Notes
    -----
    ``p_for`` is the p-value against the opposite of what is claimed, ``p_against`` against what is
    claimed. For ``greater`` both are the two-sided p of the paired test, given to the side on which
    the difference lies. For ``within`` p_for is the larger of two one-sided tests at the two
    margins (equivalence by two one-sided tests, Schuirmann 1987), p_against the smaller of the two
    tests of being beyond a margin, doubled; ``not less`` has one margin.
    """
    rows = []
    for claim in claims:
        mine = []
        for dataset in claim.datasets:
            for a, b in _askable(claim, points):
                sides = _sides(points, dataset, a, b)
                difference = None if sides is None else compare(*sides)
                mine.append(_row(claim, dataset, a, b, difference))
        tested = [row for row in mine if row["outcome"] != NOT_RUN]
        for side in ("p_for", "p_against"):
            for row, p in zip(tested, holm([row[side] for row in tested]), strict=True):
                row[side] = p
        for row in tested:
            if row["p_for"] < LEVEL:
                row["outcome"] = "for"
            elif row["p_against"] < LEVEL:
                row["outcome"] = "against"
        rows += mine
    return pd.DataFrame(rows)


def _askable(claim: Claim, points: Sequence[Point]) -> Sequence[tuple[Setting, Setting]]:
    """Return the pairs without those of a beta that no run has, unless that leaves none."""
    betas = {one.params["beta"] for one in points if "beta" in one.params}
    pairs = [
        (a, b) for a, b in claim.pairs if b.beta is None or (a.beta in betas and b.beta in betas)
    ]
    return pairs or claim.pairs[:1]


def _row(
    claim: Claim, dataset: str, a: Setting, b: Setting, difference: Difference | None
) -> dict[str, Any]:
    row = {"claim": claim.name, "dataset": dataset, "a": str(a), "b": str(b)}
    if difference is None:
        numbers = ("difference", "low", "high", "p_for", "p_against")
        nothing = dict.fromkeys(numbers, math.nan)
        return {**row, **nothing, "test": "", "pairs": 0, "outcome": NOT_RUN}
    low, high = difference.interval()
    p_for, p_against = _p_values(claim, difference)
    return {
        **row,
        "difference": 100 * difference.mean,
        "low": 100 * low,
        "high": 100 * high,
        "p_for": p_for,
        "p_against": p_against,
        "test": difference.test,
        "pairs": difference.pairs,
        "outcome": "open",
    }


def _p_values(claim: Claim, difference: Difference) -> tuple[float, float]:
    margin = claim.margin / 100
    if claim.kind == "greater":
        if difference.mean > 0:
            return difference.p, 1.0
        return 1.0, difference.p
    below, above = difference.p_less(-margin), difference.p_greater(margin)
    if claim.kind == "not less":
        return difference.p_greater(-margin), below
    p_for = max(difference.p_greater(-margin), difference.p_less(margin))
    return p_for, min(1.0, 2 * min(below, above))


def verdicts(comparisons: pd.DataFrame, claims: Sequence[Claim] = CLAIMS) -> pd.DataFrame:
    """Return one row per claim: its verdict and the numbers that bear on it.

    A claim is ``supported`` when each of its comparisons was run and is for it, ``not supported``
    when at least one is against it, else ``undecided``; with no comparison run it is ``not run in
    this study``.

    Returns
    -------
    pandas.DataFrame
        ``claim``, ``text``, ``kind``, ``margin``, ``verdict``; ``comparisons`` (of the claim),
        ``run``, ``for``, ``against``, ``open``; ``smallest``, ``largest`` and ``mean`` difference
        in points.
    """
    rows = []
    for claim in claims:
        mine = comparisons[comparisons["claim"] == claim.name]
        run = mine[mine["outcome"] != NOT_RUN]
        counts = {name: int((run["outcome"] == name).sum()) for name in ("for", "against", "open")}
        if len(run) == 0:
            verdict = NOT_RUN
        elif counts["against"]:
            verdict = "not supported"
        elif counts["for"] == len(mine):
            verdict = "supported"
        else:
            verdict = "undecided"
        rows.append(
            {
                "claim": claim.name,
                "text": claim.text,
                "kind": claim.kind,
                "margin": claim.margin,
                "verdict": verdict,
                "comparisons": len(mine),
                "run": len(run),
                **counts,
                "smallest": float(run["difference"].min()) if len(run) else math.nan,
                "largest": float(run["difference"].max()) if len(run) else math.nan,
                "mean": float(run["difference"].mean()) if len(run) else math.nan,
            }
        )
    return pd.DataFrame(rows)


_KINDS = {
    "greater": "a difference above 0",
    "within": "a difference within ±{margin:g} points",
    "not less": "a difference not below −{margin:g} points",
}


def claims_table(
    comparisons: pd.DataFrame, study: Mapping[str, Any], claims: Sequence[Claim] = CLAIMS
) -> Table:
    """Return the claims with their verdicts and numbers.

    ``comparisons``: what :func:`judge_claims` returned.
    """
    rows = []
    for row in verdicts(comparisons, claims).to_dict("records"):
        if row["run"]:
            span = f"{_points(row['smallest'])} to {_points(row['largest'])}"
            mean = _points(row["mean"])
        else:
            span = mean = DASH
        against = comparisons[
            (comparisons["claim"] == row["claim"]) & (comparisons["outcome"] == "against")
        ]
        where = sorted({str(name) for name in against["dataset"]})
        rows.append(
            (
                Cell(row["claim"]),
                Cell(row["text"], below=_KINDS[row["kind"]].format(margin=row["margin"])),
                Cell(row["verdict"], below=f"against it: {', '.join(where)}" if where else ""),
                Cell(f"{row['for']} / {row['against']} / {row['open']}"),
                Cell(f"{row['run']} of {row['comparisons']}"),
                Cell(span),
                Cell(mean),
            )
        )
    return Table(
        name="claims",
        title="What Wang & Manning (2012) claim, tested",
        caption=f"Study: {study['title']}. Each claim is a set of comparisons on the same folds. "
        "For / against / open count those whose p, adjusted by Holm's method over the claim's "
        f"comparisons, is below {LEVEL} for the claim, below it against the claim, or neither. "
        "Test and level are those of the declared contrasts. "
        "Supported: every comparison was run and is for it; not supported: at least one is against "
        "it; undecided: else. Tests: corrected resampled t (Nadeau & Bengio 2003) over "
        "repeats × folds; exact McNemar on an official split; margins by one-sided tests. "
        "Differences in points of accuracy. Where the paper gives no number the margin is ours. "
        "Of beta, the values that the study ran are compared.",
        header=(
            "Claim",
            "What is claimed",
            "Verdict",
            "For / against / open",
            "Run",
            "Range",
            "Mean",
        ),
        groups=(tuple(rows),),
        emphasis=False,
        text_columns=frozenset({0, 1, 2}),
    )


def _points(value: float) -> str:
    sign = "−" if value < 0 else "+"
    return sign + percent(abs(value) / 100, 2)
