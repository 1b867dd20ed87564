"""The kinds of rows `secondFactors` and `multiFactors`: factors that are allowed in addition to
those of the login policy.

Newer packages name them in the policy itself; these lists then add nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, cast

from msgspec import structs

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.management.policies.forms import MULTI_FACTORS, SECOND_FACTORS
from idp.policies import effective
from idp.records import POLICIES, LoginRules, Policy
from idp.schema.field_rules import Name
from idp.schema.reading import Request
from idp.transfer.jobs import import_origin
from idp.transfer.kinds import target_organizations
from idp.transfer.kinds.kind import ImportContext, RowKind
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem


class PackagedFactor(Request, frozen=True, kw_only=True):
    type: Name


async def plan_rows(
    field: str, kinds: Mapping[str, str], context: ImportContext, parsed_rows: Sequence[ParsedRow]
) -> list[RowPlan]:
    """Plans rows of factors (`RowKind.plan`): the factor is added to its organization's own login
    policy, to the list in the field `field`, if this import created the policy or updates records;
    otherwise the row is skipped.

    `kinds` maps the names of factors in packages to those in policies. A factor with another name,
    or of an organization without such a policy, is skipped with a warning.
    """
    organizations = await target_organizations.by_id(context, parsed_rows)
    ids = [effective.policy_id(parsed.row.org_id, "login") for parsed in parsed_rows]
    stored = await context.service.store.get_many([(POLICIES, policy_id) for policy_id in ids])
    plans = []
    for parsed, policy in zip(parsed_rows, stored, strict=True):
        factor = cast(PackagedFactor, parsed.request).type
        row_id = f"{parsed.row.org_id}_{factor}"
        if parsed.row.org_id not in organizations:
            plans.append(target_organizations.organization_not_found(row_id))
        elif factor not in kinds:
            # Skipped with a warning: other systems have factors that do not exist here.
            plans.append(RowPlan(action="skip", id=row_id, problems=(_unknown(kinds),)))
        elif policy is None:
            plans.append(RowPlan(action="skip", id=row_id, problems=(_NO_POLICY,)))
        else:
            plans.append(await _plan_addition(context, policy, field, kinds[factor], row_id))
    return plans


async def _plan_addition(
    context: ImportContext, policy: Policy, field: str, factor: str, row_id: str
) -> RowPlan:
    rules = cast(LoginRules, policy.rules)
    allowed = getattr(rules, field)
    may_change = context.updates or await import_origin.was_created_by_import(
        context, POLICIES, policy.id
    )
    if factor in allowed or not may_change:
        return RowPlan(action="skip", id=row_id)
    now, extended_rules = (
        context.service.clock.now(),
        structs.replace(rules, **{field: (*allowed, factor)}),
    )
    entry = AuditEntry("login_policy.changed", context.actor, now)
    writes = events.update(
        context.service.random,
        POLICIES,
        policy,
        {"rules": extended_rules, "changed_at": now},
        entry,
    )
    return RowPlan(action="update", id=row_id, writes=tuple(writes))


_NO_POLICY: Final = RowProblem(
    error_code="policy.not_found",
    message="requires a login policy of the organization's own",
    fix="Add a loginPolicy to the organization, or leave the list out.",
    is_error=False,
)


def _unknown(kinds: Mapping[str, str]) -> RowProblem:
    return RowProblem(
        error_code="field.unknown_name",
        field="type",
        message=f"is not a supported kind: {', '.join(kinds)}",
        fix="Users set up another factor when they sign in.",
        is_error=False,
    )


def _name(document: Mapping[str, Any]) -> str:
    return str(document.get("type") or "")


def _kind(member: str, row_type: str, field: str, kinds: Mapping[str, str]) -> RowKind:
    return RowKind(
        member=member,
        type=row_type,
        request=PackagedFactor,
        name=_name,
        plan=partial(plan_rows, field, kinds),
    )


KINDS: Final = (
    _kind("secondFactors", "second_factor", "second_factors", SECOND_FACTORS),
    _kind("multiFactors", "multi_factor", "multi_factors", MULTI_FACTORS),
)
