"""The competitors of bench_peers.py: each trains and tests on the same folds and says how it went.

All see the same documents, tokens joined by single spaces, and make of them the unigrams and
bigrams of the training documents, present or absent (fastText and Vowpal Wabbit hash theirs). A
grid of NBSVM is alpha x C x beta at one solver tolerance. One core each.
"""

import itertools
import logging
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC

from clocks import Stopwatch, solver_clock
from textbaselines.models.registry import METHODS
from textbaselines.study.folds import OUTER, divisions
from textbaselines.study.grids import expand
from textbaselines.study.tasks import Task
from textbaselines.text.counts import count_ngrams
from textbaselines.text.features import fold_features
from textbaselines.text.tokens import Tokens, encode
from textbaselines.text.vocabulary import fit_vocabulary
from textbaselines.training.result_tables import Results
from textbaselines.training.train import train

GRID = {"alpha": (0.5, 1.0), "C": (0.1, 1.0, 10.0), "beta": (0.25, 0.5, 0.75, 1.0)}
ALPHAS = tuple(float(f"{alpha:.4g}") for alpha in np.geomspace(0.01, 10, 20))
INNER = 5
FASTTEXT_EPOCHS = 25
VOWPAL_WABBIT_PASSES = 20

Accuracies = dict[tuple[float, ...], float]


@dataclass(frozen=True)
class Case:
    """One data set with its folds.

    ``documents`` has the columns id, text (tokens joined by spaces) and label; ``folds`` and
    ``inner`` are the project's tables of folds and of inner folds, of one repeat.
    """

    name: str
    documents: pd.DataFrame
    folds: pd.DataFrame
    inner: pd.DataFrame
    tolerance: float

    @property
    def codes(self) -> NDArray[np.int64]:
        """1 for the positive class, else 0; shape (n,)."""
        return (self.documents["label"] == self.classes[0]).to_numpy().astype(np.int64)

    @property
    def classes(self) -> list[str]:
        """The positive class first."""
        names = sorted(self.documents["label"].unique())
        return ["pos", "neg"] if set(names) == {"pos", "neg"} else names[::-1]

    def splits(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Training and test rows of each fold."""
        return [
            (np.flatnonzero(division.training), np.flatnonzero(division.test))
            for division in divisions(self.folds, self.documents["id"].to_list())
        ]


@dataclass(frozen=True)
class Outcome:
    """What a competitor took and reached.

    ``seconds`` on the wall and ``cpu`` of the processor are of the whole of ``fits`` trainings of
    one fold and one configuration each; where only ``measured`` of them were run they are scaled
    from these. ``accuracies`` has the test accuracy over all folds' documents by configuration.
    """

    seconds: float
    cpu: float
    fits: int
    measured: int
    accuracies: Accuracies
    solver_seconds: float | None = None
    inner: dict[str, float] = field(default_factory=dict)


def this_project(case: Case, whole: bool) -> Outcome:
    """Encode, count, fit vocabularies and train the grid, as the rules do."""
    points = _points("nbsvm", {"tol": case.tolerance}, GRID)
    with solver_clock() as clock, Stopwatch() as watch:
        scores = _train(case, "nbsvm", points, nested=False).scores
    names = {point["point"]: tuple(point["params"][axis] for axis in GRID) for point in points}
    sums = scores.groupby("point")[["correct", "n_test"]].sum()
    accuracies = {names[point]: row["correct"] / row["n_test"] for point, row in sums.iterrows()}
    return Outcome(watch.seconds, watch.cpu, len(scores), len(scores), accuracies, clock.cpu)


class PlainNBSVM(ClassifierMixin, BaseEstimator):
    """NBSVM as one would write it for scikit-learn; classes 0 and 1."""

    def __init__(
        self, alpha: float = 1.0, C: float = 1.0, beta: float = 0.25, tol: float = 1e-4
    ) -> None:
        self.alpha, self.C, self.beta, self.tol = alpha, C, beta, tol

    def fit(self, X: Any, y: NDArray[np.int64]) -> "PlainNBSVM":
        """Train on a sparse X of shape (documents, features)."""
        self.classes_ = np.unique(y)
        p = np.asarray(X[y == 1].sum(axis=0)).ravel() + self.alpha
        q = np.asarray(X[y == 0].sum(axis=0)).ravel() + self.alpha
        r = np.log(p / p.sum()) - np.log(q / q.sum())
        solver = LinearSVC(
            C=self.C, tol=self.tol, dual=True, fit_intercept=False, random_state=0, max_iter=1000
        )
        w = solver.fit(X.multiply(r).tocsr(), y).coef_[0]
        self.coef_ = r * ((1 - self.beta) * np.abs(w).mean() + self.beta * w)
        return self

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return 0 or 1 for each row."""
        return (X @ self.coef_ > 0).astype(np.int64)


def grid_search(case: Case, whole: bool) -> Outcome:
    """GridSearchCV over the pipeline, which counts anew for every configuration and fold.

    Unless ``whole``, one beta is run and the time multiplied by the number of betas: to the
    pipeline each is a fit like any other.
    """
    grid = GRID if whole else {**GRID, "beta": GRID["beta"][:1]}
    return _grid_search(case, grid, memory=None)


def grid_search_with_memory(case: Case, whole: bool) -> Outcome:
    """GridSearchCV over the pipeline with ``memory=``: a fold's counts are cached on disk."""
    with tempfile.TemporaryDirectory() as memory:
        return _grid_search(case, GRID, memory=memory)


def _grid_search(case: Case, grid: Mapping[str, tuple[float, ...]], memory: str | None) -> Outcome:
    splits = case.splits()
    pipeline = Pipeline(
        [("counts", _vectorizer()), ("nbsvm", PlainNBSVM(tol=case.tolerance))], memory=memory
    )
    search = GridSearchCV(
        pipeline,
        {f"nbsvm__{axis}": list(values) for axis, values in grid.items()},
        scoring="accuracy",
        cv=splits,
        refit=False,
        error_score="raise",
    )
    texts = case.documents["text"].to_list()
    with solver_clock() as clock, Stopwatch() as watch:
        search.fit(texts, case.codes)
    points = len(list(itertools.product(*GRID.values())))
    measured = len(search.cv_results_["params"])
    scale = points / measured
    return Outcome(
        watch.seconds * scale,
        watch.cpu * scale,
        points * len(splits),
        measured * len(splits),
        _accuracies(search, [f"nbsvm__{axis}" for axis in grid], splits),
        clock.cpu * scale,
    )


def liblinear_alone(case: Case, whole: bool) -> Outcome:
    """LIBLINEAR's own binding on ready features: each fold's matrix once for each alpha, all C.

    The features are not counted in: this is the floor of a grid by LIBLINEAR's own program.
    """
    from liblinear.liblinearutil import parameter, problem
    from liblinear.liblinearutil import train as train_liblinear
    from scipy.sparse import csr_matrix

    tokens = _tokens(case)
    counts = count_ngrams(tokens, 1, 2)
    codes = case.codes
    watch, fits, right, tested = Stopwatch(), 0, {}, 0
    for division in divisions(case.folds, tokens.documents):
        vocabulary = fit_vocabulary(tokens, division.training, "drop", 1)
        features = fold_features(counts, vocabulary, division.training, division.test, "binary")
        training, truth = codes[division.training], codes[division.test]
        tested += len(truth)
        sums = np.vstack([features.training.T @ (training == code) for code in (0, 1)])
        for alpha in GRID["alpha"]:
            logs = np.log((sums + alpha) / (sums + alpha).sum(axis=1, keepdims=True))
            ratio = logs[1] - logs[0]
            scaled = csr_matrix(features.training)
            scaled.data = scaled.data * ratio[scaled.indices]
            with watch:
                ready = problem(2.0 * training - 1.0, scaled)
            for C in GRID["C"]:
                with watch:
                    options = parameter(f"-s 1 -c {C!r} -e {case.tolerance!r} -B -1 -q")
                    model = train_liblinear(ready, options)
                fits += 1
                sign = 1 if model.get_labels()[0] == 1 else -1
                w = sign * np.ctypeslib.as_array(model.w, (scaled.shape[1],)).copy()
                for beta in GRID["beta"]:
                    weights = ratio * ((1 - beta) * np.abs(w).mean() + beta * w)
                    correct = int(np.sum((features.test @ weights > 0) == truth))
                    key = (alpha, C, beta)
                    right[key] = right.get(key, 0) + correct
    accuracies = {key: correct / tested for key, correct in right.items()}
    return Outcome(watch.seconds, watch.cpu, fits, fits, accuracies, watch.cpu)


def fasttext(case: Case, whole: bool) -> Outcome:
    """FastText with bigrams, one configuration: its reading, training and testing of each fold."""
    from fasttext import FastText

    FastText.eprint = lambda *_: None

    def fold(training: Path, test: Path) -> float:
        model = FastText.train_supervised(
            input=str(training),
            wordNgrams=2,
            epoch=FASTTEXT_EPOCHS,
            thread=1,
            seed=1,
            verbose=0,
        )
        return float(model.test(str(test))[1])

    return _by_files(case, fold, lambda label, text: f"__label__{label} {text}\n")


def vowpal_wabbit(case: Case, whole: bool) -> Outcome:
    """Vowpal Wabbit with bigrams, one configuration: its reading, training and testing."""
    from vowpalwabbit import Workspace

    def fold(training: Path, test: Path) -> float:
        model, cache = training.with_suffix(".model"), training.with_suffix(".cache")
        predictions = test.with_suffix(".predictions")
        common = "--quiet --binary --no_stdin"
        Workspace(
            f"{common} -d {training} --loss_function logistic --ngram 2 -b 22 -f {model} "
            f"--passes {VOWPAL_WABBIT_PASSES} --holdout_off -k --cache_file {cache}"
        ).finish()
        Workspace(f"{common} -t -d {test} -i {model} -p {predictions}").finish()
        predicted = np.loadtxt(predictions)
        truth = np.array([float(line.split(" ", 1)[0]) for line in test.open()])
        return float(np.mean(predicted == truth))

    # ":" and "|" are Vowpal Wabbit's own marks.
    marks = str.maketrans({":": "<colon>", "|": "<bar>"})
    return _by_files(case, fold, lambda label, text: f"{2 * label - 1} | {text.translate(marks)}\n")


def _by_files(
    case: Case, fold: Callable[[Path, Path], float], line: Callable[[int, str], str]
) -> Outcome:
    lines = np.array(
        [line(code, text) for code, text in zip(case.codes, case.documents["text"], strict=True)],
        dtype=object,
    )
    watch, right, tested = Stopwatch(), 0.0, 0
    splits = case.splits()
    with tempfile.TemporaryDirectory() as folder:
        for number, (training, test) in enumerate(splits):
            # Sorted by class as the documents come, an online learner would see one class first.
            shuffled = np.random.default_rng(number).permutation(training)
            paths = []
            for name, rows in (("training", shuffled), ("test", test)):
                paths.append(Path(folder) / f"{name}-{number}.txt")
                paths[-1].write_text("".join(lines[rows]), encoding="utf-8")
            with watch:
                accuracy = fold(*paths)
            right += accuracy * len(test)
            tested += len(test)
    return Outcome(watch.seconds, watch.cpu, len(splits), len(splits), {(): right / tested})


def naive_bayes(case: Case, whole: bool) -> Outcome:
    """Encode, count, fit vocabularies and train all alphas on all inner folds, as the rules do.

    Every alpha is trained on every outer fold besides, and the choice made.
    """
    points = _points("mnb", {}, {"alpha": ALPHAS})
    with Stopwatch() as watch:
        results = _train(case, "mnb", points, nested=True)
    alphas = {point["point"]: point["params"]["alpha"] for point in points}
    found = {
        f"{row.fold} {row.inner} {alphas[row.point]!r}": row.accuracy
        for row in results.inner_scores.itertuples()
    }
    fits = len(results.inner_scores) + len(results.scores)
    return Outcome(watch.seconds, watch.cpu, fits, fits, {}, inner=found)


def naive_bayes_grid_search(case: Case, whole: bool) -> Outcome:
    """GridSearchCV over counting and MultinomialNB, for each outer fold over its inner folds.

    Unless ``whole``, two alphas on two outer folds are run and the time is scaled: every fit
    counts anew and takes as long.
    """
    alphas = ALPHAS if whole else (ALPHAS[0], ALPHAS[-1])
    texts, codes = np.array(case.documents["text"], dtype=object), case.codes
    parts: dict[int, list[tuple[NDArray[np.intp], NDArray[np.intp]]]] = {}
    for division in divisions(case.folds, case.documents["id"].to_list(), case.inner):
        if division.inner != OUTER:
            rows = np.flatnonzero(division.training), np.flatnonzero(division.test)
            parts.setdefault(division.fold, []).append(rows)
    watch, found = Stopwatch(), {}
    for outer in list(parts) if whole else list(parts)[:2]:
        search = GridSearchCV(
            Pipeline([("counts", _vectorizer()), ("mnb", MultinomialNB())]),
            {"mnb__alpha": list(alphas)},
            scoring="accuracy",
            cv=parts[outer],
            refit=False,
            error_score="raise",
        )
        with watch:
            search.fit(texts, codes)
        for place, params in enumerate(search.cv_results_["params"]):
            for inner in range(len(parts[outer])):
                key = f"{outer} {inner} {params['mnb__alpha']!r}"
                found[key] = float(search.cv_results_[f"split{inner}_test_score"][place])
    fits = len(ALPHAS) * sum(map(len, parts.values()))
    scale = fits / len(found)
    return Outcome(watch.seconds * scale, watch.cpu * scale, fits, len(found), {}, inner=found)


COMPETITORS: dict[str, tuple[str, Callable[[Case, bool], Outcome]]] = {
    "this": ("textbaselines", this_project),
    "plain": ("GridSearchCV, plain pipeline", grid_search),
    "memory": ("GridSearchCV, memory=", grid_search_with_memory),
    "liblinear": ("LIBLINEAR's binding, features ready", liblinear_alone),
    "fasttext": (f"fastText, {FASTTEXT_EPOCHS} epochs", fasttext),
    "vw": (f"Vowpal Wabbit, {VOWPAL_WABBIT_PASSES} passes", vowpal_wabbit),
    "nb-this": ("textbaselines", naive_bayes),
    "nb-plain": ("GridSearchCV, plain pipeline", naive_bayes_grid_search),
}


def _vectorizer() -> CountVectorizer:
    return CountVectorizer(
        tokenizer=str.split, token_pattern=None, lowercase=False, ngram_range=(1, 2), binary=True
    )


def _accuracies(
    search: GridSearchCV, axes: list[str], splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]]
) -> Accuracies:
    sizes = np.array([len(test) for _, test in splits])
    scores = np.array(
        [search.cv_results_[f"split{fold}_test_score"] for fold in range(len(splits))]
    )
    pooled = sizes @ scores / sizes.sum()
    return {
        tuple(params[axis] for axis in axes): float(accuracy)
        for params, accuracy in zip(search.cv_results_["params"], pooled, strict=True)
    }


def _points(
    family: str, options: Mapping[str, Any], grid: Mapping[str, tuple[float, ...]]
) -> list[dict[str, Any]]:
    known = METHODS[family]
    axes = {axis: list(values) for axis, values in grid.items()}
    points = expand(family, known.parameters, known.defaults, options, None, axes, family, family)
    return [vars(point) for point in points]


def _tokens(case: Case) -> Tokens:
    return encode(case.documents["id"].to_list(), map(str.split, case.documents["text"]))


def _train(case: Case, family: str, points: list[dict[str, Any]], *, nested: bool) -> Results:
    tokens = _tokens(case)
    vocabularies = {
        division.key: fit_vocabulary(tokens, division.training, "drop", 1)
        for division in divisions(case.folds, tokens.documents, case.inner if nested else None)
    }
    task = Task(
        dataset=case.name,
        representation="bi",
        method=family,
        family=family,
        classes=case.classes,
        weighting="binary",
        scope="training",
        reduction=None,
        points=points,
        chooses=nested,
        details={},
    )
    corpus = case.documents[["id", "label"]].assign(rating=np.nan)
    counts = count_ngrams(tokens, 1, 2)
    log = logging.getLogger("bench")
    (trained,) = train([task], counts, vocabularies, case.folds, case.inner, corpus, 1, log)
    return trained.results
