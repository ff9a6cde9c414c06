"""YAML files read strictly and checked against a JSON schema, with errors a user can act on."""

import copy
import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import yaml
from jsonschema.exceptions import ValidationError

from textbaselines.errors import UserError


class _StrictLoader(yaml.SafeLoader):
    """YAML 1.2 scalars (``no`` is text, ``1e-3`` is a number), unique text keys, finite numbers."""

    # The resolvers of YAML 1.1 would read ``no`` as false, ``1_1`` as 11 and ``1e-3`` as text.
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: dict[str, int] = {}
        for key_node, _ in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            if key_node.tag != "tag:yaml.org,2002:str":
                raise UserError(
                    "a key is not text",
                    where=f"{self.name}, line {line}",
                    found=getattr(key_node, "value", None),
                    fix="put the key in quotes",
                )
            if key_node.value in seen:
                raise UserError(
                    f"the key {key_node.value!r} stands twice in one mapping",
                    where=f"{self.name}, lines {seen[key_node.value]} and {line}",
                    fix="keep one of the two",
                )
            seen[key_node.value] = line
        return super().construct_mapping(node, deep)

    def construct_yaml_float(self, node: yaml.ScalarNode) -> float:
        value = super().construct_yaml_float(node)
        if not math.isfinite(value):
            raise UserError(
                "a number is not finite",
                where=f"{self.name}, line {node.start_mark.line + 1}",
                found=node.value,
            )
        return value


for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
    ("merge", r"<<", ["<"]),
):
    _StrictLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), _first
    )
_StrictLoader.add_constructor("tag:yaml.org,2002:float", _StrictLoader.construct_yaml_float)


def load_yaml(path: str | Path) -> Any:
    """Read a YAML file.

    Scalars follow the YAML 1.2 core schema: only ``true`` and ``false`` are booleans, ``1e-3``
    is a number and ``0123`` is text.

    Raises
    ------
    UserError
        When there is no such file, it is not UTF-8 or not YAML (with the line), a key stands
        twice in one mapping or is not text, or a number is infinite or NaN.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        near = difflib.get_close_matches(path.name, _names_beside(path), n=1, cutoff=0.5)
        raise UserError(
            "there is no such file",
            where=str(path),
            fix=f"did you mean {path.with_name(near[0])}?" if near else None,
        ) from None
    except IsADirectoryError:
        raise UserError("a folder where a file is wanted", where=str(path)) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UserError(
            "the file is not UTF-8",
            where=f"{path}, line {line}",
            found=f"byte 0x{error.object[error.start]:02x}",
            fix="save it as UTF-8",
        ) from None
    loader = _StrictLoader(text)
    loader.name = str(path)
    try:
        return loader.get_single_data()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise UserError(
            "not a YAML file",
            where=f"{path}, line {mark.line + 1}, column {mark.column + 1}" if mark else str(path),
            found=error.problem,
        ) from None
    except yaml.YAMLError as error:
        raise UserError("not a YAML file", where=str(path), found=error) from None
    finally:
        loader.dispose()


def validate(value: Any, schema: Mapping[str, Any], where: str) -> Any:
    """Check ``value`` against a JSON schema (draft 2020-12) and return a copy with defaults.

    A default fills a key that is missing, at any depth, also behind ``$ref`` (within the
    schema), ``allOf``, ``if`` and the branch of ``oneOf`` or ``anyOf`` that fits. A whole float
    where an integer is wanted becomes an ``int``.

    Parameters
    ----------
    value : object
        What :func:`load_yaml` returned.
    schema : mapping
        The JSON schema; its descriptions are shown in errors.
    where : str
        The file (or other place) that errors name.

    Raises
    ------
    UserError
        For the first fault in the order of the keys' paths, with the path, the value seen and
        the values allowed.
    """
    validator = jsonschema.Draft202012Validator(schema)
    errors = sorted(validator.iter_errors(value), key=_order)
    if errors:
        raise _told(_innermost(errors[0]), where, schema)
    return _filled(copy.deepcopy(value), schema, schema)


def closest(name: object, allowed: Iterable[object]) -> str | None:
    """Return "did you mean ...?" with the allowed name nearest to ``name``, or None."""
    names = [str(item) for item in allowed]
    same = [known for known in names if known.casefold() == str(name).casefold()]
    near = same or difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else None


def _names_beside(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.parent.iterdir()) if path.parent.is_dir() else []


def _innermost(error: ValidationError) -> ValidationError:
    """Follow ``oneOf`` and ``anyOf`` into the branch that the value was meant for."""
    while error.validator in ("oneOf", "anyOf") and error.context:
        branches: dict[int, list[ValidationError]] = {}
        for inner in error.context:
            branches.setdefault(int(inner.schema_path[0]), []).append(inner)
        # A branch names itself by a constant property (``kind``) or by its type.
        meant = [
            faults
            for faults in branches.values()
            if not any(
                (fault.validator == "const" and len(fault.relative_path) == 1)
                or (fault.validator == "type" and not fault.relative_path)
                for fault in faults
            )
        ]
        if len(meant) != 1:
            missing = [
                fault for faults in meant for fault in faults if fault.validator == "required"
            ]
            if missing:
                return missing[0]
            constants = [
                fault
                for faults in branches.values()
                for fault in faults
                if fault.validator == "const" and len(fault.relative_path) == 1
            ]
            if constants and not meant:
                first = constants[0]
                first.validator = "enum"
                first.validator_value = [fault.validator_value for fault in constants]
                return first
            return error
        error = min(meant[0], key=_order)
    return error


def _order(error: ValidationError) -> list[tuple[bool, int, str]]:
    return [
        (False, part, "") if isinstance(part, int) else (True, 0, str(part)) for part in error.path
    ]


def _told(error: ValidationError, where: str, root: Mapping[str, Any]) -> UserError:
    place = _key_path(error.absolute_path)
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    rule: Any = error.validator
    found: Any = error.instance
    limit: Any = error.validator_value
    expected: str | None = None
    fix: str | None = None
    if rule == "additionalProperties" and limit is False:
        known = list(schema.get("properties", {}))
        name = sorted(str(key) for key in found if key not in known)[0]
        place = f"{place}.{name}" if place else name
        what, expected, fix = f"unknown key {name!r}", ", ".join(known), closest(name, known)
        found = found.get(name)
    elif rule == "required":
        name = next(key for key in limit if key not in found)
        what = f"the key {name!r} is missing"
        expected = _described(schema.get("properties", {}).get(name, {}), root)
        found = ", ".join(map(str, found)) or "nothing"
        return UserError(what, where=_place(where, place), found=found, expected=expected)
    elif rule in ("enum", "const"):
        allowed = limit if rule == "enum" else [limit]
        what = "a value that is not allowed"
        expected, fix = ", ".join(map(repr, allowed)), closest(found, allowed)
    elif rule == "type":
        kinds = [limit] if isinstance(limit, str) else limit
        what = "a value of the wrong type"
        expected = " or ".join(_TYPES.get(kind, kind) for kind in kinds)
        if "string" in kinds and not isinstance(found, (Mapping, list)):
            fix = "put it in quotes, if it is a name"
    else:
        what = _RULES.get(str(rule), "a value that is not allowed").format(limit)
        expected = schema.get("description")
        if rule in ("oneOf", "anyOf"):
            expected = expected or " or ".join(_described(branch, root) or "?" for branch in limit)
    return UserError(
        what, where=_place(where, place), found=_shown(found), expected=expected, fix=fix
    )


_TYPES = {
    "object": "a mapping (key: value)",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "nothing",
}
_RULES = {
    "minimum": "a number below {}",
    "exclusiveMinimum": "a number that is not above {}",
    "maximum": "a number above {}",
    "exclusiveMaximum": "a number that is not below {}",
    "minItems": "a list with fewer items than {}",
    "maxItems": "a list with more items than {}",
    "minProperties": "a mapping with fewer keys than {}",
    "maxProperties": "a mapping with more keys than {}",
    "minLength": "text with fewer characters than {}",
    "uniqueItems": "a list with an item that stands twice",
    "pattern": "text that does not match {}",
}


def _place(where: str, key: str) -> str:
    return f"{where}, key {key}" if key else where


def _key_path(path: Iterable[str | int]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _shown(value: Any, limit: int = 200) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _described(schema: Any, root: Mapping[str, Any]) -> str | None:
    if not isinstance(schema, Mapping):
        return None
    schema = {**_referred(schema, root), **schema}
    if "description" in schema:
        return str(schema["description"])
    kind = schema.get("type")
    return _TYPES.get(kind) if isinstance(kind, str) else None


def _referred(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = schema.get("$ref")
    if reference is None:
        return {}
    target: Any = root
    for part in str(reference).removeprefix("#/").split("/"):
        target = target[part]
    return target if isinstance(target, Mapping) else {}


def _filled(value: Any, schema: Any, root: Mapping[str, Any]) -> Any:
    """Fill the defaults of ``schema`` into ``value`` (in place where it is a container)."""
    if not isinstance(schema, Mapping):
        return value
    if "$ref" in schema:
        value = _filled(value, _referred(schema, root), root)
    if isinstance(value, float) and schema.get("type") == "integer":
        value = int(value)
    if isinstance(value, dict):
        named: Mapping[str, Any] = schema.get("properties", {})
        for key, inner in named.items():
            if key not in value and isinstance(inner, Mapping) and "default" in inner:
                value[key] = copy.deepcopy(inner["default"])
        for key in value:
            value[key] = _filled(
                value[key], named.get(key, schema.get("additionalProperties")), root
            )
    elif isinstance(value, list) and "items" in schema:
        value[:] = [_filled(item, schema["items"], root) for item in value]
    for inner in schema.get("allOf", []):
        value = _filled(value, inner, root)
    branches: Sequence[Any] = schema.get("oneOf", schema.get("anyOf", []))
    for inner in branches:
        if _fits(value, inner, root):
            value = _filled(value, inner, root)
            break
    if "if" in schema:
        value = _filled(
            value, schema.get("then" if _fits(value, schema["if"], root) else "else"), root
        )
    return value


def _fits(value: Any, schema: Any, root: Mapping[str, Any]) -> bool:
    if "$defs" in root and isinstance(schema, Mapping):
        schema = {**schema, "$defs": root["$defs"]}
    return bool(jsonschema.Draft202012Validator(schema).is_valid(value))


def check_server(address: str, where: str) -> None:
    """Refuse the address of a server that is not http(s), or that has credentials in it."""
    try:
        parts = urlsplit(address)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserError(
            "not the address of a tracking server",
            where=where,
            found=repr(address),
            expected="http://host:port or https://host",
        )
    if parts.username or parts.password:
        raise UserError(
            "credentials in the address of the tracking server",
            where=where,
            found=f"{parts.scheme}://***@{parts.hostname}",
            expected="an address without user and password",
            fix="set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or "
            "MLFLOW_TRACKING_TOKEN, in the environment",
        )
