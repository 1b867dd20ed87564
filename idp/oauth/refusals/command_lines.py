"""The `idp` commands that change whether a user may use an application, as texts for
administrators."""

from __future__ import annotations

from shlex import quote

from idp.records import Application, ProjectGrant


def with_id(command: str, object_id: str, options: str) -> str:
    """Returns the command line that has `object_id` as the argument of `command`.

    `command` and `options` are already quoted. An id that begins with `-` would be read as an
    option, so it comes last then, after `--`.
    """
    if object_id.startswith("-"):
        return f"{command} {options} -- {quote(object_id)}"
    return f"{command} {quote(object_id)} {options}"


def configure(client: Application, options: str) -> str:
    """Returns the `idp app configure` command for this application.

    `options` are the changes as command-line options, already quoted (such as `--allowed-users
    everybody`).
    """
    command = f"idp app configure --project {quote(client.project_id)}"
    return with_id(command, client.id, f"{options} --org {quote(client.org_id)}")


def grant_project(client: Application, granted_org_id: str, grant: ProjectGrant | None) -> str:
    """Returns the `idp` command that grants the application's project to an organization.

    `grant` is the project grant that the organization has already, if any: it is reactivated.
    """
    project, owner = quote(client.project_id), quote(client.org_id)
    # A second project grant for the same organization would be refused.
    if grant is not None:
        command = f"idp project-grant reactivate --project {project}"
        return with_id(command, grant.id, f"--org {owner}")
    to = f"--granted-org-id {quote(granted_org_id)}"
    return f"idp project-grant create --project {project} {to} --org {owner}"


def assign_role(client: Application, user_id: str, user_org_id: str) -> str:
    """Returns the `idp` command that assigns the user a role of the application's project.

    The administrator replaces `ROLE` in it. It has `--org`, which limits the call to one
    organization, only if the user belongs to that of the project.
    """
    line = f"idp grant create --user {quote(user_id)} --project {quote(client.project_id)}"
    address = f" --org {quote(client.org_id)}" if user_org_id == client.org_id else ""
    return f"{line} --role-key ROLE{address}"
