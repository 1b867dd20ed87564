"""What others keep with a user, one entry at a time: set, read and removed."""

from __future__ import annotations

import base64
from typing import Annotated, Final

from idp import answers, changes, events
from idp.access import Call
from idp.answers import Answer, Details
from idp.changes import Changed
from idp.errors import FieldProblem, InvalidArgument, NotFound
from idp.fields import Base64, Refused, Text
from idp.identity import new_users, read_user
from idp.records import USER_METADATA, User, UserMetadata
from idp.requests import Request
from idp.service import Service
from storage import Conflict
from storage.settling import commit_settled

MAX_VALUE: Final = 500_000


class MetadataValue(Request, frozen=True, kw_only=True):
    value: Annotated[bytes, Base64(MAX_VALUE)]


class MetadataView(Answer, frozen=True, kw_only=True):
    details: Details
    key: str
    value: str


class MetadataFound(Answer, frozen=True, kw_only=True):
    metadata: MetadataView


async def put(
    service: Service, call: Call, user_id: str, key: str, request: MetadataValue
) -> Changed:
    """Keep a value under this key, in place of any other. Raises NotFound, InvalidArgument."""
    user = await read_user.find(service, call, user_id)
    _check(key)
    value = base64.b64encode(request.value).decode()
    entry = await service.store.get(USER_METADATA, new_users.metadata_id(user.id, key))
    if entry is None:
        try:
            return await _add(service, call, user, key, value)
        except Conflict:
            pass  # somebody was faster: theirs is replaced
    changed = await changes.changed(
        service,
        USER_METADATA,
        lambda: _find(service, user, key),
        lambda _: {"value": value},
        "user_metadata.changed",
        call,
    )
    return Changed(details=answers.details(changed, user.org_id))


async def show(service: Service, call: Call, user_id: str, key: str) -> MetadataFound:
    """What is kept under this key. Raises NotFound."""
    user = await read_user.find(service, call, user_id)
    entry = await _find(service, user, key)
    details = answers.details(entry, user.org_id)
    return MetadataFound(metadata=MetadataView(details=details, key=key, value=entry.value))


async def remove(service: Service, call: Call, user_id: str, key: str) -> Changed:
    """Keep nothing under this key any more. Raises NotFound."""
    user = await read_user.find(service, call, user_id)
    return await changes.removed(
        service,
        USER_METADATA,
        lambda: _find(service, user, key),
        "user_metadata.deleted",
        call,
        user.org_id,
    )


async def _add(service: Service, call: Call, user: User, key: str, value: str) -> Changed:
    now = service.clock.now()
    entry = new_users.metadata_entry(user, key, value, now)
    type, random = "user_metadata.created", service.random
    writes = events.insertion(random, USER_METADATA, entry, type, call.actor, now, key=key)
    await commit_settled(service.store, *writes)
    return Changed(details=answers.details(entry, user.org_id))


async def _find(service: Service, user: User, key: str) -> UserMetadata:
    entry = await service.store.get(USER_METADATA, new_users.metadata_id(user.id, key))
    if entry is None:
        raise NotFound("there is no such entry", slug="metadata.not_found")
    return entry


def _check(key: str) -> None:
    try:
        Text(1).read(key)
    except Refused as refused:
        problem = FieldProblem(refused.slug, "key", refused.message, refused.limit)
        raise InvalidArgument([problem]) from None
