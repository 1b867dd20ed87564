"""The kind of rows `userMetadata`: metadata that clients store with users, one entry per row."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any, Final

from idp.identity.users import creation as user_creation
from idp.identity.users import lookup as user_lookup
from idp.management.users.metadata import MAX_VALUE
from idp.records import USER_METADATA, USERS, Organization, User, UserMetadata
from idp.schema.field_rules import Base64, Name
from idp.schema.reading import Request
from idp.transfer.kinds import export_iteration, upsert
from idp.transfer.kinds.kind import ExportContext, ImportContext, RowKind
from idp.transfer.kinds.packaged_ids import named
from idp.transfer.kinds.upsert import UpsertPlan
from idp.transfer.package.rows import ParsedRow, RowPlan, refused
from storage import Reader, Write

_BATCH_SIZE: Final = 25  # users per look-up: entries may be large


class MetadataRow(Request, frozen=True, kw_only=True):
    """A row with one entry of a user's metadata. `id` is the user's id."""

    id: Name
    key: Name
    value: Annotated[bytes, Base64(MAX_VALUE)]


async def plan_rows(context: ImportContext, parsed_rows: Sequence[ParsedRow]) -> list[RowPlan]:
    """Plans rows of metadata of the organization's users (`RowKind.plan`): each entry is created,
    skipped, or updated.
    """
    rows = [_row(parsed) for parsed in parsed_rows]
    owners = await upsert.by_id(context, USERS, (row.id for row in rows))
    ids = [user_creation.metadata_id(row.id, row.key) for row in rows]
    stored = await upsert.by_id(context, USER_METADATA, ids)
    return [
        _plan_row(context, parsed, row, owners.get(row.id), stored.get(entry_id))
        for parsed, row, entry_id in zip(parsed_rows, rows, ids, strict=True)
    ]


def _row(parsed: ParsedRow) -> MetadataRow:
    assert isinstance(parsed.request, MetadataRow)  # noqa: S101 - for mypy
    return parsed.request


def _plan_row(
    context: ImportContext,
    parsed: ParsedRow,
    row: MetadataRow,
    owner: User | None,
    stored: UserMetadata | None,
) -> RowPlan:
    row_id = f"{row.id}_{row.key}"
    if owner is None or owner.org_id != parsed.row.org_id:
        return refused(row_id, upsert.user_not_found("id"))
    value = base64.b64encode(row.value).decode("ascii")
    now = context.service.clock.now()

    def further_writes(before: object, _: object) -> Sequence[Write]:
        return [user_lookup.exists_guard(owner)] if before is None else ()

    plan = UpsertPlan(
        id=row_id,
        collection=USER_METADATA,
        record=user_creation.metadata_entry(owner, row.key, value, now),
        type="user_metadata",
        fields=("value",),
        further_writes=further_writes,
        org_id=owner.org_id,
        payload={"key": row.key},
    )
    return upsert.plan_record(context, parsed, stored, plan)


async def export(
    context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields a row for each metadata entry of the organization's users, in the order of user names
    and keys.
    """
    users_of = export_iteration.records(
        context.view, USERS, {"org_id": organization.id}, order="login_key"
    )
    async for users in export_iteration.slices(users_of, _BATCH_SIZE):
        async for entry in _entries(context.view, [user.id for user in users]):
            yield {"id": entry.user_id, "key": entry.key, "value": entry.value}


async def _entries(view: Reader, user_ids: Sequence[str]) -> AsyncIterator[UserMetadata]:
    """Yields the entries of some users.

    Most users have none, so one query finds those that have any.
    """
    first = await view.find_each(USER_METADATA, "user_id", user_ids, limit=1)
    for user_id in user_ids:
        if user_id in first:
            where = {"user_id": user_id}
            async for entry in export_iteration.records(
                view, USER_METADATA, where, "key", page_size=8
            ):
                yield entry


KINDS: Final = (
    RowKind(
        member="userMetadata",
        type="user_metadata",
        request=MetadataRow,
        name=named("id", "key"),
        identity=("id", "key"),
        plan=plan_rows,
        is_independent=True,
        export=export,
    ),
)
