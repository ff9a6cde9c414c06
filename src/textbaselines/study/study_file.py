"""What a study file may say: datasets, representations, methods, grids and protocol."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, Tag

from textbaselines.core.file_models import (
    AS_WRITTEN,
    BY_FORM,
    UNIQUE,
    WHOLE,
    FileModel,
    Name,
    Names,
    Positive,
    Stated,
    Text,
    Unique,
    Words,
)

Ends = Annotated[
    list[Annotated[float, Field(strict=True), AS_WRITTEN]],
    Field(min_length=2, max_length=2, title="the two ends of a range, [low, high]"),
]
Folds = Annotated[int, Field(strict=True, ge=2), WHOLE]


class TokenizerOptions(FileModel):
    """A tokenizer family and its options, which docs/text.md lists."""

    model_config = ConfigDict(extra="allow")

    family: Text = Field(
        description="words (Unicode-safe, the default), whitespace (text tokenised before), "
        "characters (scripts without spaces) or wang_manning (their readings)"
    )
    per_dataset: dict[str, dict[str, Any]] = Field(
        {}, description="options that differ for a dataset, by its name"
    )


class UnkPolicy(FileModel):
    """What becomes of words outside the training fold's vocabulary."""

    policy: Literal["drop", "unk"] = Field(
        description="drop: left out; unk: they, and training words under min_count, become <UNK> "
        "before n-grams are formed"
    )
    # Without rare training words an UNK token would never be learnt.
    min_count: Stated[Positive] = Field(
        default_factory=lambda unk: 2 if unk["policy"] == "unk" else 1,
        description="a word needs this many occurrences in the training documents; 2 without it "
        "under unk, 1 under drop",
    )


class Reduction(FileModel):
    """Coordinates of few dimensions, for methods that need dense input."""

    kind: Literal["svd"] = Field(
        description="svd: truncated singular value decomposition of the training documents"
    )
    rank: Positive = Field(description="number of coordinates")


class RepresentationOptions(FileModel):
    """How documents become features; all of it is fitted on training folds only."""

    tokenizer: Text = Field(description="a name from tokenizers")
    ngrams: list[Annotated[int, Field(strict=True, ge=1, le=5), WHOLE]] = Field(
        min_length=2,
        max_length=2,
        description="the shortest and the longest n-gram: [1, 1] unigrams, [1, 2] unigrams and "
        "bigrams",
    )
    weighting: Literal["binary", "count", "tfidf"] = Field(description="what a count becomes")
    unk: UnkPolicy = Field(
        UnkPolicy(policy="unk"),
        description="what becomes of words outside the training fold's vocabulary",
    )
    reduction: Reduction | None = Field(
        None,
        description="coordinates of few dimensions, for methods that need dense input; null for "
        "none",
    )
    datasets: Stated[Names] = Field(
        None, description="only these of the study's datasets; all without it"
    )
    scope: Literal["training", "corpus"] = Field(
        "training",
        description="training: features are the training fold's n-grams; corpus: the whole "
        "corpus's, as Wang & Manning count them (features without a training document get "
        "weight 0)",
    )


class Sample(FileModel):
    """A random sample of grid points."""

    draws: Positive = Field(description="number of draws; those drawn twice are run once")
    seed: Name = Field(description="the name of the seed")


class Range(FileModel):
    """A range of values; without num in a grid with a sample."""

    log: Stated[Ends] = Field(None, description="the ends, spaced by their logarithm")
    linear: Stated[Ends] = Field(None, description="the ends, spaced by their value")
    num: Stated[Positive] = Field(None, description="number of values with both ends")


Values = Annotated[list[Any], Field(min_length=1), UNIQUE, Unique]
Axis = Annotated[
    Annotated[Values, Tag("list")] | Annotated[Range, Tag("mapping")],
    BY_FORM,
    Field(title="a list of values, {log: [low, high], num: n} or {linear: [low, high], num: n}"),
]


class Grid(FileModel):
    """By hyper-parameter, the values of the grid; every combination is a run."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Axis]

    sample: Stated[Sample] = Field(
        None, description="how many points are drawn from the axes, and the name of their seed"
    )


class MethodOptions(FileModel):
    """A method family with fixed values, grid or both."""

    family: Text = Field(description="a name from the method registry (docs/methods/)")
    options: dict[str, Any] = Field(
        {}, description="hyper-parameters that hold for the fixed point and for every grid point"
    )
    fixed: dict[str, Any] | None = Field(
        {},
        description="hyper-parameters of the fixed point (the published values); {} for the "
        "family's defaults, null for none",
    )
    grid: Annotated[
        Annotated[Literal["default"], Tag("text")]
        | Annotated[Grid, Tag("mapping")]
        | Annotated[list[Grid], Field(min_length=1), Tag("list")],
        BY_FORM,
    ] = Field(
        Grid(),
        json_schema_extra={"default": {}},
        description="by hyper-parameter, the values of the grid, every combination a run; a list "
        "of such grids for their union; or default, the family's own grid",
    )
    representations: Stated[Names] = Field(
        None, description="only these of the study's representations; all without it"
    )


class CrossValidation(FileModel):
    """Stratified cross-validation."""

    folds: Stated[Folds] = Field(
        None,
        description="number of folds of every dataset; without it each dataset has those of its "
        "own file (10 where that states none)",
    )
    repeats: Positive = Field(1, description="how many times the folds are drawn")


class Halves(FileModel):
    """Random stratified halves, one for training."""

    repeats: Positive = Field(20, description="how many halves are drawn")


class InnerFolds(FileModel):
    """Folds of each training part, by which nested selection chooses."""

    folds: Folds = Field(5, description="number of inner folds")


class ProtocolSizes(FileModel):
    """Folds and repeats; a dataset file says which kind it uses."""

    cv: CrossValidation = Field(CrossValidation(), description="stratified cross-validation")
    halves: Halves = Field(Halves(), description="random stratified halves, one for training")
    inner: InnerFolds | None = Field(
        InnerFolds(),
        description="folds of each training part, by which nested selection chooses "
        "hyper-parameters and representations; null for no nested selection",
    )
    grouped: Literal[True, False, "both"] = Field(
        False,
        description="keep documents of identical text on one side; both: plain folds, and beside "
        "them every method's fixed point on grouped ones",
    )
    ties: Literal["majority", "last"] = Field(
        "majority",
        description="which class is predicted for documents whose scores tie, as those without "
        "known words often do; majority: the class with the most training documents, of equally "
        "frequent ones the first of the dataset file; last: the last of the dataset file, of two "
        "classes the negative one, as Wang & Manning's code has it",
    )


class Control(FileModel):
    """One row with which every other is compared."""

    control: Text = Field(description="the row that every other is compared with")


class Pair(FileModel):
    """Two rows of the tables that are compared."""

    a: Text = Field(description="a row of the tables")
    b: Text = Field(description="the row that it is compared with")


class LearningCurves(FileModel):
    """Accuracy against the number of training documents, with fixed hyper-parameters."""

    fractions: list[Annotated[float, Field(strict=True, gt=0, le=1), AS_WRITTEN]] = Field(
        [0.05, 0.1, 0.2, 0.4, 0.7, 1.0],
        min_length=2,
        description="of each fold's training documents, ascending",
    )
    representations: Names = Field(description="some of the study's representations")
    methods: Names = Field(
        description="some of the study's methods; all of them are trained on the same documents"
    )


class TableOptions(FileModel):
    """How tables show numbers."""

    decimals: Annotated[int, Field(strict=True, ge=0, le=4), WHOLE] = Field(
        1, description="decimals of an accuracy in percent"
    )
    published: Text | None = Field(
        None,
        description="a file of published numbers to stand beside ours, relative to the Snakefile; "
        "null for none",
    )


class KeptModel(FileModel):
    """A model that is trained on all documents and stored."""

    dataset: Text = Field(description="one of the study's datasets")
    representation: Text = Field(description="one of its representations")
    method: Text = Field(description="one of its methods")


class StudyFile(FileModel):
    """A study file names datasets, representations, methods, grids and protocol."""

    name: Name = Field(
        description='names the study\'s folders under results/; letters, digits, "_" and "-"'
    )
    title: Words = Field(
        description="one line that says what the study compares, for captions and pages"
    )
    datasets: Names = Field(
        description="names of files in the dataset folder, in the order of the table's columns"
    )
    dataset_folder: Text = Field(
        "config/datasets",
        description="a folder of dataset files beside those of config/datasets, relative to the "
        "Snakefile",
    )
    max_documents: Annotated[int, Field(strict=True, ge=20), WHOLE] | None = Field(
        None,
        description="use only the first documents of each class (in a seeded order), for a quick "
        "trial; null for all",
    )
    tokenizers: dict[Name, TokenizerOptions] = Field(
        min_length=1, description="by name, a tokenizer family and its options"
    )
    representations: dict[Name, RepresentationOptions] = Field(
        min_length=1,
        description="by name, how documents become features; all of it fitted on training folds "
        "only",
    )
    methods: dict[Name, MethodOptions] = Field(
        min_length=1, description="by name, a method family with fixed values, grid or both"
    )
    protocol: ProtocolSizes = Field(
        ProtocolSizes(), description="folds and repeats; a dataset file says which kind it uses"
    )
    contrasts: Annotated[
        Annotated[None, Tag("nothing")]
        | Annotated[Control, Tag("mapping")]
        | Annotated[list[Pair], Field(min_length=1), UNIQUE, Unique, Tag("list")],
        BY_FORM,
    ] = Field(
        None,
        description="the comparisons declared before the run, over which p-values are adjusted; "
        "rows of the tables by name, <method>-<representation>. A list of {a, b}, or {control}: "
        "every other row against it; null: against the first row that every dataset has",
    )
    learning_curves: LearningCurves | None = Field(
        None,
        description="accuracy against the number of training documents, with fixed "
        "hyper-parameters; null for none",
    )
    tables: TableOptions = Field(TableOptions(), description="how tables show numbers")
    keep_models: Annotated[
        Annotated[Literal["best", "all", "none"], Tag("text")]
        | Annotated[list[KeptModel], Field(min_length=1), UNIQUE, Unique, Tag("list")],
        BY_FORM,
    ] = Field(
        "best",
        description="which models are trained on all documents and stored under "
        "results/<study>/models/. best: of each dataset the one with the best cell of fixed "
        "hyper-parameters; all: every one with a fixed point; none; or a list of them",
    )
    tracking: Literal["mlflow", "none"] = Field(
        "mlflow",
        description="mlflow: log every run to the MLflow store under results/; none: do not",
    )
    tracking_uri: Text | None = Field(
        None,
        description="the address of a tracking server (http or https) to log to; null for the "
        "store under results/. User and password come from the environment",
    )
    mirror: Text | None = Field(
        None,
        description="a folder that holds raw files, searched by file name and digest; null for "
        "none",
    )
