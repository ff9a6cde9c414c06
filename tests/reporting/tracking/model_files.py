"""A results folder with one run and its portable model, made by hand."""

import shutil

import numpy as np
from run_files import STUDY, make_run

from stored_runs import store_run
from textbaselines.core.storage import write_json
from textbaselines.export.portable import make_model
from textbaselines.export.scorers import scorer_of
from textbaselines.models.registry import fit_grid
from textbaselines.text.counts import count_tokens
from textbaselines.text.features import fold_features
from textbaselines.text.tokenizers import tokenize_all
from textbaselines.text.tokens import encode
from textbaselines.text.vocabulary import fit_vocabulary

TEXTS = ["a warm and funny film", "a rare delight", "a cold and flat film", "a long, dull bore"]
TOKENIZER = {"family": "words"}


def make_portable(folder, alpha=1.0, dataset="cr"):
    """Save naive Bayes of four texts as the model of a dataset's run ``uni``, ``MNB``."""
    training = np.ones(len(TEXTS), dtype=bool)
    tokens = encode([str(i) for i in range(len(TEXTS))], tokenize_all(TEXTS, TOKENIZER))
    counts = count_tokens(tokens, TOKENIZER, 1, 1)
    vocabulary = fit_vocabulary(tokens, training, "unk", 1)
    features = fold_features(counts, vocabulary, training, training, "binary")
    labels = np.array([1, 1, 0, 0])
    ((_, fitted),) = fit_grid("mnb", features.training, labels, [{"alpha": alpha}], positive=1)
    description = {
        "classes": ["neg", "pos"],
        "dataset": dataset,
        "representation": "uni",
        "method": "MNB",
        "family": "mnb",
        "params": {"alpha": alpha},
        "tokenizer": TOKENIZER,
        "ngrams": [1, 1],
        "unk": {"policy": "unk", "min_count": 1},
        "weighting": "binary",
        "training": {"documents": len(TEXTS)},
        "evaluation": {"accuracy": 0.75},
    }
    scorer = scorer_of(fitted.estimator)
    make_model(description, counts, features.columns, vocabulary, features.weighting, scorer).save(
        folder
    )
    return folder


def make_results(root, *studies):
    """Write ``results`` of studies that each ran and kept one model; no store."""
    results = root / "results"
    for position, name in enumerate(studies or (STUDY["name"],)):
        study = STUDY | {"name": name, "runs": [["cr", "uni", "MNB"]]}
        study |= {"tracking": "mlflow", "tracking_uri": None}
        write_json(results / name / "study.json", study)
        if not (root / "runs").exists():
            make_run(root)
        shutil.copytree(root / "runs", results / name / "runs")
        store_run(results / name / "runs" / "cr" / "uni" / "MNB")
        make_portable(results / name / "models" / "cr" / "best", alpha=1.0 + position)
    shutil.rmtree(root / "runs")
    return results
