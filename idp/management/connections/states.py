"""Calls that activate and deactivate a connection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp import changes
from idp.audit import deferred_work
from idp.changes import Change
from idp.foundation.errors import FailedPrecondition
from idp.management.call import Call
from idp.management.connections import read, removal
from idp.management.state_transitions import StateTransition
from idp.records import DEFERRED_WORK
from idp.records.connections import CONNECTIONS
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
) -> Change[Changed]:
    """Activates or deactivates a connection; `name` is `activate` or `deactivate`. A deactivation
    ends the sessions that users have opened by it, within moments.

    Raises NotFound, FailedPrecondition (it is in that state already).
    """
    transition = _TRANSITIONS[name]

    connection = await read.find(service, call, connection_id, is_instance=is_instance)
    if connection.state not in transition.before:
        message = f"the connection is {connection.state}"
        raise FailedPrecondition(message, error_code="connection.state")
    values = {
        "state": transition.after,
        "stamp": transition.stamp(service.random, connection.stamp),
    }
    owner, event = connection.org_id or call.caller.org_id, transition.event_type
    update = changes.updated(service, call, CONNECTIONS, connection, values, event, owner)
    if not transition.ends_tokens:
        return update.change(afterwards=[service.settings_cache.forget])
    work = deferred_work.new(service, "connection.deactivated", connection_id, call.actor)
    ending = deferred_work.first_step(service, work, removal.end_sessions)
    return update.change(
        Insert(DEFERRED_WORK, work), afterwards=[service.settings_cache.forget, ending]
    )
