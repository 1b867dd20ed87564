"""JSON Schema of requests and answers, derived from the structs that read and write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec

from idp.api.schema_names import published_name
from idp.schema.field_rules import Items, Schema
from idp.schema.reading import MAX_ITEMS, DeclaredField, Request, declared

_SCHEMAS: Final = "#/components/schemas/"
_REF: Final = _SCHEMAS + "{name}"
_PLAIN: Final = (bool, int, str)
_SNAKE: Final = re.compile(r"(?<=`)[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?=`)")


def _no_object(kind: type[Any]) -> Schema:
    raise TypeError(kind)


class Schemas:
    """The JSON Schemas of the structs in an OpenAPI description: `components` holds them by their
    published names, and the methods return references to them."""

    def __init__(self, requests: Iterable[type[Request]], answers: Iterable[type[Any]]) -> None:
        kinds = list(dict.fromkeys(each for kind in answers for each in _nested(kind)))
        references, components = msgspec.json.schema_components(kinds, ref_template=_REF)
        # msgspec names components after classes; the published names stay the same when a class
        # is renamed.
        names = {
            reference["$ref"]: _REF.format(name=published_name(kind))
            for kind, reference in zip(kinds, references, strict=True)
        }
        self.components = {
            names[_REF.format(name=name)].removeprefix(_SCHEMAS): _renamed(
                _answer_schema(each), names
            )
            for name, each in components.items()
        }
        request_structs = list(
            dict.fromkeys(each for kind in requests for each in _with_nested(kind))
        )
        self._references = {kind: _reference(kind) for kind in [*kinds, *request_structs]}
        self.components |= {published_name(kind): self._object(kind) for kind in request_structs}
        if len(self.components) < len(self._references):
            raise ValueError("two structs have one published name: see idp/api/schema_names.py")

    def of(self, kind: type[Any]) -> Schema:
        """Returns the `$ref` object that refers to the schema of a request or answer struct."""
        return self._references[kind]

    def query(self, kind: type[Request]) -> list[Schema]:
        """Returns the OpenAPI parameter objects of the query parameters that a request struct
        declares."""
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
        description = one_line_docstring(kind)
        required = [field.wire_name for field in fields if field.is_required]
        conflicts = list(_conflicts(kind))
        return {
            "type": "object",
            **({"description": description} if description else {}),
            "properties": {field.wire_name: self._field(field) for field in fields},
            **({"required": required} if required else {}),
            **({"not": {"anyOf": conflicts}} if conflicts else {}),
            "additionalProperties": False,
        }

    def _field(self, field: DeclaredField) -> Schema:
        schema = value_schema(field, self.of)
        has_default = "enum" in schema or schema.get("type") == "boolean"
        return (
            schema | {"default": field.default} if has_default and _is_default(field) else schema
        )


def value_schema(field: DeclaredField, of: Callable[[type[Any]], Schema] = _no_object) -> Schema:
    """Returns the JSON Schema of the values of a field.

    `of` returns the schema of a struct, for a field that holds an object or a list of objects;
    without `of`, such a field raises `TypeError`.
    """
    if field.is_list:
        rule = field.rule or Items(MAX_ITEMS)
        return rule.schema() | {"items": value_schema(field.element, of)}
    if field.rule is not None:
        return field.rule.schema()
    if get_origin(field.type) is Literal:
        return {"type": "string", "enum": list(get_args(field.type))}
    # What has no rule and is no literal is a boolean or an object of its own.
    return {"type": "boolean"} if field.type is bool else of(field.type)


def one_line_docstring(kind: type[Any]) -> str:
    """Returns the docstring of a struct in one line, with field names as they are in JSON, for the
    published description; an empty text if the class itself has no docstring."""
    text = " ".join((kind.__dict__.get("__doc__") or "").split())
    return _SNAKE.sub(lambda match: _camel(match[0]), text)


def _camel(name: str) -> str:
    first_word, *other_words = name.split("_")
    return first_word + "".join(word.capitalize() for word in other_words)


def _is_default(field: DeclaredField) -> bool:
    return not field.is_required and isinstance(field.default, _PLAIN)


def _reference(kind: type[Any]) -> Schema:
    return {"$ref": _REF.format(name=published_name(kind))}


def _renamed(schema: Any, names: Mapping[str, str]) -> Any:
    """Returns the schema with each reference replaced by that of the published name in `names`."""
    if isinstance(schema, dict):
        return {
            key: names[value] if key == "$ref" else _renamed(value, names)
            for key, value in schema.items()
        }
    return [_renamed(each, names) for each in schema] if isinstance(schema, list) else schema


def _nested(kind: type[Any]) -> Iterator[type[Any]]:
    """Yields an answer's struct, and all structs that its fields hold at any depth."""
    yield kind
    for hint in get_type_hints(kind).values():
        for inner in _structs_of(hint):
            yield from _nested(inner)


def _structs_of(hint: Any) -> Iterator[type[Any]]:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        yield hint
    for argument in get_args(hint):
        yield from _structs_of(argument)


def _with_nested(kind: type[Request]) -> Iterator[type[Request]]:
    """Yields a request's struct, and those of the objects that its fields may hold at any
    depth."""
    yield kind
    for field in declared(kind):
        inner = (field.element if field.is_list else field).type
        if isinstance(inner, type) and issubclass(inner, Request):
            yield from _with_nested(inner)


def _conflicts(kind: type[Request]) -> Iterator[Schema]:
    """Yields a schema for each pair of fields that cannot be sent together."""
    wire_names = {field.name: field.wire_name for field in declared(kind)}
    for group in kind.one_of:
        for left_name, right_name in combinations(group, 2):
            yield {"required": [wire_names[left_name], wire_names[right_name]]}


def _answer_schema(schema: Schema) -> Schema:
    """Returns the schema of an answer, in which no member may be null: members with their default
    value are omitted from answers."""
    schema = {name: value for name, value in schema.items() if name != "title"}
    if "description" in schema:
        schema["description"] = " ".join(schema["description"].split())
    if "properties" in schema:
        schema["properties"] = {
            name: _not_null(each) for name, each in schema["properties"].items()
        }
    return schema


def _not_null(schema: Schema) -> Schema:
    alternatives = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    other_keywords = {
        name: value for name, value in schema.items() if name not in ("anyOf", "default")
    }
    return (
        other_keywords | (alternatives[0] if len(alternatives) == 1 else {"anyOf": alternatives})
        if alternatives
        else schema
    )
