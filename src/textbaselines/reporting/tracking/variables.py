"""Variables of MLflow in the environment: which are used, which are not, and a line for each.

The study says where runs and models go. MLflow takes the same from the environment, and more:
another registry, an experiment, a run to continue, options of its server. Such variables are
removed from the environment that MLflow sees. What stays is how a server is reached, and as whom.
"""

import functools
import logging
import re
from collections.abc import Mapping

_FOREIGN = ("MLFLOW_", "_MLFLOW_SERVER_", "DATABRICKS_")

# Credentials and transport of a tracking server or its artifacts, and how much MLflow says.
_USED = re.compile(
    r"""MLFLOW_(
      TRACKING_(USERNAME|PASSWORD|TOKEN|AUTH|AWS_SIGV4|INSECURE_TLS|(SERVER|CLIENT)_CERT_PATH)
    | KERBEROS_\w+
    | HTTP_\w+
    | ALLOW_HTTP_REDIRECTS
    | S3_\w+ | BOTO_\w+ | GCS_\w+
    | (ENABLE_)?(PROXY_)?MULTIPART_\w+
    | ARTIFACT_UPLOAD_DOWNLOAD_TIMEOUT | DOWNLOAD_CHUNK_TIMEOUT
    | DISABLE_TELEMETRY | SUPPRESS_PRINTING_URL_TO_STDOUT | LOGGING_LEVEL | CONFIGURE_LOGGING
    | SCORING_SERVER_REQUEST_TIMEOUT
    )""",
    re.VERBOSE,
)
_ADDRESSES = ("MLFLOW_TRACKING_URI", "MLFLOW_REGISTRY_URI")
_SECRET = re.compile(r"PASSWORD|TOKEN|SECRET|KEY|AUTH|CREDENTIAL|CLIENT_ID")
_LONGEST = 100
_log = logging.getLogger("textbaselines")


def for_store(environment: Mapping[str, str], uri: str) -> dict[str, str]:
    """Return the environment of a process that uses the store at ``uri`` and no other.

    ``uri``: the address of the store, for runs and registered models alike.

    Returns
    -------
    dict
        The environment without the variables that :func:`say_unused` names, and with the store's
        address as MLflow's variables give it.
    """
    kept = {name: value for name, value in environment.items() if not _is_unused(name)}
    return {**kept, **dict.fromkeys(_ADDRESSES, uri)}


def say_unused(environment: Mapping[str, str], uri: str) -> None:
    """Log a line for each variable that is set and not used; each line once in a process.

    A variable that gives the store's own address is not named. The value of a credential is not
    shown, nor the part of an address that may hold one.
    """
    for name in sorted(environment):
        value = environment[name]
        if _is_unused(name) and value and not (name in _ADDRESSES and value == uri):
            why = f": the store is {uri}" if name in _ADDRESSES else ""
            _say_once(f"{name} is set{_shown(name, value)} and is not used{why}")


@functools.cache
def _say_once(line: str) -> None:
    _log.warning("%s", line)


def _is_unused(name: str) -> bool:
    return name.startswith(_FOREIGN) and not _USED.fullmatch(name)


def _shown(name: str, value: str) -> str:
    if _SECRET.search(name):
        return ""
    value = re.sub(r"//.*@", "//***@", value, flags=re.DOTALL)
    value = re.sub(r"[?#].*", "?***", value, flags=re.DOTALL)
    return f" to {value!r}" if len(value) <= _LONGEST else f" to {value[:_LONGEST]!r}…"
