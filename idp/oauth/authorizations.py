"""The authorization record: what a user let a client do, and the end of it."""

from __future__ import annotations

from contextlib import suppress

from idp import events
from idp.records import AUTHORIZATIONS, Authorization
from idp.service import Service
from storage import Stale, Update


async def revoke(service: Service, authorization: Authorization, *, reason: str) -> None:
    """End an authorization with every token that came of it. Repeating it changes nothing."""
    random, now = service.random, service.clock.now()
    end = Update(
        AUTHORIZATIONS,
        authorization.id,
        set={"revoked_at": now},
        increment={"sequence": 1},
        expect={"revoked_at": None},
    )
    type, actor = "authorization.revoked", authorization.client_id
    event = events.changed(random, AUTHORIZATIONS, authorization, type, actor, now, reason=reason)
    with suppress(Stale):  # revoked already, or expired: as dead as it can be
        await service.store.commit(end, event)
