"""`idp project`, `idp project-grant` and `idp role`: projects, their roles, and the organizations
that may use them."""

from __future__ import annotations

from idp import api
from idp.cli.building import group
from idp.cli.command import Command

project = group(
    "project",
    "Projects: groups of applications and their roles.",
    [
        Command("create", api.projects.CREATE, "idp project create --name Shop --get id"),
        Command(
            "list",
            api.projects.SEARCH,
            "idp project list --name 'sh*'",
            columns=("id", "name", "state"),
            summary="Search for projects; without a filter, list all.",
        ),
        Command("show", api.projects.READ, "idp project show 8sKq0Lw2", summary="Show a project."),
        Command("change", api.projects.CHANGE, "idp project change 8sKq0Lw2 --name Store"),
        Command(
            "deactivate",
            api.projects.DEACTIVATE,
            "idp project deactivate 8sKq0Lw2",
            confirm=(
                "Deactivate the project {} with its applications? All their tokens are revoked."
            ),
        ),
        Command("reactivate", api.projects.REACTIVATE, "idp project reactivate 8sKq0Lw2"),
        Command(
            "delete",
            api.projects.REMOVE,
            "idp project delete 8sKq0Lw2",
            confirm="Permanently delete the project {} with its applications?",
        ),
    ],
)

project_grant = group(
    "project-grant",
    "Grants of projects to other organizations, and the roles that these can assign.",
    [
        Command(
            "create",
            api.projects.CREATE_GRANT,
            "idp project-grant create --project 8sKq0Lw2 --granted-org-id 5tYu8Io1"
            " --role-key buyer",
        ),
        Command(
            "list",
            api.projects.SEARCH_GRANTS,
            "idp project-grant list --project 8sKq0Lw2",
            columns=("grantId", "grantedOrgName", "grantedRoleKeys", "state"),
            summary="Search for grants of a project; without a filter, list all.",
        ),
        Command(
            "show",
            api.projects.READ_GRANT,
            "idp project-grant show --project 8sKq0Lw2 3vBn6Mq9",
            summary="Show a project grant.",
        ),
        Command(
            "change",
            api.projects.CHANGE_GRANT,
            "idp project-grant change --project 8sKq0Lw2 3vBn6Mq9 --role-key buyer",
        ),
        Command(
            "deactivate",
            api.projects.DEACTIVATE_GRANT,
            "idp project-grant deactivate --project 8sKq0Lw2 3vBn6Mq9",
            confirm=(
                "Deactivate the grant of the project {}, {}? Users who depend on it are signed"
                " out."
            ),
        ),
        Command(
            "reactivate",
            api.projects.REACTIVATE_GRANT,
            "idp project-grant reactivate --project 8sKq0Lw2 3vBn6Mq9",
        ),
        Command(
            "delete",
            api.projects.REMOVE_GRANT,
            "idp project-grant delete --project 8sKq0Lw2 3vBn6Mq9",
            confirm="Delete the grant of the project {}, {}, with the roles assigned through it?",
        ),
    ],
)

role = group(
    "role",
    "The roles of a project.",
    [
        Command(
            "add",
            api.projects.ADD_ROLE,
            "idp role add --project 8sKq0Lw2 --key buyer --display-name Buyer",
            names={"roleKey": "key"},
        ),
        Command(
            "list",
            api.projects.ROLES,
            "idp role list --project 8sKq0Lw2",
            columns=("key", "displayName", "group"),
            summary="List the roles of a project.",
        ),
        Command(
            "change",
            api.projects.CHANGE_ROLE,
            "idp role change --project 8sKq0Lw2 buyer --display-name Customer",
        ),
        Command(
            "remove",
            api.projects.REMOVE_ROLE,
            "idp role remove --project 8sKq0Lw2 buyer",
            confirm="Delete the role {1} of the project {0}? The users who have it lose it.",
        ),
    ],
)
