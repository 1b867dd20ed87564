"""The kind of rows `org`: the organization itself, created with the id that the package
gives it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Annotated, Any, Final, cast

from msgspec import Struct, structs

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.foundation import domain_names
from idp.identity.users import lookup as user_lookup
from idp.identity.users import memberships, org_domains, organizations
from idp.management.organizations.read import STATES
from idp.records import (
    DELETED_ORGANIZATIONS,
    INSTANCE_ID,
    INSTANCES,
    ORGANIZATIONS,
    Organization,
)
from idp.schema.field_rules import FieldRefused, Name, OneOf, Schema, Text
from idp.schema.reading import Request
from idp.transfer.kinds import target_organizations
from idp.transfer.kinds.kind import ExportContext, ImportContext, RowKind, import_payload
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem, refused
from storage import Write

_NAMES: Final = {state: name for name, state in STATES.items()}
_HOST: Final = re.compile(r"[a-z0-9]([a-z0-9.:-]{0,251}[a-z0-9])?")
_MAX_LENGTH: Final = 253  # of the text (RFC 1035); the ASCII form of the domain can be longer


class Host(Struct, frozen=True):
    """The rule of a field that holds a domain, or the host that an installation's own organization
    has in place of one.

    It may be empty, unless `min` is 1.
    """

    min: int = 0

    def read(self, value: object) -> str:
        text = Text(self.min, _MAX_LENGTH).read(value)
        host = domain_names.key(text)
        if host and not _HOST.fullmatch(host):
            raise FieldRefused("domain.invalid", "is not a domain name such as example.com")
        return host

    def schema(self) -> Schema:
        return Text(self.min, _MAX_LENGTH).schema() | {"examples": ["example.com"]}


class PackagedOrganization(Request, frozen=True, kw_only=True):
    """An organization.

    `primaryDomain` and `state` are this service's own members: without them, a domain is generated
    and the organization is active.
    """

    name: Name
    primary_domain: Annotated[str, Host()] = ""
    state: Annotated[str, OneOf(tuple(STATES))] = "ORG_STATE_ACTIVE"


async def plan_rows(context: ImportContext, parsed_rows: Sequence[ParsedRow]) -> list[RowPlan]:
    """Plans rows of organizations (`RowKind.plan`): new ones are created; existing ones are
    skipped or, if the import updates records, updated.
    """
    stored = await target_organizations.by_id(context, parsed_rows)
    ids = [parsed.row.org_id for parsed in parsed_rows]
    deleted = await context.service.store.get_many(
        [(DELETED_ORGANIZATIONS, org_id) for org_id in ids]
    )
    return [
        await _plan_row(
            context, parsed, stored.get(parsed.row.org_id), is_deleted=deletion is not None
        )
        for parsed, deletion in zip(parsed_rows, deleted, strict=True)
    ]


async def _plan_row(
    context: ImportContext, parsed: ParsedRow, stored: Organization | None, *, is_deleted: bool
) -> RowPlan:
    org_id, request = parsed.row.org_id, cast(PackagedOrganization, parsed.request)
    # Its records are still being removed in the background.
    if is_deleted:
        return refused(org_id, _DELETED)
    try:
        Text(1).read(org_id)
    except FieldRefused as error:
        return refused(
            org_id, RowProblem(error_code=error.error_code, field="orgId", message=error.message)
        )
    if stored is None:
        return await _create(context, parsed, request)
    if not context.updates:
        return RowPlan(action="skip", id=org_id, existing=(ORGANIZATIONS, stored))
    return await _update(context, stored, request)


_DELETED: Final = RowProblem(
    error_code="organization.deleted",
    field="orgId",
    message="belonged to an organization that was recently deleted",
    fix="Try again in 15 minutes.",
)


async def _create(
    context: ImportContext, parsed: ParsedRow, request: PackagedOrganization
) -> RowPlan:
    service, now = context.service, context.service.clock.now()
    domain = request.primary_domain or await organizations.free_domain(service, request.name)
    organization = organizations.new(service, request.name, domain, now, id=parsed.row.org_id)
    organization = structs.replace(organization, state=STATES[request.state])
    problems = await organizations.taken_problems(service, organization, "")
    if problems:
        return refused(
            organization.id,
            *(_name_problem(each.error_code, each.field, each.message) for each in problems),
        )
    writes = org_domains.insertion(
        service, organization, context.actor, now, **import_payload(context, parsed)
    )
    return RowPlan(action="create", id=organization.id, writes=tuple(writes))


def _name_problem(error_code: str, field: str, message: str) -> RowProblem:
    member = "primaryDomain" if field == "domain" else field
    fix = f"Give it another {member} in the package."
    return RowProblem(error_code=error_code, field=member, message=message, fix=fix)


async def _update(
    context: ImportContext, stored: Organization, request: PackagedOrganization
) -> RowPlan:
    values = _differences(context, stored, request)
    existing = (ORGANIZATIONS, stored)
    if not values:
        return RowPlan(action="skip", id=stored.id, existing=existing)
    changed = structs.replace(stored, **values)
    if await organizations.has_namesake(context.service, changed):
        problem = organizations.name_taken("name")
        return refused(
            stored.id, _name_problem(problem.error_code, problem.field, problem.message)
        )
    guards: list[Write] = []
    if "state" in values and changed.state == "inactive":
        guards = await _owner_guards(context, stored)
        if not guards:
            return refused(stored.id, _MUST_STAY_ACTIVE)
    now = context.service.clock.now()
    entry = AuditEntry("organization.changed", context.actor, now)
    update = events.update(
        context.service.random, ORGANIZATIONS, stored, {**values, "changed_at": now}, entry
    )
    return RowPlan(action="update", id=stored.id, writes=(*update, *guards), existing=existing)


def _differences(
    context: ImportContext, stored: Organization, request: PackagedOrganization
) -> Mapping[str, object]:
    """Returns the fields to set.

    When the organization becomes inactive, a new stamp revokes its sessions and tokens.
    """
    values: dict[str, object] = {}
    if request.name != stored.name:
        values |= {"name": request.name, "name_key": user_lookup.login_key(request.name)}
    state = STATES[request.state]
    if state != stored.state:
        values["state"] = state
        if state == "inactive":
            values["stamp"] = context.service.random.token(bits=64)
    return values


_MUST_STAY_ACTIVE: Final = RowProblem(
    error_code="organization.of_instance",
    field="state",
    message="can't be inactive: the installation is managed from this organization",
    fix="Leave it active.",
)


async def _owner_guards(context: ImportContext, stored: Organization) -> list[Write]:
    """Returns guards that the installation keeps an active owner elsewhere; none if it has no
    other.
    """
    instance = await context.service.store.get(INSTANCES, INSTANCE_ID)
    if instance is not None and instance.org_id == stored.id:
        return []
    return await memberships.owner_outside(context.service, stored.id)


async def export(
    context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields the only row of an organization: its name and, in members of this service's own, its
    primary domain and state.
    """
    yield {
        "name": organization.name,
        "primaryDomain": organization.primary_domain,
        "state": _NAMES[organization.state],
    }


KINDS: Final = (
    RowKind(
        member="org",
        type="org",
        request=PackagedOrganization,
        plan=plan_rows,
        export=export,
        is_single=True,
    ),
)
