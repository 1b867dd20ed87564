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

from idp.audit import deferred_work, events
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
    authorized_at: datetime


class _Permission(Struct, frozen=True):
    """The scopes that a user has authorized an application for, and the time of the first one."""

    scopes: frozenset[str]
    authorized_at: datetime


async def find_all(service: Service, subject: Subject) -> list[AuthorizedApplication]:
    """Returns the applications that the user has authorized, by name, `MAX_LISTED` at most."""
    consented = await _consented(service, subject)
    issued = await _issued(service, subject)
    ids = dict.fromkeys([*consented, *(client_id for client_id, _ in issued)])
    applications = []
    for client in await _clients(service, list(ids)[:MAX_LISTED]):
        client_id = client.application.id
        stamps = token_validity.stamps_of(subject.instance, subject, client)
        consent = consented.get(client_id)
        if consent is not None and consent.authorized_at < client.application.created_at:
            consent = None  # it was given to an earlier application with the same id
        # Only tokens that were issued under the current stamps are still valid.
        records = [record for record in (consent, issued.get((client_id, stamps))) if record]
        if records:
            scopes = sorted(frozenset().union(*(record.scopes for record in records)))
            authorized_at = min(record.authorized_at for record in records)
            applications.append(AuthorizedApplication(client.application, scopes, authorized_at))
    return sorted(applications, key=lambda application: application.client.name.casefold())


async def find(service: Service, subject: Subject, client_id: str) -> AuthorizedApplication:
    """Returns the authorized application with this id. Raises `NotFound`."""
    matching = [
        application
        for application in await find_all(service, subject)
        if application.client.id == client_id
    ]
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
    for consent in page.records:
        if consent.client_id == client_id:
            writes += events.removal(
                service.random, CONSENTS, consent, AuditEntry("consent.deleted", user.id, now)
            )
    await commit_confirmed(service.store, *writes)
    # The removal itself is stored: steps that fail here are repeated by the deferred work.
    with suppress(Unavailable, Unknown, Stale):
        for _ in range(_STEPS):
            if await deferred_work.do_step(service, deferred, purge):
                return


async def purge(service: Service, deferred: DeferredWork) -> bool:
    """Revokes some of the authorizations that the user gave before the removal of an application.

    Returns whether all of them are revoked. `deferred` describes the removal; the deferred work
    (`idp/audit/deferred_work.py`) repeats the call until none remains.
    """
    units, is_all = list[list[Write]](), True
    where = {"user_id": deferred.owner_id, "client_id": deferred.client_id}
    async for authorization in _each(service, where, None):
        # An authorization that the user gives again after the removal stays valid.
        if authorization.revoked_at is not None or authorization.created_at > deferred.created_at:
            continue
        if len(units) == deferred_work.BATCH_SIZE:
            is_all = False
            break
        actor = deferred.actor
        units.append(
            authorizations.revocation_writes(service, authorization, actor=actor, reason=_REASON)
        )
    for outcome in await service.store.commit_each(units):
        # `Stale` means that another request has revoked it.
        if outcome is not None and not isinstance(outcome, Stale):
            raise outcome
    return is_all


async def _consented(service: Service, subject: Subject) -> dict[str, _Permission]:
    by_client = dict[str, _Permission]()
    async for consent in paging.each(service, CONSENTS, {"user_id": subject.user.id}):
        if consent.changed_at >= subject.user.created_at and len(by_client) < MAX_LISTED:
            by_client[consent.client_id] = _Permission(
                frozenset(consent.scopes), consent.changed_at
            )
    return by_client


async def _issued(service: Service, subject: Subject) -> dict[tuple[str, str], _Permission]:
    """Returns the permissions with a refresh token, by the application and the stamps that it was
    issued under."""
    by_client = dict[tuple[str, str], _Permission]()
    now = service.clock.now()
    async for authorization in _each(service, {"user_id": subject.user.id}, "client_id"):
        if (
            authorization.revoked_at is None
            and authorization.refresh
            and now < authorization.refresh.idle_expires_at
        ):
            key = (authorization.client_id, authorization.stamps)
            summary = by_client.get(key, _Permission(frozenset(), authorization.created_at))
            authorized_at = min(summary.authorized_at, authorization.created_at)
            by_client[key] = _Permission(summary.scopes | set(authorization.scopes), authorized_at)
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
        for authorization in page.records:
            yield authorization
        if page.after is None:
            return
        after = page.after


async def _clients(service: Service, ids: Sequence[str]) -> list[Client]:
    """Returns the applications that exist, with their organizations."""
    if not ids:
        return []
    records = await service.store.get_many([(APPLICATIONS, id) for id in ids])
    clients = [record for record in records if record is not None]
    keys: list[Key] = [(ORGANIZATIONS, record.org_id) for record in clients]
    pairs = zip(clients, await service.store.get_many(keys), strict=True)
    return [Client(client, organization) for client, organization in pairs if organization]
