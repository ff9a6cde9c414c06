"""Models in MLflow: the champion moves with the result alone, and answers HTTP as in Python."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

import mlflow
import numpy as np
import pandas as pd
import pytest
from mlflow import MlflowClient
from scipy.special import softmax

from textbaselines.core.errors import UserError
from textbaselines.export.portable import PortableModel, load, make_model, save_failure
from textbaselines.export.scorers import scorer_of
from textbaselines.export.served_model import prediction_table, texts_of
from textbaselines.models.registry import fit_grid
from textbaselines.reporting.tracking.registered_models import register, register_best
from textbaselines.text.counts import count_tokens
from textbaselines.text.features import fold_features
from textbaselines.text.tokenizers import tokenize_all
from textbaselines.text.tokens import encode
from textbaselines.text.vocabulary import fit_vocabulary

pytestmark = pytest.mark.xdist_group("served")

PARTS = [
    ("a warm and funny film", "the cast is in fine form", "i loved the music", "a rare delight"),
    ("a cold and flat film", "the cast looks lost", "i slept through it", "a long, dull bore"),
]
ENDS = ["!", ".", " :)", " 👍🏽", " <3", " ...", " to the end.", ", twice", " — really", " éé"]
TEXTS = [
    f"{first}, {second}{end}{again}"
    for first in PARTS[0] + PARTS[1]
    for second in PARTS[0] + PARTS[1]
    for end in ENDS
    for again in ("", " Again!")
][:1000]
TOKENIZER = {"family": "words"}


def small_model(family: str, n_classes: int = 2, accuracy: float | None = 0.8) -> PortableModel:
    facts = ["it runs for two hours", "it opens in may"] * 2
    texts = [*PARTS[0], *PARTS[1], *facts][: 4 * n_classes]
    labels = np.repeat([1, 0, 2], 4)[: len(texts)]
    training = np.ones(len(texts), dtype=bool)
    tokens = encode([str(i) for i in range(len(texts))], tokenize_all(texts, TOKENIZER))
    counts = count_tokens(tokens, TOKENIZER, 1, 2)
    vocabulary = fit_vocabulary(tokens, training, "unk", 1)
    features = fold_features(counts, vocabulary, training, training, "binary")
    ((_, fitted),) = fit_grid(family, features.training, labels, [{}], positive=n_classes - 1)
    description = {
        "classes": ["neg", "pos", "fact"][:n_classes],
        "dataset": "films",
        "representation": "bi",
        "method": family.upper(),
        "family": family,
        "params": {},
        "tokenizer": TOKENIZER,
        "ngrams": [1, 2],
        "unk": {"policy": "unk", "min_count": 1},
        "weighting": "binary",
        "training": {"documents": len(texts)},
        "evaluation": {"accuracy": accuracy},
    }
    return make_model(
        description,
        counts,
        features.columns,
        vocabulary,
        features.weighting,
        scorer_of(fitted.estimator),
    )


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> MlflowClient:
    """A store with the final runs of a study ``s``, one for each method."""
    folder = tmp_path_factory.mktemp("store")
    client = MlflowClient(tracking_uri=f"sqlite:///{folder}/mlflow.db")
    experiment = client.create_experiment("s-results", (folder / "artifacts").as_uri())
    for method in ("MNB", "SVM", "LR"):
        tags = {"dataset": "films", "representation": "bi", "method": method, "selection": "fixed"}
        client.set_terminated(client.create_run(experiment, tags=tags).info.run_id)
    return client


@pytest.fixture(scope="module")
def champion(client: MlflowClient, tmp_path_factory: pytest.TempPathFactory) -> PortableModel:
    """The model that is registered as the champion of ``films``."""
    folder = tmp_path_factory.mktemp("models")
    small_model("mnb", accuracy=0.9).save(folder / "mnb")
    small_model("svm", accuracy=0.7).save(folder / "svm")
    with pytest.MonkeyPatch.context() as patched:
        # As Python is by itself: nothing compiled may get into what is logged.
        patched.setattr(sys, "dont_write_bytecode", False)
        receipt = register_best(client, "s", [folder / "svm", folder / "mnb"])
    assert receipt["films"]["version"] == 1
    return load(folder / "mnb")


def runs_and_status(client: MlflowClient) -> list[tuple]:
    experiment = client.get_experiment_by_name("s-results").experiment_id
    runs = client.search_runs([experiment])
    return sorted((run.info.run_id, run.info.status, run.info.end_time) for run in runs)


def test_the_best_is_the_champion_of_its_run(client: MlflowClient, champion) -> None:
    version = client.get_model_version_by_alias("films", "champion")
    run = client.get_run(version.run_id)
    assert run.data.tags["method"] == "MNB"
    assert run.info.status == "FINISHED"
    experiment = client.get_experiment_by_name("s-results")
    (logged,) = client.search_logged_models([experiment.experiment_id])
    assert logged.source_run_id == version.run_id
    assert Path(logged.artifact_location.removeprefix("file://")).is_relative_to(
        experiment.artifact_location.removeprefix("file://")
    )
    artifacts = Path(logged.artifact_location.removeprefix("file://"))
    names = {path.name for path in artifacts.rglob("*")}
    assert {"MLmodel", "arrays.npz", "model.json", "input_example.json", "portable.py"} <= names
    assert not {name for name in names if name.endswith((".pkl", ".pickle", ".pyc"))}


def test_only_another_result_moves_the_champion(client: MlflowClient, tmp_path: Path) -> None:
    model = small_model("lr")
    model.save(tmp_path / "one")
    run = runs_and_status(client)[0][0]
    before = runs_and_status(client)

    def versions() -> tuple[int, str]:
        found = client.search_model_versions("name = 'other'")
        return len(found), client.get_model_version_by_alias("other", "champion").version

    assert register(client, run, tmp_path / "one", "other", "s").version == 1
    assert register(client, run, tmp_path / "one", "other", "s").version == 1
    assert versions() == (1, 1)
    moved = replace(model, scorer=replace(model.scorer, intercept=model.scorer.intercept + 1))
    moved.save(tmp_path / "two")
    register(client, run, tmp_path / "two", "other", "s")
    assert versions() == (2, 2)
    # Another study's model becomes the champion, and stays when the first is logged again.
    register(client, run, tmp_path / "one", "other", "t")
    assert versions() == (3, 3)
    register(client, run, tmp_path / "two", "other", "s")
    assert versions() == (3, 3)
    # A result that goes back to what it was is another result.
    register(client, run, tmp_path / "one", "other", "s")
    assert versions() == (4, 4)
    # A logger that was killed before it moved the alias.
    client.set_registered_model_alias("other", "champion", "2")
    register(client, run, tmp_path / "one", "other", "s")
    assert versions() == (4, 4)
    assert runs_and_status(client) == before


def test_a_model_without_a_run_is_told(client: MlflowClient, tmp_path: Path) -> None:
    small_model("ridge").save(tmp_path / "m")
    with pytest.raises(UserError, match="no run of films, bi, RIDGE"):
        register_best(client, "s", [tmp_path / "m"])


def test_what_has_no_model_or_no_accuracy_is_passed_over(
    client: MlflowClient, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model = small_model("lr", accuracy=None)
    model.save(tmp_path / "a")
    save_failure(tmp_path / "b", model.description, "alpha is 0")
    assert register_best(client, "s", [tmp_path / "a", tmp_path / "b"]) == {}
    told = [record.message for record in caplog.records if "not registered" in record.message]
    assert len(told) == 2
    assert "alpha is 0" in told[1]


def loaded(client: MlflowClient):
    mlflow.set_tracking_uri(client.tracking_uri)
    return mlflow.pyfunc.load_model("models:/films@champion")


def test_every_form_of_input_gives_the_same_table(client: MlflowClient, champion) -> None:
    served = loaded(client)
    texts = [*TEXTS[:5], "", "👩‍👩‍👧"]
    wanted = prediction_table(champion, texts)
    assert list(wanted) == ["label", "probability_pos", "probability_neg"]
    assert wanted["label"].tolist() == champion.predict(texts)
    np.testing.assert_array_equal(
        wanted[["probability_pos", "probability_neg"]], champion.predict_proba(texts)
    )
    for given in (
        texts,
        tuple(texts),
        np.array(texts),
        np.array(texts)[:, None],
        pd.Series(texts),
        pd.Series(texts, name="review", index=range(7, 14)),
        pd.DataFrame({"text": texts}),
        pd.DataFrame({"id": "x", "text": texts}),
        pd.DataFrame(texts),
        [{"text": text} for text in texts],
        {"text": texts},
    ):
        pd.testing.assert_frame_equal(served.predict(given), wanted)
    assert len(served.predict("one text")) == 1


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (pd.DataFrame({"txet": ["a"]}), "columns 'txet'"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), "columns 'a', 'b'"),
        (pd.DataFrame([["x", "y"]]), "columns 0, 1"),
        ([{"txet": "a"}], "a record with keys 'txet'"),
        ({"txet": ["a"]}, "keys 'txet'"),
        (np.array([["a", "b"]]), r"shape \(1, 2\)"),
        (7, "int"),
        (None, "NoneType"),
    ],
)
def test_where_no_texts_are(given, told: str) -> None:
    with pytest.raises(UserError, match=told) as error:
        texts_of(given)
    assert "named 'text'" in str(error.value)


@pytest.mark.parametrize("given", [[None], [3], pd.DataFrame({"text": ["a", None]})])
def test_what_is_no_text(client: MlflowClient, champion, given) -> None:
    with pytest.raises(mlflow.MlflowException, match="an element that is no text") as error:
        loaded(client).predict(given)
    assert error.value.get_http_status_code() == 400


@pytest.mark.parametrize(
    ("family", "n_classes", "columns"),
    [
        ("svm", 2, ["score"]),
        ("svm", 3, ["score_fact", "score_pos", "score_neg"]),
        ("lr", 3, ["probability_fact", "probability_pos", "probability_neg"]),
    ],
)
def test_columns_of_other_models(family: str, n_classes: int, columns: list[str]) -> None:
    model = small_model(family, n_classes)
    table = prediction_table(model, ["it opens in may", PARTS[0][0]])
    assert list(table) == ["label", *columns]
    assert table["label"].tolist()[1] == "pos"
    if n_classes == 3:
        assert table["label"].tolist()[0] == "fact"
    if family == "svm":
        scores = model.scores(["it opens in may", PARTS[0][0]])
        np.testing.assert_array_equal(table[columns].to_numpy().squeeze(), scores)


@pytest.mark.parametrize("family", ["mnb", "svm"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibrated_probabilities_are_served(family: str, n_classes: int) -> None:
    model = small_model(family, n_classes)
    model = replace(model, description={**model.description, "calibration": {"slope": 0.25}})
    texts = ["it opens in may", PARTS[0][0], PARTS[1][0]]
    table = prediction_table(model, texts)
    names = [f"probability_{name}" for name in model.classes]
    assert list(table) == ["label", *names]
    scores = model.scores(texts)
    scores = np.column_stack([scores, 0 * scores]) if n_classes == 2 else scores
    np.testing.assert_allclose(table[names], softmax(0.25 * scores, axis=1), rtol=1e-12)
    assert [model.classes[place] for place in table[names].to_numpy().argmax(axis=1)] == list(
        table["label"]
    )


class Server:
    """``python -m textbaselines serve`` with the champion."""

    def __init__(self, client: MlflowClient, log: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        results = client.tracking_uri.removeprefix("sqlite:///").removesuffix("/mlflow.db")
        command = ["serve", "films", "--results", results, "--port", str(port)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "textbaselines", *command],
            cwd=log.parent,
            start_new_session=True,
            stdout=log.open("w"),
            stderr=subprocess.STDOUT,
        )
        end = time.monotonic() + 120
        while True:
            try:
                with urllib.request.urlopen(f"{self.address}/ping", timeout=5):
                    return
            except OSError:
                assert self.process.poll() is None, log.read_text()
                assert time.monotonic() < end, log.read_text()
                time.sleep(0.3)

    def post(self, body: str, kind: str = "application/json") -> tuple[int, str]:
        request = urllib.request.Request(
            f"{self.address}/invocations", body.encode(), {"Content-Type": kind}
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def predictions(self, body: dict) -> pd.DataFrame:
        status, text = self.post(json.dumps(body))
        assert status == 200, text
        return pd.DataFrame(json.loads(text)["predictions"])


@pytest.fixture(scope="module")
def server(client: MlflowClient, champion, tmp_path_factory: pytest.TempPathFactory):
    server = Server(client, tmp_path_factory.mktemp("server") / "log.txt")
    yield server
    os.killpg(server.process.pid, signal.SIGKILL)


def test_a_thousand_texts_over_http_as_in_python(server: Server, champion) -> None:
    assert len(set(TEXTS)) == 1000
    wanted = prediction_table(champion, TEXTS)
    assert set(wanted["label"]) == {"neg", "pos"}
    batches = [
        server.predictions({"dataframe_records": [{"text": text} for text in TEXTS[i : i + 250]]})
        for i in range(0, 1000, 250)
    ]
    pd.testing.assert_frame_equal(
        pd.concat(batches, ignore_index=True), wanted, check_exact=True, check_dtype=False
    )
    alone = [server.predictions({"inputs": [text]}) for text in TEXTS]
    pd.testing.assert_frame_equal(
        pd.concat(alone, ignore_index=True), wanted, check_exact=True, check_dtype=False
    )


def test_forms_of_requests(server: Server, champion) -> None:
    texts = ["", "👩‍👩‍👧 👍🏽", "a warm film", "12"]
    wanted = prediction_table(champion, texts)
    for body in (
        {"inputs": texts},
        {"inputs": {"text": texts}},
        {"instances": texts},
        {"instances": [{"text": text} for text in texts]},
        {"dataframe_records": [{"text": text} for text in texts]},
        {"dataframe_split": {"columns": ["text"], "data": [[text] for text in texts]}},
        {"dataframe_split": {"data": [[text] for text in texts]}},
    ):
        pd.testing.assert_frame_equal(server.predictions(body), wanted, check_exact=True)


@pytest.mark.parametrize("form", ["inputs", "dataframe_records"])
def test_a_text_of_a_megabyte(server: Server, champion, form: str) -> None:
    texts = ["a cold and flat film. " * 50_000, *TEXTS[:99]]
    assert len(texts[0]) > 1_000_000
    given = texts if form == "inputs" else [{"text": text} for text in texts]
    wanted = prediction_table(champion, texts)
    assert wanted["label"][0] == "neg"
    pd.testing.assert_frame_equal(server.predictions({form: given}), wanted, check_exact=True)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('{"dataframe_records": [{"txet": "a"}]}', "row 1 has no key 'text': keys 'txet'"),
        ('{"dataframe_records": [{"text": null}]}', "row 1 has no text (null)"),
        ('{"inputs": ["a", 2]}', 'row 2 is 2, not a text: send it in quotes, "2"'),
        ('{"dataframe_records": [{"text": "a"}', "valid JSON"),
        ("{}", "dataframe_records"),
    ],
)
def test_what_is_wrong_is_told(server: Server, body: str, told: str) -> None:
    status, text = server.post(body)
    assert status == 400
    answer = json.loads(text)
    assert answer.keys() == {"error_code", "message"}
    assert told in answer["message"]
    assert "\n" not in answer["message"]


def test_other_content_is_refused(server: Server) -> None:
    status, text = server.post("a fine film", "text/plain")
    assert status == 415
    assert "Content-Type must be one of" in json.loads(text)["message"]


def test_each_row_of_a_csv_has_its_answer(server: Server, champion) -> None:
    texts = ["NA", "null", "123", "True", "", "a warm film", "", "1.0", "a\r\nb", 'say "hi", é']
    body = "id,text\n" + "".join(
        "\n" if text == "" and row == 6 else f'{row},"{text.replace(chr(34), chr(34) * 2)}"\n'
        for row, text in enumerate(texts)
    )
    status, answer = server.post(body, "text/csv")
    assert status == 200, answer
    given = pd.DataFrame(json.loads(answer)["predictions"])
    pd.testing.assert_frame_equal(given, prediction_table(champion, texts), check_exact=True)


def test_ten_thousand_rows_and_none(server: Server, champion) -> None:
    texts = TEXTS * 10
    wanted = prediction_table(champion, texts)
    status, answer = server.post(pd.DataFrame({"text": texts}).to_csv(index=False), "text/csv")
    assert status == 200
    given = pd.DataFrame(json.loads(answer)["predictions"])
    pd.testing.assert_frame_equal(given, wanted, check_exact=True)
    given = server.predictions({"dataframe_records": [{"text": text} for text in texts]})
    pd.testing.assert_frame_equal(given, wanted, check_exact=True)
    assert json.loads(server.post("text\n", "text/csv")[1]) == {"predictions": []}


def test_the_addresses_of_mlflows_server(server: Server) -> None:
    found = {}
    for name in ("ping", "health", "version"):
        with urllib.request.urlopen(f"{server.address}/{name}", timeout=30) as answer:
            found[name] = (answer.status, answer.headers["Content-Type"], answer.read().decode())
    assert found == {
        "ping": (200, "application/json", "\n"),
        "health": (200, "application/json", "\n"),
        "version": (200, "application/json", mlflow.__version__),
    }
