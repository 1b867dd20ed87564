"""The call that changes a connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from idp.audit import deferred_work, events, versioned_updates
from idp.audit.events import AuditEntry
from idp.foundation.errors import FieldProblem, InvalidArgument
from idp.management.call import Call
from idp.management.connections import (
    create,
    event_payloads,
    read,
    removal,
    rules,
    trust,
    trust_messages,
)
from idp.management.connections.forms import ConnectionForm
from idp.records import DEFERRED_WORK
from idp.records.connections import CONNECTIONS, ConnectionKind, ProviderConnection
from idp.schema import answers, reading
from idp.schema.answers import Changed
from idp.service import Service
from idp.upstream import authorities
from storage import Conflict, Insert, Update, Write
from storage.confirmed_commit import commit_confirmed


async def change(
    service: Service,
    call: Call,
    connection_id: str,
    document: object,
    kind: ConnectionKind,
    *,
    is_instance: bool,
) -> Changed:
    """Replaces the name, the settings and the options of a connection by those in a JSON document;
    a secret that it omits remains unchanged. A new authority ends the sessions that users have
    opened by the connection, within moments.

    Raises InvalidArgument, NotFound (no such connection of this kind), Taken (the name),
    PermissionDenied (users are linked to it, and the caller may not change its trust).
    """
    form = reading.read(create.FORMS[kind], document)
    if form.id not in ("", connection_id):
        problem = FieldProblem("connection.id_fixed", "id", "can't be changed")
        raise InvalidArgument([problem])

    work = deferred_work.new(service, "connection.deactivated", connection_id, call.actor)

    async def attempt() -> tuple[ProviderConnection, bool]:
        current = await read.find(service, call, connection_id, is_instance=is_instance)
        if current.kind != kind:
            raise read.no_connection()
        versioned_updates.check_sequence(current, call)
        await rules.check(service, current.org_id, form, form.stored())
        values = _values(service, current, form)
        if all(getattr(current, name) == value for name, value in values.items()):
            return current, False
        ends_sessions = current.is_linked and values["authority"] != current.authority
        writes = [Insert(DEFERRED_WORK, work)] if ends_sessions else []
        return await _store(service, call, current, values, writes), ends_sessions

    try:
        changed, ends_sessions = await versioned_updates.repeated(attempt)
    except Conflict as conflict:
        raise create.taken(conflict) from None
    service.settings_cache.forget()  # pages cache it; in other processes the cache expires soon
    if ends_sessions:
        await deferred_work.begin(service, work, removal.end_sessions)
    return Changed(details=answers.details(changed, changed.org_id or call.caller.org_id))


def _values(
    service: Service, current: ProviderConnection, form: ConnectionForm
) -> Mapping[str, object]:
    fields = create.form_fields(current.org_id, form)
    return {
        **fields,
        "authority": authorities.authority_of(form.stored()),
        "sealed_secrets": create.new_secrets(service, form, current.sealed_secrets),
        "stamp": trust.stamp(service, current, fields),
    }


async def _store(
    service: Service,
    call: Call,
    current: ProviderConnection,
    values: Mapping[str, Any],
    further_writes: Sequence[Write],
) -> ProviderConnection:
    """Stores a change, together with its event, and with the messages about it if it changes the
    trust of a connection with links."""
    now = service.clock.now()
    trust_changes = trust.changes(current.settings, values["settings"])
    is_protected = bool(trust_changes) and current.is_linked
    if is_protected:
        trust.check(service, call, current)
    changes = {**values, "changed_at": now}
    changed = structs.replace(current, **changes, sequence=current.sequence + 1)
    entry = AuditEntry(
        "connection.trust_changed" if trust_changes else "connection.changed",
        call.actor,
        now,
        payload=event_payloads.of_change(current, changed),
    )
    writes: list[Write] = list(events.update(service.random, CONNECTIONS, current, changes, entry))
    messages = await trust_messages.for_owners(service, current) if is_protected else []
    guarded = _unless_linked_meanwhile(writes, current)
    await commit_confirmed(service.store, *guarded, *messages, *further_writes)
    return changed


def _unless_linked_meanwhile(writes: list[Write], current: ProviderConnection) -> list[Write]:
    """Returns the writes, the first of which updates the connection, with the condition that no
    user has been linked to it since it was read."""
    first, *further_writes = writes
    assert isinstance(first, Update)  # noqa: S101 - the update comes first
    expect = {**first.expect, "is_linked": current.is_linked}
    return [structs.replace(first, expect=expect), *further_writes]
