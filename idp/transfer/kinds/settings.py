"""Planning of policies, texts and pictures of a package, of which an organization has one of
each.
"""

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
from idp.transfer.package.rows import Action, ParsedRow, RowPlan, RowProblem
from storage import Collection, Write


class SettingRow(Struct, frozen=True, kw_only=True):
    """The policy, text or picture that a row describes: its `record` as it would be created, and
    in `sets` the names of the fields that an update of an existing record sets.

    `id` is its name in reports, and the types of its events begin with `event`. Without a
    `collection` there is nothing to store, and `problems` say why.
    """

    id: str
    event: str = ""
    collection: Collection[Any] | None = None
    record: Any = None
    sets: tuple[str, ...] = ()
    problems: tuple[RowProblem, ...] = ()


async def plan_settings(
    context: ImportContext, parsed_rows: Sequence[ParsedRow], settings: Sequence[SettingRow]
) -> list[RowPlan]:
    """Plans rows of policies, texts or pictures (`RowKind.plan`): new ones are created; existing
    ones are skipped or, if the import updates records, replaced.

    `settings` has what each of `parsed_rows` describes, in the same order.
    """
    known = await target_organizations.by_id(context, parsed_rows)
    keys = [(each.collection, each.record.id) for each in settings if each.collection]
    records = iter(await context.service.store.get_many(keys))
    stored = [next(records) if each.collection else None for each in settings]
    return [
        _planned(context, parsed, known.get(parsed.row.org_id), each, old)
        for parsed, each, old in zip(parsed_rows, settings, stored, strict=True)
    ]


def _planned(
    context: ImportContext,
    parsed: ParsedRow,
    organization: Organization | None,
    setting: SettingRow,
    known: Any,
) -> RowPlan:
    if organization is None:
        return target_organizations.no_organization(setting.id)
    if setting.collection is None:
        return RowPlan(action="skip", id=setting.id, problems=setting.problems)
    if known is None:
        writes = [
            *_insertion(context, parsed, setting),
            organizations.state_unchanged(organization),
        ]
        return _done("create", setting, None, writes)
    values = {name: getattr(setting.record, name) for name in setting.sets}
    # The instants always differ, so only the fields of the row are compared.
    is_same = all(getattr(known, name) == value for name, value in values.items())
    if is_same or not context.updates:
        return _done("skip", setting, known, [])
    return _done("update", setting, known, _update(context, setting, known, values))


def _done(action: Action, setting: SettingRow, known: Any, writes: Sequence[Write]) -> RowPlan:
    problems = () if action == "skip" else setting.problems
    existing = (setting.collection, known) if setting.collection and known else None
    return RowPlan(
        action=action, id=setting.id, writes=tuple(writes), problems=problems, existing=existing
    )


def _insertion(context: ImportContext, parsed: ParsedRow, setting: SettingRow) -> list[Write]:
    assert setting.collection is not None  # noqa: S101 - for mypy
    entry = AuditEntry(
        f"{setting.event}.created",
        context.actor,
        setting.record.created_at,
        payload=import_payload(context, parsed),
    )
    return events.insertion(context.service.random, setting.collection, setting.record, entry)


def _update(
    context: ImportContext, setting: SettingRow, known: Any, values: Mapping[str, object]
) -> list[Write]:
    assert setting.collection is not None  # noqa: S101 - for mypy
    entry = AuditEntry(f"{setting.event}.changed", context.actor, setting.record.changed_at)
    return events.update(
        context.service.random,
        setting.collection,
        known,
        {**values, "changed_at": setting.record.changed_at},
        entry,
    )
