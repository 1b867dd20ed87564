"""The kinds of rows of an organization's policies, in the members of the reference system (the
other one whose packages this service imports) and this service's own.

A member that a package omits is off, because the reference system's encoding omits values that are
false, empty or 0. Only a number that cannot be 0 then has this service's own default.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, cast

from idp.management.policies import policies
from idp.management.policies.forms import NO_PASSWORDLESS, PolicyForm
from idp.management.policies.policy_kinds import KINDS as POLICY_KINDS
from idp.records import POLICIES, Organization
from idp.records.policies import PolicyKind
from idp.transfer.kinds import settings
from idp.transfer.kinds.kind import ExportContext, ImportContext, RowKind
from idp.transfer.kinds.settings import SettingRow
from idp.transfer.package import lossy_import
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem

_PACKAGE_DEFAULTS: Final[Mapping[PolicyKind, Mapping[str, object]]] = {
    "login": {
        "allowRegister": False,
        "secondFactors": [],
        "multiFactors": [],
        "passwordlessType": NO_PASSWORDLESS,
    },
}
# The background of each colour that has the service's default when it is omitted.
_BACKGROUNDS: Final = {
    f"{part}Color{scheme}": f"backgroundColor{scheme}"
    for scheme in ("", "Dark")
    for part in ("primary", "warn", "font")
}


def adapt(kind: PolicyKind, document: object) -> tuple[object, list[RowProblem]]:
    """Returns a policy's document without the settings that can't be stored here, and with this
    service's defaults for numbers that it omits; and a warning for each setting that was removed
    or changed (`RowKind.adapt`).
    """
    if isinstance(document, dict):
        defaults = {name: value for name, value in _PACKAGE_DEFAULTS.get(kind, {}).items()}
        # The document's own members have precedence.
        document = defaults | document
    return lossy_import.adapted(POLICY_KINDS[kind].form, document, _BACKGROUNDS)


async def plan_rows(
    kind: PolicyKind, context: ImportContext, parsed_rows: Sequence[ParsedRow]
) -> list[RowPlan]:
    """Plans rows of policies of one kind (`RowKind.plan`): an organization without a policy of its
    own gets one; an existing policy is skipped or, if the import updates records, replaced.
    """
    now = context.service.clock.now()
    rows = []
    for parsed in parsed_rows:
        rules = cast(PolicyForm, parsed.request).stored()
        rows.append(
            SettingRow(
                id=parsed.row.org_id,
                event=policies.event_object(kind),
                collection=POLICIES,
                record=policies.new(parsed.row.org_id, rules, now, kind),
                sets=("rules",),
            )
        )
    return await settings.plan_settings(context, parsed_rows, rows)


async def export(
    kind: PolicyKind, context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields the organization's own policy of one kind as a row; nothing if the organization uses
    the installation's.
    """
    for policy in context.policies:
        if policy.kind == kind:
            members = POLICY_KINDS[kind].members(policy.rules)
            yield {camel(name): value for name, value in members.items() if value is not None}


def camel(name: str) -> str:
    """Returns a name in snake_case as the camelCase name of a member in a package."""
    first, *words = name.split("_")
    return first + "".join(part.title() for part in words)


def _kind(member: str, row_type: str, kind: PolicyKind) -> RowKind:
    return RowKind(
        member=member,
        type=row_type,
        request=POLICY_KINDS[kind].form,
        adapt=partial(adapt, kind),
        plan=partial(plan_rows, kind),
        export=partial(export, kind),
        is_single=True,
    )


_NO_DOMAIN_POLICY: Final = (
    "login names are unique in the whole installation here, and domains are always verified"
)

KINDS: Final = (
    RowKind(
        member="domainPolicy", type="domain_policy", is_single=True, unsupported=_NO_DOMAIN_POLICY
    ),
    RowKind(
        member="iamPolicy", type="domain_policy", is_single=True, unsupported=_NO_DOMAIN_POLICY
    ),
    _kind("loginPolicy", "login_policy", "login"),
    _kind("passwordComplexityPolicy", "password_complexity_policy", "password_complexity"),
    _kind("passwordAgePolicy", "password_age_policy", "password_age"),
    _kind("lockoutPolicy", "lockout_policy", "lockout"),
    _kind("labelPolicy", "label_policy", "label"),
    _kind("privacyPolicy", "privacy_policy", "privacy"),
    _kind("languagePolicy", "language_policy", "language"),
)
