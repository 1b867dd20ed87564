"""`idp project` and `idp role`."""

from __future__ import annotations

from typing import Final

from idp.cli.command import command, group

_PROJECTS: Final = "/management/v1/projects"
_PROJECT: Final = f"{_PROJECTS}/{{projectId}}"

project = group(
    "project",
    "Projects: what groups applications and their roles.",
    [
        command("create", f"POST {_PROJECTS}", "idp project create --name Shop --get id"),
        command("show", f"GET {_PROJECT}", "idp project show 8sKq0Lw2", summary="Show a project."),
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
            "remove",
            f"DELETE {_PROJECT}/roles/{{roleKey}}",
            "idp role remove --project 8sKq0Lw2 buyer",
            asks="Let the project {} forget the role {}? Whoever has it loses it.",
        ),
    ],
)
