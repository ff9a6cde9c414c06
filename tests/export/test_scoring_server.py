"""What a request becomes: a text for each row, or one sentence and a status."""

import io
import json
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import pandas as pd
import pytest
import uvicorn

from textbaselines.export import scoring_server
from textbaselines.export.scoring_server import RequestError, make_app, texts_of_request

JSON, CSV = "application/json", "text/csv"
PARQUET = "application/vnd.apache.parquet"


def of_json(body):
    return texts_of_request(json.dumps(body).encode(), JSON)


@pytest.mark.parametrize(
    ("body", "texts"),
    [
        ("text\nNA\n", ["NA"]),
        ("text\nnull\nNaN\nNone\nnan\n#N/A\n", ["null", "NaN", "None", "nan", "#N/A"]),
        ("text\n123\n1.0\n007\n1e5\n", ["123", "1.0", "007", "1e5"]),
        ("text\nTrue\nfalse\n", ["True", "false"]),
        ("text\n2020-01-01\n", ["2020-01-01"]),
        ('text\n""\n', [""]),
        ("text\na\n\nb\n", ["a", "", "b"]),
        ("text\n\n\n", ["", ""]),
        ("text\na\n\n", ["a", ""]),
        ("text\n a  \n", [" a  "]),
        ("id,text,n\n1,good,2\n2,,3\n\n3,NA,\n", ["good", "", "", "NA"]),
        ("text\r\na\r\nb\r\n", ["a", "b"]),
        ("text\ra\rb\r", ["a", "b"]),
        ('text\n"a\nb"\n"a\r\nb"\n"a\rb"\n', ["a\nb", "a\r\nb", "a\rb"]),
        ('text\n"say ""hi"", twice"\n', ['say "hi", twice']),
        ("\ufefftext\na\n", ["a"]),
        ("text\n\u2028x\x85y 👩‍👩‍👧 é\n", ["\u2028x\x85y 👩‍👩‍👧 é"]),
        ("text\na\x00b\n", ["a\x00b"]),
        (f"text\n{'x' * 1_000_000}\n", ["x" * 1_000_000]),
        ("text\n", []),
        ("text", []),
    ],
)
def test_a_row_of_a_csv_is_the_text_it_is(body, texts):
    assert texts_of_request(body.encode(), CSV) == texts
    assert texts_of_request(body.encode(), "Text/CSV; charset=UTF-8") == texts


def test_a_csv_of_pandas_comes_back_as_it_was():
    texts = ["NA", "", "1", "True", "a,b", 'a "b"', "a\nb", "a\r\nb", " x ", "é"] * 1000
    frame = pd.DataFrame({"id": range(10_000), "text": texts})
    assert texts_of_request(frame.to_csv(index=False).encode(), CSV) == texts


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "one column must be named 'text', there is none: columns none"),
        (b"review\na\n", "there is none: columns 'review'"),
        (b"text,text\na,b\n", "there are 2"),
        (b"text\ngood, but long\n", "line 2 has 2 cells, the header has 1"),
        (b'text,id\n"a\nb",1\nc\n', "line 4 has 1 cells, the header has 2"),
        (b'text\n"never closed\n', "line 2 is not CSV"),
        (b'text\n"a" b\n', "line 2 is not CSV"),
        (b"text\ncaf\xe9\n", "the body is not UTF-8: byte 8 is 0xe9"),
    ],
)
def test_a_csv_without_a_text_in_each_row(body, told):
    with pytest.raises(RequestError, match=told) as error:
        texts_of_request(body, CSV)
    assert error.value.status == 400


@pytest.mark.parametrize(
    "body",
    [
        {"inputs": ["NA", "", "1"]},
        {"inputs": [["NA"], [""], ["1"]]},
        {"inputs": {"text": ["NA", "", "1"]}},
        {"instances": ["NA", "", "1"]},
        {"instances": [{"text": "NA"}, {"text": "", "id": 3}, {"text": "1"}]},
        {"dataframe_records": [{"text": "NA"}, {"text": ""}, {"id": None, "text": "1"}]},
        {"dataframe_split": {"columns": ["text"], "data": [["NA"], [""], ["1"]]}},
        {"dataframe_split": {"columns": ["n", "text"], "data": [[1, "NA"], [2, ""], [3, "1"]]}},
        {"dataframe_split": {"index": [7, 8, 9], "data": [["NA"], [""], ["1"]]}},
        {"inputs": ["NA", "", "1"], "params": None},
    ],
)
def test_forms_of_json(body):
    assert of_json(body) == ["NA", "", "1"]


def test_one_text_and_none():
    assert of_json({"inputs": "a text"}) == ["a text"]
    assert of_json({"inputs": {"text": "a text"}}) == ["a text"]
    for form in ("inputs", "instances", "dataframe_records"):
        assert of_json({form: []}) == []


@pytest.mark.parametrize("form", ["inputs", "dataframe_records", "dataframe_split"])
@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, r"row 2 has no text \(null\): send a string"),
        (123, 'row 2 is 123, not a text: send it in quotes, "123"'),
        (1.5, 'row 2 is 1.5, not a text: send it in quotes, "1.5"'),
        (True, 'row 2 is true, not a text: send it in quotes, "true"'),
        (float("nan"), "row 2 is NaN, not a text"),
        (["a", "b"], r'row 2 is \["a", "b"\], not a text: send a string'),
        ("half \ud83d", "row 2 has half of a surrogate pair"),
    ],
)
def test_what_is_no_text_is_named_by_its_row(form, value, told):
    body = {
        "inputs": {"inputs": ["a", value]},
        "dataframe_records": {"dataframe_records": [{"text": "a"}, {"text": value}]},
        "dataframe_split": {"dataframe_split": {"columns": ["text"], "data": [["a"], [value]]}},
    }[form]
    with pytest.raises(RequestError, match=told) as error:
        of_json(body)
    assert error.value.status == 400
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "the body is not valid JSON"),
        (b'{"inputs": ["a"', "the body is not valid JSON"),
        (b'{"inputs": [' + b"9" * 5000 + b"]}", "the body is not valid JSON"),
        (b"[" * 200_000, "the body is not valid JSON"),
        (b"\xff\xfe", "the body is not UTF-8"),
        (b'["a"]', "a list"),
        (b"7", "int"),
        (b"{}", "must have one key of dataframe_records, .*: none"),
        (b'{"texts": ["a"]}', "must have one key of .*: 'texts'"),
        (b'{"inputs": [], "instances": []}', "must have one key"),
        (b'{"inputs": ["a"], "params": {"x": 1}}', "takes no 'params'"),
        (b'{"inputs": ["a"], "labels": ["b"]}', "takes no 'labels'"),
        (b'{"inputs": 7}', "inputs must be a list"),
        (b'{"inputs": {"txet": ["a"]}}', "row 1 has no key 'text': keys 'txet'"),
        (b'{"dataframe_records": {"text": "a"}}', "dataframe_records must be a list"),
        (b'{"dataframe_records": [{"text": "a"}, "b"]}', "row 2 must be an object"),
        (b'{"dataframe_records": [{"text": "a"}, {}]}', "row 2 has no key 'text': keys none"),
        (b'{"dataframe_split": ["a"]}', "must be an object with the keys columns and data"),
        (b'{"dataframe_split": {"columns": "text", "data": []}}', "must be a list of names"),
        (b'{"dataframe_split": {"columns": ["a"], "data": [["x"]]}}', "columns 'a'"),
        (b'{"dataframe_split": {"columns": ["text"], "data": [["x"], []]}}', "row 2 of data"),
        (b'{"dataframe_split": {"data": [["x", "y"]]}}', "row 1 of data must be a list of 1"),
    ],
)
def test_json_that_has_no_texts(body, told):
    with pytest.raises(RequestError, match=told) as error:
        texts_of_request(body, JSON)
    assert error.value.status == 400
    assert len(str(error.value)) < 500


@pytest.mark.parametrize(
    "kind", [None, "", "text/plain", "application/jsonp", "application/json; charset=utf-16"]
)
def test_another_type_of_content_is_415(kind):
    with pytest.raises(RequestError) as error:
        texts_of_request(b'{"inputs": []}', kind)
    assert error.value.status == 415


def test_parquet():
    def of(frame):
        file = io.BytesIO()
        frame.to_parquet(file)
        return texts_of_request(file.getvalue(), PARQUET)

    assert of(pd.DataFrame({"id": [1, 2], "text": ["NA", ""]})) == ["NA", ""]
    with pytest.raises(RequestError, match=r"row 2 has no text \(null\)"):
        of(pd.DataFrame({"text": ["a", None]}))
    with pytest.raises(RequestError, match="row 1 is 5, not a text"):
        of(pd.DataFrame({"text": [5]}))
    with pytest.raises(RequestError, match="columns 'a'"):
        of(pd.DataFrame({"a": ["x"]}))
    with pytest.raises(RequestError, match="not a Parquet file"):
        texts_of_request(b"PAR1 and no more", PARQUET)


def test_the_program_loads_nothing_of_the_library():
    """So that a model runs the library that it was logged with."""
    code = (
        f"import runpy, sys; runpy.run_path({scoring_server.__file__!r}); "
        "print([name for name in sys.modules if name.startswith('textbaselines')])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


class Broken:
    """A model that fails, or answers one text too few."""

    def predict(self, data):
        if data == ["fail"]:
            raise ValueError("secret of the model")
        return pd.DataFrame({"label": ["pos"] * (len(data) - 1)})


@pytest.fixture
def broken():
    server = uvicorn.Server(uvicorn.Config(make_app(Broken()), port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    end = time.monotonic() + 30
    while not server.started:
        assert time.monotonic() < end
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}/invocations"
    server.should_exit = True
    thread.join()


@pytest.mark.parametrize("texts", [["fail"], ["a", "b"]])
def test_a_model_that_fails_is_500_without_a_trace(broken, texts):
    body = json.dumps({"inputs": texts}).encode()
    request = urllib.request.Request(broken, body, {"Content-Type": JSON})
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(request, timeout=30)
    assert error.value.code == 500
    assert json.loads(error.value.read()) == {
        "error_code": "INTERNAL_ERROR",
        "message": "the model failed on this request: the server's log says why",
    }
