"""Measure the tracking store on made-up runs of ten folds: logging, logging again, a page.

Prints a Markdown table. Nothing outside a temporary folder is touched.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from mlflow import MlflowClient

from textbaselines.core import storage
from textbaselines.evaluation.runs import Run, write_batch, write_index
from textbaselines.reporting.tracking.writer import log_runs

FOLDS = 10
DOCUMENTS = 300
RUN = ("made-up", "bi", "NBSVM")
STUDY = {"name": "bench", "title": "Made-up runs"}


def make_run(folder: Path, points: int) -> None:
    """Write a run folder with a grid of so many points."""
    random = np.random.default_rng(0)
    grid = [
        {
            "point": f"{number:012x}",
            "params": {"C": float(f"{10 ** random.uniform(-3, 3):.6g}"), "beta": number / points},
            "origin": ["fixed", "grid"] if number == 0 else ["grid"],
        }
        for number in range(points)
    ]
    n = points * FOLDS
    correct = random.integers(200, DOCUMENTS, n)
    fits = pd.DataFrame(
        {
            "point": np.repeat([point["point"] for point in grid], FOLDS),
            "repeat": 0,
            "fold": np.tile(np.arange(FOLDS), points),
        }
    )
    scores = fits.assign(
        n_train=9 * DOCUMENTS,
        n_test=DOCUMENTS,
        n_features=20_000,
        correct=correct,
        accuracy=correct / DOCUMENTS,
        macro_f1=correct / DOCUMENTS - 0.01,
        train_by_class=[[9 * DOCUMENTS // 2] * 2] * n,
        test_by_class=[[DOCUMENTS // 2] * 2] * n,
        predicted_by_class=[[DOCUMENTS // 2] * 2] * n,
        correct_by_class=[[one // 2, one - one // 2] for one in correct],
        log_loss=0.5,
        rmse=float("nan"),
        converged=True,
        failure=pd.array([None] * n, dtype="str"),
    )
    began = 1.7e9 + np.arange(n)
    timings = fits.assign(
        fit_seconds=0.1, predict_seconds=0.01, started=began, ended=began + 0.11, threads=1
    )
    tested = FOLDS * DOCUMENTS
    predictions = pd.DataFrame(
        {
            "point": grid[0]["point"],
            "repeat": 0,
            "fold": np.repeat(np.arange(FOLDS), DOCUMENTS),
            "id": [f"d{number}" for number in range(tested)],
            "label": np.where(np.arange(tested) % 2 == 0, "pos", "neg"),
            "predicted": np.where(random.random(tested) < 0.5, "pos", "neg"),
            "score": random.normal(size=tested),
        }
    )
    storage.write_parquet(folder / "scores.parquet", scores)
    storage.write_parquet(folder / "timings.parquet", timings)
    storage.write_parquet(folder / "predictions.parquet", predictions)
    storage.write_parquet(folder / "inner_scores.parquet", scores.iloc[:0].assign(inner=0))
    storage.write_parquet(
        folder / "inner_predictions.parquet", predictions.iloc[:0].assign(inner=0)
    )
    run = {
        "protocol": {"inner": 0},
        "dataset": "made-up",
        "representation": "bi",
        "method": "NBSVM",
        "family": "nbsvm",
    }
    run |= {"classes": ["pos", "neg"], "positive": "pos", "content_digest": "0" * 64}
    storage.write_json(folder / "run.json", {**run, "points": grid})


def log_once(root: Path) -> tuple[str, dict]:
    """Log the run folder of a root and return wall-clock and CPU seconds, and the receipt."""
    began, used = time.perf_counter(), time.process_time()
    receipt = log_runs(
        [Run(root / "runs" / RUN[0] / "one", *RUN[1:])],
        None,
        STUDY,
        database=root / "mlflow.db",
        artifact_root=root / "artifacts",
        receipt=root / "receipt.json",
    )
    taken, used = time.perf_counter() - began, time.process_time() - used
    return f"{taken:.1f} ({used:.1f})", receipt


def sorted_page(root: Path, experiment: str) -> float:
    """Return the seconds, median of five, that the 100 best runs of an experiment take."""
    client = MlflowClient(tracking_uri=f"sqlite:///{root / 'mlflow.db'}")
    client.search_experiments()
    taken = []
    for _ in range(5):
        began = time.perf_counter()
        page = client.search_runs(
            [experiment], order_by=["metrics.`accuracy_pct` DESC"], max_results=100
        )
        taken.append(time.perf_counter() - began)
    values = [run.data.metrics["accuracy_pct"] for run in page]
    if values != sorted(values, reverse=True):
        raise SystemExit("the page is not sorted")
    return sorted(taken)[2]


def main() -> None:
    """Measure each size and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, nargs="+", default=[200, 10_000])
    args = parser.parse_args()
    print(
        "| grid points x folds | log, s (CPU) | log again, s (CPU) | sorted page, s | store, MB |"
    )
    print("| --- | ---: | ---: | ---: | ---: |")
    for points in args.points:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            kept = root.joinpath(*RUN)
            make_run(kept, points)
            record = storage.read_json(kept / "run.json")
            write_batch(root / "runs" / RUN[0] / "one", [(record, kept)])
            write_index(root / "runs" / "batches.json", {RUN[0]: {"one": [list(RUN[1:])]}})
            first, receipt = log_once(root)
            again, second = log_once(root)
            if second["counts"]["skipped"] != points + 1:
                raise SystemExit(f"logged twice: {second['counts']}")
            page = sorted_page(root, receipt["experiments"]["bench-grid-made-up"])
            size = (root / "mlflow.db").stat().st_size / 1e6
            print(
                f"| {points:,} x {FOLDS} | {first} | {again} | {page:.3f} | {size:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
