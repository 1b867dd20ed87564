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
_MAX: Final = 253  # RFC 1035, as text: in ASCII a domain can be longer than what was typed


class Host(Struct, frozen=True):
    """The rule of a field that holds a domain, or the host that an installation's own organization
    has in place of one.

    It may be empty, unless `min` is 1.
    """

    min: int = 0

    def read(self, value: object) -> str:
        text = Text(self.min, _MAX).read(value)
        host = domain_names.key(text)
        if host and not _HOST.fullmatch(host):
            raise FieldRefused("domain.invalid", "is not a domain name such as example.com")
        return host

    def schema(self) -> Schema:
        return Text(self.min, _MAX).schema() | {"examples": ["example.com"]}


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
    known = await target_organizations.by_id(context, parsed_rows)
    ids = [parsed.row.org_id for parsed in parsed_rows]
    deleted = await context.service.store.get_many([(DELETED_ORGANIZATIONS, id) for id in ids])
    return [
        await _plan_row(
            context, parsed, known.get(parsed.row.org_id), is_deleted=deletion is not None
        )
        for parsed, deletion in zip(parsed_rows, deleted, strict=True)
    ]


async def _plan_row(
    context: ImportContext, parsed: ParsedRow, known: Organization | None, *, is_deleted: bool
) -> RowPlan:
    id, request = parsed.row.org_id, cast(PackagedOrganization, parsed.request)
    # Its records are still being removed in the background.
    if is_deleted:
        return refused(id, _DELETED)
    try:
        Text(1).read(id)
    except FieldRefused as error:
        return refused(
            id, RowProblem(error_code=error.error_code, field="orgId", message=error.message)
        )
    if known is None:
        return await _create(context, parsed, request)
    if not context.updates:
        return RowPlan(action="skip", id=id, existing=(ORGANIZATIONS, known))
    return await _update(context, known, request)


_DELETED: Final = RowProblem(
    error_code="organization.deleted",
    field="orgId",
    message="was an organization's that was deleted a moment ago",
    fix="Try again in a quarter of an hour.",
)


async def _create(
    context: ImportContext, parsed: ParsedRow, request: PackagedOrganization
) -> RowPlan:
    service, now = context.service, context.service.clock.now()
    domain = request.primary_domain or await organizations.free_domain(service, request.name)
    made = organizations.new(service, request.name, domain, now, id=parsed.row.org_id)
    made = structs.replace(made, state=STATES[request.state])
    taken = await organizations.taken(service, made, "")
    if taken:
        return refused(
            made.id, *(_taken(each.error_code, each.field, each.message) for each in taken)
        )
    writes = org_domains.insertion(
        service, made, context.actor, now, **import_payload(context, parsed)
    )
    return RowPlan(action="create", id=made.id, writes=tuple(writes))


def _taken(error_code: str, field: str, message: str) -> RowProblem:
    where = "primaryDomain" if field == "domain" else field
    fix = f"Give it another {where} in the package."
    return RowProblem(error_code=error_code, field=where, message=message, fix=fix)


async def _update(
    context: ImportContext, known: Organization, request: PackagedOrganization
) -> RowPlan:
    values = _differences(context, known, request)
    existing = (ORGANIZATIONS, known)
    if not values:
        return RowPlan(action="skip", id=known.id, existing=existing)
    changed = structs.replace(known, **values)
    if await organizations.has_namesake(context.service, changed):
        taken = organizations.name_taken("name")
        return refused(known.id, _taken(taken.error_code, taken.field, taken.message))
    guards: list[Write] = []
    if "state" in values and changed.state == "inactive":
        guards = await _what_stays(context, known)
        if not guards:
            return refused(known.id, _STAYS)
    now = context.service.clock.now()
    entry = AuditEntry("organization.changed", context.actor, now)
    update = events.update(
        context.service.random, ORGANIZATIONS, known, {**values, "changed_at": now}, entry
    )
    return RowPlan(action="update", id=known.id, writes=(*update, *guards), existing=existing)


def _differences(
    context: ImportContext, known: Organization, request: PackagedOrganization
) -> Mapping[str, object]:
    """Returns the fields to set.

    A new stamp revokes everything that was issued when the organization becomes inactive.
    """
    values: dict[str, object] = {}
    if request.name != known.name:
        values |= {"name": request.name, "name_key": user_lookup.login_key(request.name)}
    state = STATES[request.state]
    if state != known.state:
        values["state"] = state
        if state == "inactive":
            values["stamp"] = context.service.random.token(bits=64)
    return values


_STAYS: Final = RowProblem(
    error_code="organization.of_instance",
    field="state",
    message="can't be inactive: the installation itself is managed from there",
    fix="Leave it active.",
)


async def _what_stays(context: ImportContext, known: Organization) -> list[Write]:
    """Returns guards that the installation keeps an active owner elsewhere; none if it has no
    other.
    """
    instance = await context.service.store.get(INSTANCES, INSTANCE_ID)
    if instance is not None and instance.org_id == known.id:
        return []
    return await memberships.owner_outside(context.service, known.id)


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
