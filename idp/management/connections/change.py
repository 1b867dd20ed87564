"""The call that changes a connection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from idp import changes
from idp.audit import deferred_work, events
from idp.audit.events import AuditEntry
from idp.changes import Change, Task
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
from storage import Insert, Update, Write


async def change(
    service: Service,
    call: Call,
    connection_id: str,
    document: object,
    kind: ConnectionKind,
    *,
    is_instance: bool,
) -> Change[Changed]:
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

    current = await read.find(service, call, connection_id, is_instance=is_instance)
    if current.kind != kind:
        raise read.no_connection()
    changes.check_version(current, call)
    await rules.check(service, current.org_id, form, form.stored())
    values, owner = _values(service, current, form), current.org_id or call.caller.org_id
    if all(getattr(current, name) == value for name, value in values.items()):
        return Change(Changed(details=answers.details(current, owner)))
    changed, writes = await _writes(service, call, current, values)
    afterwards: list[Task] = [service.settings_cache.forget]
    if current.is_linked and values["authority"] != current.authority:
        work = deferred_work.new(service, "connection.deactivated", connection_id, call.actor)
        writes.append(Insert(DEFERRED_WORK, work))
        afterwards.append(deferred_work.first_step(service, work, removal.end_sessions))
    answer = Changed(details=answers.details(changed, owner))
    return Change(answer, writes, afterwards, create.taken)


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


async def _writes(
    service: Service, call: Call, current: ProviderConnection, values: Mapping[str, Any]
) -> tuple[ProviderConnection, list[Write]]:
    """Returns the changed connection, and the writes of the change: with its event, and with the
    messages about it if it changes the trust of a connection with links."""
    now = service.clock.now()
    trust_changes = trust.changes(current.settings, values["settings"])
    is_protected = bool(trust_changes) and current.is_linked
    if is_protected:
        trust.check(service, call, current)
    values = {**values, "changed_at": now}
    changed = structs.replace(current, **values, sequence=current.sequence + 1)
    entry = AuditEntry(
        "connection.trust_changed" if trust_changes else "connection.changed",
        call.actor,
        now,
        payload=event_payloads.of_change(current, changed),
    )
    writes: list[Write] = list(events.update(service.random, CONNECTIONS, current, values, entry))
    messages = await trust_messages.for_owners(service, current) if is_protected else []
    return changed, [*_unless_linked_meanwhile(writes, current), *messages]


def _unless_linked_meanwhile(writes: list[Write], current: ProviderConnection) -> list[Write]:
    """Returns the writes, the first of which updates the connection, with the condition that no
    user has been linked to it since it was read."""
    first, *further_writes = writes
    assert isinstance(first, Update)  # noqa: S101 - the update comes first
    expect = {**first.expect, "is_linked": current.is_linked}
    return [structs.replace(first, expect=expect), *further_writes]
