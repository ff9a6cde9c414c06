"""Portable models in MLflow: logged with their run, registered, the newest result the champion."""

import importlib.metadata
import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")

import mlflow
from mlflow import MlflowClient
from mlflow.entities import Run
from mlflow.entities.model_registry import ModelVersion
from mlflow.environment_variables import (
    MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR,
    MLFLOW_EXPERIMENT_ID,
)
from mlflow.exceptions import MlflowException
from mlflow.models import Model, ModelSignature
from mlflow.types import ColSpec, Schema

import textbaselines
from textbaselines.core.errors import UserError
from textbaselines.core.result_paths import Results
from textbaselines.core.storage import read_json, write_json
from textbaselines.export.portable import PortableModel, load, model_digest, read_description
from textbaselines.reporting.tracking.store import only_store

CHAMPION = "champion"
"""The alias of a dataset's model that is served."""

EXAMPLE = ["a fine film", "an hour too long"]
"""What stands with a logged model as its input example."""

_SERVED = Path(__file__).parents[2] / "export" / "served_model.py"
# What a served model imports.
_REQUIRED = ("mlflow", "numpy", "pandas", "pyarrow", "regex", "scikit-learn", "scipy")
_log = logging.getLogger("textbaselines")


def register_best(
    client: MlflowClient, study: str, folders: Sequence[str | Path], suffix: str = ""
) -> dict[str, dict[str, Any]]:
    """Register the most accurate model of each dataset under the dataset's name.

    Parameters
    ----------
    client : MlflowClient
        Of a store that has the study's final runs.
    folders : sequence of paths
        Portable models of the study; those that could not be fitted are passed over.
    suffix : str
        Follows the dataset's name, so that a trial on few documents is no dataset's champion.

    Returns
    -------
    dict
        By dataset: ``name`` and ``version`` of the registered model, its ``digest`` and the
        ``run`` of MLflow that it stands with.

    Raises
    ------
    UserError
        When a model's final run is not in the store.
    """
    best: dict[str, tuple[float, Path]] = {}
    for folder in map(Path, folders):
        described = read_description(folder)
        accuracy = described["evaluation"]["accuracy"]
        dataset = described["dataset"]
        if "failure" in described or accuracy is None:
            reason = described.get("failure", "its method failed on a fold of the study")
            _log.warning("%s is not registered: %s", folder, reason)
        elif accuracy > best.get(dataset, (-1.0, folder))[0]:
            best[dataset] = (accuracy, folder)
    receipt = {}
    for dataset, (_, folder) in best.items():
        run_id = _final_run(client, study, read_description(folder))
        version = register(client, run_id, folder, dataset + suffix, study)
        receipt[dataset] = {
            "name": dataset + suffix,
            "version": int(version.version),
            "digest": model_digest(folder),
            "run": str(version.run_id),
        }
    return receipt


def restore_registered(client: MlflowClient, results: Path, studies: Sequence[str]) -> int:
    """Register again what receipts say was registered and the store does not have.

    A store that is made anew so gets its models and champions back. The versions of one name come
    in their old order: the champion is of the same study as before.

    Parameters
    ----------
    client : MlflowClient
        Of a store that has the studies' final runs.
    results : Path
        The folder of results: receipts are ``tracking/<study>-models.json``, which are written anew
        where something was registered, portable models are in ``models/<study>``.
    studies : sequence of str
        Names; a study without a receipt has nothing to restore.

    Returns
    -------
    int
        How many models were registered. One whose folder is gone or has changed since, or whose
        final run is not in the store, is passed over with a warning: the study registers what it
        keeps now when it is run.
    """
    paths = {study: Results(results).study(study).tracked_models for study in studies}
    receipts = {study: read_json(path) for study, path in paths.items() if path.is_file()}
    missing = [
        (registered["version"], study, dataset)
        for study, receipt in receipts.items()
        for dataset, registered in receipt.items()
        if not _is_registered(client, registered)
    ]
    restored = 0
    for _, study, dataset in sorted(missing):
        registered = receipts[study][dataset]
        folder = _folder_of(Results(results).study(study).model(dataset), registered["digest"])
        if folder is None:
            _log.warning(
                "the model of %s that %s had registered is not in %s any more: run the study to "
                "register the one it keeps now",
                *(dataset, study, Results(results).study(study).model(dataset)),
            )
            continue
        try:
            run_id = _final_run(client, study, read_description(folder))
        except UserError as error:
            _log.warning("%s is not registered again: %s", folder, error)
            continue
        version = register(client, run_id, folder, registered["name"], study)
        receipts[study][dataset] = registered | {"version": int(version.version), "run": run_id}
        restored += 1
    for study in {study for _, study, _ in missing}:
        write_json(paths[study], receipts[study])
    return restored


def _is_registered(client: MlflowClient, registered: Mapping[str, Any]) -> bool:
    try:
        version = client.get_model_version(registered["name"], str(registered["version"]))
    except MlflowException:
        return False
    return bool(version.tags.get("model_digest") == registered["digest"])


def _folder_of(root: Path, digest: str) -> Path | None:
    """Return the portable model below ``root`` that has this digest."""
    for path in sorted(root.rglob("model.json")):
        if model_digest(path.parent) == digest:
            return path.parent
    return None


def register(
    client: MlflowClient, run_id: str, folder: str | Path, name: str, study: str
) -> ModelVersion:
    """Log a portable model with a run and make it the champion, unless the study's is this one.

    A new version is made, and the alias :data:`CHAMPION` moved to it, only when the model differs
    from the study's latest version; so another study's champion stays until a result changes.

    Parameters
    ----------
    run_id : str
        The run that the model stands with.
    folder : path
        A portable model.
    name : str
        Of the registered model.
    study : str
        Of the versions to compare with.

    Returns
    -------
    ModelVersion
        The study's latest version.
    """
    digest = model_digest(folder)
    champion = _champion(client, name)
    mine = [
        version
        for version in client.search_model_versions(f"name = '{name}'", max_results=1000)
        if version.tags.get("study") == study
    ]
    latest = max(mine, key=lambda version: int(version.version), default=None)
    if latest is not None and latest.tags.get("model_digest") == digest:
        # A logger killed before it could move the alias left an older champion, or none.
        if champion is None or int(champion.version) < int(latest.version):
            client.set_registered_model_alias(name, CHAMPION, latest.version)
        return latest
    uri = log_model(client, run_id, folder)
    try:
        client.get_registered_model(name)
    except MlflowException:
        client.create_registered_model(name, description=f"The best model kept of {name}.")
    with only_store(client.tracking_uri):
        version = client.create_model_version(
            name, uri, run_id=run_id, tags={"study": study, "model_digest": digest}
        )
    client.set_registered_model_alias(name, CHAMPION, version.version)
    _log.info("%s: version %s is the champion", name, version.version)
    return version


def log_model(client: MlflowClient, run_id: str, folder: str | Path) -> str:
    """Log a portable model to a run as a pyfunc from code and return its address.

    The library is logged with it, so that it predicts the same after the library has changed. The
    signature names the outputs alone: with inputs MLflow would cut a frame of two
    columns down to the first, and refuse either lists or named columns.
    """
    model = load(folder)
    experiment = client.get_run(run_id).info.experiment_id
    chosen = {MLFLOW_EXPERIMENT_ID.name: experiment}
    with only_store(client.tracking_uri), _variables(chosen), _quiet(), _no_bytecode():
        info = Model.log(
            artifact_path=None,
            name="model",
            flavor=mlflow.pyfunc,
            run_id=run_id,
            python_model=str(_SERVED),
            artifacts={"model": Path(folder).absolute().as_uri()},
            code_paths=[str(Path(textbaselines.__file__).parent)],
            pip_requirements=[
                f"{package}=={importlib.metadata.version(package)}" for package in _REQUIRED
            ],
            signature=ModelSignature(outputs=_output_schema(model)),
            input_example=EXAMPLE,
            metadata=_metadata(model.description),
        )
    return str(info.model_uri)


def _output_schema(model: PortableModel) -> Schema:
    if model.has_probabilities:
        numbers = [f"probability_{name}" for name in model.classes]
    elif len(model.classes) > 2:
        numbers = [f"score_{name}" for name in model.classes]
    else:
        numbers = ["score"]
    return Schema([ColSpec("string", "label"), *(ColSpec("double", name) for name in numbers)])


def _metadata(description: Mapping[str, Any]) -> dict[str, Any]:
    told = ("dataset", "representation", "method", "family", "params", "training", "evaluation")
    return {name: description[name] for name in told}


def _champion(client: MlflowClient, name: str) -> ModelVersion | None:
    try:
        return client.get_model_version_by_alias(name, CHAMPION)
    except MlflowException:
        return None


def _final_run(client: MlflowClient, study: str, described: Mapping[str, Any]) -> str:
    names = ("dataset", "representation", "method")
    experiment = client.get_experiment_by_name(f"{study}-results")
    found: list[Run] = []
    if experiment is not None:
        wanted = [f"tags.{name} = '{described[name]}'" for name in names]
        wanted.append("tags.selection = 'fixed'")
        found = list(client.search_runs([experiment.experiment_id], " and ".join(wanted)))
    if not found:
        raise UserError(
            "the final run of a model to register is not in the tracking store",
            where=f"experiment {study}-results",
            found="no run of " + ", ".join(described[name] for name in names),
            fix="log the study first",
        )
    return str(found[0].info.run_id)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep MLflow from progress bars and from telling each step."""
    logger = logging.getLogger("mlflow")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        with _variables({MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR.name: "false"}):
            yield
    finally:
        logger.setLevel(level)


@contextmanager
def _no_bytecode() -> Iterator[None]:
    """Let Python write no compiled file: MLflow runs the model's code where it is logged from."""
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


@contextmanager
def _variables(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables of the environment within a block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
