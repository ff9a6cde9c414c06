"""Where results lie: every path of the workflow, for its rules, scripts and commands.

``results/raw`` and ``results/corpora`` serve all studies; everything else of a study is in
``results/<study>``. A rule gives a name with its wildcard, such as ``"{study}"``, and so gets the
pattern of its files.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from textbaselines.core.errors import UserError

SHARED = ("raw", "corpora", "mlflow-artifacts", "benchmarks")
"""What lies in the folder of results beside the studies: no study may have such a name."""

FORMS = (".svg", "-narrow.svg", ".png", ".txt")
"""The files of a figure: for a page and for a phone, as pixels, and in words."""

RECORDS = "runs.json"
"""The file of a batch with the record of each run; it is written last."""

RUN_TABLES = ("scores", "predictions", "inner_scores", "inner_predictions", "timings")
"""What a run has besides its record; see :class:`~textbaselines.training.result_tables.Results`."""

BATCH_FILES = (RECORDS, *(f"{name}.parquet" for name in RUN_TABLES))
"""The files of a batch."""

BATCHES = "batches.json"
"""The file that says which run is in which batch."""

SIGNIFICANCE = ("pairs", "contrasts", "ranks", "omnibus", "nemenyi", "across")
"""The tables of paired tests."""

CALIBRATION = ("calibration", "reliability", "calibration_by_length")
"""The tables of how far probabilities are calibrated."""

ANALYSES = (
    *("hard_documents", "hardness", "suspects", "confusion", "agreement"),
    *("confident_errors", "ngrams", "accuracy_by_length", "train_test_overlap"),
)
"""The tables of what is behind the numbers, of every study."""

TABLES = (
    *(("comparison", form) for form in ("csv", "md", "tex", "html", "txt")),
    *(("contrasts", form) for form in ("md", "tex", "html", "txt")),
    *(("costs", form) for form in ("csv", "md", "tex", "html")),
    *((name, "csv") for name in ("cost_front", "data", "near_duplicates")),
)
"""The tables of every study as a paper shows them: name and form."""

PAPER_TABLES = (
    *((name, "csv") for name in ("fidelity", "claims", "claim_verdicts")),
    *(("paper", form) for form in ("md", "tex", "html", "txt")),
)
"""The tables beside published numbers."""

FIGURES = (
    *("accuracy", "critical-difference", "cost-front"),
    *("reliability", "calibration-by-length", "accuracy-by-length"),
)
"""The figures of every study."""


@dataclass(frozen=True)
class Results:
    """The folder of results, with those of all studies."""

    folder: Path = Path("results")

    @property
    def raw(self) -> Path:
        """The raw files of datasets, as they were fetched."""
        return self.folder / "raw"

    def corpus(self, dataset: str) -> Path:
        """The documents of a dataset."""
        return self.folder / "corpora" / dataset / "corpus.parquet"

    def audit(self, dataset: str) -> Path:
        """What was found in the documents of a dataset."""
        return self.folder / "corpora" / dataset / "audit.json"

    @property
    def database(self) -> Path:
        """The database of the MLflow store."""
        return self.folder / "mlflow.db"

    @property
    def artifacts(self) -> Path:
        """The artifacts of the MLflow store."""
        return self.folder / "mlflow-artifacts"

    @property
    def report(self) -> Path:
        """The report of the study that ran last."""
        return self.folder / "report.html"

    def study(self, name: str) -> "StudyFolder":
        """Return the folder of a study."""
        return StudyFolder(self.folder / name)

    def studies(self) -> Iterator["StudyFolder"]:
        """Yield the studies that have results, by name."""
        for description in sorted(self.folder.glob("*/study.json")):
            yield StudyFolder(description.parent)


@dataclass(frozen=True)
class StudyFolder:
    """The results of one study, in ``results/<study>``."""

    folder: Path

    @property
    def name(self) -> str:
        """The name of the study."""
        return self.folder.name

    @property
    def results(self) -> Results:
        """The folder of results that the study is in."""
        return Results(self.folder.parent)

    @property
    def description(self) -> Path:
        """Names, titles and order of what the study has, for tables and figures."""
        return self.folder / "study.json"

    def plan(self, digest: str) -> Path:
        """What the jobs do: a file for every content of the plan."""
        return self.folder / "plans" / f"{digest}.json"

    def folds(self, dataset: str) -> Path:
        """Which documents train and which test."""
        return self.folder / "folds" / f"{dataset}.parquet"

    def inner_folds(self, dataset: str) -> Path:
        """Which training documents validate, to choose hyper-parameters."""
        return self.folder / "inner_folds" / f"{dataset}.parquet"

    def tokens(self, dataset: str, tokenizer: str) -> Path:
        """The tokens of every document."""
        return self.folder / "tokens" / dataset / f"{tokenizer}.npz"

    def counts(self, dataset: str, counts: str) -> Path:
        """The n-grams of every document; ``counts`` is ``<tokenizer>/<lowest>-<highest>``."""
        return self.folder / "counts" / dataset / counts / "matrix.npz"

    def counts_summary(self, dataset: str, counts: str) -> Path:
        """How many n-grams there are."""
        return self.folder / "counts" / dataset / counts / "summary.json"

    def vocabularies(self, dataset: str, vocabulary: str) -> Path:
        """What each fold knows; ``vocabulary`` is ``<tokenizer>/<policy>-<min_count>``."""
        return self.folder / "vocabularies" / dataset / f"{vocabulary}.npz"

    def reductions(self, dataset: str, reduced: str) -> Path:
        """Reduced coordinates of documents; ``reduced`` is ``<tokenizer>/<reduction>``."""
        return self.folder / "reductions" / dataset / f"{reduced}.npz"

    @property
    def runs(self) -> Path:
        """The runs, a folder for each dataset and batch."""
        return self.folder / "runs"

    @property
    def batches(self) -> Path:
        """Which run is in which batch."""
        return self.runs / BATCHES

    @property
    def grouped_runs(self) -> Path:
        """The same batches on folds that keep identical texts together."""
        return self.folder / "grouped_runs"

    def kept(self, dataset: str) -> Path:
        """What training jobs keep, so that a job that runs again trains only what changed."""
        return self.folder / "trained" / dataset

    def benchmark(self, stage: str, *names: str) -> Path:
        """Time and memory of the jobs of a stage; of training, of each task of a batch."""
        return self.folder / "benchmarks" / stage / Path(*names[:-1], f"{names[-1]}.tsv")

    @property
    def training_benchmarks(self) -> Path:
        """Time and memory of training: ``<dataset>/<batch>.tsv``."""
        return self.folder / "benchmarks" / "train"

    def learning_curve(self, dataset: str, representation: str) -> Path:
        """The scores on growing parts of the training documents."""
        return self.folder / "learning_curves" / dataset / f"{representation}.parquet"

    @property
    def cells(self) -> Path:
        """The cells of the tables: one per dataset, representation, method and selection."""
        return self.folder / "evaluation" / "cells.parquet"

    @property
    def selections(self) -> Path:
        """Which grid point inner folds chose, for each fold."""
        return self.folder / "evaluation" / "selections.parquet"

    @property
    def overlap(self) -> Path:
        """How many test documents stand in training, too."""
        return self.folder / "evaluation" / "overlap.parquet"

    def significance(self, table: str) -> Path:
        """A table of paired tests."""
        return self.folder / "significance" / f"{table}.csv"

    def analysis(self, table: str) -> Path:
        """A table of what is behind the numbers."""
        return self.folder / "analysis" / f"{table}.csv"

    def table(self, name: str, form: str = "csv") -> Path:
        """A table as a paper shows it, in one of its forms."""
        return self.folder / "tables" / f"{name}.{form}"

    def figure(self, name: str) -> Path:
        """A figure, without the ending; :data:`FORMS` has the endings."""
        return self.folder / "figures" / name

    def model(self, dataset: str, *names: str) -> Path:
        """The folder of a stored model: ``best``, or a representation and a method."""
        return self.folder / "models" / Path(dataset, *names)

    @property
    def models(self) -> Path:
        """The stored models."""
        return self.folder / "models"

    @property
    def report(self) -> Path:
        """The report of the study."""
        return self.folder / "report.html"

    @property
    def tracked_runs(self) -> Path:
        """Which run is which run of MLflow."""
        return self.folder / "tracking" / "runs.json"

    @property
    def tracked_models(self) -> Path:
        """Which model is which registered model of MLflow."""
        return self.folder / "tracking" / "models.json"

    def commit(self, commit: str) -> Path:
        """The cells as they were at a commit of the code."""
        return self.folder / "commits" / f"{commit}.parquet"

    def log(self, stage: str, *names: str) -> Path:
        """The log of a job."""
        return Path("logs", self.name, stage, *names[:-1], f"{names[-1]}.log")


def check_study_name(name: str, where: str) -> None:
    """Refuse a study whose folder another part of the results has.

    Raises
    ------
    UserError
    """
    if name.casefold() in SHARED:
        raise UserError(
            "a study's name that the folder of results needs itself",
            where=f"{where}, key name",
            found=name,
            expected="another name than " + ", ".join(SHARED),
        )
