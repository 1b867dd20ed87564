"""`idp group`: groups of users, their members and their roles."""

from __future__ import annotations

from idp import api
from idp.cli.building import group as command_group
from idp.cli.command import command

group = command_group(
    "group",
    "Groups of an organization's users, and their roles.",
    [
        command("create", api.groups.CREATE, "idp group create --name Sales --get id"),
        command(
            "list",
            api.groups.SEARCH,
            "idp group list --name 'sa*'",
            columns=("id", "name", "memberCount", "externalId"),
            summary="Search for groups; without a filter, list all.",
        ),
        command("show", api.groups.READ, "idp group show 4hTz7Wq1", summary="Show a group."),
        command("change", api.groups.CHANGE, "idp group change 4hTz7Wq1 --name Selling"),
        command(
            "delete",
            api.groups.REMOVE,
            "idp group delete 4hTz7Wq1",
            confirm="Delete the group {}? Its members lose the roles that they have through it.",
        ),
        command(
            "add-user", api.groups.ADD_MEMBERS, "idp group add-user 4hTz7Wq1 --user-id 9sKd2Lf5"
        ),
        command(
            "remove-user",
            api.groups.REMOVE_MEMBERS,
            "idp group remove-user 4hTz7Wq1 --user-id 9sKd2Lf5",
        ),
        command(
            "users",
            api.groups.SEARCH_MEMBERS,
            "idp group users 4hTz7Wq1",
            columns=("userId", "preferredLoginName", "displayName", "sources"),
            summary="List the members of a group.",
        ),
        command(
            "grant",
            api.groups.SET_GRANT,
            "idp group grant 4hTz7Wq1 --project 8sKq0Lw2 --role-key buyer",
            argument="groupId",
        ),
        command(
            "revoke",
            api.groups.REMOVE_GRANT,
            "idp group revoke 4hTz7Wq1 --project 8sKq0Lw2",
            argument="groupId",
            confirm="Remove the roles of the group {} in the project?",
        ),
    ],
)
