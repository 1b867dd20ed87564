"""The kind of rows `domains`: an organization's domains. Its login names end with the primary one.

A domain is verified if the package states so, because a caller that may import may declare any
domain verified. A domain without that statement is added even if another organization has verified
it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, cast

from msgspec import Struct

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.identity.users import organizations
from idp.management.organizations import domains as organization_domains
from idp.records import (
    DOMAINS,
    ORGANIZATIONS,
    Challenge,
    Organization,
    OrganizationDomain,
    new_domain,
)
from idp.schema.field_rules import OneOf, Text
from idp.schema.reading import Request
from idp.search import paging
from idp.transfer.jobs import import_origin
from idp.transfer.kinds import target_organizations
from idp.transfer.kinds.kind import ExportContext, ImportContext, RowKind, import_payload
from idp.transfer.kinds.organizations import Host
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem, refused, value_of
from storage import Write

_UNSPECIFIED: Final = "DOMAIN_VALIDATION_TYPE_UNSPECIFIED"
_CHALLENGE_KINDS: Final[dict[str, Literal["http", "dns"]]] = {
    "DOMAIN_VALIDATION_TYPE_HTTP": "http",
    "DOMAIN_VALIDATION_TYPE_DNS": "dns",
}
_NAMES: Final = {kind: name for name, kind in _CHALLENGE_KINDS.items()}


class PackagedDomain(Request, frozen=True, kw_only=True):
    """A domain of an organization.

    `validationToken` is this service's own member: the token to publish for the verification.
    `orgId` repeats the organization and must be the same.
    """

    domain_name: Annotated[str, Host(1)]
    org_id: Annotated[str, Text()] = ""
    is_verified: bool = False
    is_primary: bool = False
    validation_type: Annotated[str, OneOf((_UNSPECIFIED, *_CHALLENGE_KINDS))] = _UNSPECIFIED
    validation_token: Annotated[str, Text()] = ""

    @property
    def challenge(self) -> Challenge | None:
        """The token by which the domain is to be verified, in the form of its record; None if the
        package has no token for it.
        """
        kind = _CHALLENGE_KINDS.get(self.validation_type)
        token = self.validation_token
        return Challenge(kind=kind, token=token) if kind and token else None


class _DomainCase(Struct, frozen=True):
    """A row, with the domain that it would create and the stored domain.

    `owner` is the organization for which the domain is verified, if any; `organization` is the
    organization of the row.
    """

    parsed: ParsedRow
    organization: Organization
    new: OrganizationDomain
    stored: OrganizationDomain | None
    owner: str | None
    exceeds_limit: bool

    @property
    def request(self) -> PackagedDomain:
        return cast(PackagedDomain, self.parsed.request)

    @property
    def id(self) -> str:
        return f"{self.organization.id}_{self.new.domain}"

    def plan(self, action: Literal["create", "update", "skip"], *writes: Write) -> RowPlan:
        request = self.request
        needs_challenge = not request.is_verified and request.validation_type != _UNSPECIFIED
        has_needed_challenge = not needs_challenge or request.challenge or action == "skip"
        problems = () if has_needed_challenge else (_NO_CHALLENGE,)
        existing = (DOMAINS, self.stored) if self.stored else None
        return RowPlan(
            action=action, id=self.id, writes=writes, problems=problems, existing=existing
        )


async def plan_rows(context: ImportContext, parsed_rows: Sequence[ParsedRow]) -> list[RowPlan]:
    """Plans rows of domains (`RowKind.plan`): new domains are added; existing ones are skipped or,
    if the import updates records, marked as verified where the package states so.
    """
    organizations_by_id = await target_organizations.by_id(context, parsed_rows)
    accepted_rows = [parsed for parsed in parsed_rows if parsed.row.org_id in organizations_by_id]
    cases = {
        case.parsed.row.number: case
        for case in await _cases(context, accepted_rows, organizations_by_id)
    }
    return [
        await _plan_row(context, cases[parsed.row.number])
        if parsed.row.number in cases
        else target_organizations.organization_not_found(
            f"{parsed.row.org_id}_{_new_domain(context, parsed).domain}"
        )
        for parsed in parsed_rows
    ]


async def _cases(
    context: ImportContext,
    parsed_rows: Sequence[ParsedRow],
    organizations_by_id: Mapping[str, Organization],
) -> list[_DomainCase]:
    store = context.service.store
    new_domains = [_new_domain(context, parsed) for parsed in parsed_rows]
    stored = await store.get_many([(DOMAINS, each.id) for each in new_domains])
    keys = list(dict.fromkeys(each.domain for each in new_domains))
    owners = await store.find_each(DOMAINS, "verified_key", keys)
    counts = {
        org_id: await store.count(DOMAINS, {"org_id": org_id}) for org_id in organizations_by_id
    }
    cases = []
    for parsed, new, stored_domain in zip(parsed_rows, new_domains, stored, strict=True):
        # Counts the rows of this batch, too: together they could exceed the limit.
        counts[new.org_id] += stored_domain is None
        owner = next((each.org_id for each in owners.get(new.domain, ())), None)
        exceeds_limit = (
            stored_domain is None and counts[new.org_id] > organization_domains.MAX_DOMAINS
        )
        cases.append(
            _DomainCase(
                parsed, organizations_by_id[new.org_id], new, stored_domain, owner, exceeds_limit
            )
        )
    return cases


def _new_domain(context: ImportContext, parsed: ParsedRow) -> OrganizationDomain:
    request = cast(PackagedDomain, parsed.request)
    return new_domain(
        parsed.row.org_id,
        request.domain_name,
        context.service.clock.now(),
        is_verified=request.is_verified,
        challenge=request.challenge,
    )


async def _plan_row(context: ImportContext, case: _DomainCase) -> RowPlan:
    problem = _problem(case)
    if problem is not None:
        return refused(case.id, problem)
    writes = _primary(context, case) if await _becomes_primary(context, case) else []
    if case.stored is None:
        # An update of the primary domain already fails if the organization has changed.
        guard = [] if writes else [organizations.state_unchanged(case.organization)]
        return case.plan("create", *_insertion(context, case), *writes, *guard)
    if context.updates and case.new.is_verified and not case.stored.is_verified:
        return case.plan("update", *_verification(context, case.stored), *writes)
    return case.plan("update" if writes else "skip", *writes)


def _problem(case: _DomainCase) -> RowProblem | None:
    """Returns the reason to refuse the row, other than its form."""
    if case.request.org_id not in ("", case.organization.id):
        return _OTHER_ORGANIZATION
    if case.new.is_verified and case.owner not in (None, case.organization.id):
        return _TAKEN
    if case.exceeds_limit:
        return _TOO_MANY
    return _NOT_VERIFIED if case.request.is_primary and not case.request.is_verified else None


_OTHER_ORGANIZATION: Final = RowProblem(
    error_code="import.org_differs",
    field="orgId",
    message="names another organization than the one that contains it",
    fix="Put the row into the organization that it belongs to.",
)
_TAKEN: Final = RowProblem(
    error_code="organization.domain_taken",
    field="domainName",
    message="already belongs to another organization",
    fix="Leave it out, or remove it there first.",
)
_TOO_MANY: Final = RowProblem(
    error_code="domain.too_many",
    message=(
        f"is one more than the {organization_domains.MAX_DOMAINS} that an organization can have"
    ),
    fix="Leave some of them out.",
)
_NOT_VERIFIED: Final = RowProblem(
    error_code="domain.not_verified",
    field="isPrimary",
    message="requires a verified domain",
    fix="Set isVerified, or make another domain primary.",
)
_NO_CHALLENGE: Final = RowProblem(
    error_code="domain.no_challenge",
    field="validationType",
    message="is not stored: the package doesn't contain the token",
    fix="Generate a new token, and publish it.",
)


async def _becomes_primary(context: ImportContext, case: _DomainCase) -> bool:
    """Returns whether the row's domain becomes primary.

    That changes login names, so it happens only in an organization that this import created, or
    with `updates`.
    """
    is_requested = case.request.is_primary and case.organization.primary_domain != case.new.domain
    if not is_requested or (case.stored and not case.stored.is_verified and not context.updates):
        return False
    return context.updates or await import_origin.was_created_by_import(
        context, ORGANIZATIONS, case.organization.id
    )


def _primary(context: ImportContext, case: _DomainCase) -> list[Write]:
    now = context.service.clock.now()
    entry = AuditEntry("organization.primary_domain_changed", context.actor, now)
    return events.update(
        context.service.random,
        ORGANIZATIONS,
        case.organization,
        {"primary_domain": case.new.domain, "changed_at": now},
        entry,
    )


def _insertion(context: ImportContext, case: _DomainCase) -> list[Write]:
    payload = import_payload(context, case.parsed) | {"domain": case.new.domain}
    service, now = context.service, case.new.created_at
    entry = AuditEntry("domain.created", context.actor, now, payload=payload)
    return events.insertion(service.random, DOMAINS, case.new, entry)


def _verification(context: ImportContext, stored: OrganizationDomain) -> list[Write]:
    now = context.service.clock.now()
    entry = AuditEntry("domain.verified", context.actor, now)
    return events.update(
        context.service.random,
        DOMAINS,
        stored,
        {"verified_key": stored.domain, "changed_at": now},
        entry,
    )


async def export(
    context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields the rows of the organization's domains, in the order of their names."""
    where = {"org_id": organization.id}
    async for each in paging.walk(context.view, DOMAINS, where, order="domain"):
        yield _exported(organization, each)


def _exported(organization: Organization, domain: OrganizationDomain) -> dict[str, Any]:
    validation = {}
    if domain.challenge is not None:
        kind, token = domain.challenge.kind, domain.challenge.token
        validation = {"validationType": _NAMES[kind], "validationToken": token}
    return {
        "orgId": organization.id,
        "domainName": domain.domain,
        "isVerified": domain.is_verified,
        "isPrimary": domain.domain == organization.primary_domain,
        **validation,
    }


def _name(document: dict[str, Any]) -> str:
    return str(value_of(document, "domainName") or "")


KINDS: Final = (
    RowKind(
        member="domains",
        type="domain",
        request=PackagedDomain,
        name=_name,
        plan=plan_rows,
        export=export,
    ),
)
