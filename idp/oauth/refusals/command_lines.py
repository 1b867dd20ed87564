"""The command lines that change who may use an application, and how it works."""

from __future__ import annotations

from shlex import quote

from idp.records import Application, ProjectGrant


def configure(client: Application, options: str) -> str:
    """Change how an application works."""
    where = f"--project {quote(client.project_id)} {quote(client.id)}"
    return f"idp app configure {where} {options} --org {quote(client.org_id)}"


def grant_project(client: Application, granted_org_id: str, grant: ProjectGrant | None) -> str:
    """Make the grant of the application's project to an organization count: reactivates the one
    that there is."""
    project, owner = quote(client.project_id), quote(client.org_id)
    if grant is not None:
        return f"idp project-grant reactivate --project {project} {quote(grant.id)} --org {owner}"
    to = f"--granted-org-id {quote(granted_org_id)}"
    return f"idp project-grant create --project {project} {to} --org {owner}"


def assign_role(client: Application, user_id: str, user_org_id: str) -> str:
    """Give a user a role of the application's project. `ROLE` stands for the role's key. No
    organization is named when user and project are in two: the command has to reach both."""
    line = f"idp grant create --user {quote(user_id)} --project {quote(client.project_id)}"
    where = f" --org {quote(client.org_id)}" if user_org_id == client.org_id else ""
    return f"{line} --role-key ROLE{where}"
