"""Notifying applications of a session's end through the browser (Front-Channel Logout 1.0).

The page after a logout opens their addresses in frames, where the browser sends their cookies.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from idp.foundation import uris
from idp.identity.sessions import clients as session_clients
from idp.records import LOGOUT_REQUESTS, LogoutRequest
from idp.service import Service
from storage import Insert, Write


async def with_ended_sessions(
    service: Service, request: LogoutRequest, session_ids: Sequence[str]
) -> tuple[LogoutRequest, list[Write]]:
    """Returns the logout request to continue with, and the writes for the unit that ends the
    sessions.

    `session_ids` are those that the logout ends. If one of their applications has to be called
    through the browser, the returned request contains `session_ids`, and the caller commits its
    insertion in that unit. Otherwise the request is unchanged, and there are no writes.
    """
    if not await frames(service, session_ids):
        return request, []
    request_with_sessions = structs.replace(request, ended_session_ids=list(session_ids))
    return request_with_sessions, [Insert(LOGOUT_REQUESTS, request_with_sessions)]


async def frames(service: Service, session_ids: Sequence[str]) -> list[str]:
    """Returns the addresses that the logout page opens in frames (Front-Channel Logout 1.0, 2).

    There is one for each ended session and each application in it that has registered a
    `frontchannel_logout_uri`, with `iss` and `sid`.
    """
    addresses = []
    for session_id in session_ids:
        # By `iss` and `sid` an application finds which of its sessions has ended (2).
        parameters = [("iss", service.config.issuer), ("sid", session_id)]
        addresses += [
            uris.with_parameters(client.front_channel_logout_uri, parameters)
            for client in await session_clients.find(service, session_id)
            if client.front_channel_logout_uri
        ]
    return addresses
