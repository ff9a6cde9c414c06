"""Finished runs in MLflow: one writer, from result files, as often as wanted with one outcome.

The store is a view of the result files: deleting it loses nothing that logging again does not bring
back. Training and tables do not import this package, nor MLflow.
"""

import os

# Set before a module of this package imports MLflow, which reads them then.
os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "3")
os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
