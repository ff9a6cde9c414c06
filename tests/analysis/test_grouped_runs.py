"""Grouped runs beside plain ones: by hand, and trained on a corpus of repeated texts."""

import logging
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from stored_runs import store_run
from textbaselines.analysis.grouped_runs import (
    GROUPED_COLUMNS,
    GroupedTasks,
    compare_with_grouped,
    cost_of_leak,
    folds_kept_together,
    has_repeats,
    inner_folds_kept_together,
    train_grouped,
)
from textbaselines.evaluation.runs import run_of
from textbaselines.evaluation.selection import (
    cell_predictions,
    read_run_scores,
    selections_of_runs,
)
from textbaselines.study.folds import Protocol, divisions, draw_folds, draw_inner_folds
from textbaselines.study.tasks import Task
from textbaselines.text.counts import count_ngrams, read_counts, write_counts
from textbaselines.text.tokens import encode, read_tokens, write_tokens
from textbaselines.text.vocabulary import fit_vocabulary
from textbaselines.training.train import train, write_results

LOG = logging.getLogger("test")
NO_INNER = pd.DataFrame(columns=["repeat", "fold", "inner", "id"])


def predictions(correct: str, ids: str) -> pd.DataFrame:
    said = [{"1": "y", "0": "n"}[one] for one in correct]
    return pd.DataFrame({"id": list(ids), "label": "y", "predicted": said})


def test_the_cost_is_plain_less_grouped_accuracy() -> None:
    groups = pd.Series({"a": "g", "b": "g", "c": "h", "d": "i"})
    cost = cost_of_leak(predictions("1110", "abcd"), predictions("0010", "dbca"), groups, seed=1)
    assert (cost["accuracy"], cost["accuracy_grouped"]) == (3 / 4, 1 / 4)
    assert cost["cost_points"] == pytest.approx(50.0)
    # c and d are as in the plain run; the group of a and b lost both, or is not drawn at all.
    assert (cost["cost_low_points"], cost["cost_high_points"]) == pytest.approx((0, 100), abs=1)
    same = cost_of_leak(predictions("1110", "abcd"), predictions("1110", "abcd"), groups, seed=1)
    assert (same["cost_low_points"], same["cost_points"], same["cost_high_points"]) == (0, 0, 0)


def test_documents_left_out_of_the_grouped_run_count_in_the_plain_one_alone() -> None:
    groups = pd.Series({"a": "g", "b": "h"})
    cost = cost_of_leak(predictions("10", "ab"), predictions("0", "b"), groups, seed=1)
    assert (cost["predictions"], cost["predictions_grouped"]) == (2, 1)
    assert cost["cost_points"] == pytest.approx(50.0)


def test_repeats_go_where_the_first_of_them_is() -> None:
    folds = pd.DataFrame(
        {
            "repeat": [0] * 6 + [1] * 6,
            "fold": [0, 1, 2, 1, 0, -2, 2, 0, 1, 1, -1, -2],
            "id": list("abcdef") * 2,
        }
    )
    groups = pd.Series(dict(zip("abcdef", "xyxzzx", strict=True)))
    kept = folds_kept_together(folds, groups, pd.Series("p", list("abcdef")))
    # c follows a and e follows d, in each repeat; f is left out as before.
    assert kept["fold"].tolist() == [0, 1, 0, 1, 1, -2, 2, 0, 2, 1, 1, -2]
    assert kept[["repeat", "id"]].equals(folds[["repeat", "id"]])
    assert folds["fold"].tolist()[2] == 2


def test_inner_folds_differ_by_the_repeats_alone() -> None:
    # In fold 0, a and b are tested; d is moved there with a, and e out of it, to c.
    groups = pd.Series(dict(zip("abcdefg", "uvwuwxy", strict=True)))
    folds = pd.DataFrame({"repeat": 0, "fold": [0, 0, 1, 1, 0, 1, -2], "id": list("abcdefg")})
    labels = pd.Series("p", list("abcdefg"))
    kept = folds_kept_together(folds, groups, labels)
    assert kept["fold"].tolist() == [0, 0, 1, 0, 1, 1, -2]
    inner = pd.DataFrame(
        {
            "repeat": 0,
            "fold": [0, 0, 0, 1, 1, 1],
            "inner": [0, 1, 1, 0, 1, 1],
            "id": list("cdfabe"),
        }
    )
    together = inner_folds_kept_together(inner, kept, groups, labels)
    found = {(row.fold, row.id): row.inner for row in together.itertuples()}
    # c and f stay, e comes with c; of fold 1, a and b stay, d comes with a.
    assert found == {(0, "c"): 0, (0, "e"): 0, (0, "f"): 1, (1, "a"): 0, (1, "b"): 1, (1, "d"): 0}
    # And they divide the training documents, as divisions demands.
    assert len(list(divisions(kept, list("abcdefg"), together))) == 2 + 4
    assert inner_folds_kept_together(NO_INNER, kept, groups, labels).empty


def test_a_class_that_would_be_lost_has_a_text_moved() -> None:
    # b and d follow a and c, so that fold 0 would have all of class p: texts u and v.
    ids = list("abcdefgh")
    groups = pd.Series(list("uuvvwxyz"), ids)
    labels = pd.Series(list("ppppqqqq"), ids)
    folds = pd.DataFrame({"repeat": 0, "fold": [0, 1, 0, 1, 0, 0, 1, 1], "id": ids})
    kept = folds_kept_together(folds, groups, labels)
    assert kept["fold"].tolist() == [1, 1, 0, 0, 0, 0, 1, 1]
    inner = pd.DataFrame(
        {
            "repeat": 0,
            "fold": [0, 0, 0, 0, 1, 1, 1, 1],
            "inner": [0, 1, 0, 1, 0, 1, 0, 1],
            "id": list("bdghacef"),
        }
    )
    together = inner_folds_kept_together(inner, kept, groups, labels)
    found = {(row.fold, row.id): row.inner for row in together.itertuples()}
    # In each training part class p has one text left, which always trains.
    assert {key: value for key, value in found.items() if key[1] in "abcd"} == {
        **{(0, one): -1 for one in "ab"},
        **{(1, one): -1 for one in "cd"},
    }
    for division in divisions(kept, ids, together):
        assert set(labels.to_numpy()[division.training]) == {"p", "q"}
    # A class of one text never tests, whose documents were apart.
    alone = folds_kept_together(folds, groups.replace("v", "u"), labels)
    assert alone["fold"].tolist() == [-1, -1, -1, -1, 0, 0, 1, 1]


def study(tmp_path: Path, texts: list[str], labels: list[str]):
    """A corpus with the files that a comparison reads."""
    ids = [f"d{place}" for place in range(len(texts))]
    corpus = pd.DataFrame(
        {"id": ids, "label": labels, "rating": float("nan"), "split": None, "group": texts}
    )
    tokens = encode(ids, [text.split() for text in texts])
    write_tokens(tmp_path / "tokens.npz", tokens)
    write_counts(tmp_path, count_ngrams(tokens, 1, 1))
    task = Task(
        dataset="d",
        representation="uni",
        method="MNB",
        family="mnb",
        classes=["y", "n"],
        weighting="binary",
        scope="training",
        reduction=None,
        points=[{"point": "p", "params": {"alpha": 1.0}, "origin": ["fixed"]}],
        chooses=False,
        details={"protocol": {"inner": 0}},
    )
    work = [
        GroupedTasks(tmp_path / "matrix.npz", tmp_path / "tokens.npz", "drop", 1, [task]),
    ]
    return corpus, work


def train_plain(runs: Path, work, corpus, folds, inner=None) -> None:
    """Write the run folders of a study's plain runs."""
    (part,) = work
    counts, tokens = read_counts(part.counts), read_tokens(part.tokens)
    vocabularies = {
        division.key: fit_vocabulary(tokens, division.training, part.policy, part.min_count)
        for division in divisions(folds, tokens.documents, inner)
    }
    inner = NO_INNER if inner is None else inner
    for one in train(part.tasks, counts, vocabularies, folds, inner, corpus, 1, LOG):
        folder = runs / "d" / one.task.representation / one.task.method
        write_results(folder, one.results, one.task, "0" * 16)
        store_run(folder)


def compared_with_grouped(tmp_path: Path, work, corpus, folds, inner, protocol) -> pd.DataFrame:
    """Train on grouped folds and compare with the runs of tmp_path/runs."""
    grouped = []
    for one in train_grouped(work, corpus, folds, inner, protocol, "d", 1, LOG):
        folder = tmp_path / "grouped" / "d" / one.task.representation / one.task.method
        write_results(folder, one.results, one.task, "0" * 16)
        grouped.append(store_run(folder))
    runs = tmp_path / "runs"
    plain = [run_of(runs, "d", run.representation, run.method) for run in grouped]
    return compare_with_grouped(plain, grouped, corpus.set_index("id")["group"], runs)


def test_a_text_known_from_training_is_known_no_more(tmp_path: Path) -> None:
    # Each word stands in four documents of one class: known, it tells the class; else nothing does.
    texts = [f"w{place // 4}" for place in range(40)]
    labels = ["y" if (place // 4) % 2 else "n" for place in range(40)]
    corpus, work = study(tmp_path, texts, labels)
    protocol = Protocol("cv", 4)
    folds = draw_folds(corpus, protocol, "d")
    train_plain(tmp_path / "runs", work, corpus, folds)
    compared = compared_with_grouped(tmp_path, work, corpus, folds, NO_INNER, protocol)
    (row,) = compared.to_dict("records")
    assert tuple(row) == GROUPED_COLUMNS
    assert (row["accuracy"], row["predictions_grouped"]) == (1.0, 40)
    # No word of a test document is known, and of equal classes none is likelier than chance.
    assert row["accuracy_grouped"] <= 0.6
    assert row["cost_points"] == pytest.approx(100 * (1 - row["accuracy_grouped"]))


def test_what_inner_folds_choose_is_compared_too(tmp_path: Path) -> None:
    """Of a method, and of its choice between representations; all as trained by a study of its own
    on the grouped folds."""
    texts = [f"w{place // 4} x{place % 7} y{place % 3}" for place in range(60)]
    texts += texts[:20]
    labels = ["y" if (place // 4) % 2 else "n" for place in range(60)] + ["y", "n"] * 10
    corpus, work = study(tmp_path, texts, labels)
    protocol = Protocol("cv", 4, inner=2)
    folds = draw_folds(corpus, protocol, "d")
    points = [
        {"point": f"p{number}", "params": {"alpha": alpha}, "origin": origin}
        for number, (alpha, origin) in enumerate(
            [(1.0, ["fixed"]), (0.01, ["grid"]), (1e4, ["grid"])]
        )
    ]
    tasks = [
        replace(
            *work[0].tasks,
            representation=name,
            weighting=weighting,
            points=points,
            chooses=True,
            details={"protocol": {"inner": 2}},
        )
        for name, weighting in (("uni", "binary"), ("uni-tfidf", "tfidf"))
    ]
    work = [replace(work[0], tasks=tasks)]
    inner = draw_inner_folds(corpus, folds, protocol, "d")
    train_plain(tmp_path / "runs", work, corpus, folds, inner)
    compared = compared_with_grouped(tmp_path, work, corpus, folds, inner, protocol)
    assert list(zip(compared["representation"], compared["selection"], strict=True)) == [
        ("uni", "fixed"),
        ("uni-tfidf", "fixed"),
        ("uni", "nested"),
        ("uni-tfidf", "nested"),
        ("selected", "nested"),
    ]
    groups, labels = corpus.set_index("id")["group"], corpus.set_index("id")["label"]
    kept = folds_kept_together(folds, groups, labels)
    kept_inner = inner_folds_kept_together(inner, kept, groups, labels)
    train_plain(tmp_path / "alone", work, corpus, kept, kept_inner)
    for side, column in (("runs", "accuracy"), ("alone", "accuracy_grouped")):
        runs = [run_of(tmp_path / side, "d", task.representation, "MNB") for task in tasks]
        chosen = selections_of_runs([read_run_scores(run) for run in runs])
        for row in compared.to_dict("records"):
            found = cell_predictions(tmp_path / side, {**row, "point": "p0"}, chosen)
            right = (found["label"] == found["predicted"]).mean()
            assert row[column] == pytest.approx(right)
    # The smoothing that drowns the words was not chosen: the choice is not that of the fixed point.
    assert set(chosen["point"]) == {"p1"}


def test_whether_texts_repeat_across_folds() -> None:
    corpus = pd.DataFrame({"id": list("abcd"), "group": ["x", "x", "y", "z"]})
    folds = pd.DataFrame({"repeat": 0, "fold": [0, 1, 0, 1], "id": list("abcd")})
    assert has_repeats(corpus, folds)
    assert not has_repeats(corpus, folds.assign(fold=[0, 0, 1, 1]))
