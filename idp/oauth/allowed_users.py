"""Whether a user may use an application: by its setting, its project's checks, grants and roles.

What was issued remembers the grounds on which the user was allowed (`Grounds`), each by a stamp
that changes when the ground is withdrawn. So it ends with its last ground, and stays dead when the
user gets another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from idp.clients import grant_ids
from idp.identity.subjects import Subject
from idp.records import (
    ORGANIZATIONS,
    PROJECT_GRANTS,
    PROJECTS,
    ROLE_ASSIGNMENTS,
    Application,
    Grounds,
    Organization,
    Project,
    ProjectGrant,
    RoleAssignment,
    Use,
)
from idp.service import Service
from storage import Key


class Judged(NamedTuple):
    """The application's organization, which is read with the rest, and the user's grounds: None
    when they may not use the application, and `refusal` says why."""

    organization: Organization | None
    grounds: Grounds | None
    refusal: str = ""


async def find(service: Service, client: Application, subject: Subject) -> Judged:
    """Whether a user may use an application now, in one round trip."""
    use = use_of(client, subject)
    organization, *records = await service.store.get_many(
        [(ORGANIZATIONS, client.org_id), *keys(use, client.project_id)]
    )
    grounds = judge(use, client, records)
    return Judged(organization, grounds, "" if grounds else refusal(use, client, records))


def use_of(client: Application, subject: Subject) -> Use:
    """That the user uses the application, by whatever grounds they have now."""
    return Use(
        user_id=subject.user.id,
        user_org_id=subject.organization.id,
        client_id=client.id,
        client_org_id=client.org_id,
    )


def keys(use: Use, project_id: str | None = None) -> list[Key]:
    """The records to read for `judge`: those of the project, the grant and the role.

    `project_id` is for a use without grounds. Without either there is nothing to read.
    """
    project_id = use.grounds.project_id if use.grounds else project_id
    if project_id is None:
        return []
    found: list[Key] = [(PROJECTS, project_id)]
    if use.user_org_id != use.client_org_id:
        found.append((PROJECT_GRANTS, grant_ids.of_grant(project_id, use.user_org_id)))
    if use.grounds is None or use.grounds.role is not None:
        found.append((ROLE_ASSIGNMENTS, grant_ids.of_assignment(use.user_id, project_id)))
    return found


def judge(use: Use, client: Application, records: Sequence[Any]) -> Grounds | None:
    """The grounds that the user has had since the use began; None when they do not suffice.

    `records` are those of `keys`. Without any, what the application says decides alone: so it is
    for access tokens of an older program, which do not name the project.
    """
    is_own = use.user_org_id == client.org_id
    if not records:
        is_allowed = is_own or client.allowed_users == "everybody"
        return Grounds(project_id=client.project_id) if is_allowed else None
    now = _now(use, client, records)
    kept = _both(use.grounds, now) if use.grounds else now
    is_among = is_own or kept.everybody is not None or kept.grant is not None
    has_role = kept.no_role is not None or kept.role is not None
    return kept if is_among and has_role else None


def refusal(use: Use, client: Application, records: Sequence[Any]) -> str:
    """Which rule does not let the user use the application, for administrators."""
    is_own = use.user_org_id == client.org_id
    if not is_own and client.allowed_users == "own_organization":
        return "The application is for users of its own organization (allowedUsers)."
    now = _now(use, client, records)
    if not is_own and now.everybody is None and now.grant is None:
        rule = "allowedUsers" if client.allowed_users == "granted" else "hasProjectCheck"
        return f"The user's organization has no active grant of the project ({rule})."
    if now.no_role is None and now.role is None:
        return "The user has no role in the application's project (projectRoleCheck)."
    return "What the user was allowed by was withdrawn since: it takes a new sign-in."


def _now(use: Use, client: Application, records: Sequence[Any]) -> Grounds:
    """The grounds that the user has now. A project that is gone checks nothing: its applications
    go with it."""
    left = list(records)
    project: Project | None = left.pop(0) if left else None
    is_own = use.user_org_id == client.org_id
    grant: ProjectGrant | None = left.pop(0) if left and not is_own else None
    assignment: RoleAssignment | None = left.pop(0) if left else None
    return _grounds(client, project, grant, assignment)


def _grounds(
    client: Application,
    project: Project | None,
    grant: ProjectGrant | None,
    assignment: RoleAssignment | None,
) -> Grounds:
    requires_grant = project is not None and project.requires_grant
    requires_role = project is not None and project.requires_role
    is_open = client.allowed_users == "everybody" and not requires_grant
    takes_grants = client.allowed_users != "own_organization"
    is_granted = takes_grants and grant is not None and grant.state == "active"
    has_role = assignment is not None and grant_ids.counts(assignment, grant)
    return Grounds(
        project_id=client.project_id,
        everybody=client.everybody_stamp + _stamp(project, "everybody_stamp") if is_open else None,
        grant=client.granted_stamp + grant.stamp if grant and is_granted else None,
        no_role=None if requires_role else _stamp(project, "no_role_stamp"),
        role=_role(assignment, grant) if assignment and has_role else None,
    )


def _stamp(project: Project | None, name: str) -> str:
    return str(getattr(project, name)) if project else ""


def _role(assignment: RoleAssignment, grant: ProjectGrant | None) -> str:
    return assignment.stamp + (grant.stamp if grant and assignment.granted_by else "")


def _both(before: Grounds, now: Grounds) -> Grounds:
    """The grounds that have been there all the time."""
    return Grounds(
        project_id=now.project_id,
        everybody=now.everybody if now.everybody == before.everybody else None,
        grant=now.grant if now.grant == before.grant else None,
        no_role=now.no_role if now.no_role == before.no_role else None,
        role=now.role if now.role == before.role else None,
    )
