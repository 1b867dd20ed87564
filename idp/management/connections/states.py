"""Calls that activate and deactivate a connection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.audit import deferred_work, versioned_updates
from idp.foundation.errors import FailedPrecondition
from idp.management.call import Call
from idp.management.connections import read, removal
from idp.management.state_transitions import StateTransition
from idp.records import DEFERRED_WORK
from idp.records.connections import CONNECTIONS, ProviderConnection
from idp.schema import answers
from idp.schema.answers import Changed
from idp.service import Service
from storage import Insert

_TRANSITIONS: Final[Mapping[str, StateTransition]] = {
    "activate": StateTransition(
        ("inactive",), "active", "connection.activated", ends_tokens=False
    ),
    "deactivate": StateTransition(
        ("active",), "inactive", "connection.deactivated", ends_tokens=True
    ),
}


async def change(
    service: Service, call: Call, connection_id: str, name: str, *, is_instance: bool
) -> Changed:
    """Activates or deactivates a connection; `name` is `activate` or `deactivate`. A deactivation
    ends the sessions that users have opened by it, within moments.

    Raises NotFound, FailedPrecondition (it is in that state already).
    """
    transition = _TRANSITIONS[name]

    async def find() -> ProviderConnection:
        connection = await read.find(service, call, connection_id, is_instance=is_instance)
        if connection.state not in transition.before:
            message = f"the connection is {connection.state}"
            raise FailedPrecondition(message, error_code="connection.state")
        return connection

    def decide(connection: ProviderConnection) -> Mapping[str, object]:
        stamp = transition.stamp(service.random, connection.stamp)
        return {"state": transition.after, "stamp": stamp}

    work = deferred_work.new(service, "connection.deactivated", connection_id, call.actor)
    deferred_writes = [Insert(DEFERRED_WORK, work)] if transition.ends_tokens else []
    changed = await versioned_updates.changed(
        service,
        CONNECTIONS,
        find,
        decide,
        transition.event_type,
        call,
        further_writes=lambda *_: deferred_writes,
    )
    service.settings_cache.forget()
    if deferred_writes:
        await deferred_work.begin(service, work, removal.end_sessions)
    return Changed(details=answers.details(changed, changed.org_id or call.caller.org_id))
