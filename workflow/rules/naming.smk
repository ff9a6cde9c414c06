"""How the study becomes file names and job parameters: nothing here runs a job.

A parameter of a job holds no more than what that job's output depends on, so that a changed grid
runs its own batch again and nothing else: short ones as canonical JSON, those that grow with a
study as the digest of what stands in its plan.
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


DATASET_SCHEMA = relative(ROOT / "workflow" / "schemas" / "dataset.schema.yaml")


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
                return as_json(raw_file_to_mapping(file))
    raise WorkflowError(f"no dataset of the study has a raw file {wildcards.file!r}")


def reading_of(wildcards):
    """What decides how raw files become documents."""
    dataset = study.datasets[wildcards.dataset]
    return as_json(
        dataset.reader,
        dataset.encoding,
        dataset.classes,
        dataset.expected,
        dataset.content_digest,
    )


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


def text_threads(wildcards):
    """Threads for one dataset's text: several where few datasets run side by side."""
    return max(1, 8 // len(study.datasets))


def counts_of(wildcards):
    """The counts that a representation rests on."""
    counts = study.representations[wildcards.representation].counts
    return f"results/counts/{study.name}/{wildcards.dataset}/{counts}/matrix.npz"


def tokens_of(wildcards):
    """The tokens that a representation rests on."""
    tokenizer = study.representations[wildcards.representation].tokenizer
    return f"results/tokens/{study.name}/{wildcards.dataset}/{tokenizer}.npz"


def representations_of(wildcards):
    """The representations of a batch, or of all runs of a dataset."""
    runs = study.runs_of(wildcards.dataset)
    if "batch" in wildcards.keys():
        runs = tasks_of_batch(wildcards)
    return [study.representations[name] for name in dict.fromkeys(name for name, _ in runs)]


def tasks_of_batch(wildcards):
    """Representation and method of each task of a batch."""
    batches = plan.batches(wildcards.dataset)
    if wildcards.batch not in batches:
        raise WorkflowError(f"the study has no batch {wildcards.batch!r} of {wildcards.dataset}")
    return batches[wildcards.batch]


def plan_file(wildcards, input):
    """The plan that jobs read. It takes the input so that another plan alone runs no job again."""
    return plan.path


def digest_of_batch(wildcards):
    """The digest of what a batch trains."""
    return plan.batch_digest(wildcards.dataset, wildcards.batch)


def digest_of_grouped_runs(wildcards):
    """The digest of which runs of a dataset are compared with those on grouped folds."""
    return storage.short_digest(plan.grouped_runs(wildcards.dataset))


def counts_of_representations(wildcards):
    """The counts of a batch, or of a dataset."""
    folder = f"results/counts/{study.name}/{wildcards.dataset}"
    return sorted({f"{folder}/{one.counts}/matrix.npz" for one in representations_of(wildcards)})


def tokens_of_representations(wildcards):
    """The tokens of a batch, or of a dataset."""
    folder = f"results/tokens/{study.name}/{wildcards.dataset}"
    return sorted({f"{folder}/{one.tokenizer}.npz" for one in representations_of(wildcards)})


def features_of_batch(wildcards):
    """The counts, the fold vocabularies and the reduced coordinates that a batch rests on."""
    place = f"{study.name}/{wildcards.dataset}"
    files = set(counts_of_representations(wildcards))
    for one in representations_of(wildcards):
        files.add(f"results/vocabularies/{place}/{one.vocabulary}.npz")
        if one.reduction is not None:
            files.add(f"results/reductions/{place}/{one.reduced}.npz")
    return sorted(files)


def reducing(wildcards):
    """The runs of a dataset, (representation, method), that take reduced coordinates."""
    name = f"{wildcards.tokenizer}/{wildcards.reduction}"
    runs = [
        (study.representations[representation], method)
        for representation, method in study.runs_of(wildcards.dataset)
    ]
    found = [run for run in runs if run[0].reduction is not None and run[0].reduced == name]
    if not found:
        raise WorkflowError(f"no run of the study takes the coordinates {name!r}")
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


def batch_files(folder):
    """The files of a batch's folder."""
    return [f"{folder}/{name}" for name in BATCH_FILES]


def runs_of_dataset(folder):
    """A function of a dataset: the records of its batches, in a study's folder of runs.

    A batch's record is written last and new with each of its files, so it stands for them all.
    """
    return lambda wildcards: [
        f"{folder}/{wildcards.dataset}/{batch}/runs.json".format(study=study.name)
        for batch in plan.batches(wildcards.dataset)
    ]


def runs_of_study(names=("runs.json",)):
    """Which run is in which batch, and files of every batch of the study: by default its record."""
    folder = f"results/runs/{study.name}"
    files = [
        f"{folder}/{dataset}/{batch}/{name}"
        for dataset in study.datasets
        for batch in plan.batches(dataset)
        for name in names
    ]
    return [f"{folder}/batches.json", *files]


def record_of_run(wildcards):
    """The record of the batch that a run is in."""
    run = wildcards.representation, wildcards.method
    for batch, tasks in plan.batches(wildcards.dataset).items():
        if run in tasks:
            return f"results/runs/{study.name}/{wildcards.dataset}/{batch}/runs.json"
    raise WorkflowError(f"no run of the study: {wildcards.dataset}, {', '.join(run)}")


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
    folder = f"results/benchmarks/{study.name}/train"
    return [
        f"{folder}/{name}/{batch}.tsv" for name in study.datasets for batch in plan.batches(name)
    ]


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


def digest_of_curves(wildcards):
    """The digest of what a job of learning curves does."""
    return storage.short_digest(plan.curve(wildcards.dataset, wildcards.representation))


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


def features_of_study():
    """The folds, counts and vocabularies that the study's runs rest on."""
    folder = study.name
    files = {f"results/folds/{folder}/{dataset}.parquet" for dataset in study.datasets}
    for dataset, name, _ in study.runs():
        representation = study.representations[name]
        files.add(f"results/counts/{folder}/{dataset}/{representation.counts}/matrix.npz")
        files.add(f"results/vocabularies/{folder}/{dataset}/{representation.vocabulary}.npz")
    return sorted(files)


FORMS = (".svg", "-narrow.svg", ".png", ".txt")
"""The files of a figure: for a page and for a phone, as pixels, and in words."""


def has_heat_maps():
    """Whether a dataset has more than two classes, so that confusion matrices are drawn."""
    return any(len(dataset.classes) > 2 for dataset in study.datasets.values())


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


def server_of_study():
    """The option that names the tracking server; none for the store under results/."""
    address = study.config["tracking_uri"]
    return ["--server", address] if address else []


def command_of_study():
    """The command that runs the study from the folder of the Snakefile."""
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
    return shlex.join(words)


def print_summary():
    """Print the comparison tables and where everything lies."""
    from textbaselines.reporting.summary import print_summary

    print_summary(Path("results"), plan.content["description"])
