"""The kind of rows `orgMembers`: the managers of an organization, with their roles."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Annotated, Any, Final

from idp.foundation.errors import FailedPrecondition, FieldProblem
from idp.identity.users import lookup as user_lookup
from idp.identity.users import memberships
from idp.identity.users.permissions import ORGANIZATION_ROLES
from idp.management.organizations import members
from idp.records import MEMBERSHIPS, USERS, Membership, Organization, User
from idp.schema.field_rules import Items, Name
from idp.schema.reading import Request
from idp.transfer.kinds import export_iteration, target_organizations, upsert
from idp.transfer.kinds.kind import ExportContext, ImportContext, RowKind
from idp.transfer.kinds.packaged_ids import named
from idp.transfer.kinds.upsert import UpsertPlan
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem, problem, refused
from storage import Write

_MAX_ROLES: Final = 20


class MemberRow(Request, frozen=True, kw_only=True):
    user_id: Name
    roles: Annotated[list[Name], Items(_MAX_ROLES, min=1)]


async def plan_rows(context: ImportContext, parsed_rows: Sequence[ParsedRow]) -> list[RowPlan]:
    """Plans rows of memberships (`RowKind.plan`): each is created, skipped or, if the import
    updates records, given other roles.

    The user may belong to another organization.
    """
    organizations = await target_organizations.by_id(context, parsed_rows)
    rows = [_row(parsed) for parsed in parsed_rows]
    users = await upsert.by_id(context, USERS, (row.user_id for row in rows))
    ids = [
        memberships.id_of(row.user_id, parsed.row.org_id)
        for parsed, row in zip(parsed_rows, rows, strict=True)
    ]
    stored = await upsert.by_id(context, MEMBERSHIPS, ids)
    return [
        await _plan_row(
            context,
            parsed,
            organizations.get(parsed.row.org_id),
            users.get(row.user_id),
            stored.get(row_id),
        )
        for parsed, row, row_id in zip(parsed_rows, rows, ids, strict=True)
    ]


def _row(parsed: ParsedRow) -> MemberRow:
    assert isinstance(parsed.request, MemberRow)  # noqa: S101 - for mypy
    return parsed.request


async def _plan_row(
    context: ImportContext,
    parsed: ParsedRow,
    organization: Organization | None,
    user: User | None,
    stored: Membership | None,
) -> RowPlan:
    row = _row(parsed)
    known_roles = [role for role in dict.fromkeys(row.roles) if role in ORGANIZATION_ROLES]
    if organization is None:
        return target_organizations.organization_not_found(row.user_id)
    if user is None:
        return refused(row.user_id, upsert.user_not_found("userId"))
    if not known_roles:
        return refused(row.user_id, *_unknown(row.roles, is_error=True))
    # The user must not be removed concurrently.
    guards: Sequence[Write] = [user_lookup.exists_guard(user)]
    # Without its former roles the organization must still have an owner.
    if stored is not None and context.updates:
        try:
            guards = await members.remaining_owner_guards(context.service, stored, known_roles)
        except FailedPrecondition as refusal:
            finding = FieldProblem(refusal.error_code, "roles", refusal.message)
            return refused(row.user_id, problem(finding))
    plan = UpsertPlan(
        id=row.user_id,
        collection=MEMBERSHIPS,
        record=memberships.new(user.id, organization.id, known_roles, context.service.clock.now()),
        type="membership",
        fields=("roles",),
        further_writes=lambda *_: guards,
        payload={"user": user.id},
        warnings=tuple(_unknown(row.roles, is_error=False)),
    )
    return upsert.plan_record(context, parsed, stored, plan)


def _unknown(roles: Sequence[str], *, is_error: bool) -> Iterator[RowProblem]:
    for n, role in enumerate(roles):
        if role not in ORGANIZATION_ROLES:
            yield RowProblem(
                error_code="field.unknown_name",
                field=f"roles[{n}]",
                message="is not a role of this service, and is not assigned",
                fix=f"Choose among {', '.join(ORGANIZATION_ROLES)}.",
                is_error=is_error,
            )


async def export(
    context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields a row for each manager of the organization."""
    where = {"org_id": organization.id}
    async for membership in export_iteration.records(context.view, MEMBERSHIPS, where):
        yield {"userId": membership.user_id, "roles": membership.roles}


KINDS: Final = (
    RowKind(
        member="orgMembers",
        type="org_member",
        request=MemberRow,
        name=named("userId"),
        plan=plan_rows,
        export=export,
    ),
    RowKind(
        member="projectMembers",
        type="project_member",
        name=named("projectId", "userId"),
        unsupported=("a project has no managers here: the managers of its organization manage it"),
    ),
)
