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
    field: str, known: Mapping[str, str], context: ImportContext, parsed_rows: Sequence[ParsedRow]
) -> list[RowPlan]:
    """Plans rows of factors (`RowKind.plan`): the factor is added to its organization's own login
    policy, to the list in the field `field`, if this import created the policy or updates records;
    otherwise the row is skipped.

    `known` maps the names of factors in packages to those in policies. A factor with another name,
    or of an organization without such a policy, is skipped with a warning.
    """
    organizations = await target_organizations.by_id(context, parsed_rows)
    ids = [effective.policy_id(parsed.row.org_id, "login") for parsed in parsed_rows]
    stored = await context.service.store.get_many([(POLICIES, id) for id in ids])
    plans = []
    for parsed, policy in zip(parsed_rows, stored, strict=True):
        type = cast(PackagedFactor, parsed.request).type
        id = f"{parsed.row.org_id}_{type}"
        if parsed.row.org_id not in organizations:
            plans.append(target_organizations.no_organization(id))
        elif type not in known:
            # Skipped with a warning: other systems have factors that do not exist here.
            plans.append(RowPlan(action="skip", id=id, problems=(_unknown(known),)))
        elif policy is None:
            plans.append(RowPlan(action="skip", id=id, problems=(_NO_POLICY,)))
        else:
            plans.append(await _added(context, policy, field, known[type], id))
    return plans


async def _added(
    context: ImportContext, policy: Policy, field: str, factor: str, id: str
) -> RowPlan:
    rules = cast(LoginRules, policy.rules)
    allowed = getattr(rules, field)
    may_change = context.updates or await import_origin.is_made_here(context, POLICIES, policy.id)
    if factor in allowed or not may_change:
        return RowPlan(action="skip", id=id)
    now, added = (
        context.service.clock.now(),
        structs.replace(rules, **{field: (*allowed, factor)}),
    )
    entry = AuditEntry("login_policy.changed", context.actor, now)
    writes = events.update(
        context.service.random, POLICIES, policy, {"rules": added, "changed_at": now}, entry
    )
    return RowPlan(action="update", id=id, writes=tuple(writes))


_NO_POLICY: Final = RowProblem(
    error_code="policy.not_found",
    message="has no login policy of the organization's own to be added to",
    fix="Put a loginPolicy beside it, or leave the list out.",
    is_error=False,
)


def _unknown(known: Mapping[str, str]) -> RowProblem:
    return RowProblem(
        error_code="field.unknown_name",
        field="type",
        message=f"is no kind that there is here: {', '.join(known)}",
        fix="People set up another factor when they sign in.",
        is_error=False,
    )


def _name(document: Mapping[str, Any]) -> str:
    return str(document.get("type") or "")


def _kind(member: str, type: str, field: str, known: Mapping[str, str]) -> RowKind:
    return RowKind(
        member=member,
        type=type,
        request=PackagedFactor,
        name=_name,
        plan=partial(plan_rows, field, known),
    )


KINDS: Final = (
    _kind("secondFactors", "second_factor", "second_factors", SECOND_FACTORS),
    _kind("multiFactors", "multi_factor", "multi_factors", MULTI_FACTORS),
)
