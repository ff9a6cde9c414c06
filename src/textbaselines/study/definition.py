"""A study: what a study file asks for, checked whole before any job starts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from textbaselines.core import validation
from textbaselines.core.environment import find_mirror
from textbaselines.core.errors import Mistakes, UserError
from textbaselines.core.file_models import check_parts
from textbaselines.core.result_paths import ANALYSES, FIGURES, check_study_name
from textbaselines.datasets.catalog import Dataset, dataset_files, read_catalog
from textbaselines.datasets.mirror import check_own_files
from textbaselines.evaluation.selection import ACROSS, candidates
from textbaselines.models.registry import METHODS, validate_params
from textbaselines.study import small_classes
from textbaselines.study.contrasts import Declared, declare
from textbaselines.study.folds import Protocol
from textbaselines.study.grids import GridPoint, expand
from textbaselines.study.study_file import MethodOptions, RepresentationOptions, StudyFile
from textbaselines.text.tokenizers import check_tokenizer

SHIPPED_DATASETS = Path("config", "datasets")
"""The folder of the dataset files that every study may name, relative to the Snakefile."""


@dataclass(frozen=True)
class Representation:
    """How documents become features.

    Attributes
    ----------
    name : str
    tokenizer : str
        A name from the study's tokenizers.
    lowest, highest : int
        The n-gram range.
    weighting : "binary", "count" or "tfidf"
    policy, min_count : the UNK policy
    scope : "training" or "corpus"
    reduction : dict or None
        ``kind`` and options.
    datasets : frozenset of str or None
        The datasets it is for; None for all.
    """

    name: str
    tokenizer: str
    lowest: int
    highest: int
    weighting: str
    policy: str
    min_count: int
    scope: str
    reduction: dict[str, Any] | None
    datasets: frozenset[str] | None

    @property
    def counts(self) -> str:
        """The folder of the counts it rests on, shared by representations that differ later."""
        return f"{self.tokenizer}/{self.lowest}-{self.highest}"

    @property
    def vocabulary(self) -> str:
        """The file of the vocabularies it rests on, without its ending."""
        return f"{self.tokenizer}/{self.policy}-{self.min_count}"

    @property
    def reduced(self) -> str:
        """The file of the reduced coordinates it is a prefix of, without its ending."""
        assert self.reduction is not None
        kind = self.reduction["kind"]
        ngrams = f"{self.lowest}-{self.highest}"
        return f"{self.vocabulary}-{ngrams}-{self.weighting}-{self.scope}-{kind}"


@dataclass(frozen=True)
class Method:
    """A method family with its grid points in this study.

    ``representations`` are those it is for; None for all.
    """

    name: str
    family: str
    points: tuple[GridPoint, ...]
    representations: frozenset[str] | None


@dataclass(frozen=True)
class Study:
    """A whole study, every default filled in.

    Attributes
    ----------
    file : StudyFile
        What the study file says, with defaults.
    datasets, representations, methods : dict by name, in the order of the study file
    """

    name: str
    title: str
    file: StudyFile
    datasets: dict[str, Dataset]
    representations: dict[str, Representation]
    methods: dict[str, Method]

    @cached_property
    def config(self) -> dict[str, Any]:
        """The study file as plain values, for the workflow's rules."""
        return self.file.model_dump()

    def protocol(self, dataset: str) -> Protocol:
        """Return a dataset's protocol: its kind from the dataset file, its sizes from here.

        The number of folds is the study's where it states one, else the dataset's own; there are
        no more of them than the largest class has documents.
        """
        kind = self.datasets[dataset].protocol.kind
        sizes = self.file.protocol
        grouped = sizes.grouped is True
        inner = 0 if sizes.inner is None else sizes.inner.folds
        if kind == "cv":
            folds = max(2, min(self._folds(dataset), max(self.documents(dataset).values())))
            return Protocol("cv", folds, sizes.cv.repeats, grouped, inner)
        if kind == "halves":
            return Protocol("halves", 2, sizes.halves.repeats, grouped, inner)
        return Protocol("split", 1, 1, grouped, inner)

    def _folds(self, dataset: str) -> int:
        """Return how many folds the study, or else the dataset file, asks for."""
        own = self.datasets[dataset].protocol.folds
        assert own is not None
        return self.file.protocol.cv.folds or own

    def documents(self, dataset: str) -> dict[str, int]:
        """Return how many documents of each class are used, as the dataset file states them.

        With ``max_documents`` they are of the sample: that many of each class.
        """
        most = self.file.max_documents
        stated = self.datasets[dataset].expected.documents
        return {name: count if most is None else min(count, most) for name, count in stated.items()}

    def notes(self) -> list[str]:
        """Return a line for each dataset with classes that are tested less, or with fewer folds."""
        notes = []
        for dataset in self.datasets:
            protocol = self.protocol(dataset)
            if protocol.kind == "cv" and protocol.folds < (asked := self._folds(dataset)):
                notes.append(
                    f"dataset {dataset}: {protocol.folds} folds instead of {asked}, for no class "
                    "has more documents"
                )
            line = small_classes.note(self.documents(dataset), protocol, dataset)
            notes += [] if line is None else [line]
        return notes

    def replaced_folds(self) -> list[str]:
        """Return a line on the datasets whose own number of folds the study replaces, if any."""
        asked = self.file.protocol.cv.folds
        if asked is None:
            return []
        own = {name: described.protocol.folds for name, described in self.datasets.items()}
        replaced = [f"{name} ({n})" for name, n in own.items() if n not in (None, asked)]
        if not replaced:
            return []
        return [
            f"{asked} folds, as protocol.cv.folds of the study states, instead of those in the "
            f"dataset files of {', '.join(replaced)}"
        ]

    def _caption(self, dataset: str) -> str:
        """Return a dataset's protocol in words, with the classes that are tested less."""
        protocol = self.protocol(dataset)
        return protocol.caption + small_classes.caption(self.documents(dataset), protocol)

    @property
    def compares_grouped(self) -> bool:
        """Whether grouped runs stand beside the plain ones."""
        return self.file.protocol.grouped == "both"

    def runs(self) -> list[tuple[str, str, str]]:
        """Return (dataset, representation, method) of every training task, in the study's order."""
        return [
            (dataset, *run) for dataset in self.datasets for run in self._runs_by_dataset[dataset]
        ]

    def runs_of(self, dataset: str) -> list[tuple[str, str]]:
        """Return (representation, method) of every run of a dataset, in the study's order."""
        return list(self._runs_by_dataset[dataset])

    @cached_property
    def _runs_by_dataset(self) -> dict[str, list[tuple[str, str]]]:
        return {
            dataset: [
                (representation.name, method.name)
                for representation in self.representations.values()
                for method in self.methods.values()
                if representation.datasets is None or dataset in representation.datasets
                if method.representations is None or representation.name in method.representations
            ]
            for dataset in self.datasets
        }

    def chooses(self, dataset: str, method: str) -> bool:
        """Return whether inner folds have something to choose: grid points or representations."""
        several = self._several_candidates[method] or self._representations[dataset, method] > 1
        return several and self.protocol(dataset).inner > 0

    @cached_property
    def _several_candidates(self) -> dict[str, bool]:
        return {
            name: len(candidates([vars(point) for point in method.points])) > 1
            for name, method in self.methods.items()
        }

    @cached_property
    def _representations(self) -> Counter[tuple[str, str]]:
        """How many representations a method has of a dataset."""
        return Counter((dataset, method) for dataset, _, method in self.runs())

    def analyses(self) -> list[str]:
        """Return the names of the tables of what is behind the numbers."""
        curves = bool(self.curve_runs())
        asked = {
            "grouped": self.compares_grouped,
            "search": self.file.protocol.inner is not None,
            "learning_curves": curves,
            "crossings": curves,
        }
        return [*ANALYSES, *(name for name, wanted in asked.items() if wanted)]

    def figures(self) -> list[str]:
        """Return the names of the figures."""
        asked = {
            "search": self.file.protocol.inner is not None,
            "learning-curves": bool(self.curve_runs()),
            "confusion": any(len(dataset.classes) > 2 for dataset in self.datasets.values()),
        }
        return [*FIGURES, *(name for name, wanted in asked.items() if wanted)]

    def measured_tokens(self) -> dict[str, str]:
        """Return the tokenizer that says how long documents are, for each dataset.

        It is that of the dataset's first representation.
        """
        first: dict[str, str] = {}
        for dataset, representation, _ in self.runs():
            first.setdefault(dataset, self.representations[representation].tokenizer)
        return {dataset: first[dataset] for dataset in self.datasets}

    def rows(self) -> list[tuple[str, str]]:
        """Return (method, representation) of every row of the tables, in their order.

        With inner folds a method of several representations has a row more, in which each fold
        chooses among them.
        """
        runs = self.runs()
        pairs = {(method, representation) for _, representation, method in runs}
        if self.file.protocol.inner is not None:
            many = Counter((dataset, method) for dataset, _, method in runs)
            pairs |= {(method, ACROSS) for (_, method), runs_of in many.items() if runs_of > 1}
        return [
            (method, representation)
            for method in self.methods
            for representation in [*self.representations, ACROSS]
            if (method, representation) in pairs
        ]

    def contrasts(self, where: str = "") -> Declared:
        """Return the declared contrasts; raise :class:`UserError` for one that cannot be made."""
        return declare(self.file.contrasts, self.runs(), self.rows(), where)

    def kept_models(self) -> list[tuple[str, str, str]]:
        """Return (dataset, representation, method) of every model kept by its name.

        Under ``best`` there is none: which it is shows when the cells are there.
        """
        chosen = self.file.keep_models
        if chosen == "all":
            return [run for run in self.runs() if self._has_fixed_point(run[2])]
        named = chosen if isinstance(chosen, list) else []
        return [(one.dataset, one.representation, one.method) for one in named]

    def datasets_with_best(self) -> list[str]:
        """Return the datasets whose best model is kept: those with a fixed point."""
        if self.file.keep_models != "best":
            return []
        with_fixed = {run[0] for run in self.runs() if self._has_fixed_point(run[2])}
        return [dataset for dataset in self.datasets if dataset in with_fixed]

    def _chooses_representations(self) -> bool:
        if self.file.protocol.inner is None:
            return False
        pairs = [(dataset, method) for dataset, _, method in self.runs()]
        return len(pairs) > len(set(pairs))

    def curve_runs(self) -> list[tuple[str, str]]:
        """Return (dataset, representation) of every job of learning curves."""
        curves = self.file.learning_curves
        if curves is None:
            return []
        return [
            (dataset, name)
            for dataset in self.datasets
            for name in curves.representations
            if self.curve_methods(dataset, name)
        ]

    def curve_methods(self, dataset: str, representation: str) -> list[str]:
        """Return the methods with a learning curve on a representation of a dataset."""
        runs, curves = set(self.runs()), self.file.learning_curves
        return [
            method
            for method in (curves.methods if curves else [])
            if (dataset, representation, method) in runs
        ]

    def check_learning_curves(self, where: str) -> None:
        """Raise :class:`UserError` for a learning curve that cannot be trained."""
        curves = self.file.learning_curves
        if curves is None:
            return
        for kind, names, known in (
            ("representations", curves.representations, list(self.representations)),
            ("methods", curves.methods, list(self.methods)),
        ):
            for name in names:
                if name not in known:
                    raise UserError(
                        f"learning curves of {kind} that the study does not have",
                        where=f"{where}.{kind}",
                        found=repr(name),
                        expected="some of " + ", ".join(known),
                        fix=validation.closest(name, known),
                    )
        for name in curves.methods:
            method = self.methods[name]
            if "numeric_target" in METHODS[method.family].needs:
                reason = "it is fitted to ratings"
            elif not any("fixed" in point.origin for point in method.points):
                reason = "it has no fixed point"
            else:
                continue
            raise UserError(
                f"a learning curve of a method that cannot have one: {reason}",
                where=f"{where}.methods",
                found=name,
                expected="methods for classes, with a fixed point",
            )
        if curves.fractions != sorted(set(curves.fractions)):
            raise UserError(
                "fractions of a learning curve out of order",
                where=f"{where}.fractions",
                found=", ".join(map(str, curves.fractions)),
                expected="ascending values above 0, at most 1",
            )
        if not self.curve_runs():
            raise UserError(
                "learning curves of nothing: no run has one of these methods on one of these "
                "representations",
                where=where,
                found=", ".join([*curves.methods, *curves.representations]),
            )

    def check_kept_models(self, where: str) -> None:
        """Raise :class:`UserError` for a model to keep that the study does not make."""
        runs = self.runs()
        for position, run in enumerate(self.kept_models()):
            key = f"{where}, key keep_models[{position}]"
            if run not in runs:
                raise UserError(
                    "a model to keep that is none of the study's runs",
                    where=key,
                    found=", ".join(run),
                    expected="dataset, representation and method of one of its runs",
                    fix=validation.closest(" ".join(run), [" ".join(known) for known in runs]),
                )
            if not self._has_fixed_point(run[2]):
                raise UserError(
                    "a model to keep whose method has no fixed point",
                    where=key,
                    found=f"method {run[2]}",
                    expected="a method with a fixed point, at which the model is trained",
                )

    def _has_fixed_point(self, method: str) -> bool:
        return any("fixed" in point.origin for point in self.methods[method].points)

    def tokenizer(self, name: str, dataset: str) -> dict[str, Any]:
        """Return a tokenizer's family and options for one dataset."""
        options = self.file.tokenizers[name]
        special = options.per_dataset.get(dataset, {})
        return {**options.model_dump(exclude={"per_dataset"}), **special}

    def description(self) -> dict[str, Any]:
        """Return what the reporting stages need: names, titles, order, captions."""
        declared = self.contrasts()
        return {
            "name": self.name,
            "title": self.title,
            "datasets": [
                {
                    "name": name,
                    "title": dataset.title,
                    "positive": dataset.classes[0],
                    "classes": list(dataset.classes),
                    "protocol": self._caption(name),
                }
                for name, dataset in self.datasets.items()
            ],
            "representations": [
                {
                    "name": name,
                    "title": name,
                    "tokenizer": representation.tokenizer,
                    "counts": representation.counts,
                    "vocabulary": representation.vocabulary,
                }
                for name, representation in self.representations.items()
            ]
            + ([{"name": ACROSS, "title": ACROSS}] if self._chooses_representations() else []),
            "methods": [
                {"name": name, "title": name, "family": method.family}
                for name, method in self.methods.items()
            ],
            "runs": [list(run) for run in self.runs()],
            "curve_runs": [list(run) for run in self.curve_runs()],
            "measured_tokens": self.measured_tokens(),
            "analyses": self.analyses(),
            "figures": self.figures(),
            "control": declared.control,
            "contrasts": [list(contrast) for contrast in declared.contrasts],
            "contrasts_declared": not declared.by_default,
            "tables": self.file.tables.model_dump(),
            "tracking": self.file.tracking,
            "tracking_uri": self.file.tracking_uri,
        }


def read_study(
    files: Sequence[str | Path],
    overrides: Mapping[str, Any],
    root: Path,
    raw_folder: Path | None = None,
) -> Study:
    """Read a study from its file, or from several: later ones are merged into earlier ones.

    Mappings are merged key by key, as Snakemake merges the files of ``--configfile``.

    Parameters
    ----------
    files : sequence of paths
    overrides : mapping
        Keys given on the command line; they are merged into the files'.
    root, raw_folder : Path
        As for :func:`make_study`.

    Raises
    ------
    UserError
        As :func:`make_study`, with the lines of the files, and for files that are no mappings.
    """
    from snakemake.utils import update_config

    config: dict[str, Any] = {}
    mistakes = Mistakes()
    for file in files:
        with mistakes:
            update_config(config, validation.load_mapping(file))
    mistakes.stop()
    update_config(config, dict(overrides))
    where = " + ".join([*map(str, files), *(["the command line"] if overrides else [])])
    with validation.naming_lines(where, files, overrides):
        return make_study(config, where, root, raw_folder)


def make_study(
    config: Mapping[str, Any],
    where: str,
    root: Path,
    raw_folder: Path | None = None,
) -> Study:
    """Check a study file's content and return the study.

    Parameters
    ----------
    config : mapping
        The content of a study file, without defaults.
    where : str
        The study file's path, for messages.
    root : Path
        The folder that relative paths in the study file start from.
    raw_folder : Path, optional
        Where raw files are, or will be. With it, the mirror folder is looked into for every raw
        file that nothing else can give.

    Returns
    -------
    Study
        With ``max_documents``, a trial under a name and a title of its own, beside no published
        numbers.

    Raises
    ------
    UserError
        For all faults that do not rest on another one: those of single keys, of the dataset files,
        of names, grids, paths and raw files; each names the key, the value and what is allowed.
    """
    mistakes = Mistakes()
    # What holds of the study is checked further, whatever is wrong elsewhere in it.
    file, errors = check_parts(config, StudyFile, where)
    for error in errors:
        mistakes.add(error)
    datasets = _datasets(file, where, root, mistakes)
    names = {
        kind: _names_in(config.get(kind)) for kind in ("datasets", "tokenizers", "representations")
    }
    representations = {}
    for name, features in file.representations.items():
        with mistakes:
            representations[name] = _representation(name, features, names, where)
    methods = {}
    for name, chosen in file.methods.items():
        with mistakes:
            methods[name] = _method(name, chosen, names, where)
    with mistakes:
        _check_published(file, where, root)
    if file.tracking_uri is not None:
        with mistakes:
            validation.check_server(file.tracking_uri, f"{where}, key tracking_uri")
    if raw_folder is not None:
        with mistakes:
            mirror = find_mirror(file.mirror, root, f"{where}, key mirror")
            check_own_files(datasets.values(), raw_folder, mirror, mistakes)
    with mistakes:
        check_study_name(file.name, where)
    mistakes.stop()
    name, title = file.name, file.title
    if file.max_documents is not None:
        # A trial has folders of its own and says everywhere what it is.
        name += f"-trial{file.max_documents}"
        title += f" (TRIAL: {file.max_documents} documents per class)"
        tables = file.tables.model_copy(update={"published": None})
        file = file.model_copy(update={"tables": tables})
    datasets = {name: datasets[name] for name in file.datasets}
    study = Study(name, title, file, datasets, representations, methods)
    with mistakes:
        _check_string_dictionaries(study, where)
    with mistakes:
        _check_needs(study, where)
    with mistakes:
        _check_row_names(study, where)
    for dataset in study.datasets:
        with mistakes:
            protocol = study.protocol(dataset)
            small_classes.check_documents(study.documents(dataset), protocol, dataset)
    with mistakes:
        study.check_kept_models(where)
    with mistakes:
        study.contrasts(f"{where}, key contrasts")
    with mistakes:
        study.check_learning_curves(f"{where}, key learning_curves")
    mistakes.stop()
    return study


def _names_in(value: object) -> list[str]:
    """Return the names in a list or mapping of a study file, whatever else is wrong with it."""
    names = value if isinstance(value, dict | list) else []
    return [name for name in names if isinstance(name, str)]


def _datasets(file: StudyFile, where: str, root: Path, mistakes: Mistakes) -> dict[str, Dataset]:
    """Return the study's datasets, and keep what is wrong with them and with their tokenizers."""
    own = root / file.dataset_folder
    if not own.is_dir():
        mistakes.add(
            UserError(
                "the folder of dataset files is not there",
                where=f"{where}, key dataset_folder",
                found=f"{own} ({'a file' if own.exists() else 'nothing'})",
                expected="a folder with files NAME.yaml, relative to the Snakefile",
                fix=validation.near_path(own),
            )
        )
    folders = [root / SHIPPED_DATASETS]
    if own.resolve() != folders[0].resolve():
        folders.append(own)
    datasets = {}
    if file.datasets:
        named_in = f"{where}, key datasets"
        datasets = read_catalog(folders, file.datasets, named_in, mistakes)
    _check_tokenizers(file, list(dataset_files(folders)), where, mistakes)
    return datasets


def _check_published(file: StudyFile, where: str, root: Path) -> None:
    """Refuse a file of published values that is not there or is no mapping."""
    if file.tables.published is None:
        return
    path = root / file.tables.published
    if not path.is_file():
        raise UserError(
            "the file of published values is not there",
            where=f"{where}, key tables.published",
            found=f"{path} ({'a folder' if path.is_dir() else 'nothing'})",
            expected="a file, relative to the Snakefile",
            fix=validation.near_path(path),
        )
    validation.load_mapping(path)


def _check_tokenizers(
    file: StudyFile, known: Sequence[str], where: str, mistakes: Mistakes
) -> None:
    for name, options in file.tokenizers.items():
        key = f"{where}, key tokenizers.{name}"
        base = options.model_dump(exclude={"per_dataset"})
        for dataset in options.per_dataset:
            if dataset not in known:
                mistakes.add(
                    UserError(
                        "options for a dataset that does not exist",
                        where=f"{key}.per_dataset.{dataset}",
                        found=repr(dataset),
                        expected=", ".join(known),
                        fix=validation.closest(dataset, known),
                    )
                )
        for dataset in file.datasets:
            special = options.per_dataset.get(dataset, {})
            with mistakes:
                check_tokenizer(
                    {**base, **special}, f"{key}.per_dataset.{dataset}" if special else key
                )


def _representation(
    name: str, spec: RepresentationOptions, names: Mapping[str, Sequence[str]], where: str
) -> Representation:
    key = f"{where}, key representations.{name}"
    if name == ACROSS:
        raise UserError(
            "a name that stands for the representation chosen by inner folds",
            where=key,
            fix="give the representation another name",
        )
    mistakes = Mistakes()
    if spec.tokenizer not in names["tokenizers"]:
        mistakes.add(
            UserError(
                "unknown tokenizer",
                where=f"{key}.tokenizer",
                found=repr(spec.tokenizer),
                expected="one of " + ", ".join(names["tokenizers"]),
                fix=validation.closest(spec.tokenizer, names["tokenizers"]),
            )
        )
    lowest, highest = spec.ngrams
    if lowest > highest:
        mistakes.add(
            UserError(
                "an impossible n-gram range",
                where=f"{key}.ngrams",
                found=f"[{lowest}, {highest}]",
                expected="the shortest first, for instance [1, 2]",
            )
        )
    with mistakes:
        only = _only(spec.datasets, "datasets", names["datasets"], key)
    mistakes.stop()
    return Representation(
        name,
        spec.tokenizer,
        lowest,
        highest,
        spec.weighting,
        spec.unk.policy,
        spec.unk.min_count or 1,
        spec.scope,
        None if spec.reduction is None else spec.reduction.model_dump(),
        only,
    )


def _check_needs(study: Study, where: str) -> None:
    """Refuse a method on features that it can never take."""
    for name, method in study.methods.items():
        needs = METHODS[method.family].needs
        for used in dict.fromkeys(known for _, known, of in study.runs() if of == name):
            reduced = study.representations[used].reduction is not None
            if reduced and "non_negative" in needs:
                what, wanted = "takes no negative features, which a reduction has", "without"
            elif not reduced and "dense" in needs:
                what, wanted = "takes reduced features alone", "with"
            else:
                continue
            fit = [
                known.name
                for known in study.representations.values()
                if (known.reduction is not None) is not reduced
            ]
            raise UserError(
                f"a method of the family {method.family} {what}",
                where=f"{where}, key methods.{name}",
                found=f"representation {used}",
                expected=f"a representation {wanted} a reduction"
                + (f": {', '.join(fit)}" if fit else ""),
                fix=f"say in methods.{name}.representations which ones it is for",
            )


def _check_row_names(study: Study, where: str) -> None:
    """Refuse two rows of one name, which tables and contrasts could not tell apart."""
    taken: dict[str, tuple[str, str]] = {}
    for method, representation in study.rows():
        name = f"{method}-{representation}"
        other = taken.setdefault(name, (method, representation))
        if other != (method, representation):
            raise UserError(
                "two rows of the tables have the same name, <method>-<representation>",
                where=f"{where}, keys methods and representations",
                found=f"{name}: method {other[0]} on {other[1]}, method {method} on "
                f"{representation}",
                fix="rename one of the methods or representations",
            )


def _check_string_dictionaries(study: Study, where: str) -> None:
    """Refuse what a dictionary of strings cannot do: UNK, min_count, n-grams without unigrams."""
    for name, representation in study.representations.items():
        family = study.file.tokenizers[representation.tokenizer].family
        if family != "wang_manning":
            continue
        key = f"{where}, key representations.{name}"
        if (representation.policy, representation.min_count) != ("drop", 1):
            raise UserError(
                "a wang_manning dictionary of strings cannot have an UNK token or a min_count",
                where=f"{key}.unk",
                found=f"policy {representation.policy}, min_count {representation.min_count}",
                expected="{policy: drop, min_count: 1}",
            )
        if representation.lowest != 1 or representation.highest > 3:
            raise UserError(
                "a wang_manning dictionary has unigrams, and n-grams up to trigrams",
                where=f"{key}.ngrams",
                found=f"[{representation.lowest}, {representation.highest}]",
                expected="[1, 1], [1, 2] or [1, 3]",
            )


def _method(
    name: str, spec: MethodOptions, names: Mapping[str, Sequence[str]], where: str
) -> Method:
    key = f"{where}, key methods.{name}"
    family = spec.family
    if family not in METHODS:
        raise UserError(
            "unknown method family",
            where=f"{key}.family",
            found=repr(family),
            expected="one of " + ", ".join(METHODS),
            fix=validation.closest(family, METHODS),
        )
    known = METHODS[family]
    grid: Any
    if spec.grid == "default":
        grid = {
            axis: list(values)
            for axis, values in known.default_grid.items()
            if axis not in spec.options
        }
    else:
        grid = spec.model_dump(include={"grid"}, exclude_unset=True).get("grid", {})
    points = expand(
        family,
        known.parameters,
        known.defaults,
        spec.options,
        spec.fixed,
        grid,
        name,
        key,
    )
    mistakes = Mistakes()
    for point in points:
        try:
            validate_params(family, point.params)
        except UserError as error:
            mistakes.add(error.within(f"{key} ({' and '.join(point.origin)})"))
    with mistakes:
        only = _only(spec.representations, "representations", names["representations"], key)
    mistakes.stop()
    return Method(name, family, tuple(points), only)


def _only(
    names: Sequence[str] | None, kind: str, known: Sequence[str], key: str
) -> frozenset[str] | None:
    """Return the names that a representation or method is restricted to, each a known one."""
    if names is None:
        return None
    for name in names:
        if name not in known:
            raise UserError(
                f"restricted to {kind} that the study does not have",
                where=f"{key}.{kind}",
                found=repr(name),
                expected="one of " + ", ".join(known),
                fix=validation.closest(name, known),
            )
    return frozenset(names)
