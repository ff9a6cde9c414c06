"""Costs: medians by hand, joined to their own fits, failed fits left out."""

import math
from pathlib import Path

import pandas as pd
import pytest

from stored_runs import store_run
from textbaselines.core.errors import UserError
from textbaselines.core.storage import write_json
from textbaselines.evaluation.costs import costs_of_runs, model_bytes
from textbaselines.evaluation.runs import Run

RUN = {
    "dataset": "d",
    "representation": "bi",
    "method": "M",
    "family": "svm",
    "classes": ["a", "b", "c"],
}


def stored(root: Path) -> Run:
    folder = root / "runs" / "d" / "bi" / "M"
    folder.mkdir(parents=True)
    write_json(folder / "run.json", RUN)
    key = {"point": ["a", "a", "b", "b"], "repeat": [0] * 4, "fold": [0, 1, 0, 1]}
    pd.DataFrame(
        {
            **key,
            "n_test": [10, 20, 10, 20],
            "n_features": [7, 9, 7, 99],
            "failure": [None, None, None, "no memory"],
        }
    ).to_parquet(folder / "scores.parquet")
    pd.DataFrame(
        {
            **key,
            "fit_seconds": [1.0, 2.0, 6.0, 100.0],
            "predict_seconds": [1e-4, 2e-3, 3e-4, 100.0],
        }
        # Another order of rows: they are joined by point, repeat and fold.
    ).iloc[::-1].to_parquet(folder / "timings.parquet")
    return store_run(folder)


def measured(root: Path, text: str) -> Path:
    folder = root / "benchmarks"
    (folder / "d").mkdir(parents=True)
    (folder / "d" / "bi-M.tsv").write_text(text)
    return folder


def test_medians_over_the_fits_that_did_not_fail(tmp_path: Path) -> None:
    # Beside another task of the batch.
    lines = ["representation\tmethod\ts\tmax_rss", "bi\tM\t7.5\t123.4", "bi\tN\t9\t9", ""]
    benchmarks = measured(tmp_path, "\n".join(lines))
    (row,) = costs_of_runs([stored(tmp_path)], benchmarks).to_dict("records")
    assert row["fits"] == 3
    assert row["fit_seconds"] == 2.0
    # 10, 100 and 30 microseconds a document.
    assert row["predict_microseconds"] == pytest.approx(30)
    assert (row["peak_mebibytes"], row["job_seconds"]) == (123.4, 7.5)
    # Of the three fits: 7, 9 and 7 features; three classes of 7 weights and an intercept.
    assert row["features"] == 7
    assert row["model_bytes"] == 8 * 3 * (7 + 1)


def test_a_job_too_short_to_be_measured(tmp_path: Path) -> None:
    text = "representation\tmethod\ts\tmax_rss\nbi\tM\t0.1\t-\n"
    (row,) = costs_of_runs([stored(tmp_path)], measured(tmp_path, text)).to_dict("records")
    assert math.isnan(row["peak_mebibytes"])


def test_another_file_is_refused(tmp_path: Path) -> None:
    benchmarks = measured(tmp_path, "a\tb\n1\t2\n")
    run = stored(tmp_path)
    with pytest.raises(UserError, match="not a benchmark file"):
        costs_of_runs([run], benchmarks)
    (benchmarks / "d" / "bi-M.tsv").write_text("representation\tmethod\ts\tmax_rss\n")
    with pytest.raises(UserError, match="no measure of a task"):
        costs_of_runs([run], benchmarks)


def test_two_classes_share_one_list_of_weights() -> None:
    assert model_bytes({**RUN, "classes": ["a", "b"]}, 10) == 88


def test_a_model_that_is_no_list_of_weights_has_no_size() -> None:
    assert math.isnan(model_bytes({**RUN, "family": "ksvm"}, 10))
    assert math.isnan(model_bytes(RUN, math.nan))
