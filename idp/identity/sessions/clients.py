"""The applications to which a session signed its user in and that are notified of the session's
end."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from idp.foundation import opaque_tokens
from idp.records import (
    APPLICATIONS,
    LOGOUT_MESSAGES,
    SESSION_CLIENTS,
    Application,
    LogoutMessage,
    Session,
    SessionClient,
)
from idp.service import Service
from storage import Conflict, Insert, Key, Stale, Update, Write

_MESSAGE_LIFETIME: Final = timedelta(days=1)
_PAGE: Final = 100


async def remember(service: Service, session: Session, client: Application) -> None:
    """Records that the client gets tokens of the session, if the client is notified of logouts.

    It is called before tokens are issued, so that no application is missed.
    """
    if not _is_notified(client):
        return
    entry = _entry(session, client)
    stored = await service.store.get(SESSION_CLIENTS, entry.id)
    if stored is not None and stored.expires_at >= entry.expires_at:
        return
    write: Write = Update(SESSION_CLIENTS, entry.id, set={"expires_at": entry.expires_at})
    if stored is None:
        write = Insert(SESSION_CLIENTS, entry)
    with suppress(Conflict, Stale):  # another tab records the same
        await service.store.commit(write)


def of_new_session(session: Session, client: Application) -> list[Write]:
    """Returns the writes that record the same, for the unit that opens the session and lets the
    client have its tokens: nothing can end the session before."""
    return [Insert(SESSION_CLIENTS, _entry(session, client))] if _is_notified(client) else []


def _is_notified(client: Application) -> bool:
    return bool(client.back_channel_logout_uri or client.front_channel_logout_uri)


def _entry(session: Session, client: Application) -> SessionClient:
    return SessionClient(
        id=opaque_tokens.digest(f"{session.id}\n{client.id}"),
        session_id=session.id,
        client_id=client.id,
        expires_at=session.expires_at,
    )


async def find(service: Service, session_id: str) -> list[Application]:
    """Returns the active applications that `remember` has recorded for the session: those to
    notify of its end."""
    where = {"session_id": session_id}
    page = await service.store.find(SESSION_CLIENTS, where, order="client_id", limit=_PAGE)
    session_clients = page.records
    while page.after is not None:
        page = await service.store.find(
            SESSION_CLIENTS, where, order="client_id", limit=_PAGE, after=page.after
        )
        session_clients += page.records
    keys: list[Key] = [
        (APPLICATIONS, session_client.client_id) for session_client in session_clients
    ]
    clients = await service.store.get_many(keys) if keys else []
    return [client for client in clients if client is not None and client.state == "active"]


async def messages(service: Service, session: Session, now: datetime) -> list[Write]:
    """Returns the writes that queue a logout token (OpenID Connect Back-Channel Logout) for each
    active application of the session that has a back-channel logout URI. They belong to the unit
    that ends the session."""
    return [
        Insert(
            LOGOUT_MESSAGES,
            LogoutMessage(
                id=service.random.id(),
                session_id=session.id,
                user_id=session.user_id,
                client_id=client.id,
                created_at=now,
                due_at=now,
                expires_at=now + _MESSAGE_LIFETIME,
            ),
        )
        for client in await find(service, session.id)
        if client.back_channel_logout_uri
    ]
