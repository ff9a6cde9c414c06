"""Reduced coordinates: once for every rank and method, the same as worked out anew."""

import logging

import numpy as np
import pandas as pd
import pytest

from textbaselines.core import storage
from textbaselines.core.errors import UserError
from textbaselines.study.folds import Protocol, divisions, draw_folds, draw_inner_folds
from textbaselines.study.tasks import Task
from textbaselines.text.counts import count_ngrams
from textbaselines.text.features import fold_features
from textbaselines.text.tokens import encode
from textbaselines.text.vocabulary import fit_vocabulary
from textbaselines.training.reductions import (
    Reductions,
    ReductionTask,
    division_seed,
    write_reductions,
)
from textbaselines.training.train import train

LOG = logging.getLogger("test")
IDS = [f"d{row}" for row in range(60)]
FRAME = pd.DataFrame({"id": IDS, "label": ["neg", "pos"] * 30, "split": "", "group": IDS})
CORPUS = pd.DataFrame({"id": IDS, "label": FRAME["label"], "rating": np.nan})


@pytest.fixture(scope="module")
def material():
    draw = np.random.default_rng(1)
    words = [f"w{number}" for number in range(40)]
    lists = [draw.choice(words, size=draw.integers(8, 20)).tolist() for _ in IDS]
    protocol = Protocol("cv", 3, inner=2)
    folds = draw_folds(FRAME, protocol, "d")
    inner = draw_inner_folds(FRAME, folds, protocol, "d")
    tokens = encode(IDS, lists)
    counts = count_ngrams(tokens, 1, 1)
    vocabularies = {
        one.key: fit_vocabulary(tokens, one.training, "unk", 2)
        for one in divisions(folds, IDS, inner)
    }
    return counts, vocabularies, folds, inner


def write(path, material, rank, chooses=True):
    task = ReductionTask("d", "tfidf", "training", {"kind": "svd", "rank": rank}, chooses)
    write_reductions(path, task, *material, 1, LOG)
    return path


def test_a_smaller_rank_is_a_prefix_of_the_largest(material, tmp_path):
    counts, vocabularies, folds, inner = material
    path = write(tmp_path / "reduced.npz", material, 12)
    of_rank = Reductions(path, IDS, 5)
    work = list(divisions(folds, IDS, inner))
    assert len(work) == 3 * (1 + 2)
    for division in work:
        alone = fold_features(
            counts,
            vocabularies[division.key],
            division.training,
            division.test,
            "tfidf",
            reduction={"kind": "svd", "rank": 5},
            seed=division_seed("d", "reduction", division),
        )
        training, test = of_rank.of(division)
        assert training.shape == (division.training.sum(), 5)
        np.testing.assert_allclose(training, alone.training, rtol=0, atol=1e-10)
        np.testing.assert_allclose(test, alone.test, rtol=0, atol=1e-10)


@pytest.mark.parametrize("family", ["gda", "ksvm"])
def test_training_on_the_file_equals_training_without(family, material, tmp_path):
    counts, vocabularies, folds, inner = material
    path = write(tmp_path / "reduced.npz", material, 6)
    point = {"point": "p", "params": {}, "origin": ["fixed"]}
    reduction = {"kind": "svd", "rank": 6}
    task = Task(
        "d",
        "svd",
        "M",
        family,
        ["pos", "neg"],
        "tfidf",
        "training",
        reduction,
        [point],
        True,
        {"protocol": {"inner": 2}},
    )
    alone, shared = (
        next(train([task], counts, vocabularies, folds, inner, CORPUS, 1, LOG, reduced)).results
        for reduced in (None, Reductions(path, IDS, 6))
    )
    pd.testing.assert_frame_equal(alone.predictions, shared.predictions, check_exact=True)
    pd.testing.assert_frame_equal(alone.scores, shared.scores, check_exact=True)
    pd.testing.assert_frame_equal(alone.inner_scores, shared.inner_scores, check_exact=True)


def test_the_same_coordinates_are_the_same_bytes(material, tmp_path):
    files = [write(tmp_path / name, material, 4) for name in ("a.npz", "b.npz")]
    assert files[0].read_bytes() == files[1].read_bytes()
    # Any reader of npz files reads it.
    assert storage.read_arrays(files[0])["repeat0_fold2_inner1_test"].shape == (20, 4)


def test_files_of_other_documents_or_folds_are_refused(material, tmp_path):
    _, _, folds, inner = material
    path = write(tmp_path / "reduced.npz", material, 4, chooses=False)
    with pytest.raises(UserError, match="of other documents"):
        Reductions(path, IDS[::-1], 4)
    outer, first_inner, *_ = divisions(folds, IDS, inner)
    reduced = Reductions(path, IDS, 4)
    with pytest.raises(UserError, match=r"arrays are missing(.|\n)*repeat0_fold0_inner0_training"):
        reduced.of(first_inner)
    with pytest.raises(UserError, match=r"of other folds(.|\n)*40 documents(.|\n)*39"):
        training = outer.training.copy()
        training[np.flatnonzero(training)[0]] = False
        reduced.of(outer._replace(training=training))
