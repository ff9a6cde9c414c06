"""YAML files and their models: what is read, what is filled in, and what each refusal says."""

import copy
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ConfigDict, Field, Tag

from textbaselines.core.errors import UserError
from textbaselines.core.file_models import (
    AS_WRITTEN,
    BY_FORM,
    BY_KIND,
    WHOLE,
    FileModel,
    Flag,
    Name,
    Positive,
    Stated,
    Text,
    Unique,
    Words,
    check,
    check_parts,
)
from textbaselines.core.validation import closest, load_yaml


class Cut(FileModel):
    kind: Literal["cut"] = Field(description="the kind of step")
    size: Positive = Field(description="how much")
    clean: Flag = True


class Join(FileModel):
    kind: Literal["join"] = Field(description="the kind of step")
    glue: Text = "-"


class Axes(FileModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, list[Any]]


class Nested(FileModel):
    depth: Positive = 3


class File(FileModel):
    name: Name = Field(description="the name in tables")
    folds: Annotated[int, Field(strict=True, ge=2), WHOLE] = 10
    mode: Literal["nested", "oracle"] = "nested"
    digest: Stated[
        Annotated[str, Field(strict=True, pattern="^[0-9a-f]{4}$", title="four hex digits")]
    ] = Field(None, description="what is in it")
    steps: list[Annotated[Cut | Join, BY_KIND]] = Field([], description="what is done")
    grids: dict[Name, Axes] = Field({}, description="by name, axes")
    nested: Nested = Nested()
    few: Annotated[tuple[Words, ...], Unique] = Field((), max_length=2, description="a few words")
    ratio: Annotated[float, Field(strict=True, gt=0), AS_WRITTEN] | None = Field(
        None, description="a share"
    )
    kept: Annotated[
        Annotated[Literal["all", "none"], Tag("text")] | Annotated[list[Cut], Tag("list")], BY_FORM
    ] = Field("all", description="all, none or a list")


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "study.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refused(value: Any) -> str:
    with pytest.raises(UserError) as caught:
        check(value, File, "study.yaml")
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
        ("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n", ["'c' occurs twice", "lines 3 and 5"]),
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
    value: dict[str, Any] = {
        "name": "x",
        "steps": [{"kind": "join"}, {"kind": "cut", "size": 3.0}],
        "grids": {"svm": {}, "nb": {"C": [5, 1.0]}},
        "ratio": 1,
    }
    before = copy.deepcopy(value)
    checked = check(value, File, "here")
    assert (checked.folds, checked.mode, checked.nested.depth) == (10, "nested", 3)
    assert checked.steps == [Join(kind="join"), Cut(kind="cut", size=3)]
    assert isinstance(checked.steps[1].size, int)
    assert checked.grids["nb"].model_dump() == {"C": [5, 1.0]}
    assert isinstance(checked.ratio, int), "a number stays as it is written"
    assert value == before


def test_what_holds_beside_the_faults_is_kept() -> None:
    value = {"folds": 1, "grids": {"a": {"C": [1]}, "b": {"C": 1}}, "mode": "oracle", "nmae": "x"}
    checked, errors = check_parts(value, File, "s.yaml")
    assert [error.where for error in errors] == [
        "s.yaml, key nmae",
        "s.yaml",
        "s.yaml, key folds",
        "s.yaml, key grids.b.C",
    ]
    assert (checked.name, checked.folds, checked.mode) == ("", 10, "oracle")
    assert list(checked.grids) == ["a"]


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
        (
            {"name": "x", "digest": None},
            ["without a value", "four hex digits", "leave the key out"],
        ),
        ({"name": "x", "few": ["a", "a"]}, ["key few", "occurs twice"]),
        ({"name": "x", "few": ["a", "b", "c"]}, ["key few", "more items than 2", "a few words"]),
        ({"name": "x", "few": ["a", ""]}, ["key few[1]", "fewer characters than 1"]),
        ({"name": "x", "ratio": 0}, ["key ratio", "not above 0", "a share"]),
        ({"name": "x", "ratio": "a"}, ["key ratio", "a number or nothing"]),
        ({"name": "a/b"}, ["key name", "'a/b'", "letters, digits"]),
        ({"name": "x", "grids": {"a/b": {}}}, ["key grids.a/b", "'a/b'", "letters, digits"]),
        ({"name": "x", "grids": {"svm": {"C": 1}}}, ["key grids.svm.C", "a list"]),
        ({"name": "x", "kept": "al"}, ["key kept", "'all', 'none'", "did you mean 'all'"]),
        ({"name": "x", "kept": 3}, ["key kept", "not allowed", "all, none or a list"]),
        (
            {"name": "x", "kept": [{"kind": "cut"}]},
            ["'size' is missing", "key kept[0]", "how much"],
        ),
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


@given(st.text(alphabet="abcdefgh_", min_size=1).filter(lambda name: name not in File.model_fields))
def test_every_unknown_key_is_refused(name: str) -> None:
    message = refused({"name": "x", name: 1})
    assert f"unknown key {name!r}" in message
    assert "folds" in message


def test_closest_says_nothing_when_nothing_is_near() -> None:
    assert closest("zzz", ["alpha", "beta"]) is None
    assert closest("alpa", ["alpha", "beta"]) == "did you mean 'alpha'?"
    assert closest("c", ["C", "bias"]) == "did you mean 'C'?"
