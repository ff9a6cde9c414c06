"""Models of the files that users write: the types of their values, and errors a user can act on.

A model is a class of pydantic; it validates a file, states its defaults and describes every key.
"""

import json
from collections.abc import Iterable, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError

from textbaselines.core.errors import Mistakes, UserError
from textbaselines.core.validation import closest

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)


class FileModel(BaseModel):
    """A mapping in a file: other keys than those of the model are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def refuse(
    what: str, expected: str | None = None, fix: str | None = None, found: object = None
) -> PydanticCustomError:
    """Return an error that a validator raises; without ``found`` the value itself is shown."""
    words = {"what": what, "expected": expected, "fix": fix, "found": found}
    return PydanticCustomError("refused", "{what}", words)


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _as_written(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    check(value)
    return value


def _unique(values: Any) -> Any:
    seen = set()
    for value in values:
        plain = isinstance(value, str | int | float)
        # 1 and 1.0 are the same value, true is another one.
        key = (isinstance(value, bool), value) if plain else json.dumps(_plain(value))
        if key in seen:
            raise refuse("a list with an item that occurs twice")
        seen.add(key)
    return values


def _plain(value: Any) -> Any:
    return value.model_dump() if isinstance(value, BaseModel) else value


def _stated(value: Any) -> Any:
    if value is None:
        raise refuse("a key without a value", fix="leave the key out, or give it a value")
    return value


def _not_null(schema: dict[str, Any]) -> None:
    """Take null, and the default null, out of the JSON schema of a key."""
    schema.pop("default", None)
    kinds = schema.pop("anyOf", [])
    schema.update(next((kind for kind in kinds if kind.get("type") != "null"), {}))


Text = Annotated[str, Field(strict=True)]
Words = Annotated[str, Field(strict=True, min_length=1)]
Flag = Annotated[bool, Field(strict=True)]
WHOLE = BeforeValidator(_whole)
"""Annotates a strict ``int``, after its limits: 3.0 is 3."""

AS_WRITTEN = WrapValidator(_as_written)
"""Annotates a strict ``float``, after its limits: 1 stays an ``int``, one form in all results."""

Positive = Annotated[int, Field(strict=True, ge=1), WHOLE]

Unique = AfterValidator(_unique)
UNIQUE = Field(json_schema_extra={"uniqueItems": True})
Names = Annotated[list[Text], Field(min_length=1), UNIQUE, Unique]
Name = Annotated[
    str,
    Field(
        strict=True,
        pattern="^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$",
        title='letters, digits, "_" and "-", 40 at most, the first a letter or digit',
    ),
]
_STATED = BeforeValidator(_stated)
Stated = Annotated[T | None, _STATED, Field(json_schema_extra=_not_null)]
"""A key that is None where it is left out; a file cannot give it as ``null``."""


def _form(value: Any) -> str | None:
    forms = {dict: "mapping", list: "list", str: "text", NoneType: "nothing"}
    return "mapping" if isinstance(value, BaseModel) else forms.get(type(value))


BY_FORM = Discriminator(_form)
"""Chooses between the types of a union, tagged mapping, list, text and nothing."""

BY_KIND = Field(discriminator="kind")
"""Chooses between the models of a union by their key ``kind``."""


def check(value: Any, model: type[Model], where: str) -> Model:
    """Return what a file says, checked by its model.

    Parameters
    ----------
    value : object
        What :func:`~textbaselines.core.validation.load_yaml` returned.
    model : class
        The file's model; its descriptions are shown in errors.
    where : str
        The file (or other place) that errors name.

    Raises
    ------
    UserError
        For all faults, in the order of the keys' paths, each with the path, the value seen and
        the values allowed.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        faults = _faults(error, model)
    mistakes = Mistakes()
    for fault in faults:
        mistakes.add(fault.told(where))
    mistakes.stop()
    raise AssertionError("a fault without an error")


def check_parts(
    value: Mapping[str, Any], model: type[Model], where: str
) -> tuple[Model, list[UserError]]:
    """Check a mapping as :func:`check` does, but return what holds of it beside its faults.

    Returns
    -------
    checked : model
        Without the keys that have a fault: they have their defaults, and required ones are empty.
        Of a key whose values have names of the user's own, such as ``methods``, only the names
        with a fault are left out.
    errors : list of UserError
        All faults, as :func:`check` raises them.
    """
    try:
        return model.model_validate(value), []
    except ValidationError as error:
        faults = _faults(error, model)
    mistakes = Mistakes()
    held = {key: dict(part) if isinstance(part, dict) else part for key, part in value.items()}
    for fault in faults:
        mistakes.add(fault.told(where))
        key, *inner = fault.path
        field = model.model_fields.get(str(key))
        if inner and field is not None and get_origin(field.annotation) is dict:
            held.get(str(key), {}).pop(inner[0], None)
        if (
            not inner
            or not held.get(str(key))
            or get_origin(field and field.annotation) is not dict
        ):
            held.pop(str(key), None)
    empty: dict[str, Any] = {
        name: (Any, (get_origin(field.annotation) or str)())
        for name, field in model.model_fields.items()
        if field.is_required() and name not in held
    }
    partial = create_model(model.__name__, __base__=model, **empty)
    return partial.model_validate(held), mistakes.errors


class _Fault(NamedTuple):
    """An error of pydantic with the key's path, without tags, and what the model says of it."""

    path: tuple[str | int, ...]
    error: ErrorDetails
    annotation: Any
    fields: Mapping[str, FieldInfo]
    expected: str | None

    def told(self, where: str) -> UserError:
        """Return the error in our words."""
        kind, found, limits = self.error["type"], self.error["input"], self.error.get("ctx", {})
        path, expected, fix = self.path, self.expected, None
        if kind == "extra_forbidden":
            what = f"unknown key {path[-1]!r}"
            expected, fix = ", ".join(self.fields), closest(path[-1], self.fields)
        elif kind == "missing":
            what, path = f"the key {path[-1]!r} is missing", path[:-1]
            expected = self.fields[str(self.path[-1])].description
            found = _Literal(", ".join(found) or "nothing")
        elif kind == "union_tag_not_found" and limits["discriminator"] == "'kind'":
            what, expected = "a value of the wrong type", _TYPES["dict_type"]
            if isinstance(found, Mapping):
                what, expected = "the key 'kind' is missing", ", ".join(self.allowed())
                found = _Literal(", ".join(found) or "nothing")
        elif kind == "literal_error" or (kind, limits.get("discriminator")) == (
            "union_tag_invalid",
            "'kind'",
        ):
            if kind != "literal_error":
                path, found = (*path, "kind"), found["kind"]
            what, expected = "a value that is not allowed", ", ".join(map(repr, self.allowed()))
            fix = closest(found, self.allowed())
        elif kind in _TYPES:
            what, expected = "a value of the wrong type", _TYPES[kind]
            if kind == "string_type" and not isinstance(found, Mapping | list):
                fix = "put it in quotes, if it is a name"
            if any(one is NoneType for one in get_args(self.annotation)):
                expected += " or nothing"
        elif kind == "refused":
            what, fix = limits["what"], limits["fix"]
            expected = limits["expected"] or expected
            found = found if limits["found"] is None else _Literal(limits["found"])
        else:
            items = "a mapping with {} keys than" if isinstance(found, dict) else _ITEMS
            what = _RULES.get(kind, "a value that is not allowed").format(
                **limits, fewer=items.format("fewer"), more=items.format("more")
            )
        place = f"{where}, key {_key(path)}" if path else where
        return UserError(what, where=place, found=_shown(found), expected=expected, fix=fix)

    def allowed(self) -> list[Any]:
        """Return the constants that the value may be, or its key ``kind``."""
        kinds = [_bare(branch) for branch in _branches(self.annotation)]
        constants = [
            kind.model_fields["kind"].annotation if hasattr(kind, "model_fields") else kind
            for kind in kinds
        ]
        return [value for constant in constants for value in get_args(constant)]


_TYPES = {
    "dict_type": "a mapping (key: value)",
    "model_type": "a mapping (key: value)",
    "list_type": "a list",
    "tuple_type": "a list",
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
}
_ITEMS = "a list with {} items than"
_RULES = {
    "greater_than_equal": "a number below {ge:g}",
    "greater_than": "a number that is not above {gt:g}",
    "less_than_equal": "a number above {le:g}",
    "too_short": "{fewer} {min_length}",
    "too_long": "{more} {max_length}",
    "string_too_short": "text with fewer characters than {min_length}",
    "string_pattern_mismatch": "text that does not match {pattern}",
}


class _Literal(str):
    """Text that is shown without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def _faults(error: ValidationError, model: type[BaseModel]) -> list[_Fault]:
    """Return every fault in the order of the keys' paths."""
    errors = error.errors(include_url=False)
    return sorted((_fault(one, model) for one in errors if not _follows(one)), key=_order)


def _follows(error: ErrorDetails) -> bool:
    """Return whether an error is there only because of another one."""
    if error["type"] == "too_short":  # of a tuple, whose faulty items pydantic does not count
        return bool(len(error["input"]) >= error["ctx"]["min_length"])
    return error["type"] == "default_factory_not_called"


def _order(fault: _Fault) -> tuple[list[tuple[bool, int, str]], bool]:
    kind = fault.error["type"]
    # Those of a mapping come first, and in it an unknown key before the one that it was meant for.
    path = fault.path[:-1] if kind in ("extra_forbidden", "missing") else fault.path
    parts = [(False, one, "") if isinstance(one, int) else (True, 0, one) for one in path]
    return parts, kind == "missing"


def _fault(error: ErrorDetails, model: type[BaseModel]) -> _Fault:
    """Follow the place of an error through its model, past the tags of unions."""
    annotation: Any = model
    path: list[str | int] = []
    expected: str | None = None
    fields: Mapping[str, FieldInfo] = {}
    of_key = error["loc"][-1:] == ("[key]",) and error["type"] != "extra_forbidden"
    place = error["loc"][:-1] if of_key else error["loc"]
    for position, part in enumerate(place, start=1):
        kind, branches = _bare(annotation), _branches(annotation)
        if len(branches) > 1:
            annotation = next(one for one in branches if part in _tags(one))
            continue
        path.append(part)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            fields = kind.model_fields
            extra = get_args(kind.__annotations__.get("__pydantic_extra__"))
            field = fields.get(str(part))
            annotation = field.annotation if field else extra[1] if extra else Any
            expected = field and (field.title or field.description)
            if field and _STATED in field.metadata:
                (annotation,) = _branches(annotation)  # without None
        elif get_origin(kind) is dict:
            annotation = get_args(kind)[0 if of_key and position == len(place) else 1]
        else:
            annotation = get_args(kind)[0]
        expected = _words(annotation) or expected
    return _Fault(tuple(path), error, annotation, fields, expected)


def _bare(annotation: Any) -> Any:
    """Return a type without what annotates it, and without None."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    branches = _branches(annotation)
    return annotation if branches == [annotation] or len(branches) > 1 else _bare(branches[0])


def _branches(annotation: Any) -> list[Any]:
    """Return the types of a union, but for None; one that is no union alone."""
    if get_origin(annotation) is Annotated:
        return _branches(get_args(annotation)[0])
    if get_origin(annotation) not in (Union, UnionType):
        return [annotation]
    return [one for one in get_args(annotation) if one is not NoneType]


def _tags(branch: Any) -> tuple[Any, ...]:
    """Return by what the place of an error names a branch of a union."""
    if get_origin(branch) is Annotated:
        return tuple(one.tag for one in get_args(branch)[1:] if isinstance(one, Tag))
    return get_args(branch.model_fields["kind"].annotation)


def _words(annotation: Any) -> str | None:
    """Return what a type says of its values."""
    notes = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    told = [one.title or one.description for one in notes if isinstance(one, FieldInfo)]
    return next(filter(None, told), None)


def _key(path: Iterable[str | int]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _shown(value: Any, limit: int = 200) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
