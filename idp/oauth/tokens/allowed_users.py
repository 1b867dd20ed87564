"""The decision whether a user may use an application: its setting, project checks, grants and
roles.

An authorization or token stores the grounds on which the user was allowed (`AccessGrounds`), each
as a stamp that changes when the ground is withdrawn. So it ends with its last ground, and stays
invalid when the user gets another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from idp.identity.users import grant_ids
from idp.identity.users.subjects import Subject
from idp.oauth.refusals import command_lines
from idp.oauth.tokens import group_roles
from idp.oauth.tokens.group_roles import GroupRecords
from idp.records import (
    ORGANIZATIONS,
    PROJECT_GRANTS,
    PROJECTS,
    ROLE_ASSIGNMENTS,
    AccessGrounds,
    Application,
    ApplicationUse,
    Organization,
    Project,
    ProjectGrant,
    RoleAssignment,
    User,
)
from idp.service import Service
from storage import Key
from storage.following import Records

_SIGN_IN_AGAIN: Final = " Then the user signs in again."


class UserRefusal(NamedTuple):
    """The reason why a user may not use an application, and how to change that.

    Both texts are for administrators; `fix` has the command lines.
    """

    details: str
    fix: str


class AccessDecision(NamedTuple):
    """The decision whether a user may use an application.

    `grounds` are the reasons for which the user may use it. If it is None, the user may not, and
    `refusal` is the reason. `organization` is the application's, which is read in the same round
    trip, None if it is deleted.
    """

    organization: Organization | None
    grounds: AccessGrounds | None
    refusal: UserRefusal | None = None


async def find(service: Service, client: Application, subject: Subject) -> AccessDecision:
    """Returns the decision whether a user may use an application now.

    The records are read in one round trip to the store. Those of the user's groups follow if the
    project requires a role: then a role by a group is a reason, too.
    """
    use = use_of(client, subject.user)
    needed: list[Key] = [(ORGANIZATIONS, client.org_id), *keys(use, client.project_id)]
    records, group_ids = await service.store.get_records(needed), list[str]()
    project: Project | None = records.of(PROJECTS, client.project_id)
    if project is not None and project.requires_role:
        group_ids = await group_roles.group_ids(service, subject.user.id)
        group_keys = group_roles.keys(use.user_id, client.project_id, group_ids)
        records = records.with_more(await group_roles.read(service, group_keys))
    use_records = records_of(use, client.project_id, records, group_ids)
    grounds = remaining_grounds(use, client, use_records)
    return AccessDecision(
        records.of(ORGANIZATIONS, client.org_id),
        grounds,
        None if grounds else refusal(use, client, use_records),
    )


def use_of(client: Application, user: User) -> ApplicationUse:
    """Returns the use of an application by a user: the ids of both and of their organizations.

    It has no grounds: with it `remaining_grounds` returns all reasons for which the user may use
    the application now.
    """
    return ApplicationUse(
        user_id=user.id,
        user_org_id=user.org_id,
        client_id=client.id,
        client_org_id=client.org_id,
    )


def keys(use: ApplicationUse, project_id: str | None = None) -> list[Key]:
    """Returns the keys of the records to read for `remaining_grounds`: project, project grant,
    role assignment, and the records of the groups by which the user had a role (for a use without
    grounds the caller adds those of `group_roles.keys`).

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
    if _depends_on_assignment(use):
        needed.append((ROLE_ASSIGNMENTS, grant_ids.of_assignment(use.user_id, project_id)))
    of_groups = [group_id for group_id, _ in use.grounds.groups] if use.grounds else []
    return needed + group_roles.keys(use.user_id, project_id, of_groups)


def _depends_on_assignment(use: ApplicationUse) -> bool:
    # A role that the use did not begin with cannot become its ground later.
    return use.grounds is None or use.grounds.role is not None


class UseRecords(NamedTuple):
    """The records that decide about a use; None for each that does not exist or was not read."""

    project: Project | None
    grant: ProjectGrant | None
    assignment: RoleAssignment | None
    of_groups: Sequence[GroupRecords]


def records_of(
    use: ApplicationUse,
    project_id: str | None,
    records: Records,
    group_ids: Sequence[str] | None = None,
) -> UseRecords | None:
    """Returns the records of `keys` for a use, and of these groups, by default those of its
    grounds. None without a project: access tokens of an earlier release do not name it."""
    if project_id is None:
        return None
    grant = assignment = None
    if use.user_org_id != use.client_org_id:
        grant = records.of(PROJECT_GRANTS, grant_ids.of_grant(project_id, use.user_org_id))
    if _depends_on_assignment(use):
        assignment_id = grant_ids.of_assignment(use.user_id, project_id)
        assignment = records.of(ROLE_ASSIGNMENTS, assignment_id)
    if group_ids is None:
        group_ids = [group_id for group_id, _ in use.grounds.groups] if use.grounds else []
    of_groups = group_roles.records_of(use.user_id, project_id, group_ids, records)
    return UseRecords(records.of(PROJECTS, project_id), grant, assignment, of_groups)


def remaining_grounds(
    use: ApplicationUse, client: Application, records: UseRecords | None
) -> AccessGrounds | None:
    """Returns the grounds of a use that the user still has; None if they do not suffice.

    For a use without grounds these are all that the user has now. Without records the
    application's setting decides alone.
    """
    is_own = use.user_org_id == client.org_id
    if records is None:
        is_allowed = is_own or client.allowed_users == "everybody"
        return AccessGrounds(project_id=client.project_id) if is_allowed else None
    current = _grounds(client, records)
    grounds = _common_grounds(use.grounds, current) if use.grounds else current
    is_user_allowed = is_own or grounds.everybody is not None or grounds.grant is not None
    return grounds if is_user_allowed and _fulfils_role_check(grounds) else None


def _fulfils_role_check(grounds: AccessGrounds) -> bool:
    has_role = grounds.role is not None or bool(grounds.groups)
    return has_role or grounds.role_not_required is not None


def refusal(use: ApplicationUse, client: Application, records: UseRecords | None) -> UserRefusal:
    """Returns the reason why the user may not use the application, for administrators."""
    records = records or UseRecords(None, None, None, ())
    project, grant = records.project, records.grant
    is_own = use.user_org_id == client.org_id
    if not is_own and client.allowed_users == "own_organization":
        return _of_own_organization(use, client, project, grant)
    current = _grounds(client, records)
    if not is_own and current.everybody is None and current.grant is None:
        rule = "allowedUsers" if client.allowed_users == "granted" else "hasProjectCheck"
        return _without_grant(use, client, grant, rule)
    if not _fulfils_role_check(current):
        return _without_role(use, client, records)
    return UserRefusal(
        "What the user was allowed by was withdrawn since: it takes a new sign-in.",
        "Let the user sign in to the application again.",
    )


def _of_own_organization(
    use: ApplicationUse, client: Application, project: Project | None, grant: ProjectGrant | None
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
    return UserRefusal(details, fix + _SIGN_IN_AGAIN)


def _without_grant(
    use: ApplicationUse, client: Application, grant: ProjectGrant | None, rule: str
) -> UserRefusal:
    command = command_lines.grant_project(client, use.user_org_id, grant)
    return UserRefusal(
        f"The user's organization has no active grant of the project ({rule}).",
        f"Grant the project to the user's organization: {command}.{_SIGN_IN_AGAIN}",
    )


def _without_role(use: ApplicationUse, client: Application, records: UseRecords) -> UserRefusal:
    """Names the project grant first where an assignment exists: it takes effect again with the
    grant."""
    grant, assignment = records.grant, records.assignment
    details = "The user has no role in the application's project (projectRoleCheck)."
    if assignment is not None and grant is not None and grant.state != "active":
        command = command_lines.grant_project(client, use.user_org_id, grant)
        return UserRefusal(
            details, f"Let the grant of the user's roles count again: {command}.{_SIGN_IN_AGAIN}"
        )
    command = command_lines.assign_role(client, use.user_id, use.user_org_id)
    roles = f"idp role list --project {client.project_id} --org {client.org_id}"
    fix = (
        f"Give the user a role of the project, or one of the user's groups:"
        f" {command} ({roles} has them).{_SIGN_IN_AGAIN}"
    )
    return UserRefusal(details, fix)


def _grounds(client: Application, records: UseRecords) -> AccessGrounds:
    """Returns the grounds that the user has now.

    A project that was deleted checks nothing, because its applications are deleted with it.
    """
    project, grant, assignment, of_groups = records
    requires_grant = project is not None and project.requires_grant
    requires_role = project is not None and project.requires_role
    is_open = client.allowed_users == "everybody" and not requires_grant
    accepts_grants = client.allowed_users != "own_organization"
    is_granted = accepts_grants and grant is not None and grant.state == "active"
    has_role = assignment is not None and grant_ids.is_in_force(assignment, grant)
    return AccessGrounds(
        project_id=client.project_id,
        everybody=client.everybody_stamp + _stamp(project, "everybody_stamp") if is_open else None,
        grant=client.granted_stamp + grant.stamp if grant and is_granted else None,
        role_not_required=None if requires_role else _stamp(project, "no_role_stamp"),
        role=_role(assignment, grant) if assignment and has_role else None,
        groups=group_roles.grounds(of_groups, grant),
    )


def _stamp(project: Project | None, name: str) -> str:
    return str(getattr(project, name)) if project else ""


def _role(assignment: RoleAssignment, grant: ProjectGrant | None) -> str:
    return assignment.stamp + (grant.stamp if grant and assignment.granted_by else "")


def _common_grounds(stored: AccessGrounds, current: AccessGrounds) -> AccessGrounds:
    """Returns the grounds that have existed all the time: those with the same stamp before and
    now."""
    return AccessGrounds(
        project_id=current.project_id,
        everybody=current.everybody if current.everybody == stored.everybody else None,
        grant=current.grant if current.grant == stored.grant else None,
        role_not_required=current.role_not_required
        if current.role_not_required == stored.role_not_required
        else None,
        role=current.role if current.role == stored.role else None,
        groups=tuple(each for each in current.groups if each in stored.groups),
    )
