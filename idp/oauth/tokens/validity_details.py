"""The reasons why an authorization or a token is no longer valid, for the details of a
refusal."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, NamedTuple

from idp.oauth.refusals.check import USER_ALLOWED, Check
from idp.oauth.refusals.details import span
from idp.oauth.tokens import validity as token_validity
from idp.oauth.tokens.dependencies import TokenDependencies
from idp.records import (
    APPLICATIONS,
    AUTHORIZATIONS,
    INSTANCES,
    MEMBERSHIPS,
    ORGANIZATIONS,
    PATS,
    PROJECT_GRANTS,
    PROJECTS,
    REVOKED_TOKENS,
    ROLE_ASSIGNMENTS,
    SESSIONS,
    USERS,
    Authorization,
    Session,
)
from idp.records.groups import GROUP_GRANTS, GROUP_MEMBERS, GROUPS
from idp.service import Service


class InvalidReason(NamedTuple):
    """The reason why an authorization or token is no longer valid, and the check that it fails.

    `fix` is advice that is more exact than the check's own, or empty.
    """

    details: str
    check: Check
    fix: str = ""


async def find_reason(
    service: Service, dependencies: TokenDependencies, default_check: Check
) -> InvalidReason:
    """Returns the reason why an authorization or token with these dependencies is no longer
    valid.

    It is called after `validity.validate` has returned None. The returned check is
    `default_check`, unless the reason is that the user may not use the application.
    """
    now = service.clock.now()
    records = await token_validity.read(service, dependencies)
    for collection, record_id in token_validity.keys(dependencies):
        record, is_required = (
            records.of(collection, record_id),
            record_id in dependencies.session_ids,
        )
        reason = _REASONS[collection.name](record, now, is_required)
        if reason:
            return InvalidReason(reason, default_check)
    # Only when every record by itself is valid: a use is decided from several of them.
    refusal = token_validity.not_allowed(dependencies, records)
    if refusal is not None:
        return InvalidReason(refusal.details, USER_ALLOWED, refusal.fix)
    return InvalidReason(
        await token_validity.refused_acting(service, dependencies, records)
        or "A password, a factor or a state was changed since: "
        "that ends whatever was issued before to the user or the application.",
        default_check,
    )


def _authorization_reason(record: Authorization | None, now: datetime, is_required: bool) -> str:
    if record is None:
        return "The grant is gone: it has expired, with everything that came of it."
    return (
        f"The grant was revoked {span(now - record.revoked_at)} ago." if record.revoked_at else ""
    )


def _session_reason(record: Session | None, now: datetime, is_required: bool) -> str:
    if not is_required or (record and record.ended_at is None):
        return ""
    since = f"{span(now - record.ended_at)} ago, " if record and record.ended_at else ""
    return f"The session ended {since}by a logout."


def _token_reason(record: object, now: datetime, is_required: bool) -> str:
    return "The token was revoked by its client." if record else ""


def _pat_reason(record: object, now: datetime, is_required: bool) -> str:
    reason = "The personal access token that it came of has expired or was deleted."
    return "" if record else reason


def _state_reason(kind: str) -> Callable[[Any, datetime, bool], str]:
    def reason(record: Any, now: datetime, is_required: bool) -> str:
        is_missing = record is None or record.state != "active"
        return f"The {kind} is deleted or not active." if is_missing else ""

    return reason


_REASONS: Final[dict[str, Callable[[Any, datetime, bool], str]]] = {
    # Records that invalidate nothing by themselves: their stamps and uses are compared as a whole.
    INSTANCES.name: lambda record, now, is_required: "",
    MEMBERSHIPS.name: lambda record, now, is_required: "",
    AUTHORIZATIONS.name: _authorization_reason,
    USERS.name: _state_reason("user"),
    APPLICATIONS.name: _state_reason("application"),
    ORGANIZATIONS.name: _state_reason("organization of the user or of the application"),
    SESSIONS.name: _session_reason,
    REVOKED_TOKENS.name: _token_reason,
    PATS.name: _pat_reason,
    PROJECTS.name: lambda record, now, is_required: "",
    PROJECT_GRANTS.name: lambda record, now, is_required: "",
    ROLE_ASSIGNMENTS.name: lambda record, now, is_required: "",
    GROUPS.name: lambda record, now, is_required: "",
    GROUP_MEMBERS.name: lambda record, now, is_required: "",
    GROUP_GRANTS.name: lambda record, now, is_required: "",
}
