"""Storing of policies, texts and pictures of a package: one of each for an organization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.identity.users import organizations
from idp.records import Organization
from idp.transfer.kinds import target_organizations
from idp.transfer.kinds.kind import ImportContext, import_payload
from idp.transfer.package.rows import Action, PreparedRow, Read, RowProblem
from storage import Collection, Write


class SettingRow(Struct, frozen=True, kw_only=True):
    """The content of a row: the record as it would be created, and its fields that an update sets.

    `event` is its name in events, `id` its name in reports. Without a record there is nothing to
    store, and `problems` say why.
    """

    id: str
    event: str = ""
    collection: Collection[Any] | None = None
    record: Any = None
    sets: tuple[str, ...] = ()
    problems: tuple[RowProblem, ...] = ()


async def stored(
    taking: ImportContext, reads: Sequence[Read], wanted: Sequence[SettingRow]
) -> list[PreparedRow]:
    """Plans settings: new ones are created; existing ones are skipped, or with
    `updates` replaced.
    """
    known = await target_organizations.found(taking, reads)
    keys = [(each.collection, each.record.id) for each in wanted if each.collection]
    found = iter(await taking.service.store.get_many(keys))
    there = [next(found) if each.collection else None for each in wanted]
    return [
        _prepared(taking, read, known.get(read.row.org_id), each, old)
        for read, each, old in zip(reads, wanted, there, strict=True)
    ]


def _prepared(
    taking: ImportContext, read: Read, home: Organization | None, wanted: SettingRow, known: Any
) -> PreparedRow:
    if home is None:
        return target_organizations.homeless(wanted.id)
    if wanted.collection is None:
        return PreparedRow(action="skip", id=wanted.id, problems=wanted.problems)
    if known is None:
        writes = [*_insertion(taking, read, wanted), organizations.state_unchanged(home)]
        return _done("create", wanted, None, writes)
    values = {name: getattr(wanted.record, name) for name in wanted.sets}
    # The instants always differ, so only the fields of the row are compared.
    is_same = all(getattr(known, name) == value for name, value in values.items())
    if is_same or not taking.updates:
        return _done("skip", wanted, known, [])
    return _done("update", wanted, known, _update(taking, wanted, known, values))


def _done(action: Action, wanted: SettingRow, known: Any, writes: Sequence[Write]) -> PreparedRow:
    problems = () if action == "skip" else wanted.problems
    met = (wanted.collection, known) if wanted.collection and known else None
    return PreparedRow(
        action=action, id=wanted.id, writes=tuple(writes), problems=problems, met=met
    )


def _insertion(taking: ImportContext, read: Read, wanted: SettingRow) -> list[Write]:
    assert wanted.collection is not None  # noqa: S101 - for mypy
    entry = AuditEntry(
        f"{wanted.event}.created",
        taking.actor,
        wanted.record.created_at,
        payload=import_payload(taking, read),
    )
    return events.insertion(taking.service.random, wanted.collection, wanted.record, entry)


def _update(
    taking: ImportContext, wanted: SettingRow, known: Any, values: Mapping[str, object]
) -> list[Write]:
    assert wanted.collection is not None  # noqa: S101 - for mypy
    entry = AuditEntry(f"{wanted.event}.changed", taking.actor, wanted.record.changed_at)
    return events.update(
        taking.service.random,
        wanted.collection,
        known,
        {**values, "changed_at": wanted.record.changed_at},
        entry,
    )
