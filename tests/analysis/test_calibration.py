"""Calibration: hand cases, scikit-learn's curve, a direct optimum, and no test label used."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_softmax
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, log_loss

from stored_runs import store_run
from textbaselines.analysis import calibration as cal
from textbaselines.analysis.lengths import length_parts

RNG = np.random.default_rng(7)


def test_calibration_error_by_hand() -> None:
    probabilities = np.array([0.1, 0.1, 0.8, 0.8])
    positive = np.array([False, True, True, True])
    bins = cal.equal_mass_bins(probabilities, 2)
    assert bins.tolist() == [0, 0, 1, 1]
    # Bins: 0.1 against 1/2 and 0.8 against 1, half of the documents each.
    assert cal.calibration_error(probabilities, positive, bins) == pytest.approx(0.3)


def test_the_reliability_curve_is_that_of_scikit_learn() -> None:
    probabilities = RNG.beta(0.5, 0.5, 500).round(2)
    positive = RNG.random(500) < probabilities
    rows = pd.DataFrame(cal.reliability_curve(probabilities, positive))
    shares, means = calibration_curve(positive, probabilities, n_bins=15, strategy="quantile")
    np.testing.assert_allclose(rows["share_positive"], shares)
    np.testing.assert_allclose(rows["mean_probability"], means)
    assert rows["predictions"].sum() == 500
    assert ((rows["low"] <= shares) & (shares <= rows["high"] + 1e-12)).all()


def test_platt_is_the_optimum_of_his_likelihood() -> None:
    scores = RNG.normal(0, 40, 300)
    positive = RNG.random(300) < expit(0.05 * scores - 1)
    n = positive.sum()
    target = np.where(positive, (n + 1) / (n + 2), 1 / (300 - n + 2))

    def loss(parameters):
        z = parameters[0] * scores + parameters[1]
        return -(target * -np.logaddexp(0, -z) + (1 - target) * -np.logaddexp(0, z)).sum()

    best = minimize(loss, [0.1, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    found = cal.fit_platt(scores, positive)(scores)
    np.testing.assert_allclose(found, expit(best.x[0] * scores + best.x[1]), atol=1e-5)


def test_platt_stays_finite_where_scores_separate_or_say_nothing() -> None:
    positive = np.array([False, False, True, True])
    separated = cal.fit_platt(np.array([-2.0, -1.0, 1.0, 2.0]), positive)(np.array([-9.0, 9.0]))
    assert 0 < separated[0] < 0.3 < 0.7 < separated[1] < 1
    # Targets 3/4, 3/4 and 1/4: their mean; two positives and one negative: 3/4, 3/4, 1/3.
    constant = cal.fit_platt(np.zeros(3), np.array([True, True, False]))(np.array([5.0]))
    assert constant[0] == pytest.approx((3 / 4 + 3 / 4 + 1 / 3) / 3)


def test_isotonic_by_hand() -> None:
    function = cal.fit_isotonic(np.array([1.0, 2, 3, 4]), np.array([False, True, False, True]))
    # The pair out of order is pooled to 1/2; between fitted scores it is linear.
    np.testing.assert_allclose(
        function(np.array([0.0, 1.0, 1.5, 2.5, 3.5, 9.0])), [0, 0, 0.25, 0.5, 0.75, 1]
    )


def test_overconfidence_by_hand() -> None:
    ids = list("abcd")
    frame = pd.DataFrame({"repeat": 0, "fold": 0, "id": ids})
    frame = frame.assign(own=[0.9, 0.9, 0.2, 0.5], positive=[True, False, False, True])
    frame = frame.assign(platt=np.nan, isotonic=np.nan)
    groups = pd.Series(ids, index=ids)
    rows, _, _ = cal.measure(frame, groups, length_parts(pd.Series([1, 1, 1, 1], index=ids)), 1)
    # One half predicts the negative class: wrong here.
    assert rows[0]["overconfidence"] == pytest.approx((-0.1 + 0.9 - 0.2 + 0.5) / 4)
    assert rows[0]["accuracy"] == 0.5


def test_margins_by_hand() -> None:
    scores = np.array([[1.0, 3.0, 2.0], [np.nan, -1.0, 4.0]])
    np.testing.assert_array_equal(cal.margins(scores), [[-2, 1, -1], [np.nan, -5, 5]])
    two = cal.margins(np.array([[-0.5, 0.5]]))
    np.testing.assert_array_equal(two, [[-1, 1]])  # of two classes the score, twice


def test_top_label_by_hand_and_beside_scikit_learn() -> None:
    probabilities = np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.0, 1.0, 0.0]])
    truth = np.array([0, 1, 0])
    found = cal.top_label(probabilities, truth)
    assert found[""].tolist() == [0.7, 0.4, 1.0]
    assert found["_right"].tolist() == [True, False, False]
    # 0.3^2 + 0.2^2 + 0.1^2; 0.3^2 + 0.7^2 + 0.4^2; 1 + 1
    np.testing.assert_allclose(found["_brier"], [0.14, 0.74, 2.0])
    np.testing.assert_allclose(found["_loss"], -np.log([0.7, 0.3, 2.0**-52]))
    sure = RNG.dirichlet(np.ones(5), 200)
    true = RNG.integers(5, size=200)
    found = cal.top_label(sure, true)
    assert found["_loss"].mean() == pytest.approx(log_loss(true, sure))
    assert found["_brier"].mean() == pytest.approx(
        brier_score_loss(true, sure, labels=np.arange(5), scale_by_half=False)
    )


def test_each_class_is_mapped_against_the_rest() -> None:
    truth = RNG.integers(3, size=400)
    scores = RNG.normal(0, 1, (400, 3)) + 1.5 * np.eye(3)[truth]
    new = RNG.normal(0, 1, (50, 3))
    found = cal.against_the_rest(cal.fit_platt, scores, truth, new)
    learnt, asked = cal.margins(scores), cal.margins(new)
    each = [cal.fit_platt(learnt[:, k], truth == k)(asked[:, k]) for k in range(3)]
    wanted = np.column_stack(each)
    np.testing.assert_allclose(found, wanted / wanted.sum(axis=1, keepdims=True))
    # A class that no training document had is impossible; without any class all are equal.
    new[0, 2] = np.nan
    new[1] = np.nan
    found = cal.against_the_rest(cal.fit_isotonic, scores, truth, new)
    assert found[0, 2] == 0
    np.testing.assert_allclose(found[1], 1 / 3)
    np.testing.assert_allclose(found.sum(axis=1), 1)


def write_classes(folder, own: bool = True) -> None:
    """One fold of 300 test documents and 300 inner ones of three classes, 0.15 too sure."""
    rng = np.random.default_rng(4)
    folder.mkdir(parents=True)
    for name, letter in (("predictions", "t"), ("inner_predictions", "v")):
        codes = rng.integers(3, size=300)
        scores = rng.normal(0, 1, (300, 3)) + np.eye(3)[codes]
        probabilities = np.exp(3 * scores) / np.exp(3 * scores).sum(axis=1, keepdims=True)
        frame = pd.DataFrame({"id": [f"{letter}{n}" for n in range(300)]}).assign(
            point="a", repeat=0, fold=0, label=np.array(["x", "NA", "y z"])[codes]
        )
        for place, label in enumerate(("x", "NA", "y z")):
            frame[f"score_{label}"] = scores[:, place]
            if own:
                frame[f"probability_{label}"] = probabilities[:, place]
        frame.to_parquet(folder / f"{name}.parquet")
    (folder / "run.json").write_text(json.dumps({"positive": "x", "classes": ["x", "NA", "y z"]}))


def test_three_classes_are_measured_by_the_most_probable_one(tmp_path) -> None:
    write_classes(tmp_path / "d" / "bi" / "M")
    write_classes(tmp_path / "d" / "bi" / "N", own=False)
    for method in "MN":
        store_run(tmp_path / "d" / "bi" / method)
    test = pd.read_parquet(tmp_path / "d/bi/M/predictions.parquet")
    corpus = test[["id", "label"]].assign(group=test["id"])
    cells = pd.DataFrame(
        [{**CELL, "selection": "fixed", "point": "a", "failure": None, "method": m} for m in "MN"]
    )
    runs = cal.CalibratedRuns(tmp_path, SELECTIONS)
    lengths = pd.Series(np.arange(300), index=test["id"])
    table, reliability, by_length = cal.calibrate_cells(cells, runs, corpus, lengths)
    assert set(table["n_classes"]) == {3}
    own, platt, isotonic, none, *others = table.to_dict("records")
    classes = ["x", "NA", "y z"]
    probabilities = test[[f"probability_{name}" for name in classes]].to_numpy()
    right = np.array(classes)[probabilities.argmax(axis=1)] == test["label"]
    confidence = probabilities.max(axis=1)
    assert own["accuracy"] == pytest.approx(right.mean())
    assert own["overconfidence"] == pytest.approx(confidence.mean() - right.mean())
    shares, means = calibration_curve(right, confidence, n_bins=15, strategy="quantile")
    curve = reliability[(reliability["method"] == "M") & (reliability["calibration"] == "own")]
    np.testing.assert_allclose(curve["share_positive"], shares)
    np.testing.assert_allclose(curve["mean_probability"], means)
    assert own["ece"] == pytest.approx(np.average(np.abs(shares - means), weights=[20] * 15))
    truth = test["label"].map({name: place for place, name in enumerate(classes)})
    assert own["log_loss"] == pytest.approx(log_loss(truth, probabilities))
    for one in (platt, isotonic, *others):
        assert one["ece"] < own["ece"] / 2
        assert one["brier"] < own["brier"]
    assert (none["reason"], len(others)) == ("the method has no probabilities", 2)
    assert set(by_length["part"]) == {1, 2, 3, 4, 5}


def folded(n: int, copies: int = 1) -> tuple[pd.DataFrame, pd.Series, pd.DataFrame]:
    """n texts with probabilities 0.2 too sure, each standing ``copies`` times."""
    rng = np.random.default_rng(5)
    true = np.repeat(rng.uniform(0.1, 0.7, n), copies)
    positive = np.repeat(rng.random(n), copies) < true
    ids = [f"d{row}" for row in range(n * copies)]
    frame = pd.DataFrame({"repeat": 0, "fold": 0, "id": ids, "positive": positive})
    frame = frame.assign(own=true + 0.2, platt=true, isotonic=np.nan)
    groups = pd.Series(np.repeat([f"g{row}" for row in range(n)], copies), index=ids)
    return frame, groups, length_parts(pd.Series(np.arange(n * copies), index=ids))


def test_the_interval_covers_a_known_error_and_zero() -> None:
    rows, _, by_length = cal.measure(*folded(4000), seed=1)
    own, platt, isotonic = rows
    assert own["ece_low"] < 0.2 < own["ece_high"]
    assert own["ece"] == pytest.approx(0.2, abs=0.03)
    assert platt["ece_low"] < 0.01
    assert own["brier"] > platt["brier"]
    assert isotonic == {
        "calibration": "isotonic",
        "predictions": 4000,
        "reason": "no predictions on inner folds",
    }
    of_own = [row for row in by_length if row["calibration"] == "own"]
    assert [row["predictions"] for row in of_own] == [800] * 5
    total = sum(row["overconfidence"] * row["predictions"] for row in of_own) / 4000
    assert total == pytest.approx(own["overconfidence"])
    assert own["overconfidence"] == pytest.approx(own["mean_confidence"] - own["accuracy"])
    for row in of_own:
        assert row["overconfidence_low"] < row["overconfidence"] < row["overconfidence_high"]


def test_copies_of_a_text_are_no_further_evidence() -> None:
    def width(copies: int, grouped: bool) -> float:
        frame, groups, parts = folded(400, copies)
        if not grouped:
            groups = pd.Series(frame["id"].to_numpy(), index=frame["id"])
        own = cal.measure(frame, groups, parts, seed=1)[0][0]
        return own["ece_high"] - own["ece_low"]

    assert width(9, grouped=True) == pytest.approx(width(1, grouped=True), rel=0.3)
    assert width(9, grouped=False) < 0.6 * width(9, grouped=True)


POINTS = ["a", "b"]


def write_run(folder, test_labels="", inner_shift=0.0) -> None:
    """Two folds of 40 test documents, 80 inner ones; ``inner_shift`` moves the scores of fold 1."""
    rng = np.random.default_rng(2)
    folder.mkdir(parents=True, exist_ok=True)
    test, inner = [], []
    for point in POINTS:
        for fold in (0, 1):
            for part, name, n in ((test, "t", 40), (inner, "v", 80)):
                scores = rng.normal(0, 2, n)
                positive = rng.random(n) < expit(scores)
                ids = [f"{name}{fold}-{row}" for row in range(n)]
                frame = pd.DataFrame({"point": point, "repeat": 0, "fold": fold, "id": ids})
                frame["label"] = np.where(positive, "pos", "neg")
                part.append(frame.assign(score=scores))
    for frame in inner:
        frame["score"] += inner_shift * frame["fold"]
    tested = pd.concat(test)
    if test_labels:
        tested["label"] = test_labels
    tested.to_parquet(folder / "predictions.parquet")
    pd.concat(inner).to_parquet(folder / "inner_predictions.parquet")
    (folder / "run.json").write_text(json.dumps({"positive": "pos"}))
    store_run(folder)


SELECTIONS = pd.DataFrame(
    {
        "dataset": "d",
        "representation": "bi",
        "method": "M",
        "repeat": 0,
        "fold": [0, 1],
        "chosen_representation": "bi",
        "point": ["a", "b"],
    }
)
CELL = {"dataset": "d", "representation": "bi", "method": "M", "selection": "nested", "point": ""}


def calibrated(folder) -> pd.DataFrame:
    return cal.CalibratedRuns(folder, SELECTIONS).predictions(CELL)


def test_calibration_uses_inner_folds_of_its_fold_and_no_test_label(tmp_path) -> None:
    write_run(tmp_path / "plain" / "d" / "bi" / "M")
    plain = calibrated(tmp_path / "plain")
    assert plain["fold"].tolist() == [0] * 40 + [1] * 40
    assert plain["own"].isna().all()
    assert plain[["platt", "isotonic"]].notna().all(axis=None)
    # By hand: the sigmoid of fold 1 is that of its inner predictions alone.
    inner = pd.read_parquet(tmp_path / "plain/d/bi/M/inner_predictions.parquet")
    inner = inner[(inner["fold"] == 1) & (inner["point"] == "b")]
    test = pd.read_parquet(tmp_path / "plain/d/bi/M/predictions.parquet")
    test = test[(test["fold"] == 1) & (test["point"] == "b")]
    function = cal.fit_platt(inner["score"].to_numpy(), (inner["label"] == "pos").to_numpy())
    np.testing.assert_allclose(plain["platt"][40:], function(test["score"].to_numpy()))

    write_run(tmp_path / "relabelled" / "d" / "bi" / "M", test_labels="pos")
    relabelled = calibrated(tmp_path / "relabelled")
    assert relabelled["positive"].all()
    assert relabelled["platt"].equals(plain["platt"])
    assert relabelled["isotonic"].equals(plain["isotonic"])

    write_run(tmp_path / "shifted" / "d" / "bi" / "M", inner_shift=1.0)
    shifted = calibrated(tmp_path / "shifted")
    assert shifted["platt"][:40].equals(plain["platt"][:40])
    assert not shifted["platt"][40:].equals(plain["platt"][40:])


def test_a_cell_without_inner_predictions_or_result_says_why(tmp_path) -> None:
    write_run(tmp_path / "d" / "bi" / "M")
    # What a run without inner folds holds: columns, and no row.
    empty = pd.DataFrame(columns=["point", "repeat", "fold", "inner", "id", "label", "score"])
    empty.to_parquet(tmp_path / "d/bi/M/inner_predictions.parquet")
    store_run(tmp_path / "d/bi/M")
    ids = [f"t{fold}-{row}" for fold in (0, 1) for row in range(40)]
    corpus = pd.DataFrame({"id": ids, "label": ["pos", "neg"] * 40, "group": ids})
    lengths = pd.Series(np.arange(80), index=ids)
    cells = pd.DataFrame(
        [
            {**CELL, "selection": "fixed", "point": "a", "failure": None},
            {**CELL, "method": "N", "failure": "no memory"},
        ]
    )
    runs = cal.CalibratedRuns(tmp_path, SELECTIONS)
    table, reliability, by_length = cal.calibrate_cells(cells, runs, corpus, lengths)
    assert list(table.columns) == list(cal.CALIBRATION_COLUMNS)
    reasons = table.groupby("method")["reason"].unique().map(list).to_dict()
    assert reasons == {
        "M": ["the method has no probabilities", "no predictions on inner folds"],
        "N": ["no memory"],
    }
    assert reliability.empty
    assert by_length.empty


def smoothed_loss(a, scores, codes):
    """The cross-entropy with targets (N_k + 1) / (N_k + K) and 1 / (N_k + K), written out."""
    n, width = scores.shape
    counts = np.bincount(codes, minlength=width)[codes]
    targets = np.full((n, width), 1.0)
    targets[np.arange(n), codes] += counts
    targets /= targets.sum(axis=1, keepdims=True)
    return -(targets * log_softmax(a * scores, axis=1)).sum()


@pytest.mark.parametrize("size", [0.01, 1.0, 300.0])
@pytest.mark.parametrize("width", [2, 3, 20])
def test_a_temperature_has_the_least_log_loss(size, width):
    rng = np.random.default_rng(width)
    codes = rng.integers(width, size=500)
    scores = rng.normal(size=(500, width))
    scores[np.arange(500), codes] += 1.5
    found = cal.fit_inverse_temperature(size * scores, codes)
    wanted = minimize_scalar(
        lambda log: smoothed_loss(np.exp(log) / size, size * scores, codes),
        bounds=(-5, 5),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert found == pytest.approx(np.exp(wanted.x) / size, rel=1e-6)
    if width == 2:
        platt = cal.fit_slope(size * (scores[:, 1] - scores[:, 0]), codes == 1)
        assert found == pytest.approx(platt, rel=1e-6)


def test_a_temperature_of_scores_that_are_always_right_always_wrong_or_say_nothing():
    codes = np.repeat([0, 1, 2], 10)
    right = np.eye(3)[codes]
    # By symmetry the probability of the true class is its target, 11 / 13.
    assert cal.fit_inverse_temperature(right, codes) == pytest.approx(np.log(11 / 1), rel=1e-9)
    assert cal.fit_inverse_temperature(-right, codes) == 0
    assert cal.fit_inverse_temperature(np.ones((30, 3)), codes) == 0
    # A large number in all columns changes nothing; neither does a column of a class that is
    # missing in one fold, but for its share of the target.
    assert cal.fit_inverse_temperature(right + 1e6, codes) == pytest.approx(np.log(11), rel=1e-6)
    lacking = right.copy()
    lacking[:10, 2] = np.nan
    assert np.log(11) * 0.9 < cal.fit_inverse_temperature(lacking, codes) < np.log(11) * 1.1


def test_a_temperature_in_parts_is_that_of_the_whole(monkeypatch):
    rng = np.random.default_rng(0)
    scores, codes = rng.normal(size=(1000, 4)), rng.integers(4, size=1000)
    scores[np.arange(1000), codes] += 1
    whole = cal.fit_inverse_temperature(scores, codes)
    monkeypatch.setattr(cal, "_AT_ONCE", 40)
    assert cal.fit_inverse_temperature(scores, codes) == pytest.approx(whole, rel=1e-9)


def test_the_error_of_confidence_by_hand():
    # Two bins of equal mass would be enough: confidences 0.5 and 0.8, right in 1 of 2 and 2 of 2.
    probabilities = np.array([[0.5, 0.3, 0.2], [0.3, 0.5, 0.2], [0.1, 0.8, 0.1], [0.8, 0.1, 0.1]])
    codes = np.array([0, 2, 1, 0])
    assert cal.confidence_error(probabilities, codes) == pytest.approx((0.0 + 2 * 0.2) / 4)
    two = np.array([[0.5, 0.5], [0.2, 0.8]])
    assert cal.confidence_error(two, np.array([0, 1])) == pytest.approx((0.5 + 0.2) / 2)
