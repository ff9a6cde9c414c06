"""The real Snakefile on a collection with many small classes, one of a single document."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import accuracy_score, f1_score
from sklearn.naive_bayes import MultinomialNB

from textbaselines.evaluation.runs import run_of
from textbaselines.text.tokenizers import words

pytestmark = pytest.mark.xdist_group("workflow")

# Two classes of one document, classes of fewer documents than folds, and others.
SIZES = {"lone": 1, "sole": 1, "pair": 2, "trio": 3, "few": 4} | {
    f"class{number:02}": 5 + number % 6 for number in range(20)
}
FOLDS = 5


def texts_of(label: str, count: int, place: int) -> list[str]:
    draw = np.random.default_rng(place)
    common = [f"w{number}" for number in range(15)]
    return [
        " ".join([label[:4] + "ish", *draw.choice(common, size=8), f"{label}{draw.integers(3)}"])
        for _ in range(count)
    ]


def write_files(folder: Path) -> None:
    """A mirror with a file for each class, the dataset file and the study file."""
    mirror = folder / "mirror"
    mirror.mkdir()
    files = []
    for place, (label, count) in enumerate(SIZES.items()):
        lines = texts_of(label, count, place)
        if label == "pair":
            lines[1] = lines[0]  # one text: under grouped folds a class that never tests
        text = "".join(f"{line}\n" for line in lines)
        (mirror / f"{label}.txt").write_text(text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        source = {"kind": "mirror", "name": f"{label}.txt", "sha256": digest}
        files.append({"name": f"many-{label}.txt", "sources": [source]})
    dataset = {
        "name": "many",
        "title": "Many",
        "citation": "made up",
        "terms": "none stated",
        "language": "en",
        "files": files,
        "reader": {"kind": "lines", "labels": {f"many-{label}.txt": label for label in SIZES}},
        "encoding": {"name": "utf-8"},
        "classes": list(SIZES),
        "protocol": {"kind": "cv", "folds": FOLDS},
        "expected": {"documents": SIZES},
    }
    (folder / "config" / "datasets" / "many.yaml").write_text(
        yaml.safe_dump(dataset, sort_keys=False)
    )
    of_words = {"tokenizer": "words", "ngrams": [1, 1], "unk": {"policy": "drop"}}
    on_uni = {"representations": ["uni"]}
    (folder / "many_study.yaml").write_text(
        yaml.safe_dump(
            {
                "name": "many-study",
                "title": "Many classes",
                "datasets": ["many"],
                "tokenizers": {"words": {"family": "words"}},
                "representations": {
                    "uni": {**of_words, "weighting": "binary"},
                    "svd": {
                        **of_words,
                        "weighting": "tfidf",
                        "reduction": {"kind": "svd", "rank": 20},
                    },
                },
                "methods": {
                    "MNB": {"family": "mnb", "grid": {"alpha": [0.1, 1.0]}, **on_uni},
                    "SVM": {"family": "svm", **on_uni},
                    # One of the two is refused for its memory.
                    "ELM": {
                        "family": "elm",
                        "fixed": None,
                        "grid": {"hidden": [20, 100_000_000]},
                        "representations": ["svd"],
                    },
                },
                "tracking": "none",
                "protocol": {"inner": {"folds": 3}, "grouped": "both"},
                "learning_curves": {"representations": ["uni"], "methods": ["MNB", "SVM"]},
            }
        )
    )


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory, new_project):
    project = new_project(tmp_path_factory.mktemp("many"))
    write_files(project.folder)
    project.printed = project.snakemake("--configfile", "many_study.yaml", "--cores", "2")
    return project


def test_small_classes_are_named_before_the_first_job(many) -> None:
    note = (
        "note: dataset many: 5 classes have fewer documents than the 5 folds: lone (1, always "
        "trains), sole (1, always trains), pair (2, tests in 2 of 5 folds), trio (3, tests in 3 of "
        "5 folds), few (4, tests in 4 of 5 folds); 4 classes have fewer documents in a training "
        "part than the 3 inner folds: lone, sole, pair, trio"
    )
    assert note in many.printed
    assert many.printed.index(note) < many.printed.index("(Rule: fetch)")
    planned = subprocess.run(
        [sys.executable, "-m", "textbaselines", "plan", "--configfile", "many_study.yaml"],
        cwd=many.folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert note in planned.stdout
    log = (many.folder / "logs/many-study/folds/many.log").read_text()
    assert "trio (3, tests in 3 of 5 folds)" in log
    assert "2 documents always train and are never tested" in log
    said = "5-fold stratified cross-validation, 11 documents of 5 small classes in fewer folds (2 "
    table = (many.folder / "results/many-study/tables/comparison.md").read_text()
    assert said in table
    assert "never tested)" in table


def test_small_classes_train_in_every_fold_and_inner_fold(many) -> None:
    results = many.folder / "results"
    labels = pd.read_parquet(results / "corpora/many/corpus.parquet").set_index("id")["label"]
    folds = pd.read_parquet(results / "many-study/folds/many.parquet")
    inner = pd.read_parquet(results / "many-study/inner_folds/many.parquet")
    label = folds["id"].map(labels)
    tested = folds[folds["fold"] >= 0].groupby(label)["fold"].nunique()
    wanted = {name: min(n, FOLDS) for name, n in SIZES.items() if n > 1}
    assert tested.to_dict() == wanted
    assert set(label[folds["fold"] == -1]) == {"lone", "sole"}
    for fold in range(FOLDS):
        assert set(label[folds["fold"] != fold]) == set(SIZES)
        part = inner[inner["fold"] == fold]
        of_part = part["id"].map(labels)
        assert sorted(part["id"]) == sorted(folds["id"][folds["fold"] != fold])
        for validating in range(3):
            assert set(of_part[part["inner"] != validating]) == set(SIZES)
        counts = of_part.value_counts()
        never = set(of_part[part["inner"] == -1])
        assert never == {name for name, n in counts.items() if n == 1}


def test_numbers_equal_a_plain_loop_over_the_same_folds(many) -> None:
    results = many.folder / "results"
    corpus = pd.read_parquet(results / "corpora/many/corpus.parquet")
    folds = pd.read_parquet(results / "many-study/folds/many.parquet").set_index("id")["fold"]
    found = run_of(results / "many-study/runs", "many", "uni", "MNB")
    scores, run = found.table("scores"), found.record
    for point in run["points"]:
        mine = scores[scores["point"] == point["point"]].set_index("fold")
        right = 0
        for fold in range(FOLDS):
            here = corpus["id"].map(folds) == fold
            count = CountVectorizer(binary=True, analyzer=lambda text: words(text))
            training = count.fit_transform(corpus["text"][~here])
            model = MultinomialNB(alpha=point["params"]["alpha"])
            model.fit(training, corpus["label"][~here])
            predicted = model.predict(count.transform(corpus["text"][here]))
            truth = corpus["label"][here]
            right += (predicted == truth).sum()
            assert mine["accuracy"][fold] == pytest.approx(accuracy_score(truth, predicted))
            f1 = f1_score(truth, predicted, average="macro", zero_division=0)
            assert mine["macro_f1"][fold] == pytest.approx(f1)
        cells = pd.read_parquet(results / "many-study/evaluation/cells.parquet")
        if "fixed" in point["origin"]:
            (cell,) = cells[(cells["method"] == "MNB") & (cells["selection"] == "fixed")].to_dict(
                "records"
            )
            assert cell["documents"] == sum(SIZES.values()) - 2
            assert cell["accuracy"] == pytest.approx(right / cell["documents"])


def test_a_point_that_fails_alone_is_named_and_never_chosen(many) -> None:
    results = many.folder / "results"
    found = run_of(results / "many-study/runs", "many", "svd", "ELM")
    run = found.record
    (bad,) = [one["point"] for one in run["points"] if one["params"]["hidden"] == 100_000_000]
    scores = found.table("scores")
    failures = scores.set_index("point")["failure"]
    assert failures[bad].str.contains("above the limit of 4 GiB").all()
    assert failures.drop(bad).isna().all()
    chosen = pd.read_parquet(results / "many-study/evaluation/selections.parquet")
    assert bad not in set(chosen[chosen["method"] == "ELM"]["point"])
    logs = [path.read_text() for path in (many.folder / "logs/many-study/train").rglob("*.log")]
    assert any("failed on 20 of 20 divisions" in log for log in logs)
    end = many.printed[many.printed.index("Grid points that failed on some folds: 1") :]
    assert re.search(r'ELM-svd on many, \{.*"hidden":100000000.*\}: failed in 20 of 20 fits: ', end)


def test_small_classes_can_be_grouped_and_have_curves(many) -> None:
    results = many.folder / "results"
    grouped = pd.read_csv(results / "many-study/analysis/grouped.csv")
    fixed = grouped[(grouped["selection"] == "fixed") & (grouped["method"] == "MNB")]
    # Of the two documents of one text, which is a class of its own, neither is tested.
    plain = sum(SIZES.values()) - 2
    assert fixed[["predictions", "predictions_grouped"]].values.tolist() == [[plain, plain - 2]]
    curves = pd.read_csv(results / "many-study/analysis/learning_curves.csv")
    assert curves["failure"].isna().all()
    assert set(curves["documents"]) == {plain}
