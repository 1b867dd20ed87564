"""`idp group`: groups of users, their members and their roles."""

from __future__ import annotations

from idp import api
from idp.cli.building import group as command_group
from idp.cli.command import Command

group = command_group(
    "group",
    "Groups of an organization's users, and their roles.",
    [
        Command("create", api.groups.CREATE, "idp group create --name Sales --get id"),
        Command(
            "list",
            api.groups.SEARCH,
            "idp group list --name 'sa*'",
            columns=("id", "name", "memberCount", "externalId"),
            summary="Search for groups; without a filter, list all.",
        ),
        Command("show", api.groups.READ, "idp group show 4hTz7Wq1", summary="Show a group."),
        Command("change", api.groups.CHANGE, "idp group change 4hTz7Wq1 --name Selling"),
        Command(
            "delete",
            api.groups.REMOVE,
            "idp group delete 4hTz7Wq1",
            confirm="Delete the group {}? Its members lose the roles that they have through it.",
        ),
        Command(
            "add-user", api.groups.ADD_MEMBERS, "idp group add-user 4hTz7Wq1 --user-id 9sKd2Lf5"
        ),
        Command(
            "remove-user",
            api.groups.REMOVE_MEMBERS,
            "idp group remove-user 4hTz7Wq1 --user-id 9sKd2Lf5",
        ),
        Command(
            "users",
            api.groups.SEARCH_MEMBERS,
            "idp group users 4hTz7Wq1",
            columns=("userId", "preferredLoginName", "displayName", "sources"),
            summary="List the members of a group.",
        ),
        Command(
            "grant",
            api.groups.SET_GRANT,
            "idp group grant 4hTz7Wq1 --project 8sKq0Lw2 --role-key buyer",
            argument="groupId",
        ),
        Command(
            "revoke",
            api.groups.REMOVE_GRANT,
            "idp group revoke 4hTz7Wq1 --project 8sKq0Lw2",
            argument="groupId",
            confirm="Remove the roles of the group {} in the project?",
        ),
    ],
)
