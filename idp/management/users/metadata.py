"""Calls on the metadata of a user: values that clients store with the user under a key."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Annotated, Final

from idp import changes
from idp.changes import Change
from idp.foundation.errors import FieldProblem, InvalidArgument, NotFound
from idp.identity.users import creation as user_creation
from idp.identity.users import lookup as user_lookup
from idp.management import search as management_search
from idp.management.call import Call
from idp.management.search import MAX_FILTERS, Search, SearchDetails, TextQuery
from idp.management.users import manageable
from idp.management.users import read as user_read
from idp.records import USER_METADATA, User, UserMetadata
from idp.schema import answers
from idp.schema.answers import Answer, Changed, Details
from idp.schema.field_rules import Base64, FieldRefused, Items, Name, Text
from idp.schema.reading import Request
from idp.search.query_planner import Filter
from idp.service import Service

MAX_VALUE: Final = 500_000
_BATCH_SIZE: Final = 8  # small, because entries may be large
_CHARACTERS_PER_RECORD: Final = 4000


class MetadataValue(Request, frozen=True, kw_only=True):
    value: Annotated[bytes, Base64(MAX_VALUE)]


class MetadataView(Answer, frozen=True, kw_only=True):
    details: Details
    key: str
    value: str


class KeyQuery(TextQuery, frozen=True, kw_only=True):
    key: Name


class MetadataQuery(Request, frozen=True, kw_only=True):
    """A filter: exactly one member must be sent."""

    key_query: KeyQuery | None = None

    def check(self) -> Iterator[FieldProblem]:
        if self.key_query is None:
            yield FieldProblem("field.required", "", "must contain one filter")


class MetadataSearch(Search, frozen=True, kw_only=True):
    """A search for the records that match all filters."""

    queries: Annotated[list[MetadataQuery], Items(MAX_FILTERS)] = []


class MetadataSearched(Answer, frozen=True, kw_only=True):
    """A page of results. `nextCursor` is present if there may be more."""

    details: SearchDetails
    result: list[MetadataView] = []
    next_cursor: str = ""


class MetadataFound(Answer, frozen=True, kw_only=True):
    metadata: MetadataView


async def put(
    service: Service, call: Call, user_id: str, key: str, request: MetadataValue
) -> Change[Changed]:
    """Stores a value under a key of a user's metadata, in place of an earlier one.

    Raises NotFound, PermissionDenied, InvalidArgument.
    """
    user = await manageable.find(service, call, user_id)
    _check(key)
    value = base64.b64encode(request.value).decode()
    entry = await service.store.get(USER_METADATA, user_creation.metadata_id(user.id, key))
    if entry is None:
        return _addition(service, call, user, key, value)
    event = "user_metadata.changed"
    return changes.updated(
        service, call, USER_METADATA, entry, {"value": value}, event, user.org_id
    ).change()


async def show(service: Service, call: Call, user_id: str, key: str) -> MetadataFound:
    """Returns the value of a key of a user's metadata. Raises NotFound."""
    user = await user_read.find(service, call, user_id)
    entry = await _find(service, user, key)
    details = answers.details(entry, user.org_id)
    return MetadataFound(metadata=MetadataView(details=details, key=key, value=entry.value))


async def search(
    service: Service, call: Call, user_id: str, request: MetadataSearch
) -> MetadataSearched:
    """Returns entries of a user's metadata with their values, in the order of their keys.

    A page has at most about four megabytes. Raises NotFound, InvalidArgument (the cursor).
    """
    user = await user_read.find(service, call, user_id)
    filters = [Filter(path="user_id", value=user.id)]
    filters += [
        each.key_query.of("key", each.key_query.key) for each in request.queries if each.key_query
    ]
    page = await management_search.find(
        service,
        USER_METADATA,
        request.query,
        filters,
        order="key",
        # A large entry counts as several, so that a page stays within a few megabytes.
        weight=lambda entry: 1 + len(entry.value) // _CHARACTERS_PER_RECORD,
        batch_size=_BATCH_SIZE,
    )
    return MetadataSearched(
        details=page.details,
        result=[
            MetadataView(
                details=answers.details(entry, user.org_id), key=entry.key, value=entry.value
            )
            for entry in page.records
        ],
        next_cursor=page.next_cursor,
    )


async def remove(service: Service, call: Call, user_id: str, key: str) -> Change[Changed]:
    """Removes a key and its value from a user's metadata. Raises NotFound, PermissionDenied."""
    user = await manageable.find(service, call, user_id)
    entry, event = await _find(service, user, key), "user_metadata.deleted"
    return changes.removed(service, call, USER_METADATA, entry, event, user.org_id).change()


def _addition(service: Service, call: Call, user: User, key: str, value: str) -> Change[Changed]:
    metadata = user_creation.metadata_entry(user, key, value, service.clock.now())
    writes = changes.created(
        service, call, USER_METADATA, metadata, "user_metadata.created", {"key": key}, user.org_id
    )
    answer = Changed(details=answers.details(metadata, user.org_id))
    return Change(answer, [*writes, user_lookup.exists_guard(user)])


async def _find(service: Service, user: User, key: str) -> UserMetadata:
    entry = await service.store.get(USER_METADATA, user_creation.metadata_id(user.id, key))
    if entry is None:
        raise NotFound("there is no such entry", error_code="metadata.not_found")
    return entry


def _check(key: str) -> None:
    try:
        Text(1).read(key)
    except FieldRefused as refused:
        problem = FieldProblem(refused.error_code, "key", refused.message, refused.limit)
        raise InvalidArgument([problem]) from None
