"""Web origins of applications: scripts of these origins may read the responses of protocol
endpoints (CORS, in the Fetch standard).

An origin is stored in the form in which browsers send it, so it is compared as a whole. `null`,
which unrelated pages share, belongs to no application.
"""

from __future__ import annotations

import re
from ipaddress import IPv6Address
from typing import Final
from urllib.parse import urlsplit

from idp.foundation import opaque_tokens
from idp.records import APPLICATIONS, CLIENT_ORIGINS, Application, ClientOrigin
from idp.service import Service
from storage import Delete, Insert, Write

_PORTS: Final = {"http": 80, "https": 443}
_ORIGIN: Final = re.compile(r"[a-z][a-z0-9+.-]*://[a-z0-9._:\[\]-]{1,300}")


def of(client: Application) -> set[str]:
    """Returns the origins of an application's redirect URIs, and the additional ones that are
    registered for it."""
    origins = {origin_of(uri) for uri in client.redirect_uris}
    origins |= {origin_of(origin) or origin for origin in client.additional_origins}
    return origins - {""}


def changes(before: Application | None, after: Application | None) -> list[Write]:
    """Returns the writes that update the stored origins of an application at its change from
    `before` to `after`, for the unit of that change.

    `before` is None if the application is created, `after` if it is removed.
    """
    old, new = (of(client) if client else set() for client in (before, after))
    writes: list[Write] = []
    if before is not None:
        removed = sorted(old - new)
        writes += [Delete(CLIENT_ORIGINS, _id(before.id, origin)) for origin in removed]
    if after is not None:
        added = sorted(new - old)
        writes += [Insert(CLIENT_ORIGINS, _record(after.id, origin)) for origin in added]
    return writes


async def is_registered(service: Service, origin: str) -> bool:
    """Returns whether the origin is registered for any application."""
    if not _ORIGIN.fullmatch(origin):  # the header may hold anything, which no record can match
        return False
    page = await service.store.find(CLIENT_ORIGINS, {"origin": origin}, limit=1)
    return bool(page.records)


async def is_of(service: Service, client_id: str, origin: str) -> bool:
    """Returns whether the origin is one of the application with this `client_id`.

    It is also true if there is no such application, so that scripts of every origin can read the
    error response.
    """
    client = await service.store.get(APPLICATIONS, client_id)
    return client is None or origin in of(client)


def origin_of(uri: str) -> str:
    """Returns the origin of a web address as browsers write it (RFC 6454 6.2); an empty string
    for other URIs."""
    parts = urlsplit(uri)
    if parts.scheme not in _PORTS:
        return ""
    host = parts.hostname or ""
    host = f"[{IPv6Address(host)}]" if ":" in host else host
    is_default_port = parts.port in (None, _PORTS[parts.scheme])
    return f"{parts.scheme}://{host}" + ("" if is_default_port else f":{parts.port}")


def _record(client_id: str, origin: str) -> ClientOrigin:
    return ClientOrigin(id=_id(client_id, origin), origin=origin, client_id=client_id)


def _id(client_id: str, origin: str) -> str:
    return opaque_tokens.digest(f"{client_id} {origin}")
