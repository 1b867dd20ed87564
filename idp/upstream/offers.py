"""The connections that the sign-in pages of an organization offer: its own list, or else the
installation's."""

from __future__ import annotations

from idp.foundation import domain_names
from idp.foundation.texts import typed_texts
from idp.policies import page_settings
from idp.records.connections import (
    CONNECTIONS,
    OFFERED_CONNECTIONS,
    OfferedConnections,
    ProviderConnection,
    offered_id,
)
from idp.service import Service


async def records(
    service: Service, org_id: str | None
) -> tuple[OfferedConnections | None, OfferedConnections | None]:
    """Returns the list of the organization and that of the installation, each None if it is not
    stored, after one round trip."""
    own, default = await service.store.get_many(
        [(OFFERED_CONNECTIONS, offered_id(org_id)), (OFFERED_CONNECTIONS, offered_id(None))]
    )
    return own if org_id else None, default


async def offered(service: Service, org_id: str | None) -> list[ProviderConnection]:
    """Returns the connections that the organization (None: the installation) offers, whatever
    their state, in the order of their positions and names."""
    own, default = await records(service, org_id)
    chosen = own or default
    keys = [(CONNECTIONS, each) for each in chosen.connection_ids] if chosen else []
    connections = await service.store.get_many(keys) if keys else []
    # A connection that was deleted, or whose id is another organization's now, is left out.
    usable = [each for each in connections if each is not None and each.org_id in (None, org_id)]
    return sorted(usable, key=lambda each: (each.position, each.name_key, each.id))


async def usable(service: Service, org_id: str) -> list[ProviderConnection]:
    """Returns the active connections that the organization offers; none where its login policy
    allows no sign-in at other providers."""
    if not (await page_settings.find(service, org_id)).login.allow_external_idp:
        return []
    return [each for each in await offered(service, org_id) if each.state == "active"]


async def usable_cached(service: Service, org_id: str) -> list[ProviderConnection]:
    """Returns what `usable` returns, from a cache: it is for pages, and at most 5 s old."""
    settings = await page_settings.find(service, org_id)
    if not settings.connection_ids or not settings.login.allow_external_idp:
        return []
    return await service.settings_cache.get(
        ("connections", org_id), service.clock.now(), lambda: usable(service, org_id)
    )


def for_domain(connections: list[ProviderConnection], login_name: str) -> list[ProviderConnection]:
    """Returns the connections to which users are sent whose login name has this domain."""
    _, at, domain = typed_texts.name(login_name).rpartition("@")
    key = domain_names.key(domain)
    return [each for each in connections if at and key in each.domains]
