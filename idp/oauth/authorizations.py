"""The authorization record: what a user let a client do, and the end of it."""

from __future__ import annotations

from idp import events
from idp.records import AUTHORIZATIONS
from idp.service import Service
from storage import Stale, Update


async def revoke(service: Service, authorization_id: str, *, reason: str) -> None:
    """End an authorization with every token that came of it. Repeating it changes nothing."""
    now = service.clock.now()
    try:
        await service.store.commit(
            Update(
                AUTHORIZATIONS,
                authorization_id,
                set={"revoked_at": now},
                expect={"revoked_at": None},
            ),
            events.happened(
                service.random,
                AUTHORIZATIONS,
                authorization_id,
                1,
                "authorization.revoked",
                "service",
                now,
                reason=reason,
            ),
        )
    except Stale:
        return  # revoked already, or expired: as dead as it can be
