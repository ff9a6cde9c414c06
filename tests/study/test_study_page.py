"""The example of docs/studies.md is a study, with as many points as it says."""

import re
from pathlib import Path

import yaml

from textbaselines.core.validation import load_yaml
from textbaselines.study.definition import make_study


def test_the_example_is_a_study(repository: Path) -> None:
    page = (repository / "docs" / "studies.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    config = load_yaml(repository / "config" / "config.yaml")
    study = make_study(
        {**config, **yaml.safe_load(example)},
        "docs/studies.md",
        repository,
    )
    points = {
        name: [point for point in method.points if "grid" in point.origin]
        for name, method in study.methods.items()
    }
    counts = {name: len(grid) for name, grid in points.items()}
    assert counts == {"SVM": 10, "NBSVM": 45, "KSVM": 18, "NBLR": 60, "MNB": 5, "CNB": 0}
    assert len(study.methods["NBLR"].points) == 61
    # C = 1 and beta = 0.25 are values of the ranges, so the fixed point lies on the grid.
    assert len(study.methods["NBSVM"].points) == 45
    assert len(study.methods["KSVM"].points) == 18
    gammas = {p.params["gamma"] for p in points["KSVM"] if p.params["kernel"] == "rbf"}
    assert gammas == {0.01, 0.1, 1}
