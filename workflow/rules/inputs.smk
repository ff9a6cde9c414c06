"""What rules take: the files of a study, and the parameters of its jobs. Nothing here runs a job.

Paths come from src/textbaselines/core/result_paths.py. A parameter of a job holds no more than what
that job's output depends on: short ones as canonical JSON, those that grow with a study as the
digest of what the plan has. So a changed grid trains again only the batches that hold its method;
evaluation and all after it follow.
"""

results = Results()
of_study = results.study("{study}")  # for rules whose outputs have the wildcard, which logs show
here = results.study(study.name)  # for lists of files, and rules without a wildcard


# Parameters


def literal(value):
    """A parameter as it is: Snakemake formats strings of a rule, but not what a function returns."""
    strings = [value] if isinstance(value, str) else value
    return (lambda wildcards: value) if any("{" in one for one in strings) else value


def as_json(*values):
    """Canonical JSON of a value, or of several as a list; dataclasses as their fields."""
    plain = [vars(value) if hasattr(value, "__dict__") else value for value in values]
    return storage.canonical_json(plain if len(plain) > 1 else plain[0])


def megabytes(factor, least=500):
    """Memory for a job as a function of its input's size and the attempt."""

    def of(wildcards, input, attempt):
        return int(max(least, factor * input.size_mb)) * attempt

    return of


def text_threads(wildcards):
    """Threads for one dataset's text: 8 in all, as more bring little, shared by the datasets."""
    return max(1, 8 // len(study.datasets))


def raw_file_of(wildcards):
    """A raw file with its sources; every dataset that has it says the same."""
    for dataset in study.datasets.values():
        for file in dataset.files:
            if file.name == wildcards.file:
                return as_json(file.plain())
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


def plan_file(wildcards, output):
    """The plan. A parameter that looks at the output is not compared: another plan re-runs no job.

    It is written when a run starts; for a module, whose onstart is not called, here, so also in a
    dry run.
    """
    # A module's prefix is before the paths of outputs, but not in parameters.
    prefix, _, _ = output[0].rpartition(f"{results.folder}/{study.name}/")
    folder = Path(prefix, results.folder)
    return plan.write(folder) if IS_MODULE else plan.path(folder)


def digest_of_batch(wildcards):
    """The digest of what a batch trains."""
    return plan.batch_digest(wildcards.dataset, wildcards.batch)


def digest_of_curves(wildcards):
    """The digest of what a job of learning curves does."""
    return storage.short_digest(plan.curve(wildcards.dataset, wildcards.representation))


def server_of_study():
    """The option that names the tracking server; none for the store under results/."""
    address = study.config["tracking_uri"]
    return ["--server", address] if address else []


# Files beside the results


def relative(path):
    """A path of the checkout, relative to the working directory.

    Snakemake cannot read from one with braces, and puts a module's prefix before one that is not
    marked as local.
    """
    found = os.path.relpath(path)
    if "{" in found:
        message = UserError(
            "a path with braces, which Snakemake takes for wildcards",
            where=str(path),
            found=found,
            fix="start snakemake in the folder of the Snakefile, or rename the folder",
        )
        raise WorkflowError(str(message))
    return found


def code(name):
    """The script and the library files it imports: an edit of them re-runs the job, no other does."""
    script = ROOT / "workflow" / "scripts" / f"{name}.py"
    return [local(relative(path)) for path in [script, *provenance.files_imported_by(script)]]


def dataset_file(wildcards):
    """The dataset file of a dataset."""
    return local(relative(study.datasets[wildcards.dataset].path))


def published_file():
    """The file of published numbers; none without one."""
    published = study.config["tables"]["published"]
    return [local(relative(ROOT / published))] if published else []


def parts_of_page():
    """The style sheet, script and template of the report."""
    page = ROOT / "src" / "textbaselines" / "reporting" / "report" / "page"
    return [local(relative(f"{page}{ending}")) for ending in (".css", ".js", ".html.jinja")]


# Inputs of one dataset, representation or batch


def raw_files(wildcards):
    """The raw files of a dataset."""
    return [results.raw / file.name for file in study.datasets[wildcards.dataset].files]


def counts_of(wildcards):
    """The counts that a representation rests on."""
    return here.counts(wildcards.dataset, study.representations[wildcards.representation].counts)


def tokens_of(wildcards):
    """The tokens that a representation rests on."""
    return here.tokens(wildcards.dataset, study.representations[wildcards.representation].tokenizer)


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


def counts_of_representations(wildcards):
    """The counts of a batch, or of a dataset."""
    every = representations_of(wildcards)
    return sorted({here.counts(wildcards.dataset, one.counts) for one in every})


def tokens_of_representations(wildcards):
    """The tokens of a batch, or of a dataset."""
    every = representations_of(wildcards)
    return sorted({here.tokens(wildcards.dataset, one.tokenizer) for one in every})


def features_of_batch(wildcards):
    """The counts, the fold vocabularies and the reduced coordinates that a batch rests on."""
    dataset = wildcards.dataset
    files = set(counts_of_representations(wildcards))
    for one in representations_of(wildcards):
        files.add(here.vocabularies(dataset, one.vocabulary))
        if one.reduction is not None:
            files.add(here.reductions(dataset, one.reduced))
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
    """The counts that reduced coordinates rest on: their name says which, so all runs have them."""
    return here.counts(wildcards.dataset, reducing(wildcards)[0][0].counts)


def vocabularies_reduced(wildcards):
    """The fold vocabularies that reduced coordinates rest on."""
    return here.vocabularies(wildcards.dataset, reducing(wildcards)[0][0].vocabulary)


def runs_of_dataset(wildcards):
    """The records of a dataset's batches.

    A batch's record is written last and new with each of its files, so it stands for them all.
    """
    folder = here.runs / wildcards.dataset
    return [folder / batch / RECORDS for batch in plan.batches(wildcards.dataset)]


def record_of_run(wildcards):
    """The record of the batch that a run is in."""
    run = wildcards.representation, wildcards.method
    for batch, tasks in plan.batches(wildcards.dataset).items():
        if run in tasks:
            return here.runs / wildcards.dataset / batch / RECORDS
    raise WorkflowError(f"no run of the study: {wildcards.dataset}, {', '.join(run)}")


# Inputs of a whole study


def batches_of_study():
    """Dataset and batch of all training jobs."""
    return [(name, batch) for name in study.datasets for batch in plan.batches(name)]


def runs_of_study(names=(RECORDS,)):
    """Which run is in which batch, and files of every batch of the study: by default its record."""
    places = [here.runs.joinpath(*batch) for batch in batches_of_study()]
    return [here.batches, *(place / name for place in places for name in names)]


def grouped_runs_of_study():
    """The records of the batches on grouped folds, if the study has them."""
    batches = batches_of_study() if study.compares_grouped else []
    return [here.grouped_runs.joinpath(*batch, RECORDS) for batch in batches]


def measures_of_study():
    """The time and memory of every training task of the study."""
    return [here.benchmark("train", *batch) for batch in batches_of_study()]


def learning_curves_of_study():
    """The scores of every job of learning curves."""
    return [here.learning_curve(*run) for run in study.curve_runs()]


def corpora_of_study():
    """The corpora of the study's datasets."""
    return [results.corpus(dataset) for dataset in study.datasets]


def audits_of_study():
    """The audits of the study's corpora."""
    return [results.audit(dataset) for dataset in study.datasets]


def folds_of_study():
    """The folds of the study's datasets."""
    return [here.folds(dataset) for dataset in study.datasets]


def tokens_measured():
    """The tokens that say how long documents are."""
    return [here.tokens(*named) for named in study.measured_tokens().items()]


def features_of_study():
    """The counts and vocabularies that the study's runs rest on."""
    files = set()
    for dataset, name, _ in study.runs():
        representation = study.representations[name]
        files.add(here.counts(dataset, representation.counts))
        files.add(here.vocabularies(dataset, representation.vocabulary))
    return sorted(files)


def counts_summaries_of_study():
    """The summaries of all counts of the study."""
    return sorted(
        {
            here.counts_summary(dataset, study.representations[representation].counts)
            for dataset, representation, _ in study.runs()
        }
    )


def tables_of_study():
    """The tables as a paper shows them."""
    paper = PAPER_TABLES if published_file() else ()
    return [here.table(*table) for table in (*TABLES, *paper)]


def files_of_report():
    """The files that the report shows or links to."""
    return [
        here.cells,
        here.overlap,
        *(here.significance(table) for table in SIGNIFICANCE),
        *(here.analysis(table) for table in (*CALIBRATION, *study.analyses())),
        *(file for file in tables_of_study() if file.suffix == ".csv"),
        *(f"{here.figure(name)}{form}" for name in study.figures() for form in FORMS),
    ]


def models_of_study():
    """What every kept model says of itself."""
    kept = [(dataset, "best") for dataset in study.datasets_with_best()]
    return [here.model(*names) / "model.json" for names in [*kept, *study.kept_models()]]


def receipts_of_study():
    """The receipts of the MLflow store."""
    return [here.tracked_runs, *([here.tracked_models] if models_of_study() else [])]
