"""The server behind ``make serve``: a registered model over HTTP, one answer for each text.

The addresses, the forms of a request and of an answer are those of ``mlflow models serve``. Its own
server guesses the types of a CSV: ``NA`` and an empty cell are no text to it, ``123`` and ``True``
are other values than were sent, and a blank row is dropped. Here a text stays the text it is.

This file runs as a program and imports nothing of the library: the model brings the library that it
was logged with.
"""

import argparse
import csv
import io
import json
import logging
import re
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import mlflow
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

TEXT = "text"
"""The column, or the key of a record, that holds the text."""

_FORMS = ("dataframe_records", "dataframe_split", "inputs", "instances")
_SURROGATE = re.compile("[\ud800-\udfff]")
_log = logging.getLogger("textbaselines.serve")


class Model(Protocol):
    """What is served."""

    def predict(self, data: list[str]) -> pd.DataFrame:
        """Return a row for each text."""
        ...


class RequestError(Exception):
    """A request that has no answer: the HTTP status and the sentence that says why."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.message, self.status = message, status


def texts_of_request(body: bytes, content_type: str | None) -> list[str]:
    """Return the texts of a request.

    Parameters
    ----------
    body : bytes
        JSON with one of the keys ``dataframe_records``, ``dataframe_split``, ``inputs`` and
        ``instances``; CSV with a column ``text``; or a Parquet file with one. Other columns and
        keys of a record are not looked at.

    Returns
    -------
    list of str
        One for each row, in the order of the rows. A blank line of a CSV is the empty text.

    Raises
    ------
    RequestError
        415 for another type or encoding; 400 where a row has no text, with the row's number
        (the first is 1) or the line's.
    """
    kind, *parameters = [part.strip() for part in (content_type or "").split(";")]
    named = dict(_parameter(one) for one in parameters if one)
    charset = named.get("charset", "utf-8").lower()
    if charset not in ("utf-8", "utf8", "us-ascii"):
        raise RequestError(f"the body must be UTF-8, not {charset!r}", 415)
    readers: dict[str, Callable[[bytes], list[Any]]] = {
        "application/json": _texts_of_json,
        "text/csv": _texts_of_csv,
        "application/vnd.apache.parquet": _texts_of_parquet,
    }
    if kind.lower() not in readers:
        found = f"it is {content_type!r}" if content_type else "it is missing"
        wanted = ", ".join(readers)
        raise RequestError(f"the header Content-Type must be one of {wanted}: {found}", 415)
    return [_text(value, row) for row, value in enumerate(readers[kind.lower()](body), 1)]


def _parameter(part: str) -> tuple[str, str]:
    name, _, value = part.partition("=")
    return name.strip().lower(), value.strip().strip('"')


def _text(value: Any, row: int) -> str:
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise RequestError(f"row {row} has half of a surrogate pair, which is no character")
        return value
    if value is None:
        raise RequestError(
            f'row {row} has no text (null): send a string, "" for the empty text, or leave the row '
            "out"
        )
    shown = json.dumps(value, default=repr)
    if isinstance(value, bool | int | float):
        raise RequestError(f'row {row} is {shown}, not a text: send it in quotes, "{shown}"')
    raise RequestError(f"row {row} is {_cut(shown)}, not a text: send a string")


def _decoded(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RequestError(
            f"the body is not UTF-8: byte {error.start} is 0x{body[error.start]:02x}"
        ) from error


def _texts_of_csv(body: bytes) -> list[Any]:
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(io.StringIO(_decoded(body), newline=""), strict=True)
    texts = []
    try:
        header = next(reader, [])
        place = _place_of_text(header)
        for cells in reader:
            if cells and len(cells) != len(header):
                raise RequestError(
                    f"the row that ends in line {reader.line_num} has {len(cells)} cells, the "
                    f"header has {len(header)}: put a text with a comma, a quote or a line break "
                    "into double quotes"
                )
            texts.append(cells[place] if cells else "")
    except csv.Error as error:
        raise RequestError(f"line {reader.line_num} is not CSV: {error}") from error
    return texts


def _texts_of_parquet(body: bytes) -> list[Any]:
    try:
        file = pq.ParquetFile(io.BytesIO(body))
        _place_of_text(file.schema_arrow.names)
        return list(file.read(columns=[TEXT]).column(0).to_pylist())
    except (pa.ArrowException, OSError) as error:
        raise RequestError("the body is not a Parquet file that can be read") from error


def _place_of_text(columns: Sequence[Any]) -> int:
    if columns.count(TEXT) != 1:
        found = ", ".join(map(repr, columns)) or "none"
        problem = f"there are {columns.count(TEXT)}" if TEXT in columns else "there is none"
        raise RequestError(f"one column must be named {TEXT!r}, {problem}: columns {_cut(found)}")
    return columns.index(TEXT)


def _texts_of_json(body: bytes) -> list[Any]:
    try:
        request = json.loads(_decoded(body))
    except (ValueError, RecursionError) as error:
        raise RequestError(f"the body is not valid JSON: {error}") from error
    if not isinstance(request, dict):
        kind = "list" if isinstance(request, list) else type(request).__name__
        raise RequestError(f"the JSON must be an object with one of {', '.join(_FORMS)}: a {kind}")
    forms = [name for name in request if name in _FORMS]
    if len(forms) != 1:
        found = ", ".join(map(repr, request)) or "none"
        raise RequestError(f"the JSON must have one key of {', '.join(_FORMS)}: {_cut(found)}")
    other = [name for name in request if name not in _FORMS and request[name] is not None]
    if other:
        raise RequestError(f"this model takes no {', '.join(map(repr, other))}: leave it out")
    (form,) = forms
    value = request[form]
    if form == "dataframe_split":
        return _texts_of_split(value)
    if form == "dataframe_records":
        return [_text_of_record(one, row) for row, one in enumerate(_rows(value, form), 1)]
    if isinstance(value, Mapping):
        value = _text_of_record(value, 1)
    if isinstance(value, str):
        return [value]
    return [_text_of_row(one, row) for row, one in enumerate(_rows(value, form), 1)]


def _rows(value: Any, form: str) -> list[Any]:
    if not isinstance(value, list):
        raise RequestError(f"{form} must be a list with an element for each text")
    return value


def _texts_of_split(value: Any) -> list[Any]:
    if not isinstance(value, Mapping) or not isinstance(value.get("data"), list):
        raise RequestError("dataframe_split must be an object with the keys columns and data")
    columns = value.get("columns")
    if columns is None:
        columns, place = [TEXT], 0
    elif isinstance(columns, list):
        place = _place_of_text(columns)
    else:
        raise RequestError("the columns of dataframe_split must be a list of names")
    for row, cells in enumerate(value["data"], 1):
        if not isinstance(cells, list) or len(cells) != len(columns):
            raise RequestError(f"row {row} of data must be a list of {len(columns)} cells")
    return [cells[place] for cells in value["data"]]


def _text_of_record(record: Any, row: int) -> Any:
    if not isinstance(record, Mapping):
        raise RequestError(f"row {row} must be an object with the key {TEXT!r}")
    if TEXT not in record:
        found = ", ".join(map(repr, record)) or "none"
        raise RequestError(f"row {row} has no key {TEXT!r}: keys {_cut(found)}")
    return record[TEXT]


def _text_of_row(value: Any, row: int) -> Any:
    if isinstance(value, Mapping):
        return _text_of_record(value, row)
    # A column of a table, as MLflow's tensors have it.
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _cut(text: str, longest: int = 200) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"


def make_app(model: Model) -> Starlette:
    """Return the application: ``/invocations``, ``/ping``, ``/health`` and ``/version``.

    An error is JSON with ``error_code`` and ``message``; what the model itself fails on is 500, its
    reason in the server's log alone.
    """
    one_at_a_time = threading.Lock()

    def answer(texts: list[str]) -> str:
        rows: list[Any] = []
        if texts:
            with one_at_a_time:
                rows = model.predict(texts).to_dict("records")
        if len(rows) != len(texts):
            raise RuntimeError(f"{len(rows)} answers to {len(texts)} texts")
        return json.dumps({"predictions": rows}, ensure_ascii=False, allow_nan=False)

    async def invocations(request: Request) -> Response:
        try:
            body = await request.body()
            texts = await run_in_threadpool(
                texts_of_request, body, request.headers.get("content-type")
            )
        except RequestError as error:
            return _failed(error.status, "BAD_REQUEST", error.message)
        try:
            return _json(await run_in_threadpool(answer, texts))
        except Exception:
            _log.exception("the model failed on a request of %d texts", len(texts))
            message = "the model failed on this request: the server's log says why"
            return _failed(500, "INTERNAL_ERROR", message)

    async def ping(_: Request) -> Response:
        return _json("\n")

    async def version(_: Request) -> Response:
        return _json(str(mlflow.__version__))

    return Starlette(
        routes=[
            Route("/invocations", invocations, methods=["POST"]),
            Route("/ping", ping),
            Route("/health", ping),
            Route("/version", version),
        ]
    )


def _json(content: str, status: int = 200) -> Response:
    return Response(content, status_code=status, media_type="application/json")


def _failed(status: int, code: str, message: str) -> Response:
    return _json(json.dumps({"error_code": code, "message": message}), status)


def main() -> None:
    """Load the model that the command line names and serve it until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="an address of MLflow, models:/…")
    parser.add_argument("--port", type=int, required=True)
    args = parser.parse_args()
    try:
        model = mlflow.pyfunc.load_model(args.model)
    except mlflow.MlflowException as error:
        sys.exit(f"Error: {args.model} cannot be loaded: {error}")
    uvicorn.run(make_app(model), host="127.0.0.1", port=args.port, workers=1, access_log=False)


if __name__ == "__main__":
    main()
