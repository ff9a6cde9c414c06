"""The schemas and tables of options that are made from the models of files."""

from pathlib import Path
from typing import Any

import pytest

from textbaselines.cli.reference import MODELS, files, json_schema


def test_what_is_committed_is_what_the_models_say(repository: Path) -> None:
    for path, text in files(repository).items():
        assert path.read_text(encoding="utf-8") == text, f"run `make reference`: {path} differs"


@pytest.mark.parametrize("name", MODELS)
def test_every_key_is_described(name: str) -> None:
    def walk(schema: Any, place: str) -> None:
        if isinstance(schema, dict):
            for key, inner in schema.get("properties", {}).items():
                assert inner.get("description"), f"{place}.{key}"
            for key, inner in schema.items():
                walk(inner, f"{place}.{key}")

    walk(json_schema(MODELS[name][0]), name)


def test_limits_and_choices_reach_editors() -> None:
    study = json_schema(MODELS["study"][0])
    assert study["additionalProperties"] is False
    assert study["properties"]["datasets"]["uniqueItems"] is True
    assert study["$defs"]["InnerFolds"]["properties"]["folds"]["minimum"] == 2
    dataset = json_schema(MODELS["dataset"][0])
    assert dataset["properties"]["classes"]["minItems"] == 2
    assert dataset["properties"]["content_digest"]["pattern"] == "^[0-9a-f]{64}$"
    assert len(dataset["properties"]["reader"]["oneOf"]) == 5
