"""Identity links: the users of identities at other providers, and the writes that change them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.identity.sessions import lifetime as session_lifetime
from idp.records import SESSIONS, User
from idp.records.browsers import SignInConnection
from idp.records.connections import CONNECTIONS, ProviderConnection
from idp.records.identity_links import IDENTITY_LINKS, IdentityLink, link_id
from idp.service import Service
from idp.upstream.identities import Identity
from storage import Stale, Update, Write

MAX_LINKS: Final = 20  # of a user
MAX_LISTED: Final = 100  # concurrent sign-ins may create more links than MAX_LINKS
_SESSIONS: Final = 50


async def find(service: Service, identity: Identity) -> IdentityLink | None:
    """Returns the link of an identity, or None if no user is linked to it."""
    return await service.store.get(IDENTITY_LINKS, id_of(identity))


async def has_room(service: Service, user: User) -> bool:
    """Returns whether the user can have one more link."""
    where = {"user_id": user.id}
    return await service.store.count(IDENTITY_LINKS, where, up_to=MAX_LINKS) < MAX_LINKS


async def is_linked(service: Service, user_id: str) -> bool:
    """Returns whether the user of this id has a link: then the user's address may be one that
    another provider stated, of anyone's mailbox."""
    return await service.store.count(IDENTITY_LINKS, {"user_id": user_id}, up_to=1) > 0


async def count(service: Service, connection_id: str, *, up_to: int) -> int:
    """Returns the number of links of a connection, also those that a deleted one has left behind;
    `up_to` if there are more."""
    where = {"connection_id": connection_id}
    return await service.store.count(IDENTITY_LINKS, where, up_to=up_to)


def insertion(
    service: Service, connection: ProviderConnection, identity: Identity, user: User
) -> list[Write]:
    """Returns the writes that link an identity to a user who has authenticated, with the
    event; for the caller's unit, after `prepare`.

    They fail with Conflict if the identity is linked.
    """
    now = service.clock.now()
    link = _new(identity, user, now)
    entry = AuditEntry(
        "identity_link.created",
        user.id,
        now,
        payload={"user_id": user.id, "connection_id": connection.id},
    )
    return events.insertion(service.random, IDENTITY_LINKS, link, entry)


async def prepare(service: Service, connection: ProviderConnection) -> None:
    """Stores that users are linked to a connection, before the first one is: from then on the
    calls that change its trust are restricted.

    It is a separate unit, once for each connection, because concurrent sign-ins would have to wait
    for each other if each of them changed the connection's record. Raises Stale if the connection
    was changed since it was read.
    """
    if connection.is_linked:
        return
    expected = {"is_linked": False, "sequence": connection.sequence}
    try:
        await service.store.commit(
            Update(CONNECTIONS, connection.id, set={"is_linked": True}, expect=expected)
        )
    except Stale:
        current = await service.store.get(CONNECTIONS, connection.id)
        if current is None or not current.is_linked or current.stamp != connection.stamp:
            raise


def sign_in_connection(connection: ProviderConnection, identity: Identity) -> SignInConnection:
    """Returns the connection and the link that a sign-in with this identity depends on."""
    return SignInConnection(connection.id, connection.stamp, id_of(identity))


async def is_valid(service: Service, sign_in_connection: SignInConnection, user_id: str) -> bool:
    """Returns whether a sign-in of this user is still valid: neither the connection nor the link
    has been removed or deactivated."""
    connection, link = await service.store.get_many(
        [(CONNECTIONS, sign_in_connection.id), (IDENTITY_LINKS, sign_in_connection.link_id)]
    )
    is_same = connection is not None and connection.stamp == sign_in_connection.stamp
    return is_same and link is not None and link.user_id == user_id


async def confirm(service: Service, sign_in_connection: SignInConnection, user_id: str) -> None:
    """Checks, once a sign-in or a link is stored, that the connection and the link are still
    there; otherwise ends the sessions that the user has opened by it.

    A removal or deactivation is stored first, and then ends the sessions that exist. So a new
    session is either ended there, or this check detects the removal, and sign-ins need no write to
    a record that they share. Raises Stale after ending the sessions.
    """
    if await is_valid(service, sign_in_connection, user_id):
        return
    await _revoke(service, sign_in_connection, user_id)
    raise Stale(CONNECTIONS.name, sign_in_connection.id)


async def _revoke(service: Service, sign_in_connection: SignInConnection, user_id: str) -> None:
    """Ends the sessions, and removes a link that has outlived its connection."""
    while not await end_sessions(service, sign_in_connection.id, user_id):
        pass
    connection, link = await service.store.get_many(
        [(CONNECTIONS, sign_in_connection.id), (IDENTITY_LINKS, sign_in_connection.link_id)]
    )
    if connection is None and link is not None:
        with suppress(Stale):  # it is removed already
            await service.store.commit(*removals(service, [link], user_id))


def _new(identity: Identity, user: User, now: datetime) -> IdentityLink:
    return IdentityLink(
        id=id_of(identity),
        connection_id=identity.connection_id,
        authority=identity.authority,
        external_id=identity.external_id,
        user_id=user.id,
        org_id=user.org_id,
        user_name=identity.label,
        created_at=now,
        changed_at=now,
    )


def id_of(identity: Identity) -> str:
    """Returns the id that the link of an identity has or would have."""
    return link_id(identity.connection_id, identity.authority, identity.external_id)


def removals(service: Service, links: Sequence[IdentityLink], actor: str) -> list[Write]:
    """Returns the writes that remove links, each with an event by `actor`; for the caller's unit.

    They fail with Stale if a link has been deleted meanwhile.
    """
    now, writes = service.clock.now(), list[Write]()
    for link in links:
        entry = AuditEntry("identity_link.deleted", actor, now)
        writes += events.removal(service.random, IDENTITY_LINKS, link, entry)
    return writes


async def end_sessions(service: Service, connection_id: str, user_id: str) -> bool:
    """Ends the sessions that a user has opened by a connection, each with an event and the
    messages of a logout. Returns False if one was changed meanwhile: then it is to be called
    again."""
    page = await service.store.find(SESSIONS, {"user_id": user_id}, limit=_SESSIONS)
    while True:
        units = [
            await session_lifetime.end_writes(service, session)
            for session in page.records
            if session.connection_id == connection_id and session.ended_at is None
        ]
        outcomes = await service.store.commit_each(units) if units else []
        for outcome in outcomes:
            # A session that was renewed meanwhile (Stale) is read again by the next step.
            if outcome is not None and not isinstance(outcome, Stale):
                raise outcome
        if any(outcomes):
            return False
        if page.after is None:
            return True
        page = await service.store.find(
            SESSIONS, {"user_id": user_id}, limit=_SESSIONS, after=page.after
        )
