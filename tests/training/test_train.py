"""Training: right numbers on small text, joined by id, and nothing fitted on a test document."""

import logging
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from textbaselines.core.errors import UserError
from textbaselines.core.seeds import seed_from
from textbaselines.core.storage import read_json
from textbaselines.models.registry import fit_grid
from textbaselines.study.folds import (
    OUTER,
    divisions,
)
from textbaselines.text.features import fold_features
from textbaselines.text.vocabulary import feature_terms, fit_vocabulary
from textbaselines.training.train import write_results
from training_material import Material, some_text

LOG = logging.getLogger("test")
METHODS = {
    "mnb": {"alpha": 1.0},
    "bnb": {"alpha": 1.0},
    "svm": {"C": 0.1},
    "nbsvm": {"alpha": 1.0, "C": 1.0, "beta": 0.25},
}


@pytest.fixture(scope="module")
def material() -> Material:
    return Material(some_text(60, 1))


@pytest.mark.parametrize("family", METHODS)
@pytest.mark.parametrize("weighting", ["binary", "count", "tfidf"])
def test_scores_agree_with_predictions(material: Material, family: str, weighting: str) -> None:
    _, results = material.train(family, [METHODS[family]], weighting)
    predictions = results.predictions
    assert sorted(predictions["id"]) == sorted(material.ids)
    assert (predictions["label"] == predictions["id"].map(material.labels)).all()
    right = predictions["label"] == predictions["predicted"]
    assert results.scores["correct"].sum() == right.sum()
    assert results.scores["n_test"].sum() == 60
    assert right.mean() > 0.6
    by_fold = right.groupby(predictions["fold"]).mean()
    np.testing.assert_allclose(results.scores.set_index("fold")["accuracy"], by_fold)
    # Scores are oriented to the first class of the dataset.
    assert (predictions["predicted"] == "pos").equals(predictions["score"] > 0)
    if "probability" in predictions:
        assert (predictions["probability"] > 0.5).equals(predictions["predicted"] == "pos")


def test_numbers_equal_scikit_learn_by_hand_made_loop(material: Material) -> None:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    _, results = Material(some_text(60, 1), "drop", 1).train("mnb", [{"alpha": 1.0}])
    texts = pd.Series([" ".join(tokens) for tokens in some_text(60, 1)], index=material.ids)
    for fold, rows in material.folds.groupby("fold"):
        test = rows["id"].to_list()
        training = [name for name in material.ids if name not in set(test)]
        vectorizer = CountVectorizer(token_pattern=r"\S+", ngram_range=(1, 2), binary=True)
        model = MultinomialNB(alpha=1.0)
        model.fit(vectorizer.fit_transform(texts[training]), material.labels[training])
        theirs = model.predict_proba(vectorizer.transform(texts[test]))[:, 1]
        ours = results.predictions[results.predictions["fold"] == fold].set_index("id")
        np.testing.assert_allclose(ours["probability"].loc[test], theirs, rtol=1e-9)


def test_a_grid_gives_what_its_points_give_alone(material: Material) -> None:
    points = [{"alpha": 1.0, "C": C, "beta": beta} for C in (0.1, 1.0) for beta in (0.0, 0.5)]
    _, together = material.train("nbsvm", points)
    for number, point in enumerate(points):
        _, alone = material.train("nbsvm", [point])
        mine = together.predictions[together.predictions["point"] == f"p{number}"]
        np.testing.assert_array_equal(mine["score"], alone.predictions["score"])


def test_tasks_trained_together_give_what_they_give_alone(material: Material) -> None:
    """Whatever they share: other weightings, a reduction, one that chooses beside one that not."""
    tasks = [
        material.task("mnb", [{}], "count"),
        material.task("svm", [{"C": 0.1}, {"C": 1.0}], chooses=True, origin="grid"),
        material.task("gnb", [{}], "tfidf", SVD),
        material.task("nbsvm", [{}], scope="corpus"),
    ]
    together = list(material.train_all(tasks))
    # In the tasks' order, each timed by itself.
    assert [one.task for one in together] == tasks
    assert all(one.seconds > 0 and one.peak_mebibytes > 1 for one in together)
    for one in together:
        (alone,) = material.train_all([one.task])
        for name, table in vars(one.results).items():
            if name != "timings":
                pd.testing.assert_frame_equal(
                    table, getattr(alone.results, name), check_exact=True, obj=name
                )
        assert len(one.results.timings) == 5 * len(one.task.points)


def test_a_task_that_fails_does_not_take_the_others_with_it(material: Material, caplog) -> None:
    bad = [
        material.task("nbsvm", [{"alpha": 0.0, "C": C} for C in pair], chooses=True, origin="grid")
        for pair in ((1.0, 2.0), (3.0, 4.0))
    ]
    good = material.task("svm", [{"C": 0.1}, {"C": 1.0}], chooses=True, origin="grid")
    trained = material.train_all([bad[0], good, bad[1]])
    assert next(trained).task is good
    with pytest.raises(UserError, match="every grid point failed"):
        next(trained)
    # Of several errors the first is raised, the others are told.
    (told,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert "every grid point failed" in told.getMessage()


def test_labels_are_joined_by_id(material: Material) -> None:
    _, before = material.train("mnb", [{}])
    shuffled = material.labels.sample(frac=1, random_state=3)
    labels, material.labels = material.labels, shuffled
    try:
        _, after = material.train("mnb", [{}])
    finally:
        material.labels = labels
    pd.testing.assert_frame_equal(before.predictions, after.predictions)


def test_every_method_gets_the_same_vocabulary(material: Material) -> None:
    digests = [
        material.train(family, [params])[1].scores.set_index("fold")["vocabulary"]
        for family, params in METHODS.items()
    ]
    assert all(digest.equals(digests[0]) for digest in digests)


@pytest.mark.parametrize("weighting", ["binary", "count", "tfidf"])
@pytest.mark.parametrize(("policy", "min_count"), [("unk", 2), ("drop", 1)])
def test_no_leakage(policy: str, min_count: int, weighting: str) -> None:
    """Changing every test (or validating) document's text changes no fitted model, to the bit."""
    lists = some_text(60, 1)
    before = Material(lists, policy, min_count)
    for division in before.divisions():
        changed = [
            [f"other{row}", "w1", "w2", "w29", "w1"] if test else tokens
            for row, (tokens, test) in enumerate(zip(lists, division.test, strict=True))
        ]
        after = Material(changed, policy, min_count)
        fitted = []
        for material in (before, after):
            vocabulary = fit_vocabulary(material.tokens, division.training, policy, min_count)
            fold = fold_features(
                material.counts, vocabulary, division.training, division.test, weighting
            )
            terms = feature_terms(material.counts, fold.columns, vocabulary)
            y = (material.labels == "pos").to_numpy().astype(int)[division.training]
            weights = {
                family: _weights(
                    next(fit_grid(family, fold.training, y, [params], positive=1))[1].estimator
                )
                for family, params in METHODS.items()
            }
            fitted.append((terms, weights))
        (terms, weights), (other_terms, other_weights) = fitted
        assert terms == other_terms
        for family, arrays in weights.items():
            for name, values in arrays.items():
                np.testing.assert_array_equal(values, other_weights[family][name], err_msg=family)


def _weights(estimator) -> dict[str, np.ndarray]:
    names = ("coef_", "intercept_", "feature_log_prob_", "class_log_prior_", "log_count_ratio_")
    found = {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}
    assert found
    return found


def test_run_folder(material: Material, tmp_path) -> None:
    task, results = material.train("svm", [{"C": 0.1}])
    write_results(tmp_path, results, task, "digest")
    run = read_json(tmp_path / "run.json")
    assert run["classes"] == ["pos", "neg"]
    assert run["positive"] == "pos"
    assert run["content_digest"] == "digest"
    assert run["k"] == "v"
    scores = pd.read_parquet(tmp_path / "scores.parquet")
    assert scores["failure"].isna().all()
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "predictions.parquet"), results.predictions
    )
    timings = pd.read_parquet(tmp_path / "timings.parquet")
    assert (timings["ended"] >= timings["started"]).all()


def test_the_same_job_gives_the_same_bytes(material: Material, tmp_path) -> None:
    for name in ("a", "b"):
        task, results = material.train("nbsvm", [METHODS["nbsvm"]])
        write_results(tmp_path / name, results, task, "digest")
    for file in ("run.json", "scores.parquet", "predictions.parquet"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_a_point_that_cannot_be_fitted_is_reported(material: Material) -> None:
    # alpha 0 with a word that one class lacks: the log-count ratio has no value.
    _, results = material.train("nbsvm", [{"alpha": 0.0}, {"alpha": 1.0}])
    failed = results.scores[results.scores["point"] == "p0"]
    assert failed["failure"].str.contains("alpha").all()
    assert failed["accuracy"].isna().all()
    assert results.scores[results.scores["point"] == "p1"]["failure"].isna().all()


def test_files_of_another_corpus_are_refused(material: Material) -> None:
    labels, material.labels = material.labels, material.labels.iloc[1:]
    try:
        with pytest.raises(UserError, match="'d0'"):
            material.train("mnb", [{}])
        material.labels = labels.replace("pos", "positive")
        with pytest.raises(UserError, match="none of the dataset's classes"):
            material.train("mnb", [{}])
    finally:
        material.labels = labels


SVD = {"kind": "svd", "rank": 5}


def test_reduction_is_the_training_documents_singular_vectors(material: Material) -> None:
    division = next(divisions(material.folds, material.ids))
    vocabulary = material.vocabularies[0, 0, OUTER]
    args = (material.counts, vocabulary, division.training, division.test, "tfidf")
    sparse = fold_features(*args)
    dense = fold_features(*args, reduction={"kind": "svd", "rank": 3}, seed=1)
    _, _, right = np.linalg.svd(sparse.training.toarray(), full_matrices=False)
    for ours, x in ((dense.training, sparse.training), (dense.test, sparse.test)):
        theirs = x.toarray() @ right[:3].T
        signs = np.sign((ours * theirs).sum(axis=0))
        np.testing.assert_allclose(ours, theirs * signs, atol=1e-9)


def test_test_texts_do_not_change_a_reduction(material: Material) -> None:
    lists = some_text(60, 1)
    division = next(divisions(material.folds, material.ids))
    changed = [
        ["w0", "new"] if test else tokens for tokens, test in zip(lists, division.test, strict=True)
    ]
    reduced = []
    for one in (material, Material(changed)):
        vocabulary = fit_vocabulary(one.tokens, division.training, "unk", 2)
        args = (one.counts, vocabulary, division.training, division.test, "tfidf")
        reduced.append(fold_features(*args, reduction=SVD, seed=1).training)
    np.testing.assert_array_equal(*reduced)


def test_a_dense_method_learns_from_a_reduction(material: Material) -> None:
    _, results = material.train("gda", [{}], "tfidf", SVD)
    assert (results.scores["n_features"] == 5).all()
    assert results.scores["accuracy"].mean() > 0.7
    # Without a reduction it is refused with its reason, not silently.
    _, refused = material.train("gda", [{}], "tfidf")
    assert refused.scores["failure"].str.contains("dense").all()


def test_a_method_for_ratings_is_fitted_to_them_and_predicts_a_side() -> None:
    from sklearn.linear_model import Ridge

    lists = some_text(60, 1)
    rated = Material(lists, "drop", 1)
    # Negative ratings from -3 to -1, positive from 2 to 4: they part at 0.5.
    draw = np.random.default_rng(5)
    strength = np.linspace(0, 2, 60)
    rated.ratings = np.where(rated.labels == "pos", 2 + strength, -3 + strength)
    rated.ratings += draw.normal(0, 1e-3, 60)
    _, results = rated.train("linreg", [{"alpha": 1.0, "solver": "closed_form"}], "count")
    ratings = pd.Series(rated.ratings, index=rated.ids)
    for division in divisions(rated.folds, rated.ids):
        vocabulary = rated.vocabularies[division.key]
        fold = fold_features(rated.counts, vocabulary, division.training, division.test, "count")
        y = rated.ratings[division.training]
        theirs = Ridge(alpha=1.0).fit(fold.training.toarray(), y).predict(fold.test.toarray())
        ours = results.predictions[results.predictions["fold"] == division.fold]
        np.testing.assert_allclose(ours["rating"], theirs, rtol=1e-6)
        positive = (rated.labels == "pos").to_numpy()[division.training]
        threshold = (y[positive].min() + y[~positive].max()) / 2
        np.testing.assert_allclose(ours["score"], theirs - threshold, rtol=1e-6)
        assert (ours["predicted"] == "pos").equals(ours["score"] > 0)
        error = results.scores.set_index("fold").loc[division.fold, "rmse"]
        assert error == pytest.approx(np.sqrt(((ratings[ours["id"]] - theirs) ** 2).mean()))


def test_without_ratings_it_is_skipped_with_its_reason(material: Material) -> None:
    _, results = material.train("linreg", [{}, {"alpha": 2.0}])
    assert (results.scores["failure"].str.contains("no ratings")).all()
    assert len(results.scores) == 2 * 5
    assert len(results.predictions) == 0


def test_an_infinite_rating_is_told(material: Material) -> None:
    rated = Material(some_text(60, 1))
    rated.ratings = np.where(rated.labels == "pos", 1.0, -1.0)
    rated.ratings[7] = np.inf
    _, results = rated.train("linreg", [{}])
    assert (results.scores["failure"] == "a rating is infinite").all()


def test_the_inner_folds_are_an_experiment_of_their_own(material: Material) -> None:
    """The scores on the inner folds equal a study whose outer folds they were."""
    points = [{"C": 0.01}, {"C": 1.0}]
    _, results = material.train("svm", points, chooses=True, origin="grid")
    assert len(results.inner_scores) == 2 * 5 * 3
    fold = (results.inner_scores["repeat"] == 0) & (results.inner_scores["fold"] == 2)
    mine = results.inner_scores[fold].set_index(["point", "inner"])
    used = material.folds[material.folds["fold"] != 2]["id"]
    for division in material.divisions():
        if (division.fold, division.inner == OUTER) != (2, False):
            continue
        training = material.labels.index[division.training]
        validating = material.labels.index[division.test]
        assert sorted([*training, *validating]) == sorted(used)
        vocabulary = fit_vocabulary(material.tokens, division.training, "unk", 2)
        features = fold_features(
            material.counts, vocabulary, division.training, division.test, "binary"
        )
        y = (material.labels[training] == "pos").to_numpy().astype(int)
        seed = seed_from("d", "svm", "repeat", 0, "fold", 2, "inner", division.inner)
        fits = fit_grid("svm", features.training, y, points, positive=1, seed=seed)
        for number, fitted in fits:
            predicted = fitted.estimator.predict(features.test)
            truth = (material.labels[validating] == "pos").to_numpy()
            row = mine.loc[(f"p{number}", division.inner)]
            assert row["n_test"] == len(truth)
            assert row["correct"] == (predicted == truth).sum()


def test_inner_predictions_are_of_the_chosen_and_the_fixed_point(material: Material) -> None:
    points = [{"C": 1e-6}, {"C": 1.0}, {"C": 1e-5}]
    _, results = material.train("svm", points, chooses=True, origin="grid")
    pooled = results.inner_scores.groupby(["fold", "point"])["correct"].sum().unstack()
    kept = results.inner_predictions.groupby("fold")["point"].unique()
    for fold in range(5):
        # max and idxmax: the first of equals, as the candidates rank.
        assert kept[fold].tolist() == [pooled.loc[fold].idxmax()]
    right = results.inner_predictions["label"] == results.inner_predictions["predicted"]
    assert right.groupby(results.inner_predictions["fold"]).sum().tolist() == (
        pooled.max(axis=1).tolist()
    )
    # Every training document of a fold is validated once.
    mine = results.inner_predictions[results.inner_predictions["fold"] == 0]
    assert sorted(mine["id"]) == sorted(material.folds[material.folds["fold"] != 0]["id"])


def test_a_failed_point_is_never_chosen_and_a_grid_of_failures_is_an_error(
    material: Material, caplog
) -> None:
    caplog.set_level(logging.INFO)
    points = [{"alpha": 0.0}, {"alpha": 1.0}]
    _, results = material.train("nbsvm", points, chooses=True, origin="grid")
    assert set(results.inner_predictions["point"]) == {"p1"}
    (told,) = [line for line in caplog.messages if "failed on" in line]
    assert '"alpha":0.0} failed on 20 of 20 divisions' in told
    with pytest.raises(UserError) as error:
        material.train(
            "nbsvm", [{"alpha": 0.0}, {"alpha": 0.0, "C": 2.0}], chooses=True, origin="grid"
        )
    assert "every grid point failed" in str(error.value)
    assert "method M, repeat 0, fold 0" in str(error.value)
    assert "alpha = 0 leaves" in str(error.value)


def test_progress_says_fits_rate_and_time_left(material: Material, caplog) -> None:
    caplog.set_level(logging.INFO)
    material.train("mnb", [{}, {"alpha": 2.0}], chooses=True)
    assert "40 of 40 fits (2 grid points)" in caplog.messages[-1]
    assert "a second" in caplog.messages[-1]
    assert "about 0 s left" in caplog.messages[-1]


def test_documents_without_features_are_refused_before_a_fit() -> None:
    # No word comes up 99 times.
    poor = Material(some_text(60, 1), "drop", 99)
    task = replace(
        poor.task("mnb", [{"alpha": 1.0}]),
        details={"unk": {"policy": "drop", "min_count": 99}, "ngrams": [1, 2]},
    )
    with pytest.raises(UserError) as error:
        list(poor.train_all([task]))
    told = str(error.value)
    assert "no training document has a feature" in told
    assert "dataset d, key representations.bi, repeat 0, fold 0\n" in told
    assert "48 training documents, 0 features" in told
    assert "lower unk.min_count (now 99)" in told
    assert "ngrams" not in told


def test_one_fold_without_features_is_named() -> None:
    # In one inner fold alone all words are too rare; empty documents have no features either.
    rich = Material(some_text(60, 1))
    (second,) = [d.key for d in rich.divisions() if d.fold == 1 and d.inner == 2]
    rich.vocabularies[second] = fit_vocabulary(
        rich.tokens, np.ones(60, dtype=bool), "drop", min_count=999
    )
    points = [{"alpha": 0.5}, {"alpha": 1.0}]
    with pytest.raises(UserError, match="repeat 0, fold 1, inner fold 2"):
        rich.train("mnb", points, chooses=True, origin="grid")
    empty = Material([[] for _ in range(60)])
    with pytest.raises(UserError, match="documents are empty"):
        empty.train("mnb", [{"alpha": 1.0}])


@pytest.mark.parametrize("family", METHODS)
def test_one_constant_feature_can_be_trained_on(family: str) -> None:
    same = Material([["word"]] * 60, "drop", 1)
    _, results = same.train(family, [METHODS[family]])
    assert results.scores["failure"].isna().all()
    assert (results.scores["n_features"] == 1).all()
