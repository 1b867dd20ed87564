"""Operations at /v2/groups: groups of users, their members and roles."""

from __future__ import annotations

from typing import Final

from idp.api.operation import named_in, operation
from idp.management.groups import grants, groups, members, search

_GROUPS: Final = "/v2/groups"
_GROUP: Final = f"{_GROUPS}/{{groupId}}"
_MEMBERS: Final = f"{_GROUP}/users"
_GRANT: Final = f"{_GROUP}/grants/{{projectId}}"

CREATE: Final = operation(
    f"POST {_GROUPS}",
    "group.write",
    groups.create,
    name="groups_create",
    summary="Create a group in the call's organization.",
)
SEARCH: Final = operation(
    f"POST {_GROUPS}/_search",
    "group.read",
    search.search,
    name="groups_search",
    summary="Search for groups in all organizations that the caller may read.",
)
READ: Final = operation(
    f"GET {_GROUP}",
    "group.read",
    groups.show,
    name="groups_show",
    summary="Get a group with its roles in projects.",
)
CHANGE: Final = operation(
    f"PUT {_GROUP}",
    "group.write",
    groups.change,
    name="groups_change",
    summary="Replace a group's name and external ID.",
    conditional=True,
)
REMOVE: Final = operation(
    f"DELETE {_GROUP}",
    "group.write",
    groups.remove,
    name="groups_remove",
    summary="Delete a group; its members lose the roles that they have through it.",
    conditional=True,
)
ADD_MEMBERS: Final = operation(
    f"POST {_MEMBERS}",
    "group.write",
    members.add,
    name="group_members_add",
    summary="Add users to a group, all or none.",
)
SEARCH_MEMBERS: Final = operation(
    f"POST {_MEMBERS}/_search",
    "group.read",
    members.search,
    name="group_members_search",
    summary="List the members of a group, and the source of each membership.",
)
REMOVE_MEMBERS: Final = operation(
    f"DELETE {_MEMBERS}",
    "group.write",
    members.remove,
    name="group_members_remove",
    summary="Remove a user from a group.",
)
SET_GRANT: Final = operation(
    f"PUT {_GRANT}",
    "group.write",
    grants.put,
    name="group_grants_put",
    summary="Assign roles of a project to a group, in place of its present ones.",
    conditional=True,
)
REMOVE_GRANT: Final = operation(
    f"DELETE {_GRANT}",
    "group.write",
    grants.remove,
    name="group_grants_remove",
    summary="Remove the roles that a group has in a project.",
    conditional=True,
)
OPERATIONS: Final = named_in(globals())
