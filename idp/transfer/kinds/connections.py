"""The kinds of rows `connections` (an organization's connections to other identity providers) and
`offeredConnections` (those that its sign-in pages offer)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final, cast

from msgspec import structs

from idp.foundation.errors import FieldProblem, IdpError, InvalidArgument
from idp.management.connections import create, event_payloads, rules, trust, views
from idp.management.connections.forms import (
    AzureForm,
    ConnectionForm,
    GenericOidcForm,
    GitlabForm,
    GitlabSelfHostedForm,
    GoogleForm,
)
from idp.records import Organization
from idp.records.connections import (
    CONNECTIONS,
    OFFERED_CONNECTIONS,
    ConnectionKind,
    ConnectionSecrets,
    OfferedConnections,
    ProviderConnection,
    offered_id,
)
from idp.schema.field_rules import Items, Name
from idp.schema.reading import Request
from idp.service import Service
from idp.transfer.kinds import export_iteration, target_organizations, upsert
from idp.transfer.kinds.kind import ExportContext, ImportContext, RowKind
from idp.transfer.kinds.packaged_ids import RecordId, named
from idp.transfer.kinds.settings import SettingRow, plan_settings
from idp.transfer.kinds.upsert import UpsertPlan
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem, problem, refused
from idp.upstream import links

_MEMBERS: Final[dict[ConnectionKind, str]] = {
    "generic_oidc": "genericOidc",
    "google": "google",
    "azure": "azure",
    "gitlab": "gitlab",
    "gitlab_self_hosted": "gitlabSelfHosted",
}
_FIELDS: Final = (
    *("name", "name_key", "owner_name_key", "settings", "options", "mapping"),
    *("domains", "trusted_domains", "position", "authority", "stamp"),
)
_NO_SECRET: Final = RowProblem(
    error_code="connection.no_secret",
    message="has no client secret, so the connection is not active",
    fix="Set the client secret of the connection, then activate it.",
    is_error=False,
)


class ConnectionRow(Request, frozen=True, kw_only=True):
    """A connection: its id, and its settings in the member of its kind, as a call has them.
    Without a client secret, where one is needed, it is created inactive."""

    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (tuple(_MEMBERS),)

    connection_id: Annotated[str, RecordId()]
    generic_oidc: GenericOidcForm | None = None
    google: GoogleForm | None = None
    azure: AzureForm | None = None
    gitlab: GitlabForm | None = None
    gitlab_self_hosted: GitlabSelfHostedForm | None = None

    @property
    def kinds(self) -> list[ConnectionKind]:
        """The kinds whose members the row has: one."""
        return [kind for kind in _MEMBERS if getattr(self, kind) is not None]

    def check(self) -> Iterator[FieldProblem]:
        if not self.kinds:
            yield FieldProblem("field.required", "", f"must contain one of {', '.join(_MEMBERS)}")


class OfferedRow(Request, frozen=True, kw_only=True):
    connection_ids: Annotated[list[Name], Items(rules.MAX_CONNECTIONS * 2)] = []


async def plan_connections(
    context: ImportContext, parsed_rows: Sequence[ParsedRow]
) -> list[RowPlan]:
    """Plans rows of connections (`RowKind.plan`): each is created, skipped, or updated. A row that
    would change whom an existing connection trusts is refused."""
    organizations = await target_organizations.by_id(context, parsed_rows)
    rows = [cast(ConnectionRow, parsed.request) for parsed in parsed_rows]
    stored = await upsert.by_id(context, CONNECTIONS, (row.connection_id for row in rows))
    return [
        await _plan(
            context,
            parsed,
            organizations.get(parsed.row.org_id),
            stored.get(row.connection_id),
        )
        for parsed, row in zip(parsed_rows, rows, strict=True)
    ]


async def _plan(
    context: ImportContext,
    parsed: ParsedRow,
    organization: Organization | None,
    stored: ProviderConnection | None,
) -> RowPlan:
    row = cast(ConnectionRow, parsed.request)
    if organization is None:
        return target_organizations.organization_not_found(row.connection_id)
    if stored is not None and stored.org_id != organization.id:
        return upsert.not_in_organization(row.connection_id, "connectionId")
    kind = row.kinds[0]
    form: ConnectionForm = getattr(row, kind)
    problems = await _problems(context.service, organization.id, kind, form, stored)
    if problems:
        return refused(row.connection_id, *problems)
    plan = _upsert(context.service, organization.id, row, kind)
    fields = await _dependent_fields(context.service, plan.record, stored)
    plan = structs.replace(plan, record=structs.replace(plan.record, **fields))
    return upsert.plan_record(context, parsed, stored, plan)


async def _dependent_fields(
    service: Service, connection: ProviderConnection, stored: ProviderConnection | None
) -> dict[str, Any]:
    """Returns the fields of a connection that depend on stored records: of a new one, whether
    links of a deleted connection with the same id remain; of an existing one, its stamp."""
    if stored is None:
        return {"is_linked": await links.count(service, connection.id, up_to=1) > 0}
    return {"stamp": trust.stamp(service, stored, structs.asdict(connection))}


def _upsert(service: Service, org_id: str, row: ConnectionRow, kind: ConnectionKind) -> UpsertPlan:
    form: ConnectionForm = getattr(row, kind)
    connection = create.new(service, org_id, kind, structs.replace(form, id=row.connection_id))
    warnings: tuple[RowProblem, ...] = ()
    if form.client_secret:
        secrets = create.new_secrets(service, form, ConnectionSecrets())
        connection = structs.replace(connection, sealed_secrets=secrets)
    elif form.needs_secret:
        connection, warnings = structs.replace(connection, state="inactive"), (_NO_SECRET,)
    return UpsertPlan(
        id=row.connection_id,
        collection=CONNECTIONS,
        record=connection,
        type="connection",
        fields=_FIELDS,
        payload={
            "name": connection.name,
            "kind": connection.kind,
            "authority": connection.authority,
        },
        change_payload=event_payloads.of_change,
        warnings=warnings,
    )


async def _problems(
    service: Service,
    org_id: str,
    kind: ConnectionKind,
    form: ConnectionForm,
    stored: ProviderConnection | None,
) -> list[RowProblem]:
    """Returns the problems because of which the connection that `form` describes can't replace
    `stored`."""
    settings, problems = form.stored(), list[FieldProblem]()
    if stored is not None and (stored.kind != kind or trust.changes(stored.settings, settings)):
        message = "would change whom the connection trusts"
        problems.append(FieldProblem("connection.owner_needed", _MEMBERS[kind], message))
    try:
        await rules.check(service, org_id, form, settings)
        if stored is None:
            await rules.check_limit(service, org_id)
    except InvalidArgument as error:
        problems += [
            each._replace(field=f"{_MEMBERS[kind]}.{each.field}") for each in error.problems
        ]
    except IdpError as error:
        problems.append(FieldProblem(error.error_code, "", str(error)))
    same_name_id = await _id_by_name(service, org_id, form)
    if same_name_id not in (None, stored.id if stored else None):
        message = "is the name of another connection"
        problems.append(FieldProblem("connection.name_taken", f"{_MEMBERS[kind]}.name", message))
    return [problem(each) for each in problems]


async def _id_by_name(service: Service, org_id: str, form: ConnectionForm) -> str | None:
    """Returns the id of the organization's connection with this name, if there is one."""
    key = create.form_fields(org_id, form)["owner_name_key"]
    page = await service.store.find(CONNECTIONS, {"owner_name_key": key}, limit=1)
    return page.records[0].id if page.records else None


async def export_connections(
    context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields a row for each connection of the organization, in the order of their names, without
    its secret."""
    where = {"org_id": organization.id}
    async for connection in export_iteration.records(
        context.view, CONNECTIONS, where, order="name_key"
    ):
        yield {
            "connectionId": connection.id,
            _MEMBERS[connection.kind]: views.settings_of(connection),
        }


async def plan_offered(context: ImportContext, parsed_rows: Sequence[ParsedRow]) -> list[RowPlan]:
    """Plans rows of offered connections (`RowKind.plan`)."""
    now = context.service.clock.now()
    setting_rows = [
        SettingRow(
            id=parsed.row.org_id,
            event="offered_connections",
            collection=OFFERED_CONNECTIONS,
            record=OfferedConnections(
                id=offered_id(parsed.row.org_id),
                org_id=parsed.row.org_id,
                connection_ids=list(
                    dict.fromkeys(cast(OfferedRow, parsed.request).connection_ids)
                ),
                created_at=now,
                changed_at=now,
            ),
            sets=("connection_ids",),
            change_payload=_of_offered,
        )
        for parsed in parsed_rows
    ]
    return await plan_settings(context, parsed_rows, setting_rows)


def _of_offered(before: OfferedConnections | None, after: OfferedConnections) -> Mapping[str, str]:
    return event_payloads.of_list(before.connection_ids if before else [], after.connection_ids)


async def export_offered(
    context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields the row of the connections that the organization offers, if it has its own list."""
    (offered,) = await context.view.get_many([(OFFERED_CONNECTIONS, offered_id(organization.id))])
    if offered is not None:
        yield {"connectionIds": offered.connection_ids}


CONNECTION: Final = RowKind(
    member="connections",
    type="connection",
    request=ConnectionRow,
    name=named("connectionId"),
    identity=("connectionId",),
    plan=plan_connections,
    export=export_connections,
)
OFFERED: Final = RowKind(
    member="offeredConnections",
    type="offered_connections",
    request=OfferedRow,
    plan=plan_offered,
    export=export_offered,
    is_single=True,
)
KINDS: Final = (CONNECTION, OFFERED)
