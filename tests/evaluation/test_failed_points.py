"""Failed grid points are found in the files of a study's runs, with how often and why."""

from pathlib import Path

import pandas as pd

from stored_runs import store_run
from textbaselines.core.storage import read_json, write_json, write_parquet
from textbaselines.evaluation.failed_points import FAILED_COLUMNS, failed_points, failure_lines

STUDY = {"name": "s", "runs": [["d", "uni", "A"], ["d", "uni", "B"], ["d", "uni", "C"]]}


def write_run(results: Path, method: str, failures: dict, inner: dict) -> None:
    folder = results / "s" / "runs" / "d" / "uni" / method
    points = [{"point": point, "params": {"C": place}} for place, point in enumerate(failures)]
    write_json(folder / "run.json", {"points": points})
    for name, found in (("scores", failures), ("inner_scores", inner)):
        rows = [(point, reason) for point, reasons in found.items() for reason in reasons]
        frame = pd.DataFrame(rows, columns=["point", "failure"]).astype("str")
        frame["failure"] = pd.array([reason for _, reason in rows], dtype="str")
        write_parquet(folder / f"{name}.parquet", frame)
    store_run(folder)


def test_failed_points_are_counted_on_folds_and_inner_folds(tmp_path: Path) -> None:
    write_run(tmp_path, "A", {"p": [None, None], "q": [None, "too large"]}, {"q": ["too large"]})
    write_run(tmp_path, "B", {"p": [None, None]}, {})
    # C is in a batch that is not trained yet.
    index = tmp_path / "s" / "runs" / "batches.json"
    batches = read_json(index)
    batches["d"]["uni-C"] = [["uni", "C"]]
    write_json(index, batches)
    failed = failed_points(tmp_path, STUDY)
    assert failed.columns.tolist() == list(FAILED_COLUMNS)
    assert failed.values.tolist() == [["d", "uni", "A", "q", '{"C":1}', 2, 3, "too large"]]
    assert failure_lines(failed) == [
        'A-uni on d, {"C":1}: failed in 2 of 3 fits: too large',
    ]
    write_run(tmp_path, "C", {"p": [None]}, {"p": ["only on an inner fold"]})
    assert failed_points(tmp_path, STUDY)["reason"].tolist() == [
        "too large",
        "only on an inner fold",
    ]


def test_many_failed_points_are_a_few_lines() -> None:
    row = ("d", "uni", "A", "q", "{}", 1, 1, "no")
    lines = failure_lines(pd.DataFrame([row] * 25, columns=list(FAILED_COLUMNS)))
    assert len(lines) == 11
    assert lines[-1] == "and 15 more"
