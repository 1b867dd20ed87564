"""A browser's request for a page of a sign-in: everything that its address and its cookie name is
read together."""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from idp.cached_reads import KnownRecords
from idp.identity.sessions import browsers
from idp.identity.sessions import lifetime as session_lifetime
from idp.oauth.endpoints import sealed_requests
from idp.oauth.sign_in import first_party_areas
from idp.policies import effective
from idp.records import (
    APPLICATIONS,
    AUTH_REQUESTS,
    BROWSERS,
    INSTANCE_ID,
    INSTANCES,
    ORGANIZATIONS,
    AuthRequest,
    Browser,
    Session,
)
from idp.service import Service
from storage import Key

PURPOSE: Final = "flow"  # of the sealed requests


class FlowRequest(NamedTuple):
    """A request of a browser for a page of a flow: the flow's address, and the browser's cookie.

    `client_id` and `org_id` are those of the restart link in the address, None without one. They
    name records that the page will probably need, and have no other effect.
    """

    address: str
    cookie: str | None
    client_id: str | None
    org_id: str | None


class FlowRecords(NamedTuple):
    """The records that were read for a flow's request: the browser with its cookie, the browser's
    open sessions, the request that the address names, and in `known_records` everything that was
    read by its id."""

    browser: Browser | None
    sessions: list[Session]
    request: AuthRequest | None
    is_stored: bool
    known_records: KnownRecords


async def read(service: Service, flow_request: FlowRequest) -> FlowRecords:
    """Reads, in parallel, everything that the address and the cookie of an flow_request name."""
    content = browsers.read(service, flow_request.cookie)
    sealed, flow_id = _sealed_and_id(service, flow_request.address)
    keys = _keys(flow_request, sealed.client_id if sealed else flow_request.client_id)
    keys += [(AUTH_REQUESTS, flow_id)] if flow_id else []
    keys += [(BROWSERS, content.id)] if content else []
    # No user has signed in in a browser whose cookie still has its creation time.
    browser_id = content.id if content and content.made_at is None else None
    records, sessions = await asyncio.gather(
        service.store.get_many(keys), _open_sessions(service, browser_id)
    )
    known_records = KnownRecords(keys, records)
    browser = (
        browsers.of_record(service, content, known_records.get(BROWSERS, content.id))
        if content
        else None
    )
    stored = known_records.get(AUTH_REQUESTS, flow_id) if flow_id else None
    # Once stored, an old address in the browser's history must not bring back an earlier state.
    return FlowRecords(browser, sessions, stored or sealed, stored is not None, known_records)


def _sealed_and_id(service: Service, address: str) -> tuple[AuthRequest | None, str | None]:
    """Returns the sealed request, None for an id; and the id of the flow, None if another
    installation has sealed it."""
    if not sealed_requests.is_sealed(address):
        return None, address
    sealed = sealed_requests.read(service, address, AuthRequest, PURPOSE)
    return sealed, sealed.id if sealed else None


def _keys(flow_request: FlowRequest, client_id: str | None) -> list[Key]:
    keys: list[Key] = []
    if client_id is not None:
        keys.append((APPLICATIONS, client_id))
    if client_id in first_party_areas.AREAS:
        keys.append((INSTANCES, INSTANCE_ID))
    if flow_request.org_id is not None:
        keys += [
            (ORGANIZATIONS, flow_request.org_id),
            *effective.keys(flow_request.org_id, "login"),
        ]
    return keys


async def _open_sessions(service: Service, browser_id: str | None) -> list[Session]:
    return await session_lifetime.find_open_in(service, browser_id) if browser_id else []
