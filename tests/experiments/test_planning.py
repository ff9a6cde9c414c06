"""Plans: fits and documents counted by hand, times from runs that are there, else from a table."""

from pathlib import Path

import pandas as pd
import pytest

from textbaselines.errors import UserError
from textbaselines.experiments.estimates import (
    PREPARE_SECONDS,
    REDUCE_SECONDS,
    START_SECONDS,
    STATED_RATES,
    TASK_SECONDS,
    TOKENS_PER_DOCUMENT,
    units,
)
from textbaselines.experiments.planning import TEXT_SECONDS, Plan, make_plan, size_of
from textbaselines.experiments.study import make_study
from textbaselines.models.registry import METHODS
from textbaselines.storage import write_json, write_parquet
from textbaselines.validation import load_yaml

NYT = 1187 + 1783
"""Documents of the set, as its file says."""


def study(repository: Path, **changes):
    config = load_yaml(repository / "config" / "config.yaml")
    changes = {"datasets": ["hg-nyt"], "keep_models": "none", "learning_curves": None, **changes}
    return make_study({**config, **changes}, "my.yaml", repository)


def by_method(plan: Plan, dataset: str = "hg-nyt"):
    rows = plan.rows[plan.rows["dataset"] == dataset]
    return {row["method"]: row for row in rows.to_dict("records")}


def write_audit(results: Path, dataset: str, tokens: float, **rest) -> None:
    audit = {"length": {"tokens": {"mean": tokens}}, **rest}
    write_json(results / "corpora" / dataset / "audit.json", audit)


def write_run(results: Path, dataset: str, family: str, seconds, failures, reduction=None) -> None:
    """A run of one grid point with a fit of each of these seconds on 100 documents."""
    folder = results / "runs" / "earlier" / dataset / "bi" / family
    keys = {"point": "a", "repeat": 0, "fold": range(len(seconds))}
    scores = pd.DataFrame({**keys, "n_train": 100, "failure": failures})
    write_parquet(folder / "scores.parquet", scores)
    times = {"fit_seconds": seconds, "predict_seconds": 0.5}
    # In another order: rows are joined by their keys.
    write_parquet(folder / "timings.parquet", pd.DataFrame({**keys, **times}).iloc[::-1])
    run = {"dataset": dataset, "representation": "bi", "method": "any", "family": family}
    points = [{"point": "a", "params": METHODS[family].defaults}]
    run |= {"ngrams": [1, 2], "reduction": reduction, "points": points}
    write_json(folder / "run.json", run)


def test_every_family_has_a_rate() -> None:
    assert set(STATED_RATES) == set(METHODS)
    units = {unit for unit, _ in STATED_RATES.values()}
    assert units == {"terms", "steps", "documents", "squares", "hidden", "points"}


def test_fits_are_counted(repository: Path, tmp_path: Path) -> None:
    asked = study(repository, protocol={"inner": None})
    plan = make_plan(asked, tmp_path, asked.runs())
    training = NYT - NYT // 10
    rows = by_method(plan)
    # Four values of alpha; five of C; four of C times four of beta: on ten folds, three times.
    assert {name: row["points"] for name, row in rows.items()} == {"MNB": 4, "SVM": 5, "NBSVM": 16}
    for row in rows.values():
        assert (row["tasks"], row["done"], row["inner_fits"]) == (3, 0, 0)
        assert row["outer_fits"] == row["points"] * 10 * 3
        assert row["document_fits"] == row["outer_fits"] * training
        assert row["basis"] == "stated rates"


def test_inner_fits_are_counted(repository: Path, tmp_path: Path) -> None:
    write_audit(tmp_path, "hg-nyt", 20.0)
    asked = study(
        repository,
        methods={
            "SVM": {"family": "svm", "grid": "default", "representations": ["uni"]},
            "MNB": {"family": "mnb", "representations": ["uni"]},
        },
    )
    rows = by_method(make_plan(asked, tmp_path, asked.runs()))
    training = NYT - NYT // 10
    inner = training * 4 // 5
    assert (rows["SVM"]["outer_fits"], rows["SVM"]["inner_fits"]) == (50, 250)
    assert rows["SVM"]["document_fits"] == 50 * training + 250 * inner
    prepared = PREPARE_SECONDS * 10 * (NYT + 5 * training) * 20 / 1e6
    assert rows["SVM"]["core_seconds"] == pytest.approx(
        (START_SECONDS + prepared) / 2
        + TASK_SECONDS
        + 0.000335e-6 * 20 * (50 * training**1.5 + 250 * inner**1.5)
    )
    # One point of one representation: nothing to choose.
    assert (rows["MNB"]["outer_fits"], rows["MNB"]["inner_fits"]) == (10, 0)


def test_units_of_what_options_make_dearer() -> None:
    elm = {"draws": 3, "hidden": 250}
    assert units("elm", 400, 100.0, elm) == 400 * 3 / 4
    gp = {"approximation": "nystroem", "points": 200}
    assert units("gp", 4000, 100.0, gp) == pytest.approx(4000 / 25)
    assert units("gp", 100, 100.0, gp) == pytest.approx(100 / 100)
    assert units("gpr", 2000, 100.0, {**gp, "approximation": "exact"}) == 2000 * 4
    assert units("svm", 400, 5.0, {}) == 400 * 5 * 20
    assert units("ksvm", 400, 5.0, {}) == 400**2
    assert (units("mnb", 400, 5.0, {}), units("gda", 400, 5.0, {})) == (2000, 400)


def test_what_is_done_costs_nothing(repository: Path, tmp_path: Path) -> None:
    asked = study(repository)
    plan = make_plan(asked, tmp_path, {("hg-nyt", "bi", "SVM")})
    rows = by_method(plan)
    assert (rows["MNB"]["done"], rows["MNB"]["core_seconds"], rows["MNB"]["basis"]) == (
        3,
        0,
        "done",
    )
    assert (rows["SVM"]["done"], rows["SVM"]["outer_fits"]) == (2, 50)
    assert plan.tasks[~plan.tasks["done"]][["representation", "method"]].values.tolist() == [
        ["bi", "SVM"]
    ]
    assert make_plan(asked, tmp_path, set()).core_seconds == 0


def test_stated_rates_by_hand(repository: Path, tmp_path: Path) -> None:
    write_audit(tmp_path, "hg-nyt", 20.0)
    reduced = {
        "tokenizer": "words",
        "ngrams": [1, 1],
        "weighting": "tfidf",
        "reduction": {"kind": "svd", "rank": 7},
    }
    asked = study(
        repository,
        protocol={"inner": None},
        representations={"uni": {**reduced, "reduction": None}, "svd": reduced},
        methods={
            "NB": {"family": "mnb", "representations": ["uni"]},
            "SVM": {"family": "svm", "representations": ["svd"]},
            "KSVM": {"family": "ksvm", "representations": ["svd"]},
        },
    )
    training, terms = NYT - NYT // 10, NYT * 20 * 10 / 1e6
    plan = make_plan(asked, tmp_path, asked.runs())
    seconds = {name: row["core_seconds"] for name, row in by_method(plan).items()}
    # Naive Bayes and the SVM share a job, on counts of their own.
    half = START_SECONDS / 2 + TASK_SECONDS
    assert seconds["NB"] == pytest.approx(
        half + PREPARE_SECONDS * terms + 10 * training * 20 * 0.0025e-6
    )
    reduction = REDUCE_SECONDS * terms
    assert seconds["SVM"] == pytest.approx(half + reduction + 10 * training**1.5 * 7 * 0.000242e-6)
    assert seconds["KSVM"] == pytest.approx(
        START_SECONDS + TASK_SECONDS + reduction + 10 * training**2 * 0.0235e-6
    )


def test_finished_runs_go_before_stated_rates(repository: Path, tmp_path: Path) -> None:
    write_audit(tmp_path, "hg-nyt", 20.0)
    write_audit(tmp_path, "cr", 10.0)
    # Seconds of fit and predict: 1.5 + 3.5 on 2 x 100 documents of 20 tokens, uni- and bigrams.
    write_run(tmp_path, "hg-nyt", "svm", [1.0, 3.0, 100.0], [None, None, "no"])
    # Of another set, 10.5 seconds on 100 documents of 10 tokens.
    write_run(tmp_path, "cr", "svm", [10.0], [None])
    write_run(tmp_path, "cr", "mnb", [10.0], [None])
    asked = study(repository, datasets=["hg-nyt", "cr"], protocol={"inner": None})
    only = {("hg-nyt", "bi", "SVM"), ("hg-nyt", "uni", "SVM"), ("hg-nyt", "bi", "MNB")}
    plan = make_plan(asked, tmp_path, only)
    job = plan.tasks.set_index(["dataset", "representation", "method"])["core_seconds"]
    training, points = NYT - NYT // 10, 5

    def expected(rate: float, n_points: int, orders: int, root: float = 1.0) -> float:
        width = 20 * orders
        # Nine tasks share the job: three methods on unigrams, and on bigrams with two weightings.
        prepared = PREPARE_SECONDS * NYT * width * 10 / 1e6 / (3 * orders)
        once = START_SECONDS / 9 + TASK_SECONDS + prepared
        return once + rate * n_points * 10 * training * root * width

    # Times ten, the root of a hundred documents.
    here = 5.0 / (200 * 20 * 2 * 10)
    everywhere = 15.5 / ((200 * 20 * 2 + 100 * 10 * 2) * 10)
    root = training**0.5
    assert job["hg-nyt", "bi", "SVM"] == pytest.approx(expected(here, points, 2, root))
    assert job["hg-nyt", "uni", "SVM"] == pytest.approx(expected(everywhere, points, 1, root))
    assert job["hg-nyt", "bi", "MNB"] == pytest.approx(expected(10.5 / 2000, 4, 2))
    rows = by_method(plan)
    assert rows["SVM"]["basis"] == "runs of other datasets, runs of this dataset"
    assert rows["MNB"]["basis"] == "runs of other datasets"
    assert rows["NBSVM"]["basis"] == "done"


def test_an_audit_of_another_version_is_told(repository: Path, tmp_path: Path) -> None:
    """Also where nothing but the rates of an earlier run of the dataset needs it."""
    write_json(tmp_path / "corpora" / "cr" / "audit.json", {"length": {}})
    write_run(tmp_path, "cr", "svm", [1.0], [None])
    with pytest.raises(UserError, match="without the length of documents") as error:
        make_plan(study(repository), tmp_path, set())
    assert "corpora/cr/audit.json" in str(error.value)


def test_other_jobs(repository: Path, tmp_path: Path) -> None:
    write_audit(tmp_path, "hg-nyt", 20.0)
    other = [("count_ngrams_words", "hg-nyt"), ("read_corpus", "hg-nyt"), ("write_tables", None)]
    plan = make_plan(study(repository), tmp_path, set(), other)
    assert plan.other_jobs == {"count_ngrams_words": 1, "read_corpus": 1, "write_tables": 1}
    # Counts of uni- and of bigrams, and one vocabulary.
    each = 2 * TEXT_SECONDS["count_ngrams"] + TEXT_SECONDS["fit_vocabularies"]
    text = (each + TEXT_SECONDS["read_corpus"]) * NYT * 20 / 1e6
    assert plan.other_seconds == pytest.approx(3 * START_SECONDS + text)
    assert plan.core_seconds == plan.other_seconds


def test_grouped_runs_cost_their_fits_where_texts_repeat(repository: Path, tmp_path: Path) -> None:
    """Fixed points alone without inner folds; all points and the inner folds with them."""
    job = [("compare_with_grouped", "hg-nyt")]
    methods = {"SVM": {"family": "svm", "grid": "default", "representations": ["uni"]}}
    asked = study(repository, protocol={"inner": None, "grouped": "both"}, methods=methods)
    write_audit(tmp_path, "hg-nyt", 20.0, duplicates={"repeating_documents": 0})
    assert make_plan(asked, tmp_path, set(), job).other_seconds == START_SECONDS
    write_audit(tmp_path, "hg-nyt", 20.0, duplicates={"repeating_documents": 3})
    training = NYT - NYT // 10
    fit, inner_fit = (0.000335e-6 * 20 * 10 * n**1.5 for n in (training, training * 4 // 5))
    prepared = PREPARE_SECONDS * 10 * NYT * 20 / 1e6
    start = 2 * START_SECONDS + TASK_SECONDS
    plain = make_plan(asked, tmp_path, set(), job)
    assert plain.other_seconds == pytest.approx(start + prepared + fit)
    asked = study(repository, protocol={"inner": {"folds": 5}, "grouped": "both"}, methods=methods)
    nested = make_plan(asked, tmp_path, set(), job)
    prepared += PREPARE_SECONDS * 10 * 5 * training * 20 / 1e6
    assert nested.other_seconds == pytest.approx(start + prepared + 5 * fit + 25 * inner_fit)


def test_sizes(repository: Path, tmp_path: Path) -> None:
    stated = size_of(study(repository), "hg-nyt", tmp_path)
    assert (stated.documents, stated.tokens, stated.assumed) == (NYT, 18.2, False)
    unstated = study(repository)
    dataset = unstated.datasets["hg-nyt"]
    expected = dataset.expected.model_copy(update={"tokens": None})
    unstated.datasets["hg-nyt"] = dataset.model_copy(update={"expected": expected})
    assumed = size_of(unstated, "hg-nyt", tmp_path)
    assert (assumed.tokens, assumed.assumed) == (TOKENS_PER_DOCUMENT, True)
    trial = size_of(study(repository, max_documents=50), "hg-nyt", tmp_path)
    assert (trial.documents, trial.training) == (100, 90)
    imdb = study(repository, datasets=["imdb"])
    assert size_of(imdb, "imdb", tmp_path).training == 25000
    splits = {"train": {"pos": 30, "neg": 10}, "test": {"pos": 100, "neg": 100}}
    write_audit(tmp_path, "imdb", 230.5, documents_by_split=splits)
    size = size_of(imdb, "imdb", tmp_path)
    assert (size.documents, size.training, size.tokens, size.assumed) == (240, 40, 230.5, False)
    trial = size_of(study(repository, datasets=["imdb"], max_documents=20), "imdb", tmp_path)
    assert (trial.documents, trial.training) == (70, 30)
    halves = size_of(study(repository, datasets=["athr"]), "athr", tmp_path)
    assert halves.training == halves.documents // 2


def test_wall_time_is_that_of_the_busiest_core() -> None:
    jobs = pd.DataFrame({"core_seconds": [2.0, 3.0, 2.0, 3.0, 2.0]})
    plan = Plan(pd.DataFrame(), jobs, {}, 4.0, ())
    # 3 + 2 + 2 beside 3 + 2.
    assert plan.wall_seconds(2) == 7 + 2
    assert plan.wall_seconds(1) == plan.core_seconds == 16
    assert plan.wall_seconds(100) == pytest.approx(3.04)
