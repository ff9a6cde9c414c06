"""Grid points: each once, named by what they are, refused when impossible."""

import math
from pathlib import Path

import numpy as np
import pytest
import yaml

from textbaselines.core.errors import UserError
from textbaselines.core.validation import load_yaml
from textbaselines.models.parameters import Number
from textbaselines.models.registry import METHODS
from textbaselines.study import grids
from textbaselines.study.definition import make_study

ANY = {name: Number(name) for name in ("a", "b", "c", "C", "beta", "tol")}
WHOLE = {"hidden": Number("hidden", integer=True), "C": Number("C")}


def expand(family, defaults, options, fixed, grid, method="M", parameters=ANY):
    return grids.expand(family, parameters, defaults, options, fixed, grid, method, "methods.SVM")


def values(grid, name="C", **options):
    return [point.params[name] for point in expand("f", {}, {}, None, grid, **options)]


def test_fixed_and_grid() -> None:
    points = expand("f", {"beta": 0.25}, {"tol": 0.1}, {"C": 1}, {"C": [0.1, 1.0]})
    assert [(point.params, point.origin) for point in points] == [
        ({"beta": 0.25, "tol": 0.1, "C": 1}, ("fixed", "grid")),
        ({"beta": 0.25, "tol": 0.1, "C": 0.1}, ("grid",)),
    ]


def test_every_combination_once() -> None:
    points = expand("f", {}, {}, None, {"a": [1, 2, 3], "b": ["x", "y"]})
    assert len({point.point for point in points}) == 6
    assert {tuple(point.params.values()) for point in points} == {
        (a, b) for a in (1, 2, 3) for b in "xy"
    }


def test_names_do_not_shift_when_a_value_is_inserted() -> None:
    before = {str(p.params): p.point for p in expand("f", {}, {}, None, {"C": [0.1, 1]})}
    after = {str(p.params): p.point for p in expand("f", {}, {}, None, {"C": [0.1, 0.5, 1]})}
    assert before.items() <= after.items()
    assert expand("g", {}, {}, None, {"C": [1]})[0].point not in after.values()


def test_the_names_of_points_are_those_of_finished_results() -> None:
    # As run.json files of earlier studies have them.
    points = expand("mnb", METHODS["mnb"].defaults, {}, {"alpha": 1.0}, {}, parameters={})
    assert [(p.params, p.point) for p in points] == [
        ({"alpha": 1.0, "class_prior": "learned"}, "5ad3cdac292c")
    ]


def test_fixed_values_go_before_options_before_defaults() -> None:
    defaults = {"a": 0, "b": 0, "c": 0}
    (point,) = expand("f", defaults, {"b": 1, "c": 1}, {"c": 2}, {})
    assert point.params == {"a": 0, "b": 1, "c": 2}
    (point,) = expand("f", defaults, {"b": 1}, None, {"c": [3]})
    assert point.params == {"a": 0, "b": 1, "c": 3}


def test_ranges_have_round_values_and_exact_ends() -> None:
    log = values({"C": {"log": [0.001, 100], "num": 6}})
    assert log == [0.001, 0.01, 0.1, 1.0, 10.0, 100]
    assert values({"C": {"log": [0.01, 100], "num": 9}})[1] == 0.0316227766017
    assert values({"C": {"linear": [0, 1], "num": 6}}) == [0, 0.2, 0.4, 0.6, 0.8, 1]
    # 0.1 + 2 * 0.1 is 0.30000000000000004 in binary.
    assert 0.3 in values({"C": {"linear": [0.1, 0.5], "num": 5}})
    assert values({"C": {"log": [3, 3], "num": 1}}) == values({"C": {"log": [3, 3], "num": 4}})
    listed = expand("f", {}, {}, None, {"C": [0.1, 1, 10]})
    ranged = expand("f", {}, {}, None, {"C": {"log": [0.1, 10], "num": 3}})
    assert [p.point for p in listed] == [p.point for p in ranged]


def test_integer_hyper_parameters_get_integers() -> None:
    hidden = values({"hidden": {"log": [1, 1000], "num": 5}}, "hidden", parameters=WHOLE)
    assert hidden == [1, 6, 32, 178, 1000]
    assert {type(value) for value in hidden} == {int}
    # Values that round to the same integer are one.
    assert values({"hidden": {"linear": [1, 3], "num": 9}}, "hidden", parameters=WHOLE) == [1, 2, 3]
    grid = {"sample": {"draws": 3000, "seed": "s"}, "hidden": {"linear": [1, 3]}}
    points = expand("f", {}, {}, None, grid, parameters=WHOLE)
    assert sorted(point.params["hidden"] for point in points) == [1, 2, 3]


def test_a_list_of_grids_is_their_union() -> None:
    grid = [
        {"a": ["linear"], "C": [1, 10]},
        {"a": ["rbf"], "C": [1, 10], "b": [0.1, 0.2]},
        {"C": [10], "a": ["linear"]},
    ]
    points = expand("f", {"b": 1}, {}, None, grid)
    assert [tuple(p.params[name] for name in "aCb") for p in points] == [
        ("linear", 1, 1),
        ("linear", 10, 1),
        ("rbf", 1, 0.1),
        ("rbf", 1, 0.2),
        ("rbf", 10, 0.1),
        ("rbf", 10, 0.2),
    ]


def sample(draws, seed="first", **axes):
    return {
        "sample": {"draws": draws, "seed": seed},
        **(axes or {"C": {"log": [0.01, 100]}, "beta": {"linear": [0, 1]}, "a": ["x", "y"]}),
    }


def test_samples_follow_their_distributions() -> None:
    points = expand("f", {}, {}, None, sample(4000))
    drawn = {name: [p.params[name] for p in points] for name in ("C", "beta", "a")}
    assert len(points) == 4000
    for numbers in (np.log10(drawn["C"]) / 4 + 0.5, np.array(drawn["beta"])):
        assert 0 <= numbers.min() < 0.01 < 0.99 < numbers.max() <= 1
        # Of a uniform distribution: mean 1/2, standard error 1/sqrt(12 n).
        assert abs(numbers.mean() - 0.5) < 4 / math.sqrt(12 * 4000)
        assert np.quantile(numbers, 0.25) == pytest.approx(0.25, abs=0.03)
    assert abs(drawn["a"].count("x") / 4000 - 0.5) < 4 * 0.5 / math.sqrt(4000)
    assert abs(np.corrcoef(np.log(drawn["C"]), drawn["beta"])[0, 1]) < 4 / math.sqrt(4000)
    for value in (*drawn["C"][:50], *drawn["beta"][:50]):
        assert value == float(f"{value:.12g}")


def test_samples_depend_on_names_alone() -> None:
    first = [p.params for p in expand("f", {}, {}, None, sample(20))]
    assert first == [p.params for p in expand("f", {}, {}, None, sample(20))]
    # More draws extend, another axis leaves the values of the others.
    assert [p.params for p in expand("f", {}, {}, None, sample(50))][:20] == first
    alone = sample(20, C={"log": [0.01, 100]})
    assert values(alone) == [params["C"] for params in first]
    assert values(sample(20, seed="second")) != values(sample(20))
    assert values(sample(20), method="N") != values(sample(20))


def test_draws_of_the_same_point_are_one_point() -> None:
    points = expand("f", {}, {}, None, sample(50, a=["x", "y"]))
    assert sorted(p.params["a"] for p in points) == ["x", "y"]


@pytest.mark.parametrize(
    ("grid", "told"),
    [
        ({"tol": [1, 2]}, ["an option and an axis", "methods.SVM.grid.tol"]),
        ([{"C": [1]}, {"tol": [1]}], ["an option and an axis", "methods.SVM.grid[1].tol"]),
        ({"bata": [1]}, ["methods.SVM.grid.bata", "C, a, b", "did you mean 'beta'"]),
        ({"C": {"log": [0, 1], "num": 3}}, ["grid.C.log", "[0, 1]", "above 0"]),
        ({"C": {"log": [-1, 1], "num": 3}}, ["grid.C.log", "[-1, 1]", "above 0"]),
        ({"C": {"linear": [1, 0], "num": 3}}, ["grid.C.linear", "[1, 0]", "[0, 1]"]),
        ({"C": {"log": [1, 2], "num": 1}}, ["grid.C.num", "1", "2 or more"]),
        ({"C": {"log": [1, 2]}}, ["grid.C", "{log: [1, 2]}", "num: n"]),
        ({"C": {"num": 3}}, ["grid.C", "{num: 3}", "log: [low, high]"]),
        ({"C": {"log": [1, 2], "linear": [1, 2], "num": 3}}, ["needs one scale"]),
        (sample(3, C={"log": [1, 2], "num": 3}), ["grid.C.num", "3", "remove num"]),
        ({"sample": {"draws": 3, "seed": "s"}}, ["without axes", "only sample"]),
        ([{}], ["without axes", "methods.SVM.grid[0]"]),
    ],
)
def test_faults(grid, told) -> None:
    with pytest.raises(UserError) as error:
        expand("f", {}, {"tol": 1}, {}, grid)
    for part in told:
        assert part in str(error.value)


def test_a_range_of_integers_has_whole_ends() -> None:
    with pytest.raises(UserError, match="two whole numbers"):
        values({"hidden": {"log": [0.5, 10], "num": 3}}, "hidden", parameters=WHOLE)


def test_no_point_at_all() -> None:
    with pytest.raises(UserError, match=r"without fixed values and without a grid"):
        expand("f", {}, {}, None, {})


def study_with(repository: Path, grid: str, family: str = "svm"):
    config = load_yaml(repository / "config" / "config.yaml")
    spec = {"family": family, "grid": yaml.safe_load(grid), "fixed": None}
    return make_study(
        {**config, "methods": {"SVM": spec}, "keep_models": "none", "learning_curves": None},
        "my.yaml",
        repository,
    )


@pytest.mark.parametrize(
    ("grid", "told"),
    [
        ("{C: {log: [0.1, 1], nums: 3}}", ["methods.SVM.grid.C.nums", "did you mean 'num'"]),
        ("{C: {log: [0.1], num: 3}}", ["methods.SVM.grid.C.log", "fewer items than 2"]),
        ("{C: {log: [0.1, high], num: 3}}", ["methods.SVM.grid.C.log[1]", "'high'", "a number"]),
        ("{C: {log: [0.1, 1], num: 2.5}}", ["methods.SVM.grid.C.num", "2.5", "a whole number"]),
        ("{C: [1, 1.0]}", ["methods.SVM.grid.C", "occurs twice"]),
        ("{C: 1}", ["methods.SVM.grid.C", "{log: [low, high], num: n}"]),
        ("{C: [1], sample: {draws: 3}}", ["methods.SVM.grid.sample", "'seed' is missing"]),
        ("{C: [1], sample: {draws: 0, seed: a}}", ["methods.SVM.grid.sample.draws", "below 1"]),
        ("[]", ["methods.SVM.grid", "fewer items than 1"]),
        ("[{C: []}]", ["methods.SVM.grid[0].C", "fewer items than 1"]),
        ("defualt", ["methods.SVM.grid", "'defualt'", "default"]),
        ("{C: {linear: [0, 1], num: 3}}", ["methods.SVM (grid)", "'C'", "above 0"]),
    ],
)
def test_faults_of_a_study_file(repository: Path, grid: str, told: list[str]) -> None:
    with pytest.raises(UserError) as error:
        study_with(repository, grid)
    for part in told:
        assert part in str(error.value)


def test_forms_of_a_study_file(repository: Path) -> None:
    def count(grid: str, family: str = "svm") -> int:
        return len(study_with(repository, grid, family).methods["SVM"].points)

    assert count("default") == 5
    assert count("{C: {log: [0.01, 100], num: 9}, loss: [hinge, squared_hinge]}") == 18
    assert count("{C: {log: [0.01, 100]}, sample: {draws: 60, seed: first}}") == 60
    kernels = "[{kernel: [linear], C: [1, 2]}, {kernel: [rbf], C: [1, 2], gamma: [0.1, 1]}]"
    assert count(kernels, "ksvm") == 6
