"""The kinds of rows `appKeys` and `machineKeys`: public keys by which assertions are verified (RFC
7523).

They are imported and never exported.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final

from idp.credentials import expirations
from idp.identity.users import lookup as user_lookup
from idp.management.projects.registered_keys import TYPE, PublicKey
from idp.records import APP_KEYS, APPLICATIONS, USER_KEYS, USERS, RegisteredKey
from idp.schema.field_rules import Instant, Name, OneOf, Text
from idp.schema.reading import Request
from idp.transfer.kinds import upsert
from idp.transfer.kinds.kind import ImportContext, RowKind
from idp.transfer.kinds.packaged_ids import RecordId, named
from idp.transfer.kinds.upsert import UpsertPlan
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem, refused
from storage import Collection, Write


class KeyRow(Request, frozen=True, kw_only=True):
    type: Annotated[str, OneOf((TYPE,))] = TYPE
    expiration_date: Annotated[datetime, Instant()] | None = None
    public_key: Annotated[str, PublicKey()]


class AppKeyRow(KeyRow, frozen=True, kw_only=True):
    """A row of an application's key. `client_id` and `app_id` may differ; the owner is the
    application that is named by `client_id`, or, if there is none, by `app_id`.
    """

    id: Annotated[str, RecordId()]
    project_id: Annotated[str, Text()] = ""
    app_id: Name
    client_id: Annotated[str, Text()] = ""


class MachineKeyRow(KeyRow, frozen=True, kw_only=True):
    key_id: Annotated[str, RecordId()]
    user_id: Name


async def plan_app_keys(context: ImportContext, parsed_rows: Sequence[ParsedRow]) -> list[RowPlan]:
    """Plans rows of keys of the organization's applications (`RowKind.plan`): each is created or
    skipped.
    """
    rows = [_app_key(parsed) for parsed in parsed_rows]
    # Either id may be the one that the application has here.
    ids = [client_id for row in rows for client_id in (row.client_id, row.app_id) if client_id]
    owners = await upsert.by_id(context, APPLICATIONS, ids)
    stored = await upsert.by_id(context, APP_KEYS, (row.id for row in rows))
    plans = []
    for parsed, row in zip(parsed_rows, rows, strict=True):
        owner = owners.get(row.client_id) or owners.get(row.app_id)
        if owner is None or owner.org_id != parsed.row.org_id:
            plans.append(refused(row.id, upsert.application_not_found("appId")))
        else:
            plan = _plan_of(context, row, row.id, APP_KEYS, owner)
            plans.append(_plan_row(context, parsed, stored.get(row.id), plan, "id"))
    return plans


def _app_key(parsed: ParsedRow) -> AppKeyRow:
    assert isinstance(parsed.request, AppKeyRow)  # noqa: S101 - for mypy
    return parsed.request


async def plan_machine_keys(
    context: ImportContext, parsed_rows: Sequence[ParsedRow]
) -> list[RowPlan]:
    """Plans rows of keys of the organization's service users (`RowKind.plan`): each is created or
    skipped.
    """
    rows = [_machine_key(parsed) for parsed in parsed_rows]
    owners = await upsert.by_id(context, USERS, (row.user_id for row in rows))
    stored = await upsert.by_id(context, USER_KEYS, (row.key_id for row in rows))
    plans = []
    for parsed, row in zip(parsed_rows, rows, strict=True):
        owner = owners.get(row.user_id)
        if owner is None or owner.org_id != parsed.row.org_id or owner.kind != "machine":
            plans.append(refused(row.key_id, upsert.user_not_found("userId")))
        else:
            exists_guards = [user_lookup.exists_guard(owner)]
            plan = _plan_of(context, row, row.key_id, USER_KEYS, owner, exists_guards)
            plans.append(_plan_row(context, parsed, stored.get(row.key_id), plan, "keyId"))
    return plans


def _machine_key(parsed: ParsedRow) -> MachineKeyRow:
    assert isinstance(parsed.request, MachineKeyRow)  # noqa: S101 - for mypy
    return parsed.request


def _plan_of(
    context: ImportContext,
    row: KeyRow,
    row_id: str,
    collection: Collection[RegisteredKey],
    owner: Any,
    guards: Sequence[Write] = (),
) -> UpsertPlan:
    now, max_days = context.service.clock.now(), context.service.config.key_max_days
    key = RegisteredKey(
        id=row_id,
        owner_id=owner.id,
        public=row.public_key,
        created_at=now,
        expires_at=row.expiration_date or expirations.default(now, max_days),
    )
    return UpsertPlan(
        id=row_id,
        collection=collection,
        record=key,
        type=collection.name.removesuffix("s"),
        further_writes=lambda *_: guards,
        org_id=owner.org_id,
        payload={"owner": owner.id},
    )


def _plan_row(
    context: ImportContext,
    parsed: ParsedRow,
    stored: RegisteredKey | None,
    plan: UpsertPlan,
    field: str,
) -> RowPlan:
    """Plans a key. A key never changes: an existing one is the same, or another owner's.

    A new key that outlasts `key_max_days` is refused rather than shortened, because its user
    relies on the expiration date in the package; an existing one keeps its date.
    """
    key, max_days = plan.record, context.service.config.key_max_days
    if stored is not None and (stored.owner_id, stored.public) != (key.owner_id, key.public):
        return upsert.not_in_organization(plan.id, field)
    if key.expires_at <= key.created_at:
        return refused(plan.id, _EXPIRED)
    if stored is None and expirations.is_too_late(key.expires_at, key.created_at, max_days):
        return refused(plan.id, _too_late(key.created_at, max_days))
    return upsert.plan_record(context, parsed, stored, plan)


def _too_late(now: datetime, max_days: int) -> RowProblem:
    return RowProblem(
        error_code="expiration.too_late",
        field="expirationDate",
        message=expirations.too_late_text(now, max_days),
        fix="Give the key an earlier expiry, or none for the latest; or raise key_max_days.",
    )


_EXPIRED: Final = RowProblem(
    error_code="key.expiration_past",
    field="expirationDate",
    message="is in the past",
    fix="Leave the key out: it has expired.",
)
APP_KEY: Final = RowKind(
    member="appKeys",
    type="app_key",
    request=AppKeyRow,
    name=named("id"),
    identity=("id",),
    plan=plan_app_keys,
)
MACHINE_KEY: Final = RowKind(
    member="machineKeys",
    type="machine_user_key",
    request=MachineKeyRow,
    name=named("keyId"),
    identity=("keyId",),
    plan=plan_machine_keys,
)
