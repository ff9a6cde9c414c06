"""YAML files read strictly, with errors a user can act on."""

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from textbaselines.core.errors import UserError, UserErrors


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
                    f"the key {key_node.value!r} occurs twice in one mapping",
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
