"""YAML files read strictly and checked against a JSON schema, with errors a user can act on."""

import copy
import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import yaml
from jsonschema.exceptions import ValidationError

from textbaselines.errors import Mistakes, UserError, UserErrors


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


class _StrictDumper(yaml.SafeDumper):
    """Quotes text that either version of YAML would take for something else."""

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [
            *yaml.SafeDumper.yaml_implicit_resolvers.get(first, []),
            *_StrictLoader.yaml_implicit_resolvers.get(first, []),
        ]
        for first in {
            *yaml.SafeDumper.yaml_implicit_resolvers,
            *_StrictLoader.yaml_implicit_resolvers,
        }
    }


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
        raise UserError("there is no such file", where=str(path), fix=near_path(path)) from None
    except IsADirectoryError:
        raise UserError("a folder where a file is wanted", where=str(path)) from None
    except OSError as error:
        raise UserError("the file cannot be read", where=str(path), found=error.strerror) from None
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
        For all faults, in the order of the keys' paths, each with the path, the value seen and
        the values allowed.
    """
    mistakes = Mistakes()
    for error in _faults(value, schema):
        mistakes.add(_told(error, where, schema))
    mistakes.stop()
    return _filled(copy.deepcopy(value), schema, schema)


def validate_parts(
    value: Mapping[str, Any], schema: Mapping[str, Any], where: str
) -> tuple[dict[str, Any], list[UserError]]:
    """Check a mapping as :func:`validate` does, but return what holds of it beside its faults.

    Returns
    -------
    filled : dict
        The mapping with defaults, without the keys that have a fault. Of a key whose values have
        names of the user's own, such as ``methods``, only the names with a fault are left out.
    errors : list of UserError
        All faults, as :func:`validate` raises them.
    """
    mistakes = Mistakes()
    held = copy.deepcopy(dict(value))
    for error in _faults(value, schema):
        mistakes.add(_told(error, where, schema))
        if not error.absolute_path:
            for key in _unknown(error):
                held.pop(key, None)
            continue
        key, *inner = map(str, error.absolute_path)
        named = "properties" not in schema["properties"].get(key, {})
        if inner and named and isinstance(held.get(key), dict):
            held[key].pop(inner[0], None)
        else:
            held.pop(key, None)
    return _filled(held, schema, schema), mistakes.errors


def _faults(value: Any, schema: Mapping[str, Any]) -> list[ValidationError]:
    """Return every fault in the order of the keys' paths, one for each key concerned."""
    validator = jsonschema.Draft202012Validator(schema)
    found = []
    for error in sorted(validator.iter_errors(value), key=_order):
        for inner in _innermost(error):
            found += _one_by_one(inner)
    return found


def _one_by_one(error: ValidationError) -> list[ValidationError]:
    """Divide the fault of several unknown or missing keys into one for each."""
    if error.validator == "additionalProperties" and error.validator_value is False:
        keys: list[Any] = _unknown(error)
    elif error.validator == "required":
        there: Any = error.instance
        wanted: Any = error.validator_value
        keys = [key for key in wanted if key not in there]
    else:
        return [error]
    faults = []
    for key in keys:
        one = copy.copy(error)
        one.cause = key  # the key concerned; jsonschema itself leaves this empty
        faults.append(one)
    return faults


def _unknown(error: ValidationError) -> list[str]:
    """Return the keys that a schema does not know, where that is the fault."""
    if error.validator != "additionalProperties" or error.validator_value is not False:
        return []
    known = error.schema.get("properties", {}) if isinstance(error.schema, Mapping) else {}
    there: Any = error.instance
    return sorted(str(key) for key in there if key not in known)


def load_mapping(path: str | Path) -> dict[str, Any]:
    """Read a YAML file that is a mapping; :class:`UserError` as :func:`load_yaml`, and else."""
    content = load_yaml(path)
    if not isinstance(content, dict):
        kind = {list: "a list", type(None): "nothing", str: "text"}.get(type(content), "a value")
        raise UserError("the file must be a mapping (key: value)", where=str(path), found=kind)
    return content


@contextmanager
def naming_lines(
    where: str, files: Sequence[str | Path], overrides: Iterable[str] = ()
) -> Iterator[None]:
    """Add to the place of an error, ``<where>, key <key>``, the file and the line of the key.

    Parameters
    ----------
    where : str
        What errors call the files together.
    files : sequence of paths
        YAML files, whose later keys replace earlier ones.
    overrides : iterable of str, optional
        Keys that the command line replaces.
    """
    try:
        yield
    except UserError as error:
        nodes = {str(file): _compose(file) for file in reversed(files)}
        placed = [_with_line(one, where, nodes, set(overrides)) for one in error.each]
        raise (placed[0] if len(placed) == 1 else UserErrors(placed)) from error


def _compose(file: str | Path) -> yaml.Node | None:
    try:
        return yaml.compose(Path(file).read_bytes().decode("utf-8-sig"), _StrictLoader)
    except (OSError, ValueError, yaml.YAMLError):
        return None


def _with_line(
    error: UserError, where: str, nodes: Mapping[str, yaml.Node | None], overrides: set[str]
) -> UserError:
    start = f"{where}, key "
    if error.where is None or not error.where.startswith(start):
        return error
    key = error.where.removeprefix(start)
    lines = {file: _line_of(node, key) for file, node in nodes.items()}
    places = [f"{file}, key {key} (line {line})" for file, line in lines.items() if line]
    if re.split(r"[.\[ ,]", key)[0] in overrides:
        places.insert(0, f"the command line, key {key}")
    if not places:
        return error
    return UserError(
        error.what, where=places[0], found=error.found, expected=error.expected, fix=error.fix
    )


def _line_of(node: yaml.Node | None, key: str) -> int | None:
    """Return the line of a key such as ``a.b[0]``, or of the last part of it that is there."""
    line = None
    while True:
        if isinstance(node, yaml.MappingNode):
            fitting = [
                pair
                for pair in node.value
                if key.startswith(str(pair[0].value))
                and key[len(pair[0].value) :][:1] in ("", ".", "[", " ", ",")
            ]
            if not fitting:
                return line
            name, node = max(fitting, key=lambda pair: len(pair[0].value))
            line, key = name.start_mark.line + 1, key[len(name.value) :].removeprefix(".")
        elif isinstance(node, yaml.SequenceNode):
            index = re.match(r"\[(\d+)\]\.?", key)
            if index is None or int(index[1]) >= len(node.value):
                return line
            node = node.value[int(index[1])]
            line, key = node.start_mark.line + 1, key[index.end() :]
        else:
            return line


def dump_yaml(value: Any) -> str:
    """Return plain values as YAML that :func:`load_yaml` reads as the same values.

    Text that looks like a number or a word of YAML stands in quotes.
    """
    text: str = yaml.dump(
        value, Dumper=_StrictDumper, sort_keys=False, allow_unicode=True, width=10_000
    )
    return text


def closest(name: object, allowed: Iterable[object]) -> str | None:
    """Return "did you mean ...?" with the allowed name nearest to ``name``, or None."""
    names = [str(item) for item in allowed]
    same = [known for known in names if known.casefold() == str(name).casefold()]
    near = same or difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else None


def near_path(path: Path) -> str | None:
    """Return "did you mean ...?" with the file beside ``path`` whose name is nearest, or None."""
    near = difflib.get_close_matches(path.name, _names_beside(path), n=1, cutoff=0.5)
    return f"did you mean {path.with_name(near[0])}?" if near else None


def _names_beside(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.parent.iterdir()) if path.parent.is_dir() else []


def _innermost(error: ValidationError) -> list[ValidationError]:
    """Follow ``oneOf`` and ``anyOf`` into the branch that the value was meant for."""
    if error.validator not in ("oneOf", "anyOf") or not error.context:
        return [error]
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
    if len(meant) == 1:
        return [inner for fault in sorted(meant[0], key=_order) for inner in _innermost(fault)]
    missing = [fault for faults in meant for fault in faults if fault.validator == "required"]
    if missing:
        return [missing[0]]
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
        return [first]
    return [error]


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
        name = str(error.cause)
        place = f"{place}.{name}" if place else name
        what, expected, fix = f"unknown key {name!r}", ", ".join(known), closest(name, known)
        found = found.get(name)
    elif rule == "required":
        name = str(error.cause)
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
