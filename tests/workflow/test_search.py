"""The curves of the search that the real Snakefile writes."""

import pandas as pd
import pytest

from textbaselines.evaluation.runs import run_of

pytestmark = pytest.mark.xdist_group("workflow")

STUDY = "small-trial50"


def test_the_curves_are_those_of_the_inner_scores(finished) -> None:
    root = finished.folder / "results"
    curves = pd.read_csv(root / STUDY / "analysis" / "search.csv")
    key = ["dataset", "representation", "method"]
    last = curves.groupby(key)["trials"].agg(["max", "size"])
    # Two alphas, two C times two beta; the SVM's one point is compared across representations.
    points = last.index.get_level_values("method").map({"MNB": 2, "SVM": 1, "NBSVM": 4})
    assert last["max"].tolist() == last["size"].tolist() == points.tolist()
    assert len(last) == 4 * 2 * 3
    for (dataset, representation, method), curve in curves.groupby(key):
        run = run_of(root / STUDY / "runs", str(dataset), str(representation), str(method))
        inner = run.table("inner_scores")
        pooled = inner.groupby(["repeat", "fold", "point"])[["correct", "n_test"]].sum()
        accuracy = (pooled["correct"] / pooled["n_test"]).unstack()
        first, *_, end = [*curve["expected_accuracy"], curve["expected_accuracy"].iloc[-1]]
        assert first == pytest.approx(accuracy.mean(axis=1).mean())
        assert first <= end <= accuracy.max(axis=1).mean() + 1e-12
        if method == "MNB":
            # The best of two draws of two: three pairs of four have the larger.
            two = (accuracy.min(axis=1) + 3 * accuracy.max(axis=1)) / 4
            assert end == pytest.approx(two.mean())
    words = (root / STUDY / "figures" / "search.txt").read_text(encoding="utf-8")
    assert "HG NYT:\n  MNB-uni: " in words
