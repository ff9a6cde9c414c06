"""Study: the study file, or the config of a module, becomes the study and the plan of its jobs."""


def study_and_command():
    """The study, and the command that runs it from the folder of this Snakefile."""
    folders = ROOT, Results().raw
    words = ["snakemake", "--cores", "all"]
    if IS_MODULE:
        return make_study(config, "the config of the module", *folders), shlex.join(words)
    # Read by our own loader, which refuses duplicate keys and names lines.
    default = ROOT / "config" / "config.yaml"
    files = snakemake_access.config_files(workflow) or [default]
    keys = snakemake_access.config_keys(workflow)
    for path in (file.resolve() for file in files):
        inside = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        words += [] if path == default.resolve() else ["--configfile", str(inside)]
    # What says where runs are logged does not change them.
    told = {k: v for k, v in keys.items() if k not in ("tracking", "tracking_uri", "mirror")}
    if told:
        words += ["--config", *(f"{k}={storage.canonical_json(v)}" for k, v in told.items())]
    return read_study(files, keys, *folders), shlex.join(words)


try:
    study, command = study_and_command()
    export_library(ROOT / "src")
    export_allocator()
    export_mirror(study.config["mirror"], ROOT)
except UserError as error:
    raise WorkflowError(str(error))

# What the jobs of the study do: they find it in a file, by the names of their batches.
plan = plan_of(study, command)
