"""Names, titles, classes and folders are the user's words: the real Snakefile takes them as data.

A checkout whose folder has a question mark, a hash, a percent sign, braces and quotes, and a study
of datasets, methods and representations that a reader of CSV or YAML takes for numbers, nothing or
truths, with classes and titles that are formats, patterns and shell commands to others.
"""

import hashlib
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import mlflow
import pandas as pd
import pytest
from mlflow import MlflowClient

import textbaselines
from textbaselines.core.csv_tables import read_csv
from textbaselines.reporting.tracking.addresses import sqlite_address

FOLDER = "a?b #1 {x} %41 'q'"
STUDY = "st {u} $y.yaml"
DATASETS = {
    "nan": ("Mail {2024} [/red]", ["NA", "null"]),
    "2016": (
        r"Results of {AR} $\foo$ %s",
        ["{a}", "$(touch HACKED)", "\"q' `touch HACKED`;\n<b>", "%41?#&é", "True"],
    ),
    "007": ("{wildcards.study} \\textbf", ["1e5", "None"]),
}
CONFIG = {
    "name": "nasty",
    "title": r"Mail {2024} & $\foo$ <b> %s",
    "datasets": list(DATASETS),
    "tokenizers": {"null": {"family": "words"}},
    "representations": {
        "None": {"tokenizer": "null", "ngrams": [1, 1], "weighting": "binary"},
        "1e5": {"tokenizer": "null", "ngrams": [1, 2], "weighting": "binary"},
    },
    "methods": {
        "nan": {"family": "mnb", "grid": {"alpha": [0.5, 1.0]}},
        "True": {"family": "svm"},
    },
    "protocol": {"cv": {"folds": 3}},
    "contrasts": {"control": "nan-None"},
}


def environment() -> dict[str, str]:
    """The variables of a plain shell: no mirror, no telemetry."""
    kept = {key: value for key, value in os.environ.items() if key != "TEXTBASELINES_MIRROR"}
    return {**kept, "MLFLOW_DISABLE_TELEMETRY": "true"}


def write_dataset(root: Path, name: str, title: str, classes: list[str], each: int = 18) -> None:
    """Write a dataset of a mirror: words of its own for each class, and noise."""
    rng = random.Random(name)
    files, labels = [], {}
    for place, label in enumerate(classes):
        file = f"{name}-{place}.txt"
        lines = [
            " ".join(rng.choices([f"w{i}" for i in range(40)], k=7))
            + f" c{place}x{rng.randrange(5)} id{number}\n"
            for number in range(each)
        ]
        text = "".join(lines).encode()
        (root / "mirror" / file).write_bytes(text)
        digest = hashlib.sha256(text).hexdigest()
        source = {"kind": "mirror", "name": file, "sha256": digest}
        files.append({"name": file, "sources": [source]})
        labels[file] = label
    content = {
        **{"name": name, "title": title, "citation": "{c} $(touch HACKED)", "terms": "none stated"},
        **{"files": files, "reader": {"kind": "lines", "labels": labels}},
        **{
            "encoding": {"name": "utf-8"},
            "classes": classes,
            "protocol": {"kind": "cv", "folds": 3},
        },
        "expected": {"documents": dict.fromkeys(classes, each)},
    }
    (root / "config" / "datasets" / f"{name}.yaml").write_text(json.dumps(content))


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory, copy_project) -> tuple[Path, str]:
    """The checkout after its study was run, and what the run printed."""
    root = tmp_path_factory.mktemp("names") / FOLDER
    copy_project(root)
    (root / "mirror").mkdir()
    for name, (title, classes) in DATASETS.items():
        write_dataset(root, name, title, classes)
    (root / STUDY).write_text(json.dumps(CONFIG))
    return root, run(root, "snakemake", "--cores", "2", "--configfile", STUDY)


def run(root: Path, module: str, *arguments: str) -> str:
    """Run a module in the checkout and return all it printed."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=root,
        env={**environment(), "PYTHONPATH": str(root / "src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    return done.stdout


def test_nothing_lies_outside_and_nothing_was_run(
    nasty: tuple[Path, str], copy_project, tmp_path: Path
) -> None:
    root, _ = nasty
    assert [path.name for path in root.parent.iterdir()] == [FOLDER]
    made = {"mirror", STUDY, "results", "logs", ".snakemake"}
    assert {path.name for path in root.iterdir()} == {*copy_project(tmp_path / "x"), *made}
    assert not list(root.rglob("HACKED"))
    assert (root / "results" / "mlflow.db").stat().st_size > 100_000
    assert "Nothing to be done" in run(root, "snakemake", "-n", "--configfile", STUDY)


def test_every_contrast_has_its_outcome(nasty: tuple[Path, str]) -> None:
    root, _ = nasty
    contrasts = read_csv(root / "results/nasty/significance/contrasts.csv")
    assert contrasts["dataset"].unique().tolist() == list(DATASETS)
    assert set(contrasts["outcome"]) <= {"better", "not better", "worse", "identical"}
    assert contrasts["declared"].all()
    table = (root / "results/nasty/tables/contrasts.txt").read_text(encoding="utf-8")
    assert "Not run" not in table
    assert DATASETS["2016"][0] in table
    assert CONFIG["title"] in table


def test_classes_and_titles_stay_what_they_are(nasty: tuple[Path, str]) -> None:
    root, printed = nasty
    results = root / "results"
    confusion = read_csv(results / "nasty/analysis/confusion.csv")
    for name, (title, classes) in DATASETS.items():
        mine = confusion[confusion["dataset"] == name]
        assert set(mine["label"]) == set(mine["predicted"]) == set(classes)
        assert title in printed
        corpus = pd.read_parquet(results / "corpora" / name / "corpus.parquet")
        assert corpus["label"].value_counts().to_dict() == dict.fromkeys(classes, 18)
    calibration = read_csv(results / "nasty/analysis/calibration.csv")
    own = calibration[(calibration["method"] == "nan") & (calibration["calibration"] == "own")]
    assert own["ece"].notna().all()
    assert own.groupby("dataset")["n_classes"].first().to_dict() == {"nan": 2, "2016": 5, "007": 2}
    page = (results / "report.html").read_text(encoding="utf-8")
    assert r"Mail {2024} &amp; $\foo$ &lt;b&gt; %s" in page
    assert "$(touch HACKED)" in page
    assert "Not run in this study" not in page


def test_the_commands_list_and_compare_them(nasty: tuple[Path, str], tmp_path: Path) -> None:
    root, _ = nasty
    shown = run(root, "textbaselines", "results", "show", "--columns", "dataset,representation")
    rows = [line.split() for line in shown.splitlines()]
    for name in DATASETS:
        assert [name, "None"] in rows
        assert [name, "1e5"] in rows
    both = ("nasty", str(root / "results"))
    same = run(root, "textbaselines", "results", "diff", *both, "--optimistic")
    cells = len(pd.read_parquet(root / "results/nasty/evaluation/cells.parquet"))
    assert f"{cells} cells, {cells} the same" in same
    run(root, "textbaselines", "results", "export", str(tmp_path / "all.parquet"))
    exported = pd.read_parquet(tmp_path / "all.parquet")
    assert set(exported["dataset"]) == set(DATASETS)
    assert set(exported["method"]) == {"nan", "True"}


def test_the_store_has_every_run_and_a_champion_that_predicts(
    nasty: tuple[Path, str], tmp_path: Path
) -> None:
    root, _ = nasty
    address = sqlite_address(root / "results" / "mlflow.db")
    client = MlflowClient(tracking_uri=address)
    assert {model.name for model in client.search_registered_models()} == set(DATASETS)
    experiment = client.get_experiment_by_name("nasty-results")
    rows = client.search_runs([experiment.experiment_id], max_results=1000)
    assert {row.data.tags["dataset"] for row in rows} == set(DATASETS)
    texts = [f"c{place}x1 c{place}x2 c{place}x3 c{place}x4" for place in range(5)]
    wanted = DATASETS["2016"][1]
    mlflow.set_tracking_uri(address)
    try:
        champion = mlflow.pyfunc.load_model("models:/2016@champion", dst_path=str(tmp_path))
    finally:
        mlflow.set_tracking_uri(None)
    assert champion.predict(texts)["label"].tolist() == wanted
    model = textbaselines.load(root / "results/nasty/models/2016/best")
    assert list(model.predict(texts)) == wanted


def test_an_input_in_a_folder_with_braces_is_refused(nasty: tuple[Path, str], tmp_path) -> None:
    root, _ = nasty
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "-n", "-s", str(root / "Snakefile")],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "a path with braces, which Snakemake takes for wildcards" in done.stdout
    assert "start snakemake in the folder of the Snakefile" in done.stdout
