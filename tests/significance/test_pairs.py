"""Pairs of rows on the same documents: by hand, and joined by document id."""

import math

import numpy as np
import pandas as pd
import pytest

from stored_runs import store_run
from textbaselines.core.errors import UserError
from textbaselines.core.storage import write_parquet
from textbaselines.evaluation.selection import SELECTION_COLUMNS, compared_cells
from textbaselines.evaluation.twins import twins_everywhere, twins_of
from textbaselines.significance.paired_tests import corrected_resampled_t
from textbaselines.significance.pairs import (
    PAIR_COLUMNS,
    compare_dataset,
    compare_rows,
    read_outcomes,
)

NOTHING_CHOSEN = pd.DataFrame(columns=list(SELECTION_COLUMNS))
IDS = [f"d{i}" for i in range(10)]
GROUPS = pd.Series({name: f"g{i // 2}" for i, name in enumerate(IDS)})
# Right (1) or wrong (0) on the ten documents, in two repeats of two folds of five.
A = {0: "1111011110", 1: "1111111110"}
B = {0: "1100011010", 1: "1110011110"}


def cell(method, accuracy, *, selection="fixed", representation="bi", failure=None):
    return {
        "dataset": "cr",
        "representation": representation,
        "method": method,
        "selection": selection,
        "point": "p",
        "accuracy": accuracy,
        "failure": failure,
    }


def write_run(root, method, right, *, order=None, representation="bi", n_train=5):
    rows = [
        {
            "point": "p",
            "repeat": repeat,
            "fold": place // 5,
            "id": IDS[place],
            "label": "pos",
            "predicted": "pos" if text[place] == "1" else "neg",
            "score": 0.0,
        }
        for repeat, text in right.items()
        for place in range(len(text))
    ]
    frame = pd.DataFrame(rows)
    if order is not None:
        frame = frame.iloc[np.random.default_rng(order).permutation(len(frame))]
    other = frame.assign(point="q", predicted="neg")
    folder = root / "cr" / representation / method
    write_parquet(folder / "predictions.parquet", pd.concat([other, frame]))
    scores = frame[["point", "repeat", "fold"]].drop_duplicates().assign(n_train=n_train)
    write_parquet(folder / "scores.parquet", scores)
    store_run(folder)


def pairs_of(root, **more):
    cells = compared_cells(pd.DataFrame([cell("A", 0.85), cell("B", 0.65)]))
    return compare_dataset(root, cells, NOTHING_CHOSEN, GROUPS, resamples=2000, **more)


def test_a_row_and_its_twin_are_not_tested(tmp_path):
    write_run(tmp_path, "A", A)
    write_run(tmp_path, "B", A, order=1)
    write_run(tmp_path, "C", B)
    cells = compared_cells(pd.DataFrame([cell(m, 0.85) for m in "ABC"]))
    frame = compare_dataset(tmp_path, cells, NOTHING_CHOSEN, GROUPS, resamples=50)
    assert frame["identical"].tolist() == [True, False, False]
    twin, other, _ = frame.to_dict("records")
    assert (twin["difference_points"], twin["mcnemar_only_a"]) == (0, 0)
    assert pd.isna(twin["test"])
    results = ["p", "t_p", "mcnemar_p", "t_low_points", "bootstrap_low_points"]
    assert all(math.isnan(twin[name]) for name in results)
    assert not any(math.isnan(other[name]) for name in results)
    pairs = frame.assign(dataset="cr")
    assert twins_of(pairs) == dict.fromkeys(("A-bi", "B-bi"), ("A-bi", "B-bi"))
    elsewhere = pairs.assign(dataset="rt", identical=False, p=0.5)
    assert twins_everywhere(pairs) == twins_of(pairs)
    assert twins_everywhere(pd.concat([pairs, elsewhere])) == {}


def test_rows_that_are_right_on_the_same_documents_but_wrong_otherwise_are_no_twins(tmp_path):
    write_run(tmp_path, "A", A)
    write_run(tmp_path, "B", A)
    path = tmp_path / "cr/bi/B/predictions.parquet"
    frame = pd.read_parquet(path)
    frame.loc[frame["predicted"] == "neg", "predicted"] = "neutral"
    write_parquet(path, frame)
    store_run(path.parent)
    assert pairs_of(tmp_path)["identical"].tolist() == [False]


def test_every_number_by_hand(tmp_path):
    write_run(tmp_path, "A", A)
    write_run(tmp_path, "B", B, order=1)  # joined by id, whatever the order of the rows
    frame = pairs_of(tmp_path)
    assert list(frame.columns) == list(PAIR_COLUMNS)
    (row,) = frame.to_dict("records")
    assert (row["a"], row["b"], row["selection_a"], row["test"]) == (
        *("A-bi", "B-bi", "fixed"),
        "corrected resampled t",
    )
    assert (row["accuracy_a"], row["accuracy_b"]) == pytest.approx(
        ((0.8 + 0.9) / 2, (0.5 + 0.7) / 2)
    )
    assert row["difference_points"] == pytest.approx(25.0)
    assert (row["documents"], row["groups"], row["repeats"], row["folds"]) == (10, 5, 2, 2)
    # by repeat a alone is right on 3 and 2 documents, b alone on none: p = 2/8 and 2/4
    assert (row["mcnemar_only_a"], row["mcnemar_only_b"]) == (2.5, 0.0)
    assert row["mcnemar_p"] == pytest.approx((0.25 + 0.5) / 2)
    assert row["mcnemar_approximate"]
    # folds: 4-2, 4-3 of five in the first repeat; 5-3, 4-4 in the second
    t = corrected_resampled_t([0.4, 0.2, 0.4, 0.0], [5] * 4, [5] * 4)
    assert row["p"] == row["t_p"] == pytest.approx(t.p)
    assert row["t"] == pytest.approx(
        0.25 / math.sqrt((1 / 4 + 1) * np.var([0.4, 0.2, 0.4, 0], ddof=1))
    )
    assert (row["t_low_points"], row["t_high_points"]) == pytest.approx(
        tuple(100 * x for x in t.interval())
    )
    assert (row["cohens_g"], row["odds_ratio"]) == (0.5, math.inf)
    # per document the mean over repeats: d2 1/2, d3 1, d4 1/2, d7 1/2, the others 0
    d = np.array([0, 0, 0.5, 1, 0.5, 0, 0, 0.5, 0, 0])
    assert row["standardised_difference"] == pytest.approx(d.mean() / d.std(ddof=1))
    # groups of two documents: sums 0, 3, 1, 1, 0 of 4 predictions each; five are drawn
    sums = np.array([0, 3, 1, 1, 0]) / 4
    every = np.array(np.meshgrid(*[sums] * 5)).reshape(5, -1).mean(axis=0)
    low, high = np.percentile(every, [2.5, 97.5])
    assert (row["bootstrap_low_points"], row["bootstrap_high_points"]) == pytest.approx(
        (100 * low, 100 * high), abs=5.1
    )


def test_one_split_is_judged_by_mcnemar(tmp_path):
    write_run(tmp_path, "A", {0: "11110"})
    write_run(tmp_path, "B", {0: "10011"})
    (row,) = pairs_of(tmp_path).to_dict("records")
    assert (row["test"], row["mcnemar_approximate"]) == ("exact McNemar", False)
    assert (row["mcnemar_only_a"], row["mcnemar_only_b"], row["p"]) == (2, 1, 1.0)
    assert row["cohens_g"] == pytest.approx(2 / 3 - 1 / 2)
    assert row["odds_ratio"] == 2
    assert math.isnan(row["t_p"])


def test_equal_rows_differ_in_nothing(tmp_path):
    write_run(tmp_path, "A", A)
    write_run(tmp_path, "B", A)
    path = tmp_path / "cr/bi/B/predictions.parquet"
    wrong = pd.read_parquet(path)
    # Right on the same documents, wrong in another way: two models that are as accurate.
    wrong.loc[wrong["predicted"] == "neg", "predicted"] = "neutral"
    write_parquet(path, wrong)
    store_run(path.parent)
    (row,) = pairs_of(tmp_path).to_dict("records")
    assert (row["p"], row["mcnemar_p"], row["difference_points"], row["t"]) == (1, 1, 0, 0)
    assert (row["bootstrap_low_points"], row["bootstrap_high_points"]) == (0, 0)
    assert (row["cohens_g"], row["standardised_difference"]) == (0, 0)
    assert math.isnan(row["odds_ratio"])


def test_other_documents_are_refused(tmp_path):
    write_run(tmp_path, "A", A)
    write_run(tmp_path, "B", {0: B[0][:9], 1: B[1]})
    with pytest.raises(UserError, match="not tested on the same documents"):
        pairs_of(tmp_path)
    write_run(tmp_path, "B", B)
    cells = compared_cells(pd.DataFrame([cell("A", 0.85), cell("B", 0.65)]))
    with pytest.raises(UserError, match="not in the corpus") as refused:
        read_outcomes(tmp_path, cells, NOTHING_CHOSEN, GROUPS.drop("d4"))
    assert "d4" in str(refused.value)


def test_a_failed_row_keeps_its_pairs_with_the_reason(tmp_path):
    write_run(tmp_path, "A", A)
    write_run(tmp_path, "B", B)
    cells = [cell("C", math.nan, failure="too large"), cell("A", 0.85), cell("B", 0.65)]
    frame = compare_dataset(
        tmp_path, compared_cells(pd.DataFrame(cells)), NOTHING_CHOSEN, GROUPS, resamples=10
    )
    told = frame.set_index(["a", "b"])["failure"]
    assert len(frame) == 3
    assert told["A-bi", "C-bi"] == told["B-bi", "C-bi"] == "C-bi: too large"
    assert frame["p"].notna().sum() == 1


def test_nested_cells_are_compared_where_there_are_some_and_oracle_never():
    rows = [
        cell("A", 0.9, selection="oracle"),
        cell("A", 0.8),
        cell("A", 0.7, selection="nested"),
        cell("B", 0.9, selection="oracle"),
        cell("B", 0.6),
    ]
    found = compared_cells(pd.DataFrame(rows))
    assert found[["row", "selection", "accuracy"]].to_numpy().tolist() == [
        ["B-bi", "fixed", 0.6],
        ["A-bi", "nested", 0.7],
    ] or found[["row", "selection", "accuracy"]].to_numpy().tolist() == [
        ["A-bi", "nested", 0.7],
        ["B-bi", "fixed", 0.6],
    ]


def test_a_row_that_chooses_its_representation_takes_each_folds_choice(tmp_path):
    write_run(tmp_path, "A", A)
    write_run(tmp_path, "A", B, representation="uni")
    chosen = pd.DataFrame(
        [
            ("cr", "selected", "A", "nested", repeat, fold, "bi" if fold else "uni", "p", 0.5)
            for repeat in (0, 1)
            for fold in (0, 1)
        ],
        columns=list(SELECTION_COLUMNS),
    )
    rows = [
        cell("A", 0.7, selection="nested", representation="selected"),
        cell("A", 0.65, representation="uni"),
    ]
    outcomes = read_outcomes(tmp_path, compared_cells(pd.DataFrame(rows)), chosen, GROUPS)
    mixed = "".join(B[repeat][:5] + A[repeat][5:] for repeat in (0, 1))
    assert outcomes.rows == ("A-selected", "A-uni")
    assert "".join(str(int(x)) for x in outcomes.correct[:, 0]) == mixed
    assert outcomes.train_sizes[0, 0] == 5


def test_the_same_bytes_again(tmp_path):
    write_run(tmp_path, "A", A)
    write_run(tmp_path, "B", B)
    cells = compared_cells(pd.DataFrame([cell("A", 0.85), cell("B", 0.65)]))
    outcomes = read_outcomes(tmp_path, cells, NOTHING_CHOSEN, GROUPS)
    assert compare_rows(outcomes, resamples=50).equals(compare_rows(outcomes, resamples=50))
