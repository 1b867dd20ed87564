"""The export of all data that is stored about a user, for the user: one JSON document, as a
stream.

It contains the account, the sessions and passkeys, the connected applications, and the events. It
contains no secrets, and about other users only that an event was caused by another user.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from idp.identity.factors import passkeys
from idp.identity.sessions import own_sessions
from idp.identity.users.subjects import Subject
from idp.management.users import read as user_read
from idp.oauth.sign_in import authorized_applications
from idp.records import BROWSERS, EVENTS, Event
from idp.schema.answers import Answer
from idp.service import Service
from storage import Where

_PAGE_SIZE: Final = 200


class ExportedSession(Answer, frozen=True, kw_only=True):
    """A session that has not ended. `browser` and `system` are present if they are known."""

    id: str
    browser: str = ""
    system: str = ""
    authentication_date: datetime
    authentication_methods: list[str]
    last_used_date: datetime


class OwnPasskey(Answer, frozen=True, kw_only=True):
    id: str
    name: str
    creation_date: datetime


class ConnectedApplication(Answer, frozen=True, kw_only=True):
    client_id: str
    name: str
    scopes: list[str]
    since: datetime


class OwnEvent(Answer, frozen=True, kw_only=True):
    """An event about the account, or one that the user caused (`byYou`)."""

    id: str
    type: str
    creation_date: datetime
    by_you: bool
    object: str


Part = Callable[[Service, Subject], AsyncIterator[Answer]]


async def document_chunks(service: Service, subject: Subject) -> AsyncIterator[bytes]:
    """Yields one JSON document with all data that is stored about the user of `subject`, as
    consecutive chunks."""
    user = user_read.answer(subject.organization, subject.user)
    about = {"issuer": service.config.issuer, "exportDate": service.clock.now(), "account": user}
    yield msgspec.json.encode(about)[:-1]
    for name, part in PARTS.items():
        yield f',\n"{name}":['.encode()
        separator = b"\n"
        async for element in part(service, subject):
            yield separator + msgspec.json.encode(element)
            separator = b",\n"
        yield b"]"
    yield b"}\n"


async def _sessions(service: Service, subject: Subject) -> AsyncIterator[Answer]:
    async for session in own_sessions.open_sessions(service, subject):
        browser_record = await service.store.get(BROWSERS, session.agent_id)
        yield ExportedSession(
            id=session.id,
            browser=(browser_record and browser_record.browser) or "",
            system=(browser_record and browser_record.system) or "",
            authentication_date=session.auth_time,
            authentication_methods=session.amr,
            last_used_date=session.last_used_at,
        )


async def _passkeys(service: Service, subject: Subject) -> AsyncIterator[Answer]:
    for passkey in await passkeys.of_user(service, subject.user.id):
        yield OwnPasskey(id=passkey.id, name=passkey.name, creation_date=passkey.created_at)


async def _applications(service: Service, subject: Subject) -> AsyncIterator[Answer]:
    for authorized in await authorized_applications.find_all(service, subject):
        client = authorized.client
        yield ConnectedApplication(
            client_id=client.id,
            name=client.name,
            scopes=authorized.scopes,
            since=authorized.authorized_at,
        )


async def _events(service: Service, subject: Subject) -> AsyncIterator[Answer]:
    user_id = subject.user.id
    # Earlier events are those of a deleted user who had the same id.
    async for event in _each(service, {"record_id": user_id}):
        if event.at >= subject.user.created_at:
            yield _own_event(event, user_id)
    async for event in _each(service, {"actor": user_id}):
        if event.record_id != user_id and event.at >= subject.user.created_at:
            yield _own_event(event, user_id)


def _own_event(event: Event, user_id: str) -> OwnEvent:
    return OwnEvent(
        id=event.id,
        type=event.type,
        creation_date=event.at,
        by_you=event.actor == user_id,
        object=event.record_id,
    )


async def _each(service: Service, where: Where) -> AsyncIterator[Any]:
    after = None
    while True:
        page = await service.store.find(EVENTS, where, order="at", after=after, limit=_PAGE_SIZE)
        for event in page.records:
            yield event
        if page.after is None:
            return
        after = page.after


PARTS: Final[Mapping[str, Part]] = {
    "sessions": _sessions,
    "passkeys": _passkeys,
    "connectedApplications": _applications,
    "events": _events,
}
