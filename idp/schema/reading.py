"""Reading of requests into typed structs, with all problems reported at once.

Names are camelCase on the wire; snake_case is accepted as well. A field that is unknown, not of
its type, missing, or sent under both names is a problem, reported by its JSON path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from msgspec import NODEFAULT, Struct, structs

from idp.foundation.errors import FieldProblem, InvalidArgument
from idp.foundation.strict_json import child
from idp.schema.field_rules import FieldRefused, Items, OneOf, Rule, wrong_type

# Elements of a list without a rule of its own.
MAX_ITEMS = 100
_MAX_UNKNOWN = 20  # of one object, reported one by one


class Request(Struct, frozen=True, kw_only=True, rename="camel"):
    """The base of every request struct and of the structs of the objects in it.

    A field has a rule of `idp/schema/field_rules.py` in its annotation, or is a `bool`, a
    `Literal` of names, a list, or another Request. A field without a default is required. Each
    group of `one_of` names fields of which at most one may be sent, and with `requires_one` one
    has to be. Subclasses state `kw_only=True` again, because that is not inherited.
    """

    one_of: ClassVar[tuple[tuple[str, ...], ...]] = ()
    requires_one: ClassVar[bool] = False

    def check(self) -> Iterable[FieldProblem]:
        """Yields the problems of this object that concern more than one of its fields, with paths
        that begin in this object. Subclasses override it.

        It is called even if some fields are invalid or missing; these are None then.
        """
        return ()


class Nothing(Request, frozen=True, kw_only=True):
    """An object without members, for requests without options."""


R = TypeVar("R", bound=Request)
Leaf = Callable[[object], Any]


def read(kind: type[R], document: object) -> R:
    """Returns an instance of the request struct `kind` with the values of a JSON document.

    Raises InvalidArgument, which lists every problem of the document.
    """
    request, problems = collect(kind, document)
    if problems:
        raise InvalidArgument(problems)
    return request


def collect(kind: type[R], document: object) -> tuple[R, list[FieldProblem]]:
    """Returns an instance of the request struct `kind` with the valid fields of a JSON document,
    and every problem of the document; an empty list if it is valid.

    It is for endpoints that also check other rules before they refuse the request. A field that is
    missing or invalid is None, also in the objects within, whatever its type.
    """
    problems: list[FieldProblem] = []
    return _read_object(kind, document, "", problems) or _build(kind, {}), problems


class DeclaredField(NamedTuple):
    """A field that a request struct declares: its name in Python, and its `wire_name` in JSON.
    `rule` is None if the type alone describes the value. `leaf` is the function that reads a value
    which is no list and no object; it is None for lists and objects."""

    name: str
    wire_name: str
    type: Any
    rule: Rule | None
    leaf: Leaf | None
    is_list: bool
    is_required: bool
    default: Any = None

    @property
    def element(self) -> DeclaredField:
        """The declaration of the elements of this field, which must be a list, as if each were a
        field."""
        hint = get_args(self.type)[0]
        return DeclaredField(self.name, self.wire_name, *_split(hint), is_required=True)


@cache
def declared(kind: type[Request]) -> tuple[DeclaredField, ...]:
    """Returns the fields that a request struct declares, in their order."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple(
        DeclaredField(
            each.name,
            each.encode_name,
            *_split(hints[each.name]),
            is_required=each.default is NODEFAULT and each.default_factory is NODEFAULT,
            default=each.default,
        )
        for each in structs.fields(kind)
    )


@cache
def _split(hint: Any) -> tuple[Any, Rule | None, Leaf | None, bool]:
    """Returns the type without `| None`, its rule, the function that reads a value, and whether
    the type is a list."""
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (each for each in get_args(hint) if each is not NoneType)
    rule: Rule | None = None
    if get_origin(hint) is Annotated:
        hint, rule = get_args(hint)
    return hint, rule, _leaf(hint, rule), get_origin(hint) is list


def _leaf(plain: Any, rule: Rule | None) -> Leaf | None:
    if get_origin(plain) is list:
        return None
    if rule is not None:
        return rule.read
    if get_origin(plain) is Literal:
        return OneOf(get_args(plain)).read
    return _read_bool if plain is bool else None


def _read_object(
    kind: type[R], value: object, path: str, problems: list[FieldProblem]
) -> R | None:
    if not isinstance(value, dict):
        problems.append(FieldProblem("field.wrong_type", path, "must be an object"))
        return None
    record = _build(kind, _read_members(kind, value, path, problems))
    for each in record.check():
        field_path = child(path, each.field) if each.field else path
        problems.append(each._replace(field=field_path))
    return record


def _build(kind: type[R], values: dict[str, Any]) -> R:
    """Returns the struct with these values; required fields that are missing are None."""
    return kind(**(_missing_values(kind) | values))


@cache
def _missing_values(kind: type[Request]) -> dict[str, None]:
    return {field.name: None for field in declared(kind) if field.is_required}


@cache
def _accepted_names(kind: type[Request]) -> frozenset[str]:
    """Returns the names under which a request's fields may be sent: in camelCase and in
    snake_case."""
    return frozenset(name for field in declared(kind) for name in (field.wire_name, field.name))


def _read_members(
    kind: type[Request], value: dict[str, Any], path: str, problems: list[FieldProblem]
) -> dict[str, Any]:
    members = _accepted_names(kind)
    unknown = [name for name in value if name not in members]
    if len(unknown) > _MAX_UNKNOWN:
        message = f"has {len(unknown)} unknown members"
        problems.append(FieldProblem("field.unknown", path, message))
    else:
        problems += [
            FieldProblem("field.unknown", child(path, name), "is not known") for name in unknown
        ]
    values = _read_fields(kind, value, path, problems)
    if kind.one_of:
        problems += _conflicts(kind, values, path)
    return values


def _read_fields(
    kind: type[Request], value: dict[str, Any], path: str, problems: list[FieldProblem]
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in declared(kind):
        name = field.wire_name if field.wire_name in value else field.name
        if name not in value:
            if field.is_required:
                field_path = child(path, field.wire_name)
                problems.append(FieldProblem("field.required", field_path, "is required"))
        elif name != field.name and field.name in value:
            field_path = child(path, field.wire_name)
            problems.append(
                FieldProblem("field.duplicate", field_path, f"is sent as {field.name} too")
            )
        else:
            values[field.name] = _read_field(field, value[name], path, problems)
    return values


def _read_field(
    field: DeclaredField, value: object, path: str, problems: list[FieldProblem]
) -> Any:
    """Returns the value of a field of the object at `path`.

    Imports read millions of fields, so the full path is built only where it is needed.
    """
    if field.leaf is None:
        field_path = f"{path}.{field.wire_name}" if path else field.wire_name
        return _read_value(field, value, field_path, problems)
    try:
        return field.leaf(value)
    except FieldRefused as refused:
        problems.append(_problem(refused, child(path, field.wire_name)))
        return None


def _conflicts(kind: type[Request], values: dict[str, Any], path: str) -> Iterator[FieldProblem]:
    wire_names = {field.name: field.wire_name for field in declared(kind)}
    for group in kind.one_of:
        first, *further_names = [name for name in group if name in values] or [""]
        if kind.requires_one and not first:
            field, *others = [wire_names[name] for name in group]
            message = f"or {' or '.join(others)} is required"
            yield FieldProblem("field.required", child(path, field), message)
        for name in further_names:
            message = f"can't be sent together with {wire_names[first]}"
            yield FieldProblem("field.conflict", child(path, wire_names[name]), message)


def _read_value(
    field: DeclaredField, value: object, path: str, problems: list[FieldProblem]
) -> Any:
    try:
        if field.is_list:
            items = (field.rule or Items(MAX_ITEMS)).read(value)
            element = field.element
            return [
                _read_value(element, each, f"{path}[{n}]", problems)
                for n, each in enumerate(items)
            ]
        if field.leaf is not None:
            return field.leaf(value)
    except FieldRefused as refused:
        problems.append(_problem(refused, path))
        return None
    return _read_object(field.type, value, path, problems)


def _problem(refused: FieldRefused, path: str) -> FieldProblem:
    field_path = path if refused.index is None else f"{path}[{refused.index}]"
    return FieldProblem(refused.error_code, field_path, refused.message, refused.limit)


def _read_bool(value: object) -> bool:
    if not isinstance(value, bool):
        raise wrong_type("true or false")
    return value
