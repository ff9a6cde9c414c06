"""Calibration: hand cases, scikit-learn's curve, a direct optimum, and no test label used."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.calibration import calibration_curve

from stored_runs import store_run
from textbaselines.experiments import calibration as cal
from textbaselines.experiments.lengths import length_parts

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
    over = cal.overconfidence(np.array([0.9, 0.9, 0.2, 0.5]), np.array([True, False, False, True]))
    # One half predicts the negative class: wrong here.
    np.testing.assert_allclose(over, [-0.1, 0.9, -0.2, 0.5])


def test_whole_groups_are_resampled() -> None:
    values = np.array([[1.0], [2.0], [10.0]])
    sums = cal.resampled_sums(values, np.array([0, 0, 1]), seed=3)[:, 0]
    assert len(sums) == cal.RESAMPLES
    assert set(sums) == {6.0, 13.0, 20.0}
    assert abs((sums == 13.0).mean() - 0.5) < 0.06
    assert np.array_equal(sums, cal.resampled_sums(values, np.array([0, 0, 1]), seed=3)[:, 0])


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
