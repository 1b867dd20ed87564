"""Bodies for groups, and what such calls use up."""

from __future__ import annotations

from tests.support.samples.searches import NO_PLACE

_GROUPS = "/v2/groups"
_GROUP = f"{_GROUPS}/{{groupId}}"
_USERS = f"{_GROUP}/users"
_GRANT = f"{_GROUP}/grants/{{projectId}}"
_NAME = {"name": "Sales", "method": "TEXT_QUERY_METHOD_STARTS_WITH_IGNORE_CASE"}
BODIES = {
    f"POST {_GROUPS}": ({"name": "Sales {n}", "externalId": "s-{n}"},),
    f"PUT {_GROUP}": ({"name": "Selling {n}", "externalId": "s-{n}"},),
    f"POST {_GROUPS}/_search": (
        {"query": NO_PLACE, "queries": [{"nameQuery": _NAME}]},
        {"queries": [{"externalIdQuery": {"externalId": "s-1"}}]},
        {"queries": [{"userIdQuery": {"userId": "{member}"}}]},
    ),
    f"POST {_USERS}": ({"userIds": ["{member}"]},),
    f"POST {_USERS}/_search": ({"query": NO_PLACE},),
    f"PUT {_GRANT}": ({"roleKeys": ["{role}"]},),
}


async def new_group(world):
    return {
        "projectId": world.project,
        "groupId": await world.made(_GROUPS, "id", name=world.new_name("group")),
    }


async def with_member(world):
    """A group that a user may be taken out of."""
    ids = await new_group(world)
    await world.made(f"{_GROUPS}/{ids['groupId']}/users", None, userIds=[world.members[0]])
    return ids | {"userId": world.members[0]}


async def with_roles(world):
    """A group with roles in the project."""
    ids = await new_group(world)
    path = f"{_GROUPS}/{ids['groupId']}/grants/{world.project}"
    await world.made(path, None, method="PUT", roleKeys=[world.names["role"]])
    return ids


MADE = {
    f"GET {_GROUP}": new_group,
    f"PUT {_GROUP}": new_group,
    f"DELETE {_GROUP}": new_group,
    f"POST {_USERS}": new_group,
    f"POST {_USERS}/_search": with_member,
    f"DELETE {_USERS}": with_member,
    f"PUT {_GRANT}": with_roles,
    f"DELETE {_GRANT}": with_roles,
}
