"""Learning curves: nested parts, the whole equal to training, crossings by hand."""

import itertools
import logging
import math

import numpy as np
import pandas as pd
import pytest

from textbaselines.analysis import learning_curves as curves
from textbaselines.core.errors import UserError
from textbaselines.core.seeds import seed_from
from textbaselines.core.validation import load_yaml
from textbaselines.study.definition import make_study
from textbaselines.study.folds import divisions
from training_material import Material, some_text

LOG = logging.getLogger("test")
FAMILIES = {"NB": ("mnb", {"alpha": 1.0}), "SVM": ("svm", {"C": 0.1})}


def test_parts_are_nested_and_stratified() -> None:
    codes = np.array([0] * 70 + [1] * 30)
    fractions = [0.01, 0.05, 0.15, 0.5, 1.0]
    parts = curves.nested_parts(codes, fractions, seed=4)
    for smaller, larger in itertools.pairwise(parts):
        assert not (smaller & ~larger).any()
    sizes = [np.bincount(codes[part]).tolist() for part in parts]
    # 0.7 and 0.3 documents are one; 10.5 and 4.5 are rounded up.
    assert sizes == [[1, 1], [4, 2], [11, 5], [35, 15], [70, 30]]
    assert not np.array_equal(parts[3], curves.nested_parts(codes, fractions, seed=5)[3])


@pytest.fixture(scope="module")
def material() -> Material:
    return Material(some_text(60, 1))


def trained(material: Material) -> pd.DataFrame:
    task = curves.CurveTask(
        dataset="d",
        representation="bi",
        classes=["pos", "neg"],
        weighting="binary",
        scope="training",
        reduction=None,
        policy="unk",
        min_count=2,
        methods=[
            {"name": name, "family": family, "params": params}
            for name, (family, params) in FAMILIES.items()
        ],
        fractions=[0.3, 1.0],
    )
    return curves.train_curves(
        task, material.counts, material.tokens, material.folds, material.corpus(), 1, LOG
    )


def test_with_all_documents_a_fit_is_that_of_training(material: Material) -> None:
    scores = trained(material)
    for name, (family, params) in FAMILIES.items():
        _, results = material.train(family, [params])
        mine = scores[(scores["method"] == name) & (scores["fraction"] == 1.0)]
        for column in ("correct", "n_features", "n_test"):
            assert mine[column].tolist() == results.scores[column].tolist()


def test_nothing_is_fitted_on_documents_outside_the_part(material: Material) -> None:
    before = trained(material)
    division = next(divisions(material.folds, material.ids))
    training = np.flatnonzero(division.training)
    codes = np.array([row % 2 for row in range(60)])[training]
    seed = seed_from("d", "learning curve", "repeat", 0, "fold", 0)
    (part,) = curves.nested_parts(codes, [0.3], seed)
    lists = some_text(60, 1)
    for row in training[~part]:
        lists[row] = ["quite", "other", "words"] * 3
    after = trained(Material(lists))
    key = ["method", "fraction", "fold"]
    of_part = (before["fraction"] == 0.3) & (before["fold"] == 0)
    pd.testing.assert_frame_equal(before[of_part], after[of_part])
    assert not before.set_index(key)["n_features"].equals(after.set_index(key)["n_features"])


def test_crossings_by_hand() -> None:
    x = np.log([100.0, 1000.0, 10000.0])
    at, changes = curves.last_crossing(x, np.array([0.03, 0.01, -0.01]))
    # Midway between 1,000 and 10,000 on the log scale.
    assert (math.exp(at), changes) == (pytest.approx(1000 * math.sqrt(10)), 1)
    at, changes = curves.last_crossing(x, np.array([-0.01, 0.02, -0.01]))
    assert changes == 2
    assert math.exp(at) == pytest.approx(1000 * 10 ** (2 / 3))
    assert math.isnan(curves.last_crossing(x, np.array([0.03, 0.0, 0.01]))[0])
    assert math.exp(curves.last_crossing(x, np.array([0.03, 0.0, -0.01]))[0]) == pytest.approx(1000)


def scores_of(correct: dict[str, list[list[int]]]) -> pd.DataFrame:
    """Scores of 100 test documents: by method and fraction, a list over folds."""
    rows = [
        {
            "method": method,
            "fraction": (0.1, 1.0)[step],
            "repeat": 0,
            "fold": fold,
            "n_train": (100, 1000)[step],
            "n_test": 100,
            "correct": number,
            "converged": True,
            "failure": None,
        }
        for method, steps in correct.items()
        for step, folds in enumerate(steps)
        for fold, number in enumerate(folds)
    ]
    return pd.DataFrame(rows)


def test_tables_say_who_is_ahead_from_where() -> None:
    families = {"NB": "mnb", "SVM": "svm"}
    crossing = scores_of({"NB": [[70, 72], [80, 82]], "SVM": [[66, 68], [84, 86]]})
    (row,) = curves.crossing_table("d", "bi", crossing, families).to_dict("records")
    assert (row["generative"], row["discriminative"]) == ("NB", "SVM")
    assert row["crossing"] == pytest.approx(math.sqrt(100 * 1000))
    assert [row["low"], row["high"]] == pytest.approx([row["crossing"]] * 2)
    assert (row["share_crossing"], row["sign_changes"]) == (1.0, 1)
    assert row["verdict"] == "SVM ahead from 316 documents on"
    table = curves.curve_table("d", "bi", crossing, families)
    assert table["accuracy"].tolist() == pytest.approx([0.71, 0.81, 0.67, 0.85])
    assert table["generative"].tolist() == [True, True, False, False]
    assert table["documents"].tolist() == [200] * 4

    never = scores_of({"NB": [[70, 72], [90, 92]], "SVM": [[66, 68], [84, 86]]})
    (row,) = curves.crossing_table("d", "bi", never, families).to_dict("records")
    assert row["verdict"] == "no crossing: NB ahead at every size"
    assert math.isnan(row["crossing"])

    level = scores_of({"NB": [[66, 68], [90, 92]], "SVM": [[66, 68], [84, 86]]})
    (row,) = curves.crossing_table("d", "bi", level, families).to_dict("records")
    assert row["ahead_at_least"] == "equal"
    assert row["verdict"] == "no crossing: NB ahead wherever they differ"

    failed = never.assign(failure=[None] * 7 + ["no memory"])
    (row,) = curves.crossing_table("d", "bi", failed, families).to_dict("records")
    assert row["verdict"] == "a fit failed"


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"methods": ["MBN"]}, "learning curves of methods that the study does not have"),
        ({"representations": ["tri"]}, "learning curves of representations"),
        ({"fractions": [0.5, 0.1]}, "out of order"),
    ],
)
def test_a_curve_that_cannot_be_is_refused(repository, wanted: dict, message: str) -> None:
    config = load_yaml(repository / "config" / "config.yaml")
    config["learning_curves"] = {"representations": ["bi"], "methods": ["MNB"], **wanted}
    with pytest.raises(UserError, match=message):
        make_study(config, "study.yaml", repository)


def test_a_curve_needs_a_fixed_point(repository) -> None:
    config = load_yaml(repository / "config" / "config.yaml")
    config["methods"]["MNB"]["fixed"] = None
    config["learning_curves"] = {"representations": ["bi"], "methods": ["MNB"]}
    with pytest.raises(UserError, match="no fixed point"):
        make_study(config, "study.yaml", repository)


def test_a_part_without_features_has_no_result_and_says_why() -> None:
    # The smallest part is two documents, whose words are all too rare.
    material = Material(some_text(60, 1), "drop", 3)
    task = curves.CurveTask(
        *("d", "bi", ["pos", "neg"], "binary", "training", None, "drop", 3),
        methods=[{"name": "NB", "family": "mnb", "params": {"alpha": 1.0}}],
        fractions=[0.01, 1.0],
    )
    scores = curves.train_curves(
        task, material.counts, material.tokens, material.folds, material.corpus(), 1, LOG
    ).set_index("fraction")
    empty = scores[scores["n_features"] == 0]
    assert len(empty) > 0
    assert (empty["failure"] == "no training document has a feature").all()
    assert (empty.index == 0.01).all()
    assert scores.loc[1.0, "failure"].isna().all()
