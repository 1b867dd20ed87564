"""The applications that a user has authorized: what each may access, and how that is revoked.

An application is listed by the user's consent, or by an authorization with a refresh token, which
can still give tokens without the user.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

from msgspec import Struct, structs

from idp.audit import deferred_work, versioned_updates
from idp.audit.events import AuditEntry
from idp.foundation.errors import NotFound
from idp.identity.users.subjects import Subject
from idp.oauth.tokens import authorizations
from idp.oauth.tokens import validity as token_validity
from idp.oauth.tokens.validity import Client
from idp.records import (
    APPLICATIONS,
    AUTHORIZATIONS,
    CONSENTS,
    DEFERRED_WORK,
    ORGANIZATIONS,
    Application,
    Authorization,
    DeferredWork,
)
from idp.search import paging
from idp.service import Service
from storage import Insert, Key, Stale, Unavailable, Unknown, Write
from storage.confirmed_commit import commit_confirmed

MAX_LISTED: Final = 100  # applications
_PAGE: Final = 200
_STEPS: Final = 20  # before the response; the rest follows in the background
_REASON: Final = "taken back by the user"


class AuthorizedApplication(Struct, frozen=True):
    """An application that a user has authorized, its scopes, and the time of the first
    authorization."""

    client: Application
    scopes: list[str]
    since: datetime


class _Known(Struct, frozen=True):
    scopes: frozenset[str]
    since: datetime


async def listed(service: Service, subject: Subject) -> list[AuthorizedApplication]:
    """Returns the applications that the user has authorized, by name, `MAX_LISTED` at most."""
    consented = await _consented(service, subject)
    issued = await _issued(service, subject)
    ids = dict.fromkeys([*consented, *(client_id for client_id, _ in issued)])
    applications = []
    for client in await _clients(service, list(ids)[:MAX_LISTED]):
        id, stamps = (
            client.application.id,
            token_validity.stamps_of(subject.instance, subject, client),
        )
        consent = consented.get(id)
        if consent is not None and consent.since < client.application.created_at:
            consent = None  # it was given to an earlier application with the same id
        # Only what was issued under the current stamps is still valid.
        known = [one for one in (consent, issued.get((id, stamps))) if one]
        if known:
            scopes = sorted(frozenset().union(*(one.scopes for one in known)))
            since = min(one.since for one in known)
            applications.append(AuthorizedApplication(client.application, scopes, since))
    return sorted(applications, key=lambda one: one.client.name.casefold())


async def find(service: Service, subject: Subject, client_id: str) -> AuthorizedApplication:
    """Returns the authorized application with this id. Raises `NotFound`."""
    matching = [one for one in await listed(service, subject) if one.client.id == client_id]
    if not matching:
        raise NotFound("there is no such application", error_code="app.not_found")
    return matching[0]


async def remove(service: Service, subject: Subject, client_id: str) -> None:
    """Deletes the user's consent to an application, and revokes everything issued to it until now.

    Raises `NotFound`, and `Stale` when the consent changed meanwhile.
    """
    await find(service, subject, client_id)
    user, now = subject.user, service.clock.now()
    deferred = structs.replace(
        deferred_work.new(service, "connection.removed", user.id, user.id), client_id=client_id
    )
    writes: list[Write] = [Insert(DEFERRED_WORK, deferred)]
    page = await service.store.find(CONSENTS, {"user_id": user.id}, limit=paging.MAX_RECORDS)
    for one in page.records:
        if one.client_id == client_id:
            writes += versioned_updates.removal(
                service, CONSENTS, one, AuditEntry("consent.deleted", user.id, now)
            )
    await commit_confirmed(service.store, *writes)
    # The removal itself is stored: what fails here is done later from the stored task.
    with suppress(Unavailable, Unknown, Stale):
        for _ in range(_STEPS):
            if await deferred_work.do_step(service, deferred, purge):
                return


async def purge(service: Service, deferred: DeferredWork) -> bool:
    """Revokes some of the authorizations that the user gave before the removal of an application.

    Returns whether all of them are revoked. `deferred` describes the removal; the deferred work
    (`idp/audit/deferred_work.py`) repeats the call until none is left.
    """
    units, is_all = list[list[Write]](), True
    where = {"user_id": deferred.owner_id, "client_id": deferred.client_id}
    async for one in _each(service, where, None):
        # What the user authorizes again after the removal stays valid.
        if one.revoked_at is not None or one.created_at > deferred.created_at:
            continue
        if len(units) == deferred_work.AT_ONCE:
            is_all = False
            break
        actor = deferred.actor
        units.append(authorizations.ending(service, one, actor=actor, reason=_REASON))
    for outcome in await service.store.commit_each(units):
        # `Stale` means that another request has revoked it.
        if outcome is not None and not isinstance(outcome, Stale):
            raise outcome
    return is_all


async def _consented(service: Service, subject: Subject) -> dict[str, _Known]:
    by_client = dict[str, _Known]()
    async for one in paging.each(service, CONSENTS, {"user_id": subject.user.id}):
        if one.changed_at >= subject.user.created_at and len(by_client) < MAX_LISTED:
            by_client[one.client_id] = _Known(frozenset(one.scopes), one.changed_at)
    return by_client


async def _issued(service: Service, subject: Subject) -> dict[tuple[str, str], _Known]:
    """Returns what can be refreshed, by the application and the stamps that it was issued
    under."""
    by_client = dict[tuple[str, str], _Known]()
    now = service.clock.now()
    async for one in _each(service, {"user_id": subject.user.id}, "client_id"):
        if one.revoked_at is None and one.refresh and now < one.refresh.idle_expires_at:
            id = (one.client_id, one.stamps)
            known = by_client.get(id, _Known(frozenset(), one.created_at))
            since = min(known.since, one.created_at)
            by_client[id] = _Known(known.scopes | set(one.scopes), since)
        if len(by_client) > MAX_LISTED:
            break
    return by_client


async def _each(
    service: Service, where: dict[str, str | None], order: str | None
) -> AsyncIterator[Authorization]:
    after = None
    while True:
        page = await service.store.find(
            AUTHORIZATIONS, where, order=order, after=after, limit=_PAGE
        )
        for one in page.records:
            yield one
        if page.after is None:
            return
        after = page.after


async def _clients(service: Service, ids: Sequence[str]) -> list[Client]:
    """Returns the applications that exist, with their organizations."""
    if not ids:
        return []
    records = await service.store.get_many([(APPLICATIONS, id) for id in ids])
    clients = [one for one in records if one is not None]
    keys: list[Key] = [(ORGANIZATIONS, one.org_id) for one in clients]
    pairs = zip(clients, await service.store.get_many(keys), strict=True)
    return [Client(client, organization) for client, organization in pairs if organization]
