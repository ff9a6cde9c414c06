"""The commands of ``python -m textbaselines``."""

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec

import click
import pandas as pd
import yaml
from rich.console import Console

from textbaselines.cli import dry_run
from textbaselines.cli.arguments import check_checkout, check_port, check_results
from textbaselines.cli.forecast_forms import plan_as_json, plan_list, totals
from textbaselines.core import provenance
from textbaselines.core.errors import UserError
from textbaselines.core.logs import start_log
from textbaselines.core.result_paths import Results
from textbaselines.evaluation.all_results import (
    cells_of_studies,
    finished_runs,
    points_of_studies,
    studies_in,
    study_in,
)
from textbaselines.reporting.tables.comparison import ORACLE_WARNING
from textbaselines.reporting.tables.exported_lists import check_suffix, write_frame
from textbaselines.reporting.tables.result_list import (
    FORMS,
    MEASURES,
    SORTED_POINTS,
    compare,
    diff_list,
    render,
    select,
)
from textbaselines.reporting.tracking.cells_at_commits import cells_at_commit
from textbaselines.reporting.tracking.serving import serve_command
from textbaselines.reporting.tracking.ui import PORT, links_of_study, ui_command
from textbaselines.study.batches import plan_of
from textbaselines.study.definition import Study, read_study
from textbaselines.study.forecast import estimate_study
from textbaselines.training.receipts import would_be_kept

_P = ParamSpec("_P")
_RESULTS = click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=Path("results"),
    show_default=True,
    help="The folder of results.",
)
_FORM = click.option(
    "--form", type=click.Choice(FORMS), default="table", show_default=True, help="The form."
)
_OPTIMISTIC = click.option(
    "--optimistic",
    is_flag=True,
    help="Also show the rows chosen on the test folds (selection oracle).",
)
_ROOT = click.option(
    "--root", type=click.Path(path_type=Path), default=Path(), help="The checkout of the code."
)


def _told(command: Callable[_P, None]) -> Callable[_P, None]:
    """End a command with a message, without a traceback, for a mistake or an unusable file."""

    @functools.wraps(command)
    def told(*args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except UserError as error:
            raise click.ClickException(str(error)) from error
        except BrokenPipeError:
            raise  # whoever read the output has enough; click ends quietly
        except OSError as error:
            if error.filename is None:
                raise
            told = UserError(
                "a file or folder cannot be used", where=str(error.filename), found=error.strerror
            )
            raise click.ClickException(str(told)) from error

    return told


@click.group()
def main() -> None:
    """Show plans and results on the terminal, log runs to MLflow, and serve models."""


@main.command()
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=Path("results"),
    show_default=True,
    help="The folder of results. Its finished runs show how long fits take.",
)
@click.option(
    "--configfile", "files", multiple=True, type=click.Path(path_type=Path), help="The study file."
)
@click.option(
    "--config", "settings", multiple=True, help="KEY=VALUE, replaces a key of the study file."
)
@click.option("--cores", type=click.IntRange(min=1), help="How many cores; all by default.")
@click.option("--root", type=click.Path(path_type=Path), default=Path(), help="The checkout.")
@click.option(
    *("--form", "--format", "form"),
    type=click.Choice(FORMS),
    default="table",
    show_default=True,
    help="The form.",
)
@_told
def plan(
    results: Path,
    files: tuple[Path, ...],
    settings: tuple[str, ...],
    cores: int | None,
    root: Path,
    form: str,
) -> None:
    """Show what a study would run, and an estimate of its time, before anything is run."""
    check_checkout(root)
    check_results(results)
    study = read_study(
        files or [root / "config" / "config.yaml"],
        _settings(settings),
        root,
        results / "raw",
    )
    jobs = dry_run.jobs_to_run(root / "Snakefile", files, settings)
    named = [(rule, of.get("dataset", ""), of.get("batch", "")) for rule, of in jobs]
    training = [(dataset, batch) for rule, dataset, batch in named if rule == "train"]
    other = [job for job in named if job[0] not in ("all", "train")]
    remade = {dataset for rule, dataset, _ in other if rule in MAKES_INPUTS}
    planned = estimate_study(study, results, _to_train(study, results, training, remade), other)
    cores = cores or len(os.sched_getaffinity(0))
    if form == "json":
        click.echo(plan_as_json(planned, study.name, cores), nl=False)
        return
    exact = form == "csv"
    shown = planned.rows if exact else plan_list(planned)
    click.echo(render(shown, form, Console()), nl=False)
    for line in totals(planned, study.title, cores):
        click.echo(line, err=exact)


MAKES_INPUTS = ("read", "fold", "tokenise", "count", "fit_vocabularies", "reduce")
"""The rules that make what a dataset's batches are trained from."""


def _to_train(
    study: Study, results: Path, training: list[tuple[str, str]], remade: set[str]
) -> set[tuple[str, str, str]]:
    """Return the tasks of batches, (dataset, name), that training would not keep as they are."""
    planned = plan_of(study)
    tasks = set()
    for dataset, batch in training:
        for representation, method in planned.batches(dataset)[batch]:
            folder = Results(results).study(study.name).kept(dataset) / representation / method
            task = planned.task(dataset, representation, method)
            if dataset in remade or not would_be_kept(folder, task, results.parent):
                tasks.add((dataset, representation, method))
    return tasks


def _settings(given: tuple[str, ...]) -> dict[str, Any]:
    settings = {}
    for one in given:
        key, sign, value = one.partition("=")
        if not sign:
            raise UserError(
                "--config has no value", where="--config", found=one, expected="KEY=VALUE"
            )
        try:
            settings[key] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise UserError("not a value", where=f"--config {key}", found=value) from error
    return settings


@main.group()
def results() -> None:
    """Show, compare and export results."""


@results.command()
@_RESULTS
@click.option("--study", "names", multiple=True, help="A study; all in the folder by default.")
@click.option(
    "--points", is_flag=True, help="Show every point of the grids instead of the tables' cells."
)
@click.option("--sort", "-s", multiple=True, help="A column to sort by, the largest first.")
@click.option("--ascending", is_flag=True, help="Sort the smallest first.")
@click.option(
    "--filter", "-f", "where", multiple=True, help='A condition, as in pandas: "accuracy > 0.8".'
)
@click.option("--top", "-n", type=click.IntRange(min=1), help="Show at most this many rows.")
@click.option("--columns", help="The columns, separated by commas.")
@_OPTIMISTIC
@_FORM
@_told
def show(
    results: Path,
    names: tuple[str, ...],
    points: bool,
    sort: tuple[str, ...],
    ascending: bool,
    where: tuple[str, ...],
    top: int | None,
    columns: str | None,
    optimistic: bool,
    form: str,
) -> None:
    """List results, also of a study that is still running."""
    studies = [study_in(results, name) for name in names] or studies_in(results)
    every = (points_of_studies if points else cells_of_studies)(results, studies)
    frame = every if points else _asked_for(every, optimistic)
    wanted = [name.strip() for name in columns.split(",")] if columns else []
    chosen = select(frame, where=where, sort=sort, ascending=ascending, top=top, columns=wanted)
    click.echo(render(chosen, form, Console()), nl=False)
    if len(chosen) < len(frame):
        click.echo(f"{len(chosen)} of {len(frame)} rows", err=True)
    if points and set(sort) & set(MEASURES):
        click.echo(SORTED_POINTS, err=True)
    _tell_optimistic(every, optimistic)


@results.command()
@click.argument("first")
@click.argument("second")
@_RESULTS
@_ROOT
@click.option("--changed", is_flag=True, help="Leave out the cells that are the same.")
@_OPTIMISTIC
@_FORM
@_told
def diff(
    first: str,
    second: str,
    results: Path,
    root: Path,
    changed: bool,
    optimistic: bool,
    form: str,
) -> None:
    """Compare two sets of results side by side.

    FIRST and SECOND are each a study of --results, a folder of results (of another checkout, for
    instance), or a commit (HEAD~3, a tag, a hash) at which a study of --results was logged.
    FOLDER:STUDY and COMMIT:STUDY name one study of several.
    """
    every = compare(_cells_of(first, results, root), _cells_of(second, results, root))
    frame = _asked_for(every, optimistic)
    same = int((frame["status"] == "same").sum())
    shown = frame[frame["status"] != "same"] if changed else frame
    console = Console()
    if form in ("csv", "json"):
        click.echo(render(shown, form), nl=False)
    else:
        click.echo(render(diff_list(shown), form, console, width=console.width), nl=False)
    click.echo(f"{len(frame)} cells, {same} the same", err=True)
    _tell_optimistic(every, optimistic)


def _asked_for(cells: pd.DataFrame, optimistic: bool) -> pd.DataFrame:
    """Return the cells without those chosen on the test folds, unless they are asked for."""
    return cells if optimistic or cells.empty else cells[cells["selection"] != "oracle"]


def _tell_optimistic(cells: pd.DataFrame, optimistic: bool) -> None:
    """Say that rows chosen on the test folds are shown, or how many are not."""
    if "selection" not in cells or not (number := int((cells["selection"] == "oracle").sum())):
        return
    if optimistic:
        click.echo(f"selection oracle: {ORACLE_WARNING}", err=True)
    else:
        click.echo(
            f"rows chosen on the test folds, left out: {number} (--optimistic shows them)", err=True
        )


def _cells_of(name: str, results: Path, root: Path) -> pd.DataFrame:
    place, colon, study = name.rpartition(":")
    if colon and any(Results(Path(place)).studies()):
        return cells_of_studies(Path(place), [study_in(Path(place), study)])
    if colon:
        return _at_commit(place, results, root, study)
    if any(Results(Path(name)).studies()):
        return cells_of_studies(Path(name), studies_in(Path(name)))
    if Results(results).study(name).description.is_file():
        return cells_of_studies(results, [study_in(results, name)])
    return _at_commit(name, results, root)


def _at_commit(name: str, results: Path, root: Path, study: str | None = None) -> pd.DataFrame:
    cells = cells_at_commit(results, name, study, root)
    if cells["dirty"].any():
        click.echo(f"{name}: logged with changes that were not committed", err=True)
    return cells


@results.command()
@click.argument("output", type=click.Path(path_type=Path))
@_RESULTS
@click.option("--study", "names", multiple=True, help="A study; all in the folder by default.")
@_told
def export(output: Path, results: Path, names: tuple[str, ...]) -> None:
    """Write every point of every finished run to one file.

    The ending of OUTPUT sets the form: .parquet, .csv or .jsonl. The accuracies are those on the
    test folds, so the best point picked there is optimistic.
    """
    check_suffix(output)
    studies = [study_in(results, name) for name in names] or studies_in(results)
    frame = points_of_studies(results, studies)
    write_frame(output, frame)
    click.echo(f"{len(frame)} runs in {output}")


@main.command()
@_RESULTS
@click.option("--study", "names", multiple=True, help="A study; all with tracking by default.")
@click.option("--rebuild", is_flag=True, help="Delete the store and build it again.")
@_ROOT
@click.option(
    "--patience",
    type=click.FloatRange(min=0),
    default=600.0,
    help="Seconds to wait for another process that logs.",
)
@_told
def track(
    results: Path, names: tuple[str, ...], rebuild: bool, root: Path, patience: float
) -> None:
    """Log finished runs to the tracking store, also while a study runs."""
    log = start_log("track")
    every = studies_in(results)
    wanted = [study_in(results, name) for name in names] or [
        study for study in every if study["tracking"] == "mlflow"
    ]
    if rebuild and names:
        raise UserError(
            "--rebuild builds the store from all studies",
            where="--study",
            fix="leave --study out; --rebuild would delete the other studies from the store",
        )
    from textbaselines.reporting.tracking.records import Sources
    from textbaselines.reporting.tracking.registered_models import restore_registered
    from textbaselines.reporting.tracking.store import Location, open_store
    from textbaselines.reporting.tracking.writer import log_studies

    by_server: dict[str | None, list[dict[str, Any]]] = {}
    for study in wanted:
        by_server.setdefault(study.get("tracking_uri"), []).append(study)
    for server, studies in by_server.items():
        read = [
            (
                Sources(
                    finished_runs(results, study),
                    study,
                    benchmarks=Results(results).study(study["name"]).training_benchmarks,
                ),
                Results(results).study(study["name"]).tracked_runs,
            )
            for study in studies
        ]
        location = Location(Results(results).database, Results(results).artifacts, server)
        receipts = log_studies(
            read,
            location,
            code=provenance.code_tags(root),
            patience=patience,
            rebuild=rebuild and server is None,
        )
        for study, receipt in zip(studies, receipts, strict=True):
            finished, asked = len(finished_runs(results, study)), len(study["runs"])
            counts = ", ".join(f"{number} {what}" for what, number in receipt["counts"].items())
            log.info("%s: %d of %d jobs finished; %s", study["name"], finished, asked, counts)
            for what, address in links_of_study(results, study):
                click.echo(f"{what:<28} {address}")
        with open_store(location, patience=patience) as client:
            mine = [study["name"] for study in studies]
            restored = restore_registered(client, results, mine)
        if restored:
            log.info("registered again: %d", restored)


@main.command()
@_RESULTS
@click.option("--port", default=str(PORT), show_default=True)
@_told
def ui(results: Path, port: str) -> None:
    """Serve MLflow's pages of the store on this machine alone, until interrupted."""
    start_log("ui")
    check_port(port, "--port")
    command, environment = ui_command(results, int(port))
    for study in studies_in(results):
        for what, address in links_of_study(results, study, f"http://127.0.0.1:{port}"):
            click.echo(f"{study['name']}, {what:<28} {address}")
    os.execve(command[0], command, environment)


@main.command()
@click.argument("dataset", required=False)
@_RESULTS
@click.option("--port", default=5001, show_default=True)
@_told
def serve(dataset: str | None, results: Path, port: int) -> None:
    """Serve the champion of DATASET over HTTP on this machine alone, until interrupted."""
    start_log("serve")
    command, environment = serve_command(results, dataset, port)
    click.echo(f"{dataset}: POST texts to http://127.0.0.1:{port}/invocations")
    os.execve(command[0], command, environment)
