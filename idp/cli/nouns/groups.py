"""`idp group`: groups of users, their members and their roles."""

from __future__ import annotations

from typing import Final

from idp.cli.building import group as command_group
from idp.cli.command import command

_GROUPS: Final = "/v2/groups"
_GROUP: Final = f"{_GROUPS}/{{groupId}}"
_MEMBERS: Final = f"{_GROUP}/users"
_GRANT: Final = f"{_GROUP}/grants/{{projectId}}"

group = command_group(
    "group",
    "Groups of an organization's users, and their roles.",
    [
        command("create", f"POST {_GROUPS}", "idp group create --name Sales --get id"),
        command(
            "list",
            f"POST {_GROUPS}/_search",
            "idp group list --name 'sa*'",
            columns=("id", "name", "memberCount", "externalId"),
            summary="Search for groups; without a filter, list all.",
        ),
        command("show", f"GET {_GROUP}", "idp group show 4hTz7Wq1", summary="Show a group."),
        command("change", f"PUT {_GROUP}", "idp group change 4hTz7Wq1 --name Selling"),
        command(
            "delete",
            f"DELETE {_GROUP}",
            "idp group delete 4hTz7Wq1",
            confirm="Delete the group {}? Its members lose the roles that they have through it.",
        ),
        command(
            "add-user",
            f"POST {_MEMBERS}",
            "idp group add-user 4hTz7Wq1 --user-id 9sKd2Lf5",
        ),
        command(
            "remove-user",
            f"DELETE {_MEMBERS}",
            "idp group remove-user 4hTz7Wq1 --user-id 9sKd2Lf5",
        ),
        command(
            "users",
            f"POST {_MEMBERS}/_search",
            "idp group users 4hTz7Wq1",
            columns=("userId", "preferredLoginName", "displayName", "sources"),
            summary="List the members of a group.",
        ),
        command(
            "grant",
            f"PUT {_GRANT}",
            "idp group grant 4hTz7Wq1 --project 8sKq0Lw2 --role-key buyer",
            argument="groupId",
        ),
        command(
            "revoke",
            f"DELETE {_GRANT}",
            "idp group revoke 4hTz7Wq1 --project 8sKq0Lw2",
            argument="groupId",
            confirm="Remove the roles of the group {} in the project?",
        ),
    ],
)
