"""Declared contrasts on simulated studies: no more false alarms than the level, true ones found.

TEXTBASELINES_SIMULATIONS says how many studies of noise are simulated (`make simulations`: 200).
"""

import os

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from sklearn.model_selection import StratifiedKFold

from textbaselines.core.seeds import seed_from
from textbaselines.models.naive_bayes import BernoulliNB, MultinomialNB
from textbaselines.models.nbsvm import NBSVM
from textbaselines.models.ridge import RidgeClassifier
from textbaselines.significance.pairs import Outcomes, compare_rows
from textbaselines.significance.verdicts import judge_contrasts
from textbaselines.study.contrasts import Contrast

SIMULATIONS = int(os.environ.get("TEXTBASELINES_SIMULATIONS", "20"))
LEVEL = 0.05
ROWS = ("MNB-uni", "BNB-uni", "NBSVM-uni", "Ridge-uni")
CONTRASTS = [Contrast(row, ROWS[0]) for row in ROWS[1:]]


def outcomes(correct, repeat, fold, document, train_sizes):
    """Return the outcomes of a study whose every document is a group of its own."""
    return Outcomes(
        dataset="simulated",
        rows=ROWS[: correct.shape[1]],
        selections=("fixed",) * correct.shape[1],
        correct=correct,
        repeat=repeat,
        fold=fold,
        document=document,
        group=document,
        train_sizes=train_sizes,
    )


def judge(study, contrasts, resamples=100):
    return judge_contrasts(compare_rows(study, resamples=resamples), contrasts, ["simulated"])


def noise_study(seed, n=200, words=60, folds=10):
    """Train real methods on documents whose labels are noise, in ten stratified folds."""
    rng = np.random.default_rng(seed_from("noise labels", seed))
    counts = csr_matrix((rng.random((n, words)) < 0.1).astype(np.float64))
    labels = rng.permutation(np.arange(n) % 2)
    methods = (MultinomialNB(), BernoulliNB(), NBSVM(), RidgeClassifier())
    fold_of = np.empty(n, dtype=np.int64)
    correct = np.empty((n, len(methods)), dtype=bool)
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    sizes = {}
    for fold, (train, test) in enumerate(splitter.split(labels, labels)):
        fold_of[test] = fold
        sizes[0, fold] = len(train)
        for column, method in enumerate(methods):
            method.fit(counts[train], labels[train])
            correct[test, column] = method.predict(counts[test]) == labels[test]
    return outcomes(correct, np.zeros(n, dtype=np.int64), fold_of, np.arange(n), sizes)


def test_on_noise_labels_the_contrasts_reject_no_more_often_than_the_level():
    frames = [judge(noise_study(seed), CONTRASTS) for seed in range(SIMULATIONS)]
    together = pd.concat(frames, keys=range(SIMULATIONS), names=["study", None])
    any_rejected = (together["p_holm"] < LEVEL).groupby("study").any().mean()
    each = (together["p"] < LEVEL).mean()
    mcnemar = (together["mcnemar_p"] < LEVEL).mean()
    print(
        f"{SIMULATIONS} studies of noise: a contrast rejected in {any_rejected:.1%} (Holm); "
        f"single tests: corrected t {each:.1%}, McNemar {mcnemar:.1%}"
    )
    assert any_rejected <= LEVEL
    assert each <= LEVEL
    # the methods do differ in what they get right: there was something to reject
    assert (together["mcnemar_only_a"] + together["mcnemar_only_b"]).mean() > 10


def planted_study(seed, points, n=10_000, folds=10):
    """Two rows of 82 % and 80 % (for 2 points) that disagree on 12 % of the documents."""
    rng = np.random.default_rng(seed_from("planted difference", seed))
    both, disagree, gap = 0.75, 0.12, points / 100
    kind = rng.choice(
        4, size=n, p=[both, (disagree + gap) / 2, (disagree - gap) / 2, 1 - both - disagree]
    )
    correct = np.column_stack([kind == 0, kind == 0])
    correct[:, 0] |= kind == 2
    correct[:, 1] |= kind == 1
    fold_of = rng.permutation(np.arange(n) % folds)
    sizes = {(0, fold): n - n // folds for fold in range(folds)}
    return outcomes(correct, np.zeros(n, dtype=np.int64), fold_of, np.arange(n), sizes)


def test_a_difference_of_two_points_on_ten_thousand_documents_is_found():
    contrast = [Contrast(ROWS[1], ROWS[0])]
    frames = [judge(planted_study(seed, 2.0), contrast) for seed in range(SIMULATIONS)]
    found = pd.concat(frames)
    power = (found["outcome"] == "better").mean()
    print(f"{SIMULATIONS} studies with 2 points planted: found in {power:.1%}")
    assert power >= 0.9
    assert (found["mcnemar_p"] < LEVEL).all()
    assert abs(found["difference_points"].mean() - 2.0) < 0.2
    inside = (found["bootstrap_low_points"] < 2.0) & (found["bootstrap_high_points"] > 2.0)
    assert inside.mean() >= 0.8  # a 95 % interval, from 100 resamples
