"""How the study becomes file names and job parameters: nothing here runs a job.

A parameter of a job holds no more than what that job's output depends on, as canonical JSON, so
that a changed grid re-runs its own method and nothing else.
"""


def literal(value):
    """A parameter as it is: Snakemake formats strings of a rule, but not what a function returns."""
    strings = [value] if isinstance(value, str) else value
    return (lambda wildcards: value) if any("{" in one for one in strings) else value


def relative(path):
    """A path relative to the working directory; Snakemake cannot read from one with braces."""
    found = os.path.relpath(path)
    if "{" in found:
        told = UserError(
            "a path with braces, which Snakemake takes for wildcards",
            where=str(path),
            found=found,
            fix="start snakemake in the folder of the Snakefile, or rename the folder",
        )
        raise WorkflowError(str(told))
    return found


def script_file(name):
    """The path of a workflow script, relative to the working directory."""
    return relative(ROOT / "workflow" / "scripts" / f"{name}.py")


def code(name):
    """The script and the library files it imports: an edit of them re-runs the job, no other does."""
    library = provenance.files_imported_by(ROOT / "workflow" / "scripts" / f"{name}.py")
    return [script_file(name), *map(relative, library)]


def as_json(*values):
    """Canonical JSON of a value, or of several as a list; dataclasses as their fields."""
    plain = [vars(value) if hasattr(value, "__dict__") else value for value in values]
    return storage.canonical_json(plain if len(plain) > 1 else plain[0])


def raw_files(wildcards):
    """The raw files of a dataset."""
    return [f"results/raw/{file.name}" for file in study.datasets[wildcards.dataset].files]


def dataset_file(wildcards):
    """The dataset file of a dataset."""
    return relative(study.datasets[wildcards.dataset].path)


def raw_file_of(wildcards):
    """A raw file with its sources; every dataset that has it says the same."""
    for dataset in study.datasets.values():
        for file in dataset.files:
            if file.name == wildcards.file:
                return as_json(file.model_dump())
    raise WorkflowError(f"no dataset of the study has a raw file {wildcards.file!r}")


def reading_of(wildcards):
    """What decides how raw files become documents."""
    return as_json(study.datasets[wildcards.dataset].reading)


def protocol_of(wildcards):
    """The protocol of a dataset, and how many documents of it are used."""
    protocol = vars(study.protocol(wildcards.dataset))
    return as_json({**protocol, "max_documents": study.config["max_documents"]})


def tokenizer_of(wildcards):
    """A tokenizer's family and options for one dataset."""
    return as_json(study.tokenizer(wildcards.tokenizer, wildcards.dataset))


def language_of(wildcards):
    """The language of a dataset's texts."""
    return study.datasets[wildcards.dataset].language


def counted_files(counting, name):
    """A file of each of the counts that a counting job makes."""
    return [f"results/counts/{{study}}/{{dataset}}/{one.counts}/{name}" for one in counting.counts]


def vocabulary_files(counting):
    """The vocabularies that a counting job makes."""
    folder = "results/vocabularies/{study}/{dataset}"
    return [f"{folder}/{one.vocabulary}.npz" for one in counting.vocabularies]


@functools.cache
def plan_of_study():
    """What the jobs of each stage do, by stage, dataset and name."""
    plan = {"count": {}, "train": {}, "grouped": {}, "learning_curves": {}}
    for counting in counting_jobs(study):
        for dataset in counting.datasets:
            jobs = plan["count"].setdefault(dataset, {})
            jobs[counting.rule] = counting_of(counting, study, dataset)
    for training in training_jobs(study):
        for dataset in training.datasets:
            plan["train"].setdefault(dataset, {})[training.rule] = work_of(training, dataset)
    if study.compares_grouped:
        plan["grouped"] = {dataset: grouped_work_of(dataset) for dataset in study.datasets}
    for dataset, representation in study.curve_runs():
        jobs = plan["learning_curves"].setdefault(dataset, {})
        jobs[representation] = curve_task_of(dataset, representation)
    return plan


def plan_path():
    """The path of the plan, which has the digest of its content."""
    return f"results/plans/{study.name}-{storage.short_digest(plan_of_study())}.json"


def write_plan():
    """Write the plan, unless it is there."""
    write = storage.write_json  # a line that begins with "storage" is a directive of Snakemake
    if not Path(PLAN).is_file():
        write(PLAN, plan_of_study())


def plan_file(wildcards, input):
    """The plan. A parameter that looks at the input is not compared: another plan re-runs no job."""
    return PLAN


def digest_of(stage, *names):
    """The digest of a job's part of the plan; a name in braces is a wildcard."""
    return lambda wildcards: storage.short_digest(
        part_of(plan_of_study(), stage, *(one.format(**vars(wildcards)) for one in names)), 16
    )


def counts_of(wildcards):
    """The counts that a representation rests on."""
    counts = study.representations[wildcards.representation].counts
    return f"results/counts/{study.name}/{wildcards.dataset}/{counts}/matrix.npz"


def vocabularies_of(wildcards):
    """The fold vocabularies that a representation rests on."""
    vocabulary = study.representations[wildcards.representation].vocabulary
    return f"results/vocabularies/{study.name}/{wildcards.dataset}/{vocabulary}.npz"


def reduced_of(wildcards):
    """The reduced coordinates that a representation takes; none without a reduction."""
    representation = study.representations[wildcards.representation]
    if representation.reduction is None:
        return []
    return [f"results/reductions/{study.name}/{wildcards.dataset}/{representation.reduced}.npz"]


def reducing(wildcards):
    """The runs of a dataset, (representation, method), that take reduced coordinates."""
    runs = [
        (study.representations[representation], method)
        for representation, method in study.runs_of(wildcards.dataset)
    ]
    found = [
        run for run in runs if run[0].reduction is not None and run[0].reduced == wildcards.reduced
    ]
    if not found:
        raise WorkflowError(f"no run of the study takes the coordinates {wildcards.reduced!r}")
    return found


def counts_reduced(wildcards):
    """The counts that reduced coordinates rest on."""
    counts = reducing(wildcards)[0][0].counts
    return f"results/counts/{study.name}/{wildcards.dataset}/{counts}/matrix.npz"


def vocabularies_reduced(wildcards):
    """The fold vocabularies that reduced coordinates rest on."""
    vocabulary = reducing(wildcards)[0][0].vocabulary
    return f"results/vocabularies/{study.name}/{wildcards.dataset}/{vocabulary}.npz"


def reduction_of(wildcards):
    """What a reduction job does: the largest rank asked for, on inner folds if any run chooses."""
    runs = reducing(wildcards)
    representation = max((run[0] for run in runs), key=lambda one: one.reduction["rank"])
    return as_json(
        {
            "dataset": wildcards.dataset,
            "weighting": representation.weighting,
            "scope": representation.scope,
            "reduction": representation.reduction,
            "chooses": any(study.chooses(wildcards.dataset, method) for _, method in runs),
        }
    )


def of_parts(training, function):
    """A function of dataset and representation, for each part of a training job, as one list."""

    def of(wildcards):
        found = [function(place) for place in _places(training, wildcards.dataset)]
        return [file for one in found for file in ([one] if isinstance(one, str) else one)]

    return of


def _places(training, dataset):
    """A dataset with one representation of each part: all of a part are made of the same files."""
    return [SimpleNamespace(dataset=dataset, representation=part[0][0]) for part in training.parts]


def trained_files(training, names):
    """Files of the run folders that a training job makes."""
    folders = ["/".join(task) for task in training.tasks]
    return [
        f"results/runs/{{study}}/{{dataset}}/{folder}/{name}"
        for folder in folders
        for name in names
    ]


def measures_of(training):
    """The time and memory of each task of a training job."""
    return [
        f"results/benchmarks/{{study}}/train/{{dataset}}/{representation}/{method}.tsv"
        for representation, method in training.tasks
    ]


def work_of(training, dataset):
    """What a training job does for a dataset: the tasks of each part with its files."""
    places = _places(training, dataset)
    return [
        {
            "counts": counts_of(place),
            "vocabularies": vocabularies_of(place),
            "reduced": next(iter(reduced_of(place)), None),
            "tasks": [task_of(study, dataset, *task) for task in part],
        }
        for place, part in zip(places, training.parts, strict=True)
    ]


def grouped_work_of(dataset):
    """What is trained on grouped folds for a dataset, by counts, with its files."""
    work = []
    for tasks in grouped_tasks(study, dataset):
        name = tasks[0]["representation"]
        representation = study.representations[name]
        place = SimpleNamespace(dataset=dataset, representation=name)
        work.append(
            {
                "counts": counts_of(place),
                "tokens": tokens_of(place),
                "policy": representation.policy,
                "min_count": representation.min_count,
                "tasks": tasks,
            }
        )
    return work


def runs_of_study(name="run.json"):
    """One file of every run folder of the study."""
    return [
        f"results/runs/{study.name}/{dataset}/{representation}/{method}/{name}"
        for dataset, representation, method in study.runs()
    ]


def megabytes(factor, least=500):
    """Memory for a job as a function of its input's size and the attempt."""

    def of(wildcards, input, attempt):
        return int(max(least, factor * input.size_mb)) * attempt

    return of


def published_file():
    """The file of published numbers, relative to the working directory; none without one."""
    published = study.config["tables"]["published"]
    return [relative(ROOT / published)] if published else []


def summaries_of_study():
    """The summaries of all counts of the study."""
    return sorted(
        {
            f"results/counts/{study.name}/{dataset}/"
            f"{study.representations[representation].counts}/summary.json"
            for dataset, representation, _ in study.runs()
        }
    )


def audits_of_study():
    """The audits of the study's corpora."""
    return [f"results/corpora/{dataset}/audit.json" for dataset in study.datasets]


def benchmarks_of_study():
    """The time and memory of every training task of the study."""
    return [f"results/benchmarks/{study.name}/train/{'/'.join(run)}.tsv" for run in study.runs()]


def tables_of_study():
    """The tables and figures of the study."""
    folder = f"results/tables/{study.name}"
    tables = [f"{folder}/comparison.{form}" for form in ("md", "tex", "csv", "html", "txt")]
    tables.append(f"results/costs/{study.name}/costs.html")
    tables.append(f"{folder}/contrasts.html")
    if published_file():
        tables += ["results/tables/fidelity.csv", f"{folder}/paper.html"]
    if study.config["protocol"]["inner"] is not None:
        tables.append(f"results/search/{study.name}/curves.csv")
    pages = [f"results/reports/{study.name}.html", "results/report.html"]
    return [*tables, f"results/figures/{study.name}/accuracy.svg", *pages]


def analyses_of_study():
    """What is found out about the predictions: calibration, lengths, errors."""
    analyses = [
        f"results/calibration/{study.name}/calibration.csv",
        f"results/lengths/{study.name}/accuracy_by_length.csv",
        f"results/errors/{study.name}/hard_documents.csv",
    ]
    if study.curve_runs():
        analyses.append(f"results/learning_curves/{study.name}/curves.csv")
    return analyses


def curve_task_of(dataset, name):
    """What a job of learning curves does."""
    representation = study.representations[name]
    methods = []
    for chosen in study.curve_methods(dataset, name):
        method = study.methods[chosen]
        (fixed,) = [point for point in method.points if "fixed" in point.origin]
        methods.append({"name": chosen, "family": method.family, "params": fixed.params})
    return {
        "dataset": dataset,
        "representation": name,
        "classes": study.datasets[dataset].classes,
        "weighting": representation.weighting,
        "scope": representation.scope,
        "reduction": representation.reduction,
        "policy": representation.policy,
        "min_count": representation.min_count,
        "methods": methods,
        "fractions": study.config["learning_curves"]["fractions"],
        "ties": study.config["protocol"]["ties"],
    }


def curves_of_study():
    """The scores of every job of learning curves."""
    return [
        f"results/learning_curves/{study.name}/{dataset}/{representation}.parquet"
        for dataset, representation in study.curve_runs()
    ]


def corpora_of_study():
    """The corpora of the study's datasets."""
    return [f"results/corpora/{dataset}/corpus.parquet" for dataset in study.datasets]


def tokens_measured():
    """The tokens that say how long documents are: of each dataset's first representation."""
    first = {}
    for dataset, representation, _ in study.runs():
        first.setdefault(dataset, study.representations[representation].tokenizer)
    return [
        f"results/tokens/{study.name}/{dataset}/{first[dataset]}.npz" for dataset in study.datasets
    ]


FORMS = (".svg", "-narrow.svg", ".png", ".txt")
"""The files of a figure: for a page and for a phone, as pixels, and in words."""


def has_heat_maps():
    """Whether a dataset has more than two classes, so that confusion matrices are drawn."""
    return any(len(dataset.classes) > 2 for dataset in study.datasets.values())


def features_of_study():
    """The folds, counts and vocabularies that the study's runs rest on."""
    folder = study.name
    files = {f"results/folds/{folder}/{dataset}.parquet" for dataset in study.datasets}
    for dataset, name, _ in study.runs():
        representation = study.representations[name]
        files.add(f"results/counts/{folder}/{dataset}/{representation.counts}/matrix.npz")
        files.add(f"results/vocabularies/{folder}/{dataset}/{representation.vocabulary}.npz")
    return sorted(files)


def parts_of_page():
    """The style sheet, script and template of the report."""
    page = ROOT / "src" / "textbaselines" / "reporting" / "report" / "page"
    return [relative(f"{page}{ending}") for ending in (".css", ".js", ".html.jinja")]


def files_of_report():
    """The files that the report shows or links to."""
    name = study.name
    tables = [
        f"results/tables/{name}/{one}.csv" for one in ("comparison", "data", "near_duplicates")
    ]
    figures = [
        f"results/figures/{name}/accuracy",
        f"results/figures/{name}/critical-difference",
        f"results/calibration/{name}/reliability",
        f"results/calibration/{name}/by_length",
        f"results/lengths/{name}/accuracy_by_length",
        f"results/costs/{name}/front",
    ]
    for stage, names in {
        "significance": ("pairs", "contrasts", "across", "ranks", "omnibus", "nemenyi"),
        "calibration": ("calibration", "reliability", "by_length"),
        "lengths": ("accuracy_by_length",),
        "errors": (
            "hardness",
            "confusion",
            "agreement",
            "hard_documents",
            "suspects",
            "confident_errors",
            "ngrams",
        ),
        "duplicates": ("leak",),
        "costs": ("costs", "front"),
    }.items():
        tables += [f"results/{stage}/{name}/{one}.csv" for one in names]
    if study.compares_grouped:
        tables.append(f"results/duplicates/{name}/grouped.csv")
    if study.config["protocol"]["inner"] is not None:
        figures.append(f"results/search/{name}/curves")
        tables.append(f"results/search/{name}/curves.csv")
    if has_heat_maps():
        figures.append(f"results/errors/{name}/confusion")
    if study.curve_runs():
        figures.append(f"results/learning_curves/{name}/curves")
        tables += [f"results/learning_curves/{name}/{one}.csv" for one in ("curves", "crossings")]
    if published_file():
        tables += [f"results/tables/{name}/{one}.csv" for one in ("claims", "claim_verdicts")]
        tables.append("results/tables/fidelity.csv")
    pictures = [f"{stem}{form}" for stem in figures for form in FORMS]
    overlap = f"results/duplicates/{name}/overlap.parquet"
    return [f"results/cells/{name}.parquet", overlap, *tables, *pictures]


def receipt_of_study():
    """The receipt of the MLflow store, unless tracking is switched off."""
    return [f"results/tracking/{study.name}.json"] if study.config["tracking"] == "mlflow" else []


def models_of_study():
    """What every kept model says of itself."""
    folder = f"results/models/{study.name}"
    best = [f"{folder}/{dataset}/best/model.json" for dataset in study.datasets_with_best()]
    return best + [f"{folder}/{'/'.join(run)}/model.json" for run in study.kept_models()]


def registry_of_study():
    """The receipt of the registered models, unless none is kept or tracking is switched off."""
    tracked = study.config["tracking"] != "none" and models_of_study()
    return [f"results/tracking/{study.name}-models.json"] if tracked else []


def runs_of_dataset(*names):
    """A function of a dataset: such files of each of its run folders."""
    return lambda wildcards: [
        f"results/runs/{study.name}/{wildcards.dataset}/{representation}/{method}/{name}"
        for representation, method in study.runs_of(wildcards.dataset)
        for name in names
    ]


CALIBRATING = ("predictions.parquet", "inner_predictions.parquet")
"""Of a run folder: what turns the scores of a kept model into probabilities."""


def representations_of(dataset):
    """The representations that a dataset's runs have."""
    names = {name for name, _ in study.runs_of(dataset)}
    return [study.representations[name] for name in sorted(names)]


def tokens_of(wildcards):
    """The tokens that a representation rests on."""
    tokenizer = study.representations[wildcards.representation].tokenizer
    return f"results/tokens/{study.name}/{wildcards.dataset}/{tokenizer}.npz"


def tokens_of_dataset(wildcards):
    """The tokens that any representation of a dataset rests on."""
    names = {one.tokenizer for one in representations_of(wildcards.dataset)}
    return [f"results/tokens/{study.name}/{wildcards.dataset}/{name}.npz" for name in sorted(names)]


def counts_of_dataset(wildcards):
    """The counts that any representation of a dataset rests on."""
    names = {one.counts for one in representations_of(wildcards.dataset)}
    return [
        f"results/counts/{study.name}/{wildcards.dataset}/{name}/matrix.npz"
        for name in sorted(names)
    ]


def server_of_study():
    """The option that names the tracking server; none for the store under results/."""
    address = study.config["tracking_uri"]
    return ["--server", address] if address else []


def description_of_study():
    """The study's description, with the command that runs it from the folder of the Snakefile."""
    words = ["snakemake", "--cores", "all"]
    for file in workflow.configfiles:
        path = Path(file).resolve()
        inside = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        if inside != Path("config/config.yaml"):
            words += ["--configfile", str(inside)]
    # What says where runs are logged does not change them.
    given = {
        key: value
        for key, value in workflow.config_settings.config.items()
        if key not in ("tracking", "tracking_uri", "mirror")
    }
    if given:
        words += [
            "--config",
            *(f"{key}={storage.canonical_json(value)}" for key, value in given.items()),
        ]
    return {**study.description(), "command": shlex.join(words)}


def print_summary():
    """Print the comparison tables and where everything lies."""
    from textbaselines.reporting.summary import print_summary

    print_summary(Path("results"), description_of_study())
