"""What calls take and answer, as JSON Schema: made of the structs that read and write it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Any, Final, Literal, get_args, get_origin

import msgspec

from idp.fields import Items, Schema
from idp.requests import MAX_ITEMS, Field, Request, declared

_REF: Final = "#/components/schemas/{name}"
_PLAIN: Final = (bool, int, str)
_SNAKE: Final = re.compile(r"(?<=`)[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?=`)")


def _no_object(kind: type[Any]) -> Schema:
    raise TypeError(kind)


class Schemas:
    """The components of a description, by name, and where each struct stands among them."""

    def __init__(self, requests: Iterable[type[Request]], answers: Iterable[type[Any]]) -> None:
        kinds = list(dict.fromkeys(answers))
        found, components = msgspec.json.schema_components(kinds, ref_template=_REF)
        self._places = dict(zip(kinds, found, strict=True))
        self.components = {name: _as_answered(each) for name, each in components.items()}
        forms = list(dict.fromkeys(each for kind in requests for each in _with_inner(kind)))
        names = list(_unique(forms, self.components))
        self._places |= {
            kind: {"$ref": _REF.format(name=name)} for kind, name in zip(forms, names, strict=True)
        }
        self.components |= {
            name: self._object(kind) for kind, name in zip(forms, names, strict=True)
        }

    def of(self, kind: type[Any]) -> Schema:
        """Where the schema of a request or an answer stands."""
        return self._places[kind]

    def query(self, kind: type[Request]) -> list[Schema]:
        """The parameters of an address."""
        return [
            {
                "name": field.wire_name,
                "in": "query",
                "required": field.is_required,
                "schema": self._field(field),
            }
            for field in declared(kind)
        ]

    def _object(self, kind: type[Request]) -> Schema:
        fields = declared(kind)
        told = described(kind)
        required = [field.wire_name for field in fields if field.is_required]
        conflicts = list(_conflicts(kind))
        return {
            "type": "object",
            **({"description": told} if told else {}),
            "properties": {field.wire_name: self._field(field) for field in fields},
            **({"required": required} if required else {}),
            **({"not": {"anyOf": conflicts}} if conflicts else {}),
            "additionalProperties": False,
        }

    def _field(self, field: Field) -> Schema:
        schema = value_schema(field, self.of)
        is_told = "enum" in schema or schema.get("type") == "boolean"
        return schema | {"default": field.default} if is_told and _is_default(field) else schema


def value_schema(field: Field, of: Callable[[type[Any]], Schema] = _no_object) -> Schema:
    """The schema of a field's value; `of` is that of the object that it may be."""
    if field.is_list:
        rule = field.rule or Items(MAX_ITEMS)
        return rule.schema() | {"items": value_schema(field.element, of)}
    if field.rule is not None:
        return field.rule.schema()
    if get_origin(field.type) is Literal:
        return {"type": "string", "enum": list(get_args(field.type))}
    return {"type": "boolean"} if field.type is bool else of(field.type)


def described(kind: type[Any]) -> str:
    """What the docstring says of a struct itself, with the names that are on the wire."""
    text = " ".join((kind.__dict__.get("__doc__") or "").split())
    return _SNAKE.sub(lambda found: _camel(found[0]), text)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _is_default(field: Field) -> bool:
    return not field.is_required and isinstance(field.default, _PLAIN)


def _with_inner(kind: type[Request]) -> Iterator[type[Request]]:
    """A request, and the objects that it may hold."""
    yield kind
    for field in declared(kind):
        inner = (field.element if field.is_list else field).type
        if isinstance(inner, type) and issubclass(inner, Request):
            yield from _with_inner(inner)


def _unique(kinds: list[type[Request]], taken: Iterable[str]) -> Iterator[str]:
    """A name for each class; with its module's where another one has the same."""
    times = Counter([*taken, *(kind.__name__ for kind in kinds)])
    for kind in kinds:
        module = kind.__module__.rpartition(".")[2]
        yield kind.__name__ if times[kind.__name__] == 1 else f"{module}.{kind.__name__}"


def _conflicts(kind: type[Request]) -> Iterator[Schema]:
    """Each two of the fields that can't be sent together."""
    wire_names = {field.name: field.wire_name for field in declared(kind)}
    for group in kind.one_of:
        for one, other in combinations(group, 2):
            yield {"required": [wire_names[one], wire_names[other]]}


def _as_answered(schema: Schema) -> Schema:
    """An answer's schema: what has its default is left out, so nothing is ever null."""
    schema = {name: value for name, value in schema.items() if name != "title"}
    if "description" in schema:
        schema["description"] = " ".join(schema["description"].split())
    if "properties" in schema:
        schema["properties"] = {
            name: _not_null(each) for name, each in schema["properties"].items()
        }
    return schema


def _not_null(schema: Schema) -> Schema:
    kinds = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    rest = {name: value for name, value in schema.items() if name not in ("anyOf", "default")}
    return rest | (kinds[0] if len(kinds) == 1 else {"anyOf": kinds}) if kinds else schema
