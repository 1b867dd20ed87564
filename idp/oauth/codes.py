"""Answering an authorization request: the authorization record and its code."""

from __future__ import annotations

from datetime import timedelta

from msgspec import Struct

from idp import credentials
from idp.identity import session_clients, sessions
from idp.identity.sessions import LiveSession
from idp.oauth import audiences, responses, standing
from idp.oauth.audiences import Granted
from idp.oauth.responses import ReturnTo
from idp.oauth.standing import Client
from idp.oauth.tokens import lifetime
from idp.records import (
    AUTH_REQUESTS,
    AUTHORIZATIONS,
    ORGANIZATIONS,
    Application,
    Authorization,
    AuthRequest,
    Code,
)
from idp.service import Service
from storage import Insert, Update, Write
from storage.settling import commit_settled


class Issued(Struct, frozen=True):
    """An authorization to be stored, and the address that brings its code to the client."""

    authorization: Authorization
    location: str


def return_to(request: AuthRequest) -> ReturnTo:
    """Where the answer of a request goes."""
    return ReturnTo(
        redirect_uri=request.redirect_uri, mode=request.response_mode, state=request.state
    )


async def answer(
    service: Service, client: Application, request: AuthRequest, live: LiveSession, *, stored: bool
) -> str | None:
    """Issue a code for the session's user; the address to send the browser to.

    A stored request is completed in the same unit: of several tabs, one does it, and the others
    get Stale. None when the client's organization is gone.
    """
    organization = await service.store.get(ORGANIZATIONS, client.org_id)
    if organization is None or organization.state != "active":
        return None
    granted = await audiences.of_application(service, client, request.scopes)
    issued = _issue(service, Client(client, organization), granted, request, live)
    writes: list[Write] = [Insert(AUTHORIZATIONS, issued.authorization)]
    if stored:
        done = {"completed_at": service.clock.now()}
        writes.append(Update(AUTH_REQUESTS, request.id, set=done, expect={"completed_at": None}))
    await session_clients.remember(service, live.session, client)
    await commit_settled(service.store, *writes)
    await sessions.touch(service, live.session)
    return issued.location


def _issue(
    service: Service,
    client: Client,
    granted: Granted,
    request: AuthRequest,
    live: LiveSession,
) -> Issued:
    now, secret = service.clock.now(), service.random.token()
    subject, session = live.subject, live.session
    code_ends = now + timedelta(seconds=service.config.code_seconds)
    authorization = Authorization(
        id=service.random.id(),
        grant="code",
        client_id=client.application.id,
        client_org_id=client.organization.id,
        user_id=subject.user.id,
        org_id=subject.organization.id,
        session_id=session.id,
        scopes=granted.scopes,
        audience=granted.audience,
        auth_time=session.auth_time,
        amr=session.amr,
        acr=session.acr,
        stamps=standing.stamps_of(subject.instance, subject, client),
        created_at=now,
        expires_at=code_ends + lifetime(service.config, client.application.access_token_type),
        nonce=request.nonce,
        code=Code(
            hash=credentials.digest(secret),
            redirect_uri=request.redirect_uri,
            expires_at=code_ends,
            code_challenge=request.code_challenge,
        ),
    )
    location = responses.success(
        service.config, return_to(request), code=authorization.id + secret
    )
    return Issued(authorization=authorization, location=location)
