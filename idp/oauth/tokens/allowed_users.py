"""The decision whether a user may use an application: its setting, project checks, grants and
roles.

An authorization or token stores the grounds on which the user was allowed (`Grounds`), each as a
stamp that changes when the ground is withdrawn. So it ends with its last ground, and stays invalid
when the user gets another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from idp.identity.users import grant_ids
from idp.identity.users.subjects import Subject
from idp.oauth.refusals import command_lines
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

_THEN: Final = " Then the user signs in again."


class UserRefusal(NamedTuple):
    """The reason why a user may not use an application, and how to change that.

    Both texts are for administrators; `fix` has the command lines.
    """

    details: str
    fix: str


class UseDecision(NamedTuple):
    """The decision whether a user may use an application.

    `grounds` are the reasons for which the user may use it. If it is None, the user may not, and
    `refusal` says why. `organization` is the application's, which is read in the same round trip,
    None if it is deleted.
    """

    organization: Organization | None
    grounds: Grounds | None
    refusal: UserRefusal | None = None


async def find(service: Service, client: Application, subject: Subject) -> UseDecision:
    """Returns the decision whether a user may use an application now.

    The records are read in one round trip to the store.
    """
    use = use_of(client, subject)
    organization, *records = await service.store.get_many(
        [(ORGANIZATIONS, client.org_id), *keys(use, client.project_id)]
    )
    grounds = remaining_grounds(use, client, records)
    return UseDecision(organization, grounds, None if grounds else refusal(use, client, records))


def use_of(client: Application, subject: Subject) -> Use:
    """Returns the `Use` of an application by a user: the ids of both and of their organizations.

    It has no grounds: with it `remaining_grounds` returns all reasons for which the user may use
    the application now.
    """
    return Use(
        user_id=subject.user.id,
        user_org_id=subject.organization.id,
        client_id=client.id,
        client_org_id=client.org_id,
    )


def keys(use: Use, project_id: str | None = None) -> list[Key]:
    """Returns the keys of the records to read for `remaining_grounds`: project, project grant and
    role assignment.

    `project_id` is that of the application, needed for a use without grounds. Without it there are
    no keys.
    """
    project_id = use.grounds.project_id if use.grounds else project_id
    if project_id is None:
        return []
    needed: list[Key] = [(PROJECTS, project_id)]
    # Users of the application's own organization need no project grant.
    if use.user_org_id != use.client_org_id:
        needed.append((PROJECT_GRANTS, grant_ids.of_grant(project_id, use.user_org_id)))
    # A role that the use did not begin with cannot become its ground later.
    if use.grounds is None or use.grounds.role is not None:
        needed.append((ROLE_ASSIGNMENTS, grant_ids.of_assignment(use.user_id, project_id)))
    return needed


def remaining_grounds(use: Use, client: Application, records: Sequence[Any]) -> Grounds | None:
    """Returns the grounds of a use that the user still has; None if they do not suffice.

    For a use without grounds these are all that the user has now. `records` are those that the
    store has for `keys`. If there are none, the application's setting decides alone: this is the
    case of access tokens of an earlier release, which do not name the project.
    """
    is_own = use.user_org_id == client.org_id
    if not records:
        is_allowed = is_own or client.allowed_users == "everybody"
        return Grounds(project_id=client.project_id) if is_allowed else None
    now = _now(use, client, records)
    grounds = _both(use.grounds, now) if use.grounds else now
    is_among = is_own or grounds.everybody is not None or grounds.grant is not None
    fulfils_role_check = grounds.role_not_required is not None or grounds.role is not None
    return grounds if is_among and fulfils_role_check else None


def refusal(use: Use, client: Application, records: Sequence[Any]) -> UserRefusal:
    """Returns the reason why the user may not use the application, for administrators.

    `records` are those of `keys`.
    """
    project, grant, _ = _split(use, client, records)
    is_own = use.user_org_id == client.org_id
    if not is_own and client.allowed_users == "own_organization":
        return _of_own_organization(use, client, project, grant)
    now = _now(use, client, records)
    if not is_own and now.everybody is None and now.grant is None:
        rule = "allowedUsers" if client.allowed_users == "granted" else "hasProjectCheck"
        return _without_grant(use, client, grant, rule)
    if now.role_not_required is None and now.role is None:
        return _without_role(use, client, records)
    return UserRefusal(
        "What the user was allowed by was withdrawn since: it takes a new sign-in.",
        "Let the user sign in to the application again.",
    )


def _of_own_organization(
    use: Use, client: Application, project: Project | None, grant: ProjectGrant | None
) -> UserRefusal:
    commands = command_lines.configure(client, "--allowed-users granted")
    if grant is None or grant.state != "active":
        commands += f" together with {command_lines.grant_project(client, use.user_org_id, grant)}"
    fix = f"Let it be used by the user's organization: {commands}."
    if project is None or not project.requires_grant:
        # With the project's grant check, "everybody" would still be refused for want of a project
        # grant.
        fix += f" Or by everybody: {command_lines.configure(client, '--allowed-users everybody')}."
    details = "The application is for users of its own organization (allowedUsers)."
    return UserRefusal(details, fix + _THEN)


def _without_grant(
    use: Use, client: Application, grant: ProjectGrant | None, rule: str
) -> UserRefusal:
    command = command_lines.grant_project(client, use.user_org_id, grant)
    return UserRefusal(
        f"The user's organization has no active grant of the project ({rule}).",
        f"Grant the project to the user's organization: {command}.{_THEN}",
    )


def _without_role(use: Use, client: Application, records: Sequence[Any]) -> UserRefusal:
    """Names the project grant first where an assignment exists: it takes effect again with the
    grant."""
    _, grant, assignment = _split(use, client, records)
    details = "The user has no role in the application's project (projectRoleCheck)."
    if assignment is not None and grant is not None and grant.state != "active":
        command = command_lines.grant_project(client, use.user_org_id, grant)
        return UserRefusal(
            details, f"Let the grant of the user's roles count again: {command}.{_THEN}"
        )
    command = command_lines.assign_role(client, use.user_id, use.user_org_id)
    roles = f"idp role list --project {client.project_id} --org {client.org_id}"
    fix = f"Give the user a role of the project: {command} ({roles} has them).{_THEN}"
    return UserRefusal(details, fix)


def _now(use: Use, client: Application, records: Sequence[Any]) -> Grounds:
    """Returns the grounds that the user has now.

    A project that was deleted checks nothing, because its applications are deleted with it.
    """
    return _grounds(client, *_split(use, client, records))


def _split(
    use: Use, client: Application, records: Sequence[Any]
) -> tuple[Project | None, ProjectGrant | None, RoleAssignment | None]:
    """Returns the records of `keys`: the project, the project grant and the role assignment, each
    None where it was not read."""
    left = list(records)
    is_own = use.user_org_id == client.org_id
    project: Project | None = left.pop(0) if left else None
    grant: ProjectGrant | None = left.pop(0) if left and not is_own else None
    return project, grant, left.pop(0) if left else None


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
    has_role = assignment is not None and grant_ids.is_in_force(assignment, grant)
    return Grounds(
        project_id=client.project_id,
        everybody=client.everybody_stamp + _stamp(project, "everybody_stamp") if is_open else None,
        grant=client.granted_stamp + grant.stamp if grant and is_granted else None,
        role_not_required=None if requires_role else _stamp(project, "no_role_stamp"),
        role=_role(assignment, grant) if assignment and has_role else None,
    )


def _stamp(project: Project | None, name: str) -> str:
    return str(getattr(project, name)) if project else ""


def _role(assignment: RoleAssignment, grant: ProjectGrant | None) -> str:
    return assignment.stamp + (grant.stamp if grant and assignment.granted_by else "")


def _both(before: Grounds, now: Grounds) -> Grounds:
    """Returns the grounds that have existed all the time: those with the same stamp before and
    now."""
    return Grounds(
        project_id=now.project_id,
        everybody=now.everybody if now.everybody == before.everybody else None,
        grant=now.grant if now.grant == before.grant else None,
        role_not_required=now.role_not_required
        if now.role_not_required == before.role_not_required
        else None,
        role=now.role if now.role == before.role else None,
    )
