"""Planning of policies, texts and pictures of a package. An organization has at most one of each
kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.identity.users import organizations
from idp.records import Organization
from idp.transfer.kinds import target_organizations, upsert
from idp.transfer.kinds.kind import ImportContext, import_payload
from idp.transfer.package.rows import Action, ParsedRow, RowPlan, RowProblem
from storage import Collection, Write


class SettingRow(Struct, frozen=True, kw_only=True):
    """The policy, text or picture that a row describes: its `record` as it would be created, and
    in `sets` the names of the fields that an update of an existing record sets.

    `id` is its name in reports, and the types of its events begin with `event`. What
    `change_payload` returns of the record before (None if it is created) and after is added to
    the event. Without a
    `collection` there is nothing to store, and `problems` contains the reason.
    """

    id: str
    event: str = ""
    collection: Collection[Any] | None = None
    record: Any = None
    sets: tuple[str, ...] = ()
    problems: tuple[RowProblem, ...] = ()
    change_payload: Callable[[Any, Any], Mapping[str, str]] = upsert.no_payload


async def plan_settings(
    context: ImportContext, parsed_rows: Sequence[ParsedRow], settings: Sequence[SettingRow]
) -> list[RowPlan]:
    """Plans rows of policies, texts or pictures (`RowKind.plan`): new ones are created; existing
    ones are skipped or, if the import updates records, replaced.

    `settings` are the policies, texts or pictures of `parsed_rows`, in the same order.
    """
    organizations_by_id = await target_organizations.by_id(context, parsed_rows)
    keys = [(each.collection, each.record.id) for each in settings if each.collection]
    records = iter(await context.service.store.get_many(keys))
    stored = [next(records) if each.collection else None for each in settings]
    return [
        _planned(context, parsed, organizations_by_id.get(parsed.row.org_id), each, old)
        for parsed, each, old in zip(parsed_rows, settings, stored, strict=True)
    ]


def _planned(
    context: ImportContext,
    parsed: ParsedRow,
    organization: Organization | None,
    setting: SettingRow,
    stored: Any,
) -> RowPlan:
    if organization is None:
        return target_organizations.organization_not_found(setting.id)
    if setting.collection is None:
        return RowPlan(action="skip", id=setting.id, problems=setting.problems)
    if stored is None:
        writes = [
            *_insertion(context, parsed, setting),
            organizations.state_unchanged(organization),
        ]
        return _row_plan("create", setting, None, writes)
    values = {name: getattr(setting.record, name) for name in setting.sets}
    # The instants always differ, so only the fields of the row are compared.
    is_same = all(getattr(stored, name) == value for name, value in values.items())
    if is_same or not context.updates:
        return _row_plan("skip", setting, stored, [])
    return _row_plan("update", setting, stored, _update(context, setting, stored, values))


def _row_plan(
    action: Action, setting: SettingRow, stored: Any, writes: Sequence[Write]
) -> RowPlan:
    problems = () if action == "skip" else setting.problems
    existing = (setting.collection, stored) if setting.collection and stored else None
    return RowPlan(
        action=action, id=setting.id, writes=tuple(writes), problems=problems, existing=existing
    )


def _insertion(context: ImportContext, parsed: ParsedRow, setting: SettingRow) -> list[Write]:
    assert setting.collection is not None  # noqa: S101 - for mypy
    entry = AuditEntry(
        f"{setting.event}.created",
        context.actor,
        setting.record.created_at,
        payload={
            **setting.change_payload(None, setting.record),
            **import_payload(context, parsed),
        },
    )
    return events.insertion(context.service.random, setting.collection, setting.record, entry)


def _update(
    context: ImportContext, setting: SettingRow, stored: Any, values: Mapping[str, object]
) -> list[Write]:
    assert setting.collection is not None  # noqa: S101 - for mypy
    payload = setting.change_payload(stored, setting.record)
    changed_at = setting.record.changed_at
    entry = AuditEntry(f"{setting.event}.changed", context.actor, changed_at, payload=payload)
    return events.update(
        context.service.random,
        setting.collection,
        stored,
        {**values, "changed_at": setting.record.changed_at},
        entry,
    )
