"""`idp project` and `idp role`."""

from __future__ import annotations

from typing import Final

from idp.cli.building import group
from idp.cli.command import command

_PROJECTS: Final = "/management/v1/projects"
_PROJECT: Final = f"{_PROJECTS}/{{projectId}}"

project = group(
    "project",
    "Projects: what groups applications and their roles.",
    [
        command("create", f"POST {_PROJECTS}", "idp project create --name Shop --get id"),
        command(
            "list",
            f"POST {_PROJECTS}/_search",
            "idp project list --name 'sh*'",
            columns=("id", "name", "state"),
            summary="Find projects; without a filter, all that there are.",
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
            asks="Shut the project {} with its applications? All that was issued to these ends.",
        ),
        command("reactivate", f"POST {_PROJECT}/_reactivate", "idp project reactivate 8sKq0Lw2"),
        command(
            "delete",
            f"DELETE {_PROJECT}",
            "idp project delete 8sKq0Lw2",
            asks="Delete the project {} with its applications, for good?",
        ),
    ],
)

role = group(
    "role",
    "The roles that a project knows.",
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
            asks="Let the project {} forget the role {}? Whoever has it loses it.",
        ),
    ],
)
