import math

import numpy as np
import pandas as pd
import pytest

from stored_runs import store_run
from textbaselines.core.errors import UserError
from textbaselines.core.storage import write_json, write_parquet
from textbaselines.reporting.paper.claims import (
    CLAIMS,
    Claim,
    Setting,
    claims_table,
    judge_claims,
    read_points,
    verdicts,
)
from textbaselines.reporting.report.page import to_html
from textbaselines.reporting.tables.layout import to_markdown
from textbaselines.significance.paired_tests import corrected_resampled_t

BIGRAMS = (
    Claim(
        "x", "Bigrams help.", "greater", ("cr", "rt-s"), ((Setting("mnb", 2), Setting("mnb", 1)),)
    ),
)


def run(root, dataset, family, n, accuracies, *, weighting="binary", params=None, words="wm"):
    """Write a run folder; ``accuracies`` maps the point's changed params to those of its folds."""
    folder = root / dataset / f"{words}-{n}-{weighting}" / family
    if not isinstance(accuracies, dict):
        accuracies = {None: accuracies}
    points, rows = [], []
    for place, (beta, values) in enumerate(accuracies.items()):
        point = f"{place:012d}"
        changed = {} if beta is None else {"beta": beta}
        points.append(
            {
                "point": point,
                "params": {**(params or {}), **changed},
                "origin": ["fixed"] if place == 0 else ["grid"],
            }
        )
        for fold, accuracy in enumerate(values):
            rows.append(
                {
                    "point": point,
                    "repeat": fold // 10,
                    "fold": fold % 10,
                    "n_train": 90,
                    "n_test": 10,
                    "accuracy": accuracy,
                }
            )
    write_json(
        folder / "run.json",
        {
            "dataset": dataset,
            "family": family,
            "ngrams": [1, n],
            "weighting": weighting,
            "tokenizer": {"family": words},
            "unk": {"policy": "drop"},
            "points": points,
        },
    )
    write_parquet(folder / "scores.parquet", pd.DataFrame(rows))
    return folder


def noisy(mean, seed, size=100, spread=0.01):
    return np.random.default_rng(seed).normal(mean, spread, size)


def outcomes(folders, claims):
    frame = judge_claims(read_points([store_run(folder) for folder in folders]), claims)
    return frame, verdicts(frame, claims).set_index("claim")["verdict"].to_dict()


def test_a_comparison_says_what_the_test_says(tmp_path):
    uni, bi = noisy(0.80, 1), noisy(0.82, 2)
    folders = [run(tmp_path, "cr", "mnb", 1, uni), run(tmp_path, "cr", "mnb", 2, bi)]
    frame, _ = outcomes(folders, BIGRAMS)
    wanted = corrected_resampled_t(bi - uni, [90] * 100, [10] * 100)
    row = frame[frame["dataset"] == "cr"].iloc[0]
    assert (row["a"], row["b"], row["pairs"]) == ("MNB-bi", "MNB-uni", 100)
    assert row["difference"] == pytest.approx(100 * (bi - uni).mean())
    assert (row["low"], row["high"]) == pytest.approx([100 * x for x in wanted.interval()])
    assert row["p_for"] == pytest.approx(wanted.p)
    assert row["p_against"] == 1.0
    other = frame[frame["dataset"] == "rt-s"].iloc[0]
    assert other["outcome"] == "not run in this study"
    assert math.isnan(other["difference"])


@pytest.mark.parametrize(
    ("cr", "rts", "verdict"),
    [
        (0.82, 0.82, "supported"),
        (0.82, 0.80, "undecided"),
        (0.82, 0.78, "not supported"),
        (0.78, 0.78, "not supported"),
        (0.82, None, "undecided"),  # one of two was not run
        (None, None, "not run in this study"),
    ],
)
def test_the_rule_of_the_verdict(tmp_path, cr, rts, verdict):
    folders = []
    for place, (dataset, mean) in enumerate((("cr", cr), ("rt-s", rts))):
        if mean is not None:
            folders.append(run(tmp_path, dataset, "mnb", 1, noisy(0.80, 2 * place)))
            folders.append(run(tmp_path, dataset, "mnb", 2, noisy(mean, 2 * place + 1)))
    assert outcomes(folders, BIGRAMS)[1] == {"x": verdict}


def test_p_values_are_adjusted_over_the_claim_alone(tmp_path):
    # one difference with p of about 0.03: enough alone, not among two of the same claim
    rng = np.random.default_rng(5)
    noise = rng.normal(0, 0.03, 100)
    shift = 2.2 * math.sqrt(1 / 100 + 1 / 9) * noise.std(ddof=1) - noise.mean()
    folders = []
    for dataset in ("cr", "rt-s"):
        folders.append(run(tmp_path, dataset, "mnb", 1, np.full(100, 0.8)))
        folders.append(run(tmp_path, dataset, "mnb", 2, 0.8 + noise + shift))
    alone = (Claim("y", "On CR.", "greater", ("cr",), BIGRAMS[0].pairs),)
    frame, verdict = outcomes(folders, (*BIGRAMS, *alone))
    assert verdict == {"x": "undecided", "y": "supported"}
    by_claim = frame.groupby("claim")["p_for"].min()
    assert by_claim["x"] == pytest.approx(2 * by_claim["y"])


@pytest.mark.parametrize(
    ("shift", "spread", "kind", "verdict"),
    [
        (0.000, 0.002, "within", "supported"),
        (0.008, 0.002, "within", "supported"),
        (0.000, 0.100, "within", "undecided"),
        (0.015, 0.002, "within", "not supported"),
        (-0.015, 0.002, "within", "not supported"),
        (-0.008, 0.002, "not less", "supported"),
        (0.050, 0.002, "not less", "supported"),
        (-0.015, 0.002, "not less", "not supported"),
        (-0.010, 0.002, "not less", "undecided"),
    ],
)
def test_margins(tmp_path, shift, spread, kind, verdict):
    base = noisy(0.8, 3)
    other = noisy(0.0, 4, spread=1.0)
    other = (other - other.mean()) / other.std() * spread
    folders = [
        run(tmp_path, "cr", "svm", 1, base + shift + other),
        run(tmp_path, "cr", "lr", 1, base),
    ]
    pair = (Setting("svm", 1), Setting("lr", 1))
    claim = Claim("z", "About the same.", kind, ("cr",), (pair,), margin=1.0)
    assert outcomes(folders, (claim,))[1] == {"z": verdict}


def test_one_split_is_judged_by_its_documents(tmp_path):
    ids = [f"d{i}" for i in range(40)]
    right = {2: [True] * 30 + [False] * 10, 1: [True] * 20 + [False] * 10 + [True] * 10}
    folders = []
    for n, correct in right.items():
        folder = run(tmp_path, "imdb", "mnb", n, [np.mean(correct)])
        order = list(range(40)) if n == 2 else list(range(39, -1, -1))  # joined by id
        rows = pd.DataFrame(
            {
                "point": "000000000000",
                "id": [ids[i] for i in order],
                "label": "pos",
                "predicted": ["pos" if correct[i] else "neg" for i in order],
            }
        )
        other = rows.assign(point="000000000009", predicted="neg")
        write_parquet(folder / "predictions.parquet", pd.concat([other, rows]))
        folders.append(folder)
    claim = Claim("s", "Bigrams help.", "greater", ("imdb",), BIGRAMS[0].pairs)
    frame, _ = outcomes(folders, (claim,))
    row = frame.iloc[0]
    # 10 documents right with bigrams only, 10 with unigrams only
    assert (row["test"], row["pairs"]) == ("exact McNemar", 40)
    assert (row["difference"], row["p_against"], row["outcome"]) == (0.0, 1.0, "open")
    reach = 100 * 1.959964 * math.sqrt(20) / 40
    assert (row["low"], row["high"]) == pytest.approx((-reach, reach))


def test_betas_are_those_that_the_study_ran(tmp_path):
    base = noisy(0.80, 7)
    grid = {0.25: base + 0.02, 0.0: base, 0.5: base + 0.02, 1.0: base + noisy(0, 8)}
    folder = run(tmp_path, "cr", "nbsvm", 1, grid, params={"alpha": 1.0, "C": 1.0})
    claims = tuple(claim for claim in CLAIMS if claim.name in ("4a", "4b"))
    frame = judge_claims(read_points([store_run(folder)]), claims)
    ran = frame[frame["outcome"] != "not run in this study"]
    assert ran[["claim", "a", "b"]].to_numpy().tolist() == [
        ["4a", "NBSVM-uni (beta 0.25)", "NBSVM-uni (beta 0)"],
        ["4a", "NBSVM-uni (beta 0.25)", "NBSVM-uni (beta 1)"],
    ]
    assert ran["difference"].iloc[0] == pytest.approx(2.0)
    assert set(frame["b"][frame["claim"] == "4b"]) == {
        *("NBSVM-uni (beta 0.5)", "NBSVM-uni (beta 1)"),
        *("NBSVM-bi (beta 0.5)", "NBSVM-bi (beta 1)"),
    }
    other = run(tmp_path, "cr", "mnb", 1, base)
    assert (
        verdicts(judge_claims(read_points([store_run(other)]), claims), claims)["run"] == 0
    ).all()


def test_only_like_is_compared_with_like(tmp_path):
    folders = [
        run(tmp_path, "cr", "mnb", 1, noisy(0.70, 1), words="other"),
        run(tmp_path, "cr", "mnb", 2, noisy(0.82, 2), words="wm"),
    ]
    frame, _ = outcomes(folders, BIGRAMS)
    assert set(frame["outcome"]) == {"not run in this study"}
    folders.append(run(tmp_path, "cr", "mnb", 1, noisy(0.81, 1), words="wm"))
    frame, _ = outcomes(folders, BIGRAMS)
    assert frame["difference"].iloc[0] == pytest.approx(1.0, abs=0.5)


def test_a_failed_fold_is_no_comparison(tmp_path):
    broken = noisy(0.82, 2)
    broken[3] = np.nan
    folders = [run(tmp_path, "cr", "mnb", 1, noisy(0.8, 1)), run(tmp_path, "cr", "mnb", 2, broken)]
    assert outcomes(folders, BIGRAMS)[1] == {"x": "not run in this study"}


def test_other_folds_are_refused(tmp_path):
    folders = [
        run(tmp_path, "cr", "mnb", 1, noisy(0.8, 1)),
        run(tmp_path, "cr", "mnb", 2, noisy(0.8, 2, size=90)),
    ]
    with pytest.raises(UserError, match="not run on the same folds"):
        judge_claims(read_points([store_run(folder) for folder in folders]), BIGRAMS)


def test_the_sides_of_the_claims_by_name():
    sides = {c.name: {(str(a), str(b)) for a, b in c.pairs} for c in CLAIMS}
    assert sides["8"] == {("SVM-uni", "LR-uni"), ("SVM-bi", "LR-bi")}
    assert sides["2a"] == {("MNB-uni", "SVM-uni"), ("MNB-bi", "SVM-bi")}
    assert sides["2b"] == {("SVM-uni", "MNB-uni"), ("SVM-bi", "MNB-bi")}
    assert sides["5"] == {("MNB-uni", "BNB-uni"), ("MNB-bi", "BNB-bi")}
    assert ("NBSVM-bi", "NBSVM-tri") in sides["7"]
    assert ("NBSVM-bi", "NBSVM-bi (count)") in sides["6a"]
    assert ("NBSVM-bi (beta 0.25)", "NBSVM-bi (beta 0.1)") in sides["4a"]
    assert ("NBSVM-bi (beta 0.25)", "NBSVM-bi (beta 0.5)") not in sides["4a"]
    assert ("NBSVM-bi (beta 0.25)", "NBSVM-bi (beta 0.5)") in sides["4b"]


def test_the_table_shows_every_claim(tmp_path):
    folders = [
        run(tmp_path, "cr", "mnb", 1, noisy(0.84, 1)),
        run(tmp_path, "cr", "mnb", 2, noisy(0.82, 2)),
    ]
    frame = judge_claims(read_points([store_run(folder) for folder in folders]))
    table = claims_table(frame, {"title": "Small"})
    assert {row[0].text[0] for row in table.rows} == set("12345678")
    first = table.rows[0]
    assert first[2].text == "not supported"
    assert first[2].below == "against it: cr"
    assert first[3].text == "0 / 1 / 0"
    assert first[4].text == "1 of 18"
    assert first[5].text.startswith("−")
    assert table.rows[-1][2].text == "not run in this study"
    assert "not run in this study" in to_markdown(table)
    assert 'class="words"' in to_html([table], "Claims")
