"""JSON schemas and tables of every key of the files that users write, made from their models.

``make reference`` writes them: the schemas for editors, the tables into the marked part of a page.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from textbaselines.core import storage
from textbaselines.datasets.dataset_file import DatasetFile
from textbaselines.study.study_file import StudyFile

START, END = (
    "<!-- Made by `make reference`, from the models. -->",
    "<!-- The end of what is made. -->",
)
MODELS: Mapping[str, tuple[type[BaseModel], str]] = {
    "dataset": (DatasetFile, "datasets.md"),
    "study": (StudyFile, "studies.md"),
}
"""By the name of the schema: the model, and the page with the table."""


class _WithoutTitles(GenerateJsonSchema):
    """Leaves out the titles of keys that only repeat their names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a file, for editors."""
    made = model.model_json_schema(schema_generator=_WithoutTitles)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


def files(root: Path) -> dict[Path, str]:
    """Return what ``make reference`` writes, by path."""
    made = {}
    for name, (model, title) in MODELS.items():
        schema = json_schema(model)
        text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        made[root / "workflow" / "schemas" / f"{name}.schema.json"] = text
        page = root / "docs" / title
        before, _, rest = page.read_text(encoding="utf-8").partition(START)
        after = rest.partition(END)[2]
        made[page] = f"{before}{START}\n\n{options(schema)}\n{END}{after}"
    return made


def options(schema: Mapping[str, Any]) -> str:
    """Return Markdown tables of every key of a file; one more for each kind of a union."""
    tables = {"": list(_rows(schema, schema, ""))}
    for place, kind in _kinds(schema, schema, ""):
        constant = kind["properties"]["kind"]["const"]
        title = f"\nWith `{place}.kind: {constant}` ({_sentence(kind['description'])}):\n"
        tables[title] = [row for row in _rows(kind, schema, f"{place}.") if "kind" not in row[0]]
    text = ""
    for title, rows in tables.items():
        text += f"{title}\n" if title else ""
        text += "| key | type | default | meaning |\n| --- | --- | --- | --- |\n"
        text += "".join(f"| {' | '.join(row)} |\n" for row in rows)
    return text


def _rows(
    schema: Mapping[str, Any], whole: Mapping[str, Any], place: str
) -> Iterator[tuple[str, str, str, str]]:
    """Yield (key, type, default, meaning) of every key of a mapping, those within it after it."""
    for name, key in schema.get("properties", {}).items():
        yield (
            f"`{place}{name}`",
            _type(key, whole),
            _default(key, whole, name in schema.get("required", [])),
            _escaped(key.get("description", "")),
        )
        shown: list[Mapping[str, Any]] = []
        for inner, within in _within(key, whole, f"{place}{name}"):
            if inner not in shown:  # the same may stand alone or in a list
                yield from _rows(inner, whole, f"{within}.")
            shown.append(inner)
    others = schema.get("additionalProperties")
    if isinstance(others, dict) and schema.get("properties"):
        yield f"`{place}PARAMETER`", _type(others, whole), "", _escaped(others.get("title", ""))


def _kinds(
    schema: Mapping[str, Any], whole: Mapping[str, Any], place: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the place and the schema of every kind that a key may be of."""
    for name, key in schema.get("properties", {}).items():
        held = list(_within(key, whole, f"{place}{name}", kinds=True))
        for inner, within in held:
            if len(held) > 1 and "const" in inner["properties"].get("kind", {}):
                yield within, inner
            yield from _kinds(inner, whole, f"{within}.")


def _within(
    schema: Any, whole: Mapping[str, Any], place: str, kinds: bool = False
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the mappings with keys of their own that a value holds, each with its place."""
    if not isinstance(schema, dict) or ("discriminator" in schema and not kinds):
        return
    schema = _resolved(schema, whole)
    if "properties" in schema:
        yield schema, place
        return
    for branch in schema.get("anyOf", schema.get("oneOf", [])):
        yield from _within(branch, whole, place, kinds)
    yield from _within(schema.get("items"), whole, f"{place}[]", kinds)
    for inner in [
        schema.get("additionalProperties"),
        *schema.get("patternProperties", {}).values(),
    ]:
        yield from _within(inner, whole, f"{place}.NAME", kinds)


def _resolved(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    return {**whole["$defs"][name], **schema} if name else dict(schema)


_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "mapping",
    "null": "null",
}


def _type(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> str:
    """Return the type of a value in words."""
    schema = _resolved(schema, whole)
    if "discriminator" in schema:
        return "mapping with a `kind`"
    if branches := schema.get("anyOf", schema.get("oneOf")):
        return " or ".join(dict.fromkeys(_type(branch, whole) for branch in branches))
    if constants := schema.get("enum", [schema["const"]] if "const" in schema else []):
        return " or ".join(f"`{_value(one)}`" for one in constants)
    if schema.get("type") == "array":
        items = _type(schema.get("items", {}), whole)
        return f"list of {items}" if items else "list"
    values = schema.get("additionalProperties")
    if isinstance(values, dict) and "properties" not in schema and _type(values, whole):
        return f"mapping of {_type(values, whole)}"
    words = _TYPES.get(schema.get("type", ""), "")
    for limit, name in (("minimum", "from"), ("exclusiveMinimum", "above"), ("maximum", "to")):
        words += f" {name} {schema[limit]:g}" if limit in schema else ""
    return words


def _default(schema: Mapping[str, Any], whole: Mapping[str, Any], required: bool) -> str:
    if required:
        return "(required)"
    if "default" not in schema:
        return ""
    value = schema["default"]
    # Of a mapping with keys of its own the rows below have the defaults.
    below = isinstance(value, dict) and value and any(_within(schema, whole, ""))
    return "(as below)" if below else f"`{_value(value)}`"


def _value(value: Any) -> str:
    return value if isinstance(value, str) and value else json.dumps(value)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<")


def _sentence(text: str) -> str:
    return _escaped(text[0].lower() + text[1:].rstrip("."))


def main() -> None:
    """Write the schemas and the tables of this checkout."""
    for path, text in files(Path(__file__).resolve().parents[3]).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        storage.write_text(path, text)


if __name__ == "__main__":
    main()
