"""Searches as commands: each filter is an option, and all pages can be read at once.

`--user-name 'an*'` finds names that begin with these letters; case is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, get_args

import click

from idp.api.operation import Operation
from idp.cli import fields, output
from idp.cli.backends import Backend
from idp.cli.document import Document
from idp.cli.fields import FieldOption
from idp.schema.reading import Request, declared

_QUERIES: Final = "queries"
_QUERY: Final = "query"
_CURSOR: Final = "cursor"
_METHOD: Final = "method"
_MAX_ROWS: Final = 1000
ALL: Final = click.Option(["--all", "every"], is_flag=True, help="Print all pages.")


def is_search(operation: Operation) -> bool:
    """Returns whether the operation is a search, which returns its results in pages."""
    names = _names(operation)
    return _QUERY in names or _CURSOR in names


def _names(operation: Operation) -> set[str]:
    return {each.wire_name for each in declared(operation.request)} if operation.request else set()


def filters_of(kind: type[Request]) -> Iterator[FieldOption]:
    """Yields an option for each filter of the search request `kind` that compares a single
    field."""
    for each in declared(kind):
        if each.wire_name == _QUERIES:
            (query,) = get_args(each.type)
            for query_field in declared(query):
                yield from _filter(query_field.wire_name, query_field.type)


def _filter(name: str, kind: Any) -> Iterator[FieldOption]:
    if not fields.is_request(kind):
        return
    members = declared(kind)
    compared = [each for each in members if each.wire_name != _METHOD]
    if len(compared) == 1:
        path = (_QUERIES, name)
        for field in fields.fields_of(kind, path, is_required=False):
            if field.path[-1] == compared[0].wire_name:
                has_method = len(members) > len(compared)
                yield FieldOption(
                    path=field.path,
                    kind="pattern" if has_method else field.kind,
                    is_required=False,
                    names=field.names,
                )


def put(document: Document, field: FieldOption, value: Any) -> None:
    """Adds the filter of `field` for this value to the document of a search; a text that ends with
    `*` finds what begins with it."""
    _, name, wire_name = field.path
    query: Document = {wire_name: value}
    if field.kind == "pattern":
        is_prefix = value.endswith("*")
        method = "STARTS_WITH_IGNORE_CASE" if is_prefix else "EQUALS_IGNORE_CASE"
        query = {wire_name: value.removesuffix("*"), _METHOD: f"TEXT_QUERY_METHOD_{method}"}
    document.setdefault(_QUERIES, []).append({name: query})


def is_filter(field: FieldOption) -> bool:
    return field.path[0] == _QUERIES and len(field.path) > 1


async def all_pages(
    backend: Backend, operation: Operation, values: Sequence[str], document: Document
) -> Document:
    """Makes a search page by page, and returns one answer with the results of all pages. `values`
    are those of the path parameters, and `document` is the body without a page.

    Raises IdpError, StorageError.
    """
    answer = await backend.call(
        operation, values, _page(operation, document, {"limit": _MAX_ROWS})
    )
    name = next((each for each in output.LISTS if each in answer), output.LISTS[0])
    results = list(answer.get(name, []))
    details = dict(answer.get("details", {}))
    while cursor := answer.get("nextCursor"):
        page = _page(operation, document, {"limit": _MAX_ROWS, "cursor": cursor})
        answer = await backend.call(operation, values, page)
        results += answer.get(name, [])
    # All results were read, so the total is exact.
    details = {**details, "totalResult": str(len(results))}
    details.pop("isTotalLowerBound", None)
    return {"details": details, name: results}


def _page(operation: Operation, document: Document, page: Document) -> Document:
    """Returns the search for one page. Some operations take the page in a separate object."""
    if _QUERY in _names(operation):
        return document | {_QUERY: document.get(_QUERY, {}) | page}
    return document | page
