"""The messages to owners when a connection with links trusts another provider."""

from __future__ import annotations

from typing import Final

from idp.identity.users import memberships
from idp.mail.templates import connections
from idp.records import MEMBERSHIPS, USERS
from idp.records.connections import ProviderConnection
from idp.search import paging
from idp.service import Service
from storage import Write

_MAX_MESSAGES: Final = 50


async def for_owners(service: Service, connection: ProviderConnection) -> list[Write]:
    """Returns the writes of the messages to the owners of the connection's organization, or of the
    installation, for the unit of the change; at most fifty."""
    role, ids = memberships.owner_of(connection.org_id), list[str]()
    async for membership in paging.each(service, MEMBERSHIPS, {"org_id": connection.org_id}):
        if role in membership.roles:
            ids.append(membership.user_id)
        if len(ids) == _MAX_MESSAGES:
            break
    keys = [(USERS, user_id) for user_id in ids]
    owners = await service.store.get_many(keys) if keys else []
    return [
        write
        for owner in owners
        if owner is not None and owner.state == "active"
        for write in connections.trust_changed(service, owner, connection)
    ]
