"""`idp project`, `idp project-grant` and `idp role`: projects, their roles, and the organizations
that may use them."""

from __future__ import annotations

from typing import Final

from idp.cli.building import group
from idp.cli.command import command

_PROJECTS: Final = "/management/v1/projects"
_PROJECT: Final = f"{_PROJECTS}/{{projectId}}"
_GRANTS: Final = f"{_PROJECT}/grants"
_GRANT: Final = f"{_GRANTS}/{{grantId}}"

project = group(
    "project",
    "Projects: groups of applications and their roles.",
    [
        command("create", f"POST {_PROJECTS}", "idp project create --name Shop --get id"),
        command(
            "list",
            f"POST {_PROJECTS}/_search",
            "idp project list --name 'sh*'",
            columns=("id", "name", "state"),
            summary="Search for projects; without a filter, list all.",
        ),
        command("show", f"GET {_PROJECT}", "idp project show 8sKq0Lw2", summary="Show a project."),
        command(
            "change",
            f"PUT {_PROJECT}",
            "idp project change 8sKq0Lw2 --name Store",
        ),
        command(
            "deactivate",
            f"POST {_PROJECT}/_deactivate",
            "idp project deactivate 8sKq0Lw2",
            confirm=(
                "Deactivate the project {} with its applications? All their tokens are revoked."
            ),
        ),
        command("reactivate", f"POST {_PROJECT}/_reactivate", "idp project reactivate 8sKq0Lw2"),
        command(
            "delete",
            f"DELETE {_PROJECT}",
            "idp project delete 8sKq0Lw2",
            confirm="Permanently delete the project {} with its applications?",
        ),
    ],
)

project_grant = group(
    "project-grant",
    "Grants of projects to other organizations, and the roles that these can assign.",
    [
        command(
            "create",
            f"POST {_GRANTS}",
            "idp project-grant create --project 8sKq0Lw2 --granted-org-id 5tYu8Io1"
            " --role-key buyer",
        ),
        command(
            "list",
            f"POST {_GRANTS}/_search",
            "idp project-grant list --project 8sKq0Lw2",
            columns=("grantId", "grantedOrgName", "grantedRoleKeys", "state"),
            summary="Search for grants of a project; without a filter, list all.",
        ),
        command(
            "show",
            f"GET {_GRANT}",
            "idp project-grant show --project 8sKq0Lw2 3vBn6Mq9",
            summary="Show a project grant.",
        ),
        command(
            "change",
            f"PUT {_GRANT}",
            "idp project-grant change --project 8sKq0Lw2 3vBn6Mq9 --role-key buyer",
        ),
        command(
            "deactivate",
            f"POST {_GRANT}/_deactivate",
            "idp project-grant deactivate --project 8sKq0Lw2 3vBn6Mq9",
            confirm=(
                "Deactivate the grant of the project {}, {}? Users who depend on it are signed"
                " out."
            ),
        ),
        command(
            "reactivate",
            f"POST {_GRANT}/_reactivate",
            "idp project-grant reactivate --project 8sKq0Lw2 3vBn6Mq9",
        ),
        command(
            "delete",
            f"DELETE {_GRANT}",
            "idp project-grant delete --project 8sKq0Lw2 3vBn6Mq9",
            confirm="Delete the grant of the project {}, {}, with the roles assigned through it?",
        ),
    ],
)

role = group(
    "role",
    "The roles of a project.",
    [
        command(
            "add",
            f"POST {_PROJECT}/roles",
            "idp role add --project 8sKq0Lw2 --key buyer --display-name Buyer",
            names={"roleKey": "key"},
        ),
        command(
            "list",
            f"GET {_PROJECT}/roles",
            "idp role list --project 8sKq0Lw2",
            columns=("key", "displayName", "group"),
            summary="List the roles of a project.",
        ),
        command(
            "change",
            f"PUT {_PROJECT}/roles/{{roleKey}}",
            "idp role change --project 8sKq0Lw2 buyer --display-name Customer",
        ),
        command(
            "remove",
            f"DELETE {_PROJECT}/roles/{{roleKey}}",
            "idp role remove --project 8sKq0Lw2 buyer",
            confirm="Delete the role {1} of the project {0}? The users who have it lose it.",
        ),
    ],
)
