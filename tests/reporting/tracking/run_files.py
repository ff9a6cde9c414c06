"""Run folders, cells and stores made by hand, for the tests of tracking."""

import json

import pandas as pd
from mlflow import MlflowClient

from stored_runs import store_run
from textbaselines.core.storage import write_json, write_parquet
from textbaselines.evaluation.runs import Run
from textbaselines.reporting.tracking.writer import log_runs

STUDY = {"name": "small", "title": "A small study"}
DIGEST = "c0ffee" * 10 + "abcd"
POINTS = [
    {"point": "aaaaaaaaaaaa", "params": {"alpha": 1.0}, "origin": ["fixed", "grid"]},
    {"point": "bbbbbbbbbbbb", "params": {"alpha": 0.01}, "origin": ["grid"]},
]
# correct of 10 for (repeat, fold): the draws' accuracies are (8 + 9) / 20 and (7 + 6) / 20
CORRECT = {(0, 0): 8, (0, 1): 9, (1, 0): 7, (1, 1): 6}


def make_run(
    root, dataset="cr", method="MNB", points=POINTS, failed=(), worse=int, representation="uni"
):
    """Write a run folder; ``worse(place)`` more documents of each fold are wrong at a point."""
    folder = root / "runs" / dataset / representation / method
    scores, timings = [], []
    for place, point in enumerate(points):
        for (repeat, fold), correct in CORRECT.items():
            fold_failed = point["point"] in failed
            base = {"point": point["point"], "repeat": repeat, "fold": fold}
            scores.append(
                base
                | {
                    "n_train": 10,
                    "n_test": 10,
                    "n_features": 50 + place,
                    "correct": None if fold_failed else correct - worse(place),
                    "accuracy": float("nan") if fold_failed else (correct - worse(place)) / 10,
                    "macro_f1": float("nan")
                    if fold_failed
                    else (correct - worse(place)) / 10 - 0.05,
                    "rmse": float("nan"),
                    **_by_class(0 if fold_failed else correct - worse(place)),
                    "log_loss": float("nan"),
                    "converged": True,
                    "n_iter": 1,
                    "failure": "alpha = 0 is refused" if fold_failed else None,
                }
            )
            start = 1000.5 + 10 * place + 2 * repeat + fold
            seconds = {"fit_seconds": 0.25, "predict_seconds": 0.5, "threads": 1}
            timings.append(base | seconds | {"started": start, "ended": start + 0.75})
    write_json(
        folder / "run.json",
        {
            "dataset": dataset,
            "representation": representation,
            "method": method,
            "family": "mnb",
            "classes": ["pos", "neg"],
            "positive": "pos",
            "protocol": {"kind": "cv", "folds": 2, "repeats": 2, "grouped": False, "inner": 0},
            "content_digest": DIGEST,
            "points": points,
        },
    )
    frame = pd.DataFrame(scores)
    frame["failure"] = frame["failure"].astype("str" if failed else "object")
    write_parquet(folder / "scores.parquet", frame)
    write_parquet(folder / "timings.parquet", pd.DataFrame(timings))
    predictions = make_predictions(points, failed, worse)
    write_parquet(folder / "predictions.parquet", predictions)
    # Without inner folds the tables are there and have no rows.
    write_parquet(folder / "inner_scores.parquet", frame.iloc[:0].assign(inner=0))
    write_parquet(folder / "inner_predictions.parquet", predictions.iloc[:0].assign(inner=0))
    return folder


def _by_class(correct):
    """Counts of ten documents, five of each class, as :func:`make_predictions` has them."""
    right = [min(5, max(0, correct - 5)), min(5, correct)]
    return {
        "train_by_class": [5, 5],
        "test_by_class": [5, 5],
        "predicted_by_class": [right[0] + 5 - right[1], right[1] + 5 - right[0]],
        "correct_by_class": right,
    }


def add_inner_folds(folder, correct):
    """Give a run folder inner folds; ``correct`` of 8 for each point in each (repeat, fold)."""
    run = json.loads((folder / "run.json").read_text())
    run["protocol"]["inner"] = 1
    write_json(folder / "run.json", run)
    rows = [
        {
            "point": point["point"],
            "repeat": repeat,
            "fold": fold,
            "inner": 0,
            "n_test": 8,
            "correct": correct[point["point"]][place],
            "failure": None,
        }
        for point in run["points"]
        for place, (repeat, fold) in enumerate(CORRECT)
    ]
    write_parquet(folder / "inner_scores.parquet", pd.DataFrame(rows))


def make_predictions(points, failed=(), worse=int):
    """Ten documents, five of each class; the wrong ones are the first of their fold, all "neg"."""
    rows = [
        {
            "point": point["point"],
            "repeat": repeat,
            "fold": fold,
            "id": f"d{fold}-{document}",
            "label": "pos" if document < 5 else "neg",
            "predicted": ("pos" if document < 5 else "neg")
            if document >= 10 - (correct - worse(place))
            else ("neg" if document < 5 else "pos"),
            "score": 0.5 - document,
            "probability": 0.25,
        }
        for place, point in enumerate(points)
        if point["point"] not in failed
        for (repeat, fold), correct in CORRECT.items()
        for document in range(10)
    ]
    columns = ["point", "repeat", "fold", "id", "label", "predicted", "score", "probability"]
    return pd.DataFrame(rows, columns=columns)


def make_cells(datasets=("cr",), method="MNB", point=POINTS[0]):
    return pd.DataFrame(
        {
            "dataset": dataset,
            "representation": "uni",
            "method": method,
            "selection": selection,
            "point": point["point"],
            "params": json.dumps(point["params"]),
            "accuracy": 0.75,
            "sd": 0.1414,
            "draws": 2,
            "documents": 20,
            "low": 0.5,
            "high": 0.9,
            "macro_f1": 0.7,
            "rmse": 0.4,
            "above_majority": True,
            "converged": True,
        }
        for dataset in datasets
        for selection in ("fixed", "oracle")
    )


def log_to(root, folders, cells, **more):
    return log_runs(
        [one if isinstance(one, Run) else store_run(one) for one in folders],
        cells,
        more.pop("study", STUDY),
        database=root / "mlflow.db",
        artifact_root=root / "artifacts",
        receipt=more.pop("receipt", root / "receipt.json"),
        **more,
    )


def client_of(root):
    return MlflowClient(tracking_uri=f"sqlite:///{root / 'mlflow.db'}")


def runs_of(root, experiment):
    client = client_of(root)
    found = client.get_experiment_by_name(experiment)
    return list(client.search_runs([found.experiment_id], max_results=1000))


def by_point(root, experiment="small-grid-cr"):
    return {run.data.tags["point"]: run for run in runs_of(root, experiment)}
