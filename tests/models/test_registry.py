"""The contract of every method of the registry."""

import importlib
import itertools
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from textbaselines.core.errors import UserError
from textbaselines.models import liblinear, nbsvm, registry
from textbaselines.models.classifier import LinearClassifier
from textbaselines.models.registry import METHODS, fit_grid, make_estimator, validate_params
from textbaselines.models.ridge import LinearRegression

every_method = pytest.mark.parametrize("name", sorted(METHODS))
every_classifier = pytest.mark.parametrize(
    "name", sorted(name for name, family in METHODS.items() if is_classifier(family.estimator()))
)
every_sparse_method = pytest.mark.parametrize(
    "name", sorted(name for name, family in METHODS.items() if "dense" not in family.needs)
)

# Solved to the end, so that what must not matter (the order of rows) does not.
EXACT = {
    "svm": {"tol": 1e-10, "max_iter": 100_000},
    "nbsvm": {"tol": 1e-10, "max_iter": 100_000},
    "lr": {"tol": 1e-10, "max_iter": 100_000},
    "ridge": {"tol": 1e-12},
    "linreg": {"tol": 1e-12},
    "ksvm": {"tol": 1e-9},
}
# Methods to which a column of zeros is like any other: it has random weights or a density.
SEES_UNSEEN_COLUMNS = {"elm", "gda", "gnb"}
# Points whose preparation is shared in ways that the default grids do not have.
WIDER = {
    "ksvm": [
        {"kernel": "rbf", "gamma": gamma, "C": C} for gamma in (0.05, 0.5) for C in (1.0, 5.0)
    ],
    "gp": [
        {"kernel": kernel, "variance": variance, **options}
        for kernel in ("linear", "rbf")
        for variance in (0.5, 5.0)
        for options in (
            {"points": 12},
            {"points": 12, "approximation": "subset"},
        )
    ],
    "gpr": [
        {"kernel": "rbf", "variance": variance, "noise": noise, "points": points}
        for variance in (0.5, 5.0)
        for noise in (0.1, 1.0)
        for points in (12, 100)
    ],
    "elm": [{"draws": 2, "ridge": ridge} for ridge in (0.1, 1.0)],
    "lm": [{"smoothing": "dirichlet", "mu": 10.0}, {"smoothing": "absolute_discounting"}],
    "bnb": [{"vocabulary": "columns"}, {"vocabulary": "train", "class_prior": "uniform"}],
    "ridge": [{"solver": "closed_form", "alpha": alpha} for alpha in (0.5, 5.0)],
    "linreg": [{"solver": "closed_form", "alpha": alpha} for alpha in (0.5, 5.0)],
}


def texts(n=40, m=30, classes=2, seed=0):
    """Random 0/1 documents whose features lean towards their class; every class occurs."""
    generator = np.random.default_rng(seed)
    y = np.arange(n) % classes
    generator.shuffle(y)
    chance = 0.05 + 0.4 * (np.arange(m)[None, :] % classes == y[:, None])
    return sp.csr_matrix((generator.random((n, m)) < chance).astype(float)), y


def data(name, **options):
    """Texts for the method; for one that needs dense input, a dense and continuous matrix."""
    X, y = texts(**options)
    if "dense" in METHODS[name].needs:
        noise = np.random.default_rng(options.get("seed", 0)).standard_normal(X.shape)
        return X.toarray() + 0.5 * noise, y
    if "numeric_target" in METHODS[name].needs:
        return X, y + np.random.default_rng(1).standard_normal(len(y))
    return X, y


def scores(estimator, X):
    return (estimator.decision_function if is_classifier(estimator) else estimator.predict)(X)


def grid_points(family):
    names, values = zip(*family.default_grid.items(), strict=True)
    return [dict(zip(names, point, strict=True)) for point in itertools.product(*values)]


@every_method
def test_the_entry_is_complete(name):
    family = METHODS[name]
    assert family.name == name
    assert all((family.title, family.cost, family.citation))
    assert family.rate.microseconds > 0
    # What is not linear says what is stored of it.
    linear = issubclass(family.estimator, LinearClassifier | LinearRegression)
    assert bool(family.stored) != linear
    assert family.by_feature <= set(family.stored)
    assert family.needs <= {"non_negative", "dense", "two_classes", "numeric_target"}
    assert ("non_negative" in family.needs) == family.estimator.NON_NEGATIVE
    defaults = family.estimator().get_params(deep=False)
    assert set(defaults) - set(family.parameters) <= {"positive", "seed"}
    assert set(family.parameters) <= set(defaults)
    validate_params(name, {key: defaults[key] for key in family.parameters})
    validate_params(name, family.default_fixed)
    for point in grid_points(family):
        validate_params(name, point)


@every_method
@pytest.mark.parametrize("classes", [2, 3])
def test_a_grid_equals_its_points_one_by_one(name, classes):
    X, y = data(name, classes=classes)
    points = grid_points(METHODS[name])
    positive = 0 if classes == 2 else None
    fitted = dict(fit_grid(name, X, y, points, positive=positive, seed=3))
    assert sorted(fitted) == list(range(len(points)))
    for index, point in enumerate(points):
        alone = make_estimator(name, point, positive=positive, seed=3).fit(X, y)
        assert fitted[index].failure is None
        assert fitted[index].fit_seconds >= 0
        np.testing.assert_array_equal(scores(fitted[index].estimator, X), scores(alone, X))
        np.testing.assert_array_equal(fitted[index].estimator.predict(X), alone.predict(X))
        assert fitted[index].estimator.get_params() == alone.get_params()


@every_method
@pytest.mark.parametrize("classes", [1, 2, 3])
@pytest.mark.parametrize("held", [0, 2**30])
def test_outputs_of_a_grid_are_those_of_its_points_one_by_one(name, classes, held, monkeypatch):
    monkeypatch.setattr(registry, "_HELD", held)
    X, y = data(name, classes=classes)
    points = [*grid_points(METHODS[name]), *WIDER.get(name, [])]
    positive = 0 if classes == 2 else None
    fitted = dict(fit_grid(name, X[:30], y[:30], points, positive=positive, seed=3, X_test=X[25:]))
    assert sorted(fitted) == list(range(len(points)))
    for index, point in enumerate(points):
        alone = make_estimator(name, point, positive=positive, seed=3).fit(X[:30], y[:30])
        outputs = fitted[index].outputs
        # Only the kernel SVM sums over other points' support vectors too.
        atol = 1e-10 if name == "ksvm" else 0
        np.testing.assert_allclose(outputs, scores(alone, X[25:]), rtol=0, atol=atol)
        assert fitted[index].predict_seconds > 0
        if is_classifier(alone):
            decided = fitted[index].estimator.decide(outputs)
            np.testing.assert_array_equal(decided, alone.predict(X[25:]))
        if hasattr(alone, "predict_proba"):
            probabilities = fitted[index].estimator.probabilities(outputs)
            np.testing.assert_array_equal(probabilities, alone.predict_proba(X[25:]))


def test_outputs_of_failed_points_are_none_and_the_others_keep_theirs():
    X, y = texts()
    X = sp.csr_matrix(np.hstack([X.toarray(), (np.arange(40) == 0)[:, None]]))
    fitted = dict(fit_grid("mnb", X, y, [{"alpha": 0.0}, {"alpha": 1.0}], X_test=X[:3]))
    assert fitted[0].outputs is None
    wanted = make_estimator("mnb", {"alpha": 1.0}).fit(X, y).decision_function(X[:3])
    np.testing.assert_array_equal(fitted[1].outputs, wanted)


@pytest.mark.parametrize("name", ["lr", "ridge", "svm"])
def test_outputs_for_dense_rows_are_equal_up_to_the_order_of_sums(name):
    X, y = texts()
    points = grid_points(METHODS[name])
    for index, fitted in fit_grid(name, X.toarray(), y, points, X_test=X.toarray()):
        alone = make_estimator(name, points[index]).fit(X.toarray(), y)
        np.testing.assert_allclose(
            fitted.outputs, alone.decision_function(X.toarray()), rtol=1e-10, atol=1e-12
        )


@pytest.mark.parametrize(("name", "axis"), [("ksvm", "C"), ("gp", "variance")])
def test_points_that_wait_for_their_outputs_take_bounded_memory(name, axis, monkeypatch):
    # Support vectors are sparse, posteriors are records of arrays: both count.
    X, y = texts()
    points = [{axis: value} for value in (0.5, 1.0, 2.0, 4.0)]
    one = next(fit_grid(name, X, y, points[:1]))[1].estimator
    monkeypatch.setattr(registry, "_HELD", int(1.5 * registry._nbytes(one, set())))
    sizes, estimator = [], METHODS[name].estimator
    real = estimator.outputs_of
    counted = staticmethod(lambda group, X: sizes.append(len(group)) or real(group, X))
    monkeypatch.setattr(estimator, "outputs_of", counted)
    assert len(list(fit_grid(name, X, y, points, X_test=X))) == 4
    assert sizes == [2, 2]


def test_fitted_estimators_are_not_kept():
    X, y = texts()
    alive = []
    for _, fitted in fit_grid("mnb", X, y, [{"alpha": a} for a in (0.5, 1.0, 2.0)]):
        alive = [one() for one in alive if one() is not None]
        assert alive == []
        alive = [weakref.ref(fitted.estimator)]
        del fitted


@pytest.mark.parametrize(
    ("name", "module", "function", "points", "times"),
    [
        ("ksvm", "kernel_svm", "gram_matrix", [{"C": C} for C in (0.1, 1.0, 10.0)], 1),
        (
            "ksvm",
            "kernel_svm",
            "gram_matrix",
            [
                {"kernel": "rbf", "gamma": 0.5, "degree": 2},
                {"kernel": "rbf", "gamma": 0.5, "degree": 3},
                {"kernel": "polynomial", "gamma": 0.5, "degree": 2},
                {"kernel": "polynomial", "gamma": 1.0, "degree": 2},
            ],
            2,
        ),
        (
            "gp",
            "gaussian_process",
            "nystroem_basis",
            [{"points": 10, "variance": v, "tol": t} for v in (0.1, 1.0) for t in (1e-8, 1e-6)],
            1,
        ),
        (
            "elm",
            "extreme_learning",
            "solve",
            [{"ridge": r, "draws": 2} for r in (0.1, 1.0)],
            2,
        ),
        ("tlm", "translation_model", "translation_probabilities", [{}, {"mixture": 0.1}], 1),
        ("bnb", "naive_bayes", "count_classes", [{"alpha": a} for a in (0.1, 1.0)], 1),
        ("cnb", "complement_nb", "count_classes", [{"norm": n} for n in (True, False)], 1),
        ("lm", "naive_bayes", "count_classes", [{}, {"smoothing": "dirichlet"}], 1),
    ],
)
def test_what_points_have_in_common_is_worked_out_once(
    name, module, function, points, times, monkeypatch
):
    module = importlib.import_module(f"textbaselines.models.{module}")
    calls, real = [], getattr(module, function)
    monkeypatch.setattr(module, function, lambda *args: calls.append(1) or real(*args))
    X, y = texts()
    assert len(list(fit_grid(name, X, y, points))) == len(points)
    assert len(calls) == times


def test_shared_work_is_done_once(monkeypatch):
    calls = []
    for name in ("log_count_ratio", "solve_linear"):
        real = getattr(nbsvm, name)

        def counted(*args, _name=name, _real=real, **more):
            calls.append(_name)
            return _real(*args, **more)

        monkeypatch.setattr(nbsvm, name, counted)
    X, y = texts()
    points = [
        {"alpha": alpha, "C": C, "beta": beta}
        for beta in (0.0, 0.5, 1.0)
        for C in (1.0, 2.0)
        for alpha in (0.5, 1.0)
    ]
    assert len(list(fit_grid("nbsvm", X, y, points))) == 12
    assert sorted(calls) == ["log_count_ratio"] * 2 + ["solve_linear"] * 4


@pytest.mark.parametrize(
    ("held", "course"),
    [(2**26, "solve solve solve gap gap gap"), (0, "solve gap solve gap solve gap")],
)
def test_gaps_are_measured_after_as_many_solutions_as_may_be_kept(held, course, monkeypatch):
    events = []

    def told(module, name, event):
        real = getattr(module, name)

        def telling(*args, **more):
            events.append(event)
            return real(*args, **more)

        monkeypatch.setattr(module, name, telling)

    monkeypatch.setattr(registry, "_HELD", held)
    told(nbsvm, "solve_linear", "solve")
    told(liblinear, "relative_gap", "gap")
    X, y = texts()
    points = [{"C": C, "beta": beta} for beta in (0.0, 1.0) for C in (0.1, 1.0, 10.0)]
    found = dict(fit_grid("nbsvm", X, y, points))
    assert " ".join(events) == course
    for place, point in enumerate(points):
        alone = nbsvm.NBSVM(**point).fit(X, y)
        assert found[place].gap == alone.gap_
        np.testing.assert_array_equal(found[place].estimator.coef_, alone.coef_)


def test_a_point_that_cannot_be_fitted_says_why_and_the_others_are_fitted():
    X, y = texts()
    X = sp.csr_matrix(np.hstack([X.toarray(), (np.arange(40) == 0)[:, None]]))
    fitted = dict(fit_grid("mnb", X, y, [{"alpha": 0.0}, {"alpha": 1.0}]))
    assert "alpha = 0 leaves" in fitted[0].failure
    assert fitted[0].estimator is None
    assert not fitted[0].converged
    assert fitted[1].failure is None
    fitted = dict(fit_grid("nbsvm", X, y, [{"alpha": 0.0}, {"alpha": 1.0}]))
    assert "alpha = 0 leaves" in fitted[0].failure
    assert fitted[1].converged
    assert fitted[1].n_iter > 0


def test_what_the_data_make_impossible_is_told_and_not_raised():
    X, y = texts()
    for name, data, params, reason in (
        ("mnb", -X, {}, "Negative values"),
        ("nbsvm", -X, {}, "Negative values"),
        ("gda", X, {}, "does not take sparse input"),
        ("gp", X, {"approximation": "exact", "max_gib": 1e-5}, "5 kernel-sized matrices of 40"),
        ("elm", X, {"max_gib": 1e-5}, "hidden layer of 40 documents"),
        ("ridge", X, {"solver": "closed_form", "max_gib": 1e-6}, "Gram matrix of 30 features"),
    ):
        ((_, fitted),) = fit_grid(name, data, y, [params])
        assert reason in fitted.failure
        assert fitted.estimator is None


def test_a_point_that_did_not_converge_is_marked():
    X, y = texts(n=300, m=10)
    point = {"C": 1000.0, "loss": "hinge", "tol": 1e-9, "max_iter": 2}
    ((_, fitted),) = fit_grid("svm", X, y, [point])
    assert not fitted.converged
    assert fitted.n_iter == 2


def test_mistakes_name_what_is_allowed():
    with pytest.raises(UserError, match=r"unknown method(.|\n)*'nbsmv'(.|\n)*mnb, nbsvm"):
        validate_params("nbsmv", {})
    with pytest.raises(UserError, match=r"no such parameter(.|\n)*'gamma'(.|\n)*alpha, beta"):
        validate_params("nbsvm", {"gamma": 1})
    with pytest.raises(UserError, match=r"'beta' \(share(.|\n)*1.5(.|\n)*number in \[0, 1\]"):
        validate_params("nbsvm", {"beta": 1.5})
    with pytest.raises(UserError, match=r"do not go together: loss 'hinge'"):
        validate_params("svm", {"loss": "hinge", "dual": False})
    with pytest.raises(UserError, match="no such parameter"):
        validate_params("nbsvm", {"positive": "pos"})
    with pytest.raises(UserError, match="above 0"):
        fit_grid("svm", None, None, [{"C": 1.0}, {"C": 0}])


@every_sparse_method
@pytest.mark.parametrize("classes", [2, 3])
def test_sparse_and_dense_are_one(name, classes):
    X, y = data(name, classes=classes)
    wide = X.copy()
    wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    before = X.copy()
    model = make_estimator(name, EXACT.get(name, {})).fit(X, y)
    for other in (X.toarray(), sp.csr_array(X), X.tocsc(), wide, X.astype(np.float32)):
        again = make_estimator(name, EXACT.get(name, {})).fit(other, y)
        np.testing.assert_allclose(scores(again, other), scores(model, X), rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(again.predict(other), model.predict(X), rtol=1e-6)
    assert (before != X).nnz == 0


@pytest.mark.parametrize(
    "name", sorted(name for name, family in METHODS.items() if "dense" in family.needs)
)
def test_sparse_input_is_refused_where_it_would_be_made_dense(name):
    X, y = texts()
    with pytest.raises(ValueError, match=r"does not take sparse input: .*GiB; reduce X first"):
        make_estimator(name, {}).fit(X, y)
    model = make_estimator(name, {}).fit(*data(name))
    with pytest.raises(ValueError, match="does not take sparse input"):
        model.predict(X)


@every_sparse_method
def test_read_only_arrays_are_enough(name):
    X, y = data(name)
    wanted = make_estimator(name, {}).fit(X, y).predict(X)
    for array in (X.data, X.indices, X.indptr, y):
        array.flags.writeable = False
    np.testing.assert_array_equal(make_estimator(name, {}).fit(X, y).predict(X), wanted)


@every_method
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10**6), classes=st.sampled_from([2, 3]))
def test_the_order_of_documents_changes_nothing(name, seed, classes):
    X, y = data(name, classes=classes, seed=seed)
    order = np.random.default_rng(seed).permutation(len(y))
    model = make_estimator(name, EXACT.get(name, {})).fit(X, y)
    shuffled = make_estimator(name, EXACT.get(name, {})).fit(X[order], y[order])
    np.testing.assert_allclose(scores(shuffled, X), scores(model, X), atol=1e-5)


@pytest.mark.parametrize("name", sorted(METHODS.keys() - {"elm"}))  # its weights go by the column
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_order_of_columns_changes_nothing(name, seed):
    X, y = data(name, seed=seed)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    model = make_estimator(name, EXACT.get(name, {})).fit(X, y)
    shuffled = make_estimator(name, EXACT.get(name, {})).fit(X[:, order], y)
    np.testing.assert_allclose(scores(shuffled, X[:, order]), scores(model, X), atol=1e-5)


@every_classifier
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_classes_named_otherwise_change_only_names(name, seed):
    X, y = data(name, seed=seed)
    model = make_estimator(name, {}, positive=1).fit(X, y)
    turned = make_estimator(name, {}, positive="a").fit(X, np.array(["b", "a"])[y])
    np.testing.assert_array_equal(turned.predict(X) == "a", model.predict(X) == 1)
    np.testing.assert_allclose(scores(turned, X), -scores(model, X), atol=1e-12)
    X, y = data(name, classes=3, seed=seed)
    model = make_estimator(name, {}).fit(X, y)
    turned = make_estimator(name, {}).fit(X, np.array(["c", "a", "b"])[y])
    np.testing.assert_allclose(scores(turned, X)[:, [2, 0, 1]], scores(model, X), atol=1e-12)


@every_classifier
def test_one_class_is_predicted_always(name):
    X, _ = data(name)
    model = make_estimator(name, {}, positive="other").fit(X, ["only"] * 40)
    assert set(model.predict(X)) == {"only"}
    assert scores(model, X).tolist() == [0] * 40
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(model.predict_proba(X), np.ones((40, 1)))
    ((_, fitted),) = fit_grid(name, X, ["only"] * 40, [{}])
    assert fitted.converged


@every_method
@pytest.mark.parametrize("classes", [2, 3])
def test_an_empty_document_has_finite_scores(name, classes):
    X, y = data(name, classes=classes)
    model = make_estimator(name, {}).fit(X, y)
    empty = np.zeros((1, 30))
    assert np.all(np.isfinite(scores(model, empty)))
    if hasattr(model, "predict_proba"):
        assert model.predict_proba(empty).sum() == pytest.approx(1)


@every_classifier
@pytest.mark.parametrize("classes", [2, 3])
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_predicted_class_has_the_largest_probability(name, classes, seed):
    X, y = data(name, classes=classes, seed=seed)
    model = make_estimator(name, {}).fit(X, y)
    if not hasattr(model, "predict_proba"):
        return
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))


@every_method
@pytest.mark.parametrize("classes", [2, 3])
def test_a_very_long_document_has_finite_scores(name, classes):
    X, y = data(name, classes=classes)
    model = make_estimator(name, {}).fit(X, y)
    document = np.zeros((1, 30))
    document[0, ::7] = 20_000.0
    assert document.sum() == 100_000
    assert np.all(np.isfinite(scores(model, document)))
    if hasattr(model, "predict_proba"):
        assert np.all(np.isfinite(model.predict_log_proba(document)))
        assert model.predict_proba(document).sum() == pytest.approx(1)


@every_method
@pytest.mark.parametrize("classes", [2, 3])
def test_a_document_of_unseen_words_alone_has_the_scores_of_an_empty_one(name, classes):
    X, y = data(name, classes=classes)
    dense = X.toarray() if sp.issparse(X) else X.copy()
    dense[:, :3] = 0
    model = make_estimator(name, {}).fit(dense, y)
    unseen = np.zeros((1, 30))
    unseen[0, :3] = [1, 5, 2]
    assert np.all(np.isfinite(scores(model, unseen)))
    if name not in SEES_UNSEEN_COLUMNS:
        np.testing.assert_allclose(
            scores(model, unseen), scores(model, np.zeros((1, 30))), rtol=0, atol=1e-12
        )


@pytest.mark.parametrize(  # of NBSVM the mean is over all columns
    "name", sorted(METHODS.keys() - SEES_UNSEEN_COLUMNS - {"nbsvm"})
)
def test_a_feature_without_counts_changes_nothing(name):
    X, y = data(name)
    wide = sp.csr_matrix(sp.hstack([X, sp.csr_matrix((40, 2))]))
    model = make_estimator(name, EXACT.get(name, {})).fit(X, y)
    widened = make_estimator(name, EXACT.get(name, {})).fit(wide, y)
    np.testing.assert_allclose(scores(widened, wide), scores(model, X), rtol=1e-7, atol=1e-9)


@every_method
@pytest.mark.parametrize("classes", [2, 3])
def test_running_again_gives_the_same_bits(name, classes):
    X, y = data(name, classes=classes)
    runs = [make_estimator(name, {}, seed=5).fit(X.copy(), y.copy()) for _ in range(2)]
    runs.append(clone(runs[0]).fit(X, y))
    runs.append(runs[0].fit(X, y))
    for run in runs:
        np.testing.assert_array_equal(scores(run, X), scores(runs[1], X))


@pytest.mark.parametrize(
    "name", sorted(name for name, family in METHODS.items() if "numeric_target" in family.needs)
)
def test_a_constant_target_is_predicted(name):
    X, _ = data(name)
    model = make_estimator(name, {}).fit(X, np.full(40, 3.5))
    np.testing.assert_allclose(model.predict(X), 3.5)
    np.testing.assert_allclose(model.predict(np.zeros((1, 30))), 3.5)


@every_method
@pytest.mark.parametrize("classes", [2, 3])
def test_a_training_set_of_empty_documents_has_finite_scores_or_is_refused(name, classes):
    _, y = data(name, classes=classes)
    empty = np.zeros((40, 30))
    if name in {"gda", "gnb"}:
        with pytest.raises(ValueError, match=r"singular|constant in class"):
            make_estimator(name, {}).fit(empty, y)
        return
    model = make_estimator(name, {}).fit(empty, y)
    X, _ = data(name, classes=classes)
    assert np.all(np.isfinite(scores(model, X)))
    assert np.all(np.isfinite(scores(model, empty)))


@every_method
@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_impossible_values_are_refused(name, value):
    X, y = data(name)
    bad = X.copy()
    (bad.data if sp.issparse(bad) else bad[0])[3] = value
    if value < 0 and "non_negative" not in METHODS[name].needs:
        make_estimator(name, {}).fit(bad, y)
        return
    wanted = "Negative values" if value < 0 else "NaN|infinity"
    with pytest.raises(ValueError, match=wanted):
        make_estimator(name, {}).fit(bad, y)
    model = make_estimator(name, {}).fit(X, y)
    with pytest.raises(ValueError, match=wanted):
        model.predict(bad)


@every_method
def test_in_scikit_learns_pipeline_search_and_calibration(name):
    X, y = data(name)
    key, values = next(iter(METHODS[name].default_grid.items()))
    estimator = clone(make_estimator(name, {}))
    pipeline = make_pipeline(MaxAbsScaler(), estimator)
    grid = {f"{type(estimator).__name__.lower()}__{key}": list(values)}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    if not is_classifier(estimator):
        assert search.best_score_ > 0
        return
    assert search.best_score_ > 0.5
    calibrated = CalibratedClassifierCV(make_estimator(name, {}), cv=3).fit(X, y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)


def test_the_package_exports_the_estimators():
    import textbaselines.models

    for family in METHODS.values():
        exported = getattr(textbaselines.models, family.estimator.__name__)
        assert exported is family.estimator
