"""YAML files and schemas: what is read, what is filled in, and what each refusal says."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from textbaselines.errors import UserError
from textbaselines.validation import closest, load_yaml, validate

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "description": "the name in tables"},
        "folds": {"type": "integer", "minimum": 2, "default": 10},
        "mode": {"enum": ["nested", "oracle"], "default": "nested"},
        "digest": {"$ref": "#/$defs/digest"},
        "steps": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/step"}},
        "grids": {"type": "object", "additionalProperties": {"$ref": "#/$defs/grid"}},
        "nested": {
            "type": "object",
            "default": {},
            "properties": {"depth": {"type": "integer", "default": 3}},
        },
    },
    "$defs": {
        "digest": {"type": "string", "pattern": "^[0-9a-f]{4}$", "description": "four hex digits"},
        "grid": {
            "type": "object",
            "properties": {"C": {"type": "array", "default": [0.1, 1.0]}},
        },
        "step": {
            "oneOf": [
                {
                    "type": "object",
                    "required": ["kind", "size"],
                    "additionalProperties": False,
                    "properties": {
                        "kind": {"const": "cut"},
                        "size": {"type": "integer"},
                        "clean": {"type": "boolean", "default": True},
                    },
                },
                {
                    "type": "object",
                    "required": ["kind"],
                    "additionalProperties": False,
                    "properties": {
                        "kind": {"const": "join"},
                        "glue": {"type": "string", "default": "-"},
                    },
                },
            ]
        },
    },
}


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "study.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refused(value: Any, schema: dict[str, Any] = SCHEMA) -> str:
    with pytest.raises(UserError) as caught:
        validate(value, schema, "study.yaml")
    return str(caught.value)


def test_scalars_are_those_of_yaml_1_2(tmp_path: Path) -> None:
    text = "a: no\nb: 1e-3\nc: 1_1\nd: 0123\ne: 12:30\nf: true\ng: ~\nh: -7\ni: 2.5\nj: on\nk:\n"
    assert load_yaml(written(tmp_path, text)) == {
        "a": "no", "b": 0.001, "c": "1_1", "d": "0123", "e": "12:30", "f": True,
        "g": None, "h": -7, "i": 2.5, "j": "on", "k": None,
    }  # fmt: skip


def test_a_merge_fills_what_the_mapping_does_not_say(tmp_path: Path) -> None:
    text = "base: &b {x: 1, y: 2}\nmore:\n  <<: *b\n  y: 3\n"
    assert load_yaml(written(tmp_path, text))["more"] == {"x": 1, "y": 3}


def test_dates_stay_text(tmp_path: Path) -> None:
    assert load_yaml(written(tmp_path, "day: 2012-07-08\n")) == {"day": "2012-07-08"}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n", ["'c' stands twice", "lines 3 and 5"]),
        ("a: 1\nb: [1, 2\nc: 3\n", ["not a YAML file", "line 3"]),
        ("a: 1\n2: b\n", ["key is not text", "line 2", "quotes"]),
        ("a: 1\nb: .nan\n", ["not finite", "line 2", ".nan"]),
        ("a: 1\nb: 1e999\n", ["not finite", "line 2"]),
        ("a: !!python/object/apply:os.getcwd []\n", ["not a YAML file", "line 1"]),
        (b"a: 1\nb: \xe9\n", ["not UTF-8", "line 2", "0xe9"]),
    ],
)
def test_a_bad_file_is_refused_with_its_line(
    tmp_path: Path, text: str | bytes, parts: list[str]
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UserError) as caught:
        load_yaml(path)
    for part in [*parts, str(path)]:
        assert part in str(caught.value)


def test_a_missing_file_names_the_one_that_is_there(tmp_path: Path) -> None:
    written(tmp_path, "a: 1")
    with pytest.raises(UserError, match=r"did you mean .*study\.yaml"):
        load_yaml(tmp_path / "studdy.yaml")


def test_defaults_are_filled_at_every_depth_and_the_input_is_left_alone() -> None:
    value = {
        "name": "x",
        "steps": [{"kind": "join"}, {"kind": "cut", "size": 3.0}],
        "grids": {"svm": {}, "nb": {"C": [5]}},
    }
    before = {**value, "steps": [dict(step) for step in value["steps"]]}  # type: ignore[attr-defined,call-overload]
    filled = validate(value, SCHEMA, "here")
    assert filled == {
        "name": "x",
        "folds": 10,
        "mode": "nested",
        "nested": {"depth": 3},
        "steps": [{"kind": "join", "glue": "-"}, {"kind": "cut", "size": 3, "clean": True}],
        "grids": {"svm": {"C": [0.1, 1.0]}, "nb": {"C": [5]}},
    }
    assert isinstance(filled["steps"][1]["size"], int)
    assert value == before
    filled["grids"]["svm"]["C"].append(9)
    assert validate(value, SCHEMA, "here")["grids"]["svm"]["C"] == [0.1, 1.0]


def test_a_default_behind_if_is_filled_only_when_it_applies() -> None:
    schema = {
        "type": "object",
        "properties": {"kind": {"enum": ["cv", "split"]}},
        "if": {"properties": {"kind": {"const": "cv"}}},
        "then": {"properties": {"folds": {"type": "integer", "default": 10}}},
    }
    assert validate({"kind": "cv"}, schema, "x") == {"kind": "cv", "folds": 10}
    assert validate({"kind": "split"}, schema, "x") == {"kind": "split"}


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ({"name": "x", "fold": 3}, ["unknown key 'fold'", "key fold", "did you mean 'folds'", "3"]),
        ({"folds": 3}, ["'name' is missing", "the name in tables", "study.yaml"]),
        ({"name": "x", "folds": 1}, ["below 2", "key folds", "found:    1"]),
        ({"name": "x", "folds": "ten"}, ["wrong type", "'ten'", "a whole number"]),
        ({"name": "x", "folds": True}, ["wrong type", "True", "a whole number"]),
        ({"name": "x", "mode": "oracel"}, ["'nested', 'oracle'", "did you mean 'oracle'"]),
        ({"name": "x", "digest": "12"}, ["does not match", "four hex digits", "'12'"]),
        ({"name": "x", "steps": []}, ["fewer items than 1", "key steps"]),
        (
            {"name": "x", "steps": [{"kind": "join"}, {"kind": "cat", "size": 2}]},
            ["key steps[1].kind", "'cat'", "'cut', 'join'", "did you mean 'cut'"],
        ),
        (
            {"name": "x", "steps": [{"kind": "cut", "size": "2"}]},
            ["key steps[0].size", "'2'", "a whole number"],
        ),
        (
            {"name": "x", "steps": [{"kind": "join", "glu": "+"}]},
            ["unknown key 'glu'", "key steps[0].glu", "did you mean 'glue'"],
        ),
        ({"name": "x", "steps": [{"size": 3}]}, ["'kind' is missing", "key steps[0]"]),
        ([], ["wrong type", "a mapping"]),
        (None, ["wrong type", "a mapping"]),
    ],
)
def test_a_refusal_names_the_key_the_value_and_what_is_allowed(
    value: Any, parts: list[str]
) -> None:
    message = refused(value)
    for part in parts:
        assert part in message, message


@given(
    st.text(alphabet="abcdefgh_", min_size=1).filter(lambda name: name not in SCHEMA["properties"])
)
def test_every_unknown_key_is_refused(name: str) -> None:
    message = refused({"name": "x", name: 1})
    assert f"unknown key {name!r}" in message
    assert "folds" in message


def test_closest_says_nothing_when_nothing_is_near() -> None:
    assert closest("zzz", ["alpha", "beta"]) is None
    assert closest("alpa", ["alpha", "beta"]) == "did you mean 'alpha'?"
    assert closest("c", ["C", "bias"]) == "did you mean 'C'?"
