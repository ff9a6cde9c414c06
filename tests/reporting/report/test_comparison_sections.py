"""The tests of the declared comparisons side by side."""

from pathlib import Path

import pandas as pd

from textbaselines.reporting.report.blocks import Results, Sheet
from textbaselines.reporting.report.comparison_sections import difference

STUDY = {
    "name": "s",
    "title": "A study",
    "control": "A-uni",
    "contrasts_declared": True,
    "contrasts": [["B-uni", "A-uni"]],
    "datasets": [
        {"name": "d", "title": "First", "protocol": "10-fold cross-validation"},
        {"name": "e", "title": "Second", "protocol": "official split"},
    ],
    "representations": [{"name": "uni", "title": "uni"}],
    "methods": [{"name": "A", "title": "A"}, {"name": "B", "title": "B"}],
}
SAME = {
    "a": "B-uni",
    "b": "A-uni",
    "selection_a": "fixed",
    "selection_b": "fixed",
    "difference_points": -0.5,
    "bootstrap_low_points": -0.9,
    "bootstrap_high_points": 0.1,
    "cohens_g": -0.0625,
    "standardised_difference": -0.03,
    "p_holm": 0.3,
    "p_holm_study": 0.6,
    "outcome": "not better",
}
FOLDS = {
    "dataset": "d",
    "t_low_points": -1.0,
    "t_high_points": 0.0,
    "t_p": 0.3,
    "mcnemar_p": 0.0001,
    "mcnemar_approximate": True,
    "odds_ratio": 0.78,
    "test": "corrected resampled t",
    "p": 0.3,
}
SPLIT = {
    "dataset": "e",
    "mcnemar_p": 0.2,
    "mcnemar_approximate": False,
    "odds_ratio": float("inf"),
    "test": "exact McNemar",
    "p": 0.2,
}


def test_every_test_with_its_effect_sizes(tmp_path: Path) -> None:
    file = "significance/contrasts.csv"
    (tmp_path / file).parent.mkdir(parents=True)
    pd.DataFrame([SAME | FOLDS, SAME | SPLIT]).to_csv(tmp_path / file, index=False)
    section = difference(Results(tmp_path, frozenset({file})), STUDY)
    declared, tests, _ = section.blocks
    assert isinstance(declared, Sheet)
    assert declared.table.title == "Against the control, A-uni"
    assert isinstance(tests, Sheet)
    start = ["B-uni − A-uni"]
    common = ["−0.50", "−0.90 to +0.10"]
    assert [[cell.text for cell in row] for row in tests.table.rows] == [
        [
            *start,
            "First",
            *common,
            "0.300",
            "<0.001 ≈",
            "0.300",
            "0.600",
            "−0.062",
            "0.78",
            "−0.030",
        ],
        [*start, "Second", *common, "–", "0.200", "0.300", "0.600", "−0.062", "inf", "−0.030"],
    ]
    assert tests.sources[0].file == file


def test_comparisons_without_a_result_are_left_out_with_the_reason(tmp_path: Path) -> None:
    file = "significance/contrasts.csv"
    (tmp_path / file).parent.mkdir(parents=True)
    results = Results(tmp_path, frozenset({file}))
    failed = SAME | FOLDS | {"p": float("nan"), "failure": "B-uni: too large", "outcome": "failed"}
    pd.DataFrame([failed]).to_csv(tmp_path / file, index=False)
    (words,) = difference(results, STUDY).blocks
    assert words.sentences == ("No comparison could be tested: B-uni: too large.",)
    pd.DataFrame([failed]).iloc[:0].to_csv(tmp_path / file, index=False)
    section = difference(results, STUDY)
    assert (section.blocks, section.absent) == (
        (),
        "The study has one row: nothing to compare.",
    )
