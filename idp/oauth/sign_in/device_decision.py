"""The user's decision to allow or deny a device, made once and in one browser.

That is the browser where the user code was entered.
"""

from __future__ import annotations

from typing import Final

from msgspec import structs

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.foundation import uris
from idp.identity.sessions import clients as session_clients
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.sessions.lifetime import LiveSession
from idp.oauth.endpoints import authorization_result, repeated_answers
from idp.oauth.endpoints.authorization_response import AuthorizationResponse
from idp.oauth.tokens import allowed_users, audiences
from idp.oauth.tokens.access_tokens import lifetime
from idp.records import (
    AUTH_REQUESTS,
    AUTHORIZATIONS,
    DEVICE_REQUESTS,
    Application,
    AuthRequest,
    Browser,
    DeviceRequest,
)
from idp.service import Service
from storage import Conflict, Stale, Update, Write
from storage.confirmed_commit import commit_confirmed

DONE: Final = "/ui/device/done"


async def allow(
    service: Service, client: Application, request: AuthRequest, live_session: LiveSession
) -> AuthorizationResponse:
    """Allows the device the requested scopes, and returns the redirect to the last page.

    The device gets its tokens when it polls next. It is denied instead when the user may not use
    the client. Raises `Stale` when the user has decided already.
    """
    decision = await allowed_users.find(service, client, live_session.subject)
    client_with_organization = authorization_result.with_organization(client, decision)
    if client_with_organization is None or decision.grounds is None:
        return await deny(service, request)
    now, user = service.clock.now(), live_session.subject.user
    granted = await audiences.of_application(service, client, request.scopes)
    authorization = structs.replace(
        authorization_result.authorization(
            service,
            client_with_organization,
            granted,
            request,
            live_session,
            now,
            decision.grounds,
        ),
        # The id of the device request: the poll finds the authorization by its device code alone.
        id=request.device_id,
        grant="device",
        expires_at=request.expires_at + lifetime(service.config, client.access_token_type),
        sequence=1,
    )
    entry = AuditEntry("device.allowed", user.id, now, payload={"client": client.id})
    writes = events.insertion(service.random, AUTHORIZATIONS, authorization, entry)
    # Before the unit: a concurrent logout must find every client that gets tokens.
    await session_clients.remember(service, live_session.session, client)
    try:
        await commit_confirmed(
            service.store, *_decision(service, request, is_allowed=True), *writes
        )
    except Conflict:
        raise Stale(DEVICE_REQUESTS.name, authorization.id) from None
    await session_lifetime.touch(service, live_session.session)
    return _done(request)


async def deny(service: Service, request: AuthRequest) -> AuthorizationResponse:
    """Denies the device, and returns the redirect to the last page.

    Raises `Stale` when the user has decided already.
    """
    await service.store.commit(*_decision(service, request, is_allowed=False))
    return _done(request)


def _decision(service: Service, request: AuthRequest, *, is_allowed: bool) -> list[Write]:
    now = service.clock.now()
    decided = {"decided_at": now, "is_allowed": is_allowed}
    completed = {
        "completed_at": now,
        "sealed_answer": repeated_answers.seal(service, _done(request)),
    }
    return [
        Update(AUTH_REQUESTS, request.id, set=completed, expect={"completed_at": None}),
        Update(DEVICE_REQUESTS, request.device_id or "", set=decided, expect={"decided_at": None}),
    ]


def _done(request: AuthRequest) -> AuthorizationResponse:
    return AuthorizationResponse(
        uris.with_parameters(request.redirect_uri, [("flow", request.id)])
    )


async def find(service: Service, flow_id: str, browser: Browser | None) -> DeviceRequest | None:
    """Returns the device's request that a user has allowed or denied in the sign-in with this id.

    None if there is none, or the sign-in was not in this browser.
    """
    request = await service.store.get(AUTH_REQUESTS, flow_id)
    if request is None or browser is None or request.agent_id != browser.id:
        return None
    if request.device_id is None or request.completed_at is None:
        return None
    return await service.store.get(DEVICE_REQUESTS, request.device_id)
