"""Errors by hand: three methods on six documents."""

import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from stored_runs import store_run
from textbaselines.analysis import error_analysis as errors
from textbaselines.evaluation.reported_cells import cells_of_methods

IDS = list("abcdef")
LABELS = dict(zip(IDS, ["pos", "pos", "pos", "neg", "neg", "neg"], strict=True))
# What each method predicts, and its score: a and d are wrong for all, b for two.
SCORES = {
    "M": [-5.0, -1.0, 2.0, 4.0, -3.0, -6.0],
    "N": [-50.0, -10.0, 20.0, 5.0, -30.0, -40.0],
    "S": [-0.5, 0.1, 0.2, 0.55, -0.3, -0.6],
}
CELLS = pd.DataFrame(
    {
        "dataset": "x",
        "representation": "bi",
        "method": list(SCORES),
        "selection": "fixed",
        "point": "p",
    }
)
CORPUS = pd.DataFrame(
    {
        "id": IDS,
        "text": ["one", "two", "three", "one ", "five\n  lines", "w" * 500],
        "label": LABELS.values(),
        "group": ["g1", "g2", "g3", "g1", "g5", "g6"],
    }
)


@pytest.fixture
def predictions(tmp_path) -> pd.DataFrame:
    for method, scores in SCORES.items():
        folder = tmp_path / "x" / "bi" / method
        folder.mkdir(parents=True)
        frame = pd.DataFrame({"point": "p", "repeat": 0, "fold": 0, "id": IDS, "score": scores})
        frame["label"] = frame["id"].map(LABELS)
        frame["predicted"] = ["pos" if score > 0 else "neg" for score in scores]
        frame.to_parquet(folder / "predictions.parquet")
        store_run(folder)
    return errors.predictions_of_cells(tmp_path, CELLS, pd.DataFrame())


def test_hard_documents_and_their_number(predictions: pd.DataFrame) -> None:
    outcomes = errors.documents_by_outcome(predictions)
    assert outcomes.set_index("id")["wrong_methods"].to_dict() == dict(
        zip(IDS, [3, 2, 0, 3, 0, 0], strict=True)
    )
    hard = errors.hard_documents(outcomes, CORPUS, "x")
    # a is wronger than d: its scores are farther from the decision.
    assert hard["id"].tolist() == ["a", "d", "b"]
    assert hard["share_wrong"].tolist() == pytest.approx([1, 1, 2 / 3])
    assert hard["predicted"].tolist() == ["neg", "pos", "neg"]
    assert list(hard.columns) == list(errors.HARD_COLUMNS)
    counted = errors.hardness(outcomes, "x")
    assert counted["documents"].tolist() == [3, 0, 1, 2]


def test_ranks_are_shares_of_predictions_of_one_model(predictions: pd.DataFrame) -> None:
    ranks = predictions.pivot(index="id", columns="cell", values="confidence_rank")
    # |scores| of M: 5 1 2 4 3 6.
    assert ranks[0].tolist() == pytest.approx([5 / 6, 1 / 6, 2 / 6, 4 / 6, 3 / 6, 1])


def test_suspects_are_wrong_for_all_and_sure(predictions: pd.DataFrame) -> None:
    suspects = errors.suspect_labels(errors.documents_by_outcome(predictions), CORPUS, "x")
    # d is wrong for all, but N is less sure of it than of half of its predictions.
    assert suspects["id"].tolist() == ["a"]
    row = suspects.iloc[0]
    assert (row["label"], row["predicted"]) == ("pos", "neg")
    assert (row["same_text"], row["same_text_other_label"]) == (1, 1)


def test_a_text_that_the_repeats_disagree_on_is_no_suspect(predictions: pd.DataFrame) -> None:
    second = predictions.assign(repeat=1)
    second.loc[(second["id"] == "a") & (second["cell"] == 0), "predicted"] = "pos"
    both = pd.concat([predictions, second])
    outcomes = errors.documents_by_outcome(both).set_index("id")
    # One method is wrong in just half of the repeats: not mostly.
    assert outcomes.loc["a", "wrong_methods"] == 2
    assert outcomes.loc["a", "share_wrong"] == pytest.approx(5 / 6)
    assert errors.suspect_labels(outcomes.reset_index(), CORPUS, "x").empty


def test_confusion_is_oriented(predictions: pd.DataFrame) -> None:
    table = errors.confusion_matrices(predictions, CELLS)
    mine = table[table["method"] == "M"].set_index(["label", "predicted"])["predictions"]
    assert mine.to_dict() == {
        ("neg", "neg"): 2,
        ("neg", "pos"): 1,
        ("pos", "neg"): 2,
        ("pos", "pos"): 1,
    }
    assert table["share_of_label"].iloc[:2].tolist() == pytest.approx([2 / 3, 1 / 3])


def test_agreement_by_hand_joins_documents_by_id(predictions: pd.DataFrame) -> None:
    shuffled = predictions.sample(frac=1, random_state=1)
    table = errors.agreement(shuffled, CELLS).set_index(["method_a", "method_b"])
    assert table.loc[("M", "N"), ["equal", "kappa"]].tolist() == [1.0, 1.0]
    pair = table.loc[("M", "S")]
    assert pair["equal"] == pytest.approx(5 / 6)
    # Chance agrees with (4/6)(3/6) + (2/6)(3/6) = 1/2.
    assert pair["kappa"] == pytest.approx((5 / 6 - 1 / 2) / (1 / 2))
    signs = {name: [score > 0 for score in scores] for name, scores in SCORES.items()}
    assert pair["kappa"] == pytest.approx(cohen_kappa_score(signs["M"], signs["S"]))
    assert pair["both_wrong"] == pytest.approx(2 / 6)
    assert pair["both_wrong_if_independent"] == pytest.approx(3 / 6 * 2 / 6)


def test_an_excerpt_is_one_line_of_bounded_length() -> None:
    assert errors.excerpt("five\n  lines") == "five lines"
    cut = errors.excerpt("w" * 500)
    assert len(cut) == errors.EXCERPT
    assert cut.endswith("…")


def test_a_method_counts_once_where_representations_were_chosen() -> None:
    rows = [("x", "uni", "M"), ("x", "bi", "M"), ("x", "selected", "M"), ("x", "uni", "N")]
    cells = pd.DataFrame(rows, columns=["dataset", "representation", "method"])
    assert cells_of_methods(cells).index.tolist() == [2, 3]
