import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from textbaselines.models import ExtremeLearningMachine, extreme_learning
from textbaselines.models.extreme_learning import solve


def test_the_output_weights_by_hand():
    H, T = np.array([[1.0, 0.0], [1.0, 1.0]]), np.array([1.0, 3.0])
    np.testing.assert_allclose(solve(H, T).weights(0.0), [1, 2])


def test_the_penalty_by_the_normal_equations():
    generator = np.random.default_rng(0)
    H, T = generator.standard_normal((9, 4)), generator.standard_normal((9, 2))
    wanted = np.linalg.solve(H.T @ H + 0.3 * np.eye(4), H.T @ T)
    np.testing.assert_allclose(solve(H, T).weights(0.3), wanted)


def test_more_units_than_documents_and_equal_documents():
    generator = np.random.default_rng(0)
    H = np.repeat(generator.standard_normal((3, 10)), 2, axis=0)
    T = generator.standard_normal(6)
    np.testing.assert_allclose(solve(H, T).weights(0.0), np.linalg.pinv(H, rcond=1e-10) @ T)
    assert not solve(np.zeros((3, 2)), np.ones(3)).weights(0.0).any()


def test_iris():
    X, y = load_iris(return_X_y=True)
    model = ExtremeLearningMachine(hidden=60, ridge=1e-6, seed=1).fit(X, y)
    assert model.score(X, y) > 0.97
    assert model.output_weights_.shape == (1, 60, 3)


@pytest.mark.parametrize(
    ("activation", "function"),
    [
        ("sigmoid", lambda z: 1 / (1 + np.exp(-z))),
        ("tanh", np.tanh),
        ("relu", lambda z: np.maximum(z, 0)),
        ("sine", np.sin),
    ],
)
def test_the_hidden_layer_is_a_function_of_a_projection(monkeypatch, activation, function):
    monkeypatch.setattr(extreme_learning, "_BLOCK", 12)  # 3 features at a time
    model = ExtremeLearningMachine(hidden=4, activation=activation, scale=0.5, seed=7)
    origin = model._hidden_layer(np.zeros((1, 8)), 2)
    pre_bias = np.random.default_rng([7, 2, 0]).uniform(-0.5, 0.5, 4)
    np.testing.assert_allclose(origin, [function(pre_bias)])
    blocks = [
        np.random.default_rng([7, 2, k + 1]).uniform(-0.5, 0.5, (size, 4))
        for k, size in enumerate((3, 3, 2))
    ]
    X = np.random.default_rng(0).standard_normal((5, 8))
    wanted = function(X @ np.vstack(blocks) + pre_bias)
    np.testing.assert_allclose(model._hidden_layer(X, 2), wanted)
    np.testing.assert_allclose(model._hidden_layer(sp.csr_matrix(X), 2), wanted)
    assert np.abs(np.vstack(blocks)).max() <= 0.5


def test_wide_sparse_rows_are_projected_without_a_dense_copy():
    # Dense, 20 rows of 2**27 features would take 20 GiB, all the random weights 2 GiB.
    X = sp.random(20, 2**16, density=1e-4, format="csr", random_state=0)
    model = ExtremeLearningMachine(hidden=2, seed=0).fit(X, np.arange(20) % 2)
    assert np.all(np.isfinite(model.decision_function(X)))


def test_the_seed_decides():
    X, y = load_iris(return_X_y=True)
    fits = [ExtremeLearningMachine(hidden=20, seed=s).fit(X, y).output_weights_ for s in (1, 1, 2)]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert not np.allclose(fits[0], fits[2])


@pytest.mark.parametrize("classes", [2, 3])
def test_draws_are_averaged(classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes], y[y < classes]
    model = ExtremeLearningMachine(hidden=20, draws=3, seed=1).fit(X, y)
    one = ExtremeLearningMachine(hidden=20, seed=1).fit(X, y)
    np.testing.assert_array_equal(model.output_weights_[0], one.output_weights_[0])
    assert not np.allclose(model.output_weights_[1], model.output_weights_[2])
    parts = [model._hidden_layer(X, draw) @ model.output_weights_[draw] for draw in range(3)]
    wanted = np.mean(parts, axis=0)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores if classes == 3 else scores[:, None], wanted)


def test_more_draws_differ_less_between_seeds():
    X, y = load_iris(return_X_y=True)
    spread = []
    for draws in (1, 10):
        fits = [ExtremeLearningMachine(20, draws=draws, seed=seed).fit(X, y) for seed in range(6)]
        spread.append(np.std([fit.decision_function(X) for fit in fits], axis=0).mean())
    assert spread[1] < 0.5 * spread[0]


def test_more_documents_than_units_by_the_pseudo_inverse():
    generator = np.random.default_rng(0)
    H, T = generator.standard_normal((30, 5)), generator.standard_normal(30)
    np.testing.assert_allclose(solve(H, T).weights(0.0), np.linalg.lstsq(H, T)[0])


def test_too_large_a_hidden_layer_is_refused_before_it_is_taken():
    X = sp.csr_matrix((10_000, 5))
    with pytest.raises(ValueError, match=r"10000 documents and 50000 units .*26.1 GiB.*4 GiB"):
        ExtremeLearningMachine(hidden=50_000).fit(X, np.arange(10_000) % 2)
