"""The result of a successful authorization request: the authorization record, and its code or
tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TypeAlias

from msgspec import Struct, structs

from idp.foundation import metrics, opaque_tokens
from idp.identity import authentication_context
from idp.identity.sessions import clients as session_clients
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.sessions.lifetime import LiveSession
from idp.oauth.endpoints import authorization_response
from idp.oauth.endpoints.authorization_response import AuthorizationResponse, ReturnTo
from idp.oauth.tokens import audiences, claims_request, token_response
from idp.oauth.tokens import validity as token_validity
from idp.oauth.tokens.access_tokens import lifetime
from idp.oauth.tokens.allowed_users import AccessDecision
from idp.oauth.tokens.audiences import AudienceAndScopes
from idp.oauth.tokens.authorizations import AuthorizedClient
from idp.oauth.tokens.validity import Client
from idp.records import (
    AUTHORIZATIONS,
    AccessGrounds,
    Application,
    Authorization,
    AuthRequest,
    Code,
)
from idp.service import Service
from idp.usage import active_users
from storage import Insert, Write
from storage.confirmed_commit import commit_confirmed

# Returns the writes that complete a request with this response, for which the authorization is
# stored.
Completion: TypeAlias = Callable[[AuthorizationResponse, Authorization], Sequence[Write]]


class AuthorizationResult(Struct, frozen=True):
    """A new authorization record, which is not stored yet, and the response with its code or
    tokens."""

    authorization: Authorization
    response: AuthorizationResponse

    def writes(self, completion: Completion) -> list[Write]:
        """Returns the writes of the unit that stores the authorization: its insertion, and those
        of `completion`."""
        insertion = Insert(AUTHORIZATIONS, self.authorization)
        return [insertion, *completion(self.response, self.authorization)]


def return_to(request: AuthRequest) -> ReturnTo:
    """Returns the redirect_uri, response mode and `state` of the response to a stored request."""
    return ReturnTo(
        redirect_uri=request.redirect_uri, mode=request.response_mode, state=request.state
    )


async def respond(
    service: Service,
    client: Application,
    request: AuthRequest,
    live_session: LiveSession,
    decision: AccessDecision,
    completion: Completion,
) -> AuthorizationResponse | None:
    """Stores the user's authorization, and returns the response with its code or tokens.

    By `decision` the session's user may use the client. The writes of `completion` complete
    the request in the same unit: one of several tabs succeeds, and the others get `Stale`, or
    `Conflict` where these writes insert. Returns None if the client's organization is deleted or
    not active.
    """
    result = await prepare(service, client, request, live_session, decision)
    if result is None:
        return None
    # Before the unit: a concurrent logout must find every client that gets tokens.
    await session_clients.remember(service, live_session.session, client)
    await commit_confirmed(service.store, *result.writes(completion))
    await session_lifetime.touch(service, live_session.session)
    active_users.record(service, live_session.subject.user)
    return result.response


async def prepare(
    service: Service,
    client: Application,
    request: AuthRequest,
    live_session: LiveSession,
    decision: AccessDecision,
) -> AuthorizationResult | None:
    """Returns what `respond` stores and returns, for a caller that commits it. None where
    `respond` returns None."""
    acting_client = with_organization(client, decision)
    if acting_client is None:
        return None
    now = service.clock.now()
    granted = await audiences.of_application(service, client, request.scopes)
    grounds = decision.grounds
    record = authorization(service, acting_client, granted, request, live_session, now, grounds)
    if request.response_type == "code":
        record, values = _with_code(service, request, client, record)
    else:
        authorized = AuthorizedClient(
            record, live_session.subject, acting_client, live_session.session
        )
        values = await _tokens(service, request, authorized, now)
    response = authorization_response.success(service.config, return_to(request), **values)
    return AuthorizationResult(record, response)


def with_organization(client: Application, decision: AccessDecision) -> Client | None:
    """Returns the client with its organization, as read with `decision`; None if that organization
    is deleted or not active."""
    organization = decision.organization
    if organization is None or organization.state != "active":
        return None
    return Client(client, organization)


def authorization(
    service: Service,
    client: Client,
    granted: AudienceAndScopes,
    request: AuthRequest,
    live_session: LiveSession,
    now: datetime,
    grounds: AccessGrounds | None,
) -> Authorization:
    """Returns the new authorization record for a user's request, without a code. It is not stored
    here.

    `granted` has its scopes and audience, and `grounds` the reasons for which the user may use the
    client, None if there is none to record. The record expires with the only access token that the
    implicit flow issues.
    """
    subject, session = live_session.subject, live_session.session
    return Authorization(
        id=service.random.id(),
        grant="code" if request.response_type == "code" else "implicit",
        client_id=client.application.id,
        client_org_id=client.organization.id,
        user_id=subject.user.id,
        org_id=subject.organization.id,
        session_id=session.id,
        scopes=granted.scopes,
        audience=granted.audience,
        auth_time=session.auth_time,
        amr=session.amr,
        acr=authentication_context.acr_claim(session.acr, request.acr_values),
        stamps=token_validity.stamps_of(subject.instance, subject, client),
        created_at=now,
        expires_at=now + timedelta(seconds=service.config.jwt_access_token_seconds),
        nonce=request.nonce,
        claims=request.claims,
        consented_claims=_consented_claims(request, client.application),
        grounds=grounds,
    )


def _consented_claims(request: AuthRequest, client: Application) -> list[str]:
    """Returns the claims beyond the scopes that the user agreed to: only third-party clients ask
    for consent."""
    return sorted(claims_request.beyond_scopes(request)) if client.is_third_party else []


def _with_code(
    service: Service, request: AuthRequest, client: Application, authorization: Authorization
) -> tuple[Authorization, dict[str, str]]:
    """Returns the authorization with a code. It expires with the last token that may be issued for
    the code."""
    secret = service.random.token()
    code_ends_at = authorization.created_at + timedelta(seconds=service.config.code_seconds)
    code = Code(
        hash=opaque_tokens.digest(secret),
        redirect_uri=request.redirect_uri,
        expires_at=code_ends_at,
        code_challenge=request.code_challenge,
    )
    token_lifetime = lifetime(service.config, client.access_token_type)
    authorization_with_code = structs.replace(
        authorization, code=code, expires_at=code_ends_at + token_lifetime
    )
    # The code begins with the record's id, so that redeeming it needs no index on the hash.
    return authorization_with_code, {"code": authorization.id + secret}


async def _tokens(
    service: Service, request: AuthRequest, authorized: AuthorizedClient, now: datetime
) -> dict[str, str]:
    """Returns the parameters of a response of the implicit flow (OpenID Connect Core 3.2.2.5)."""
    scopes, session_id = (
        authorized.authorization.scopes,
        token_response.session_of(service, authorized, now),
    )
    values, token = {}, None
    if request.response_type == "id_token token":
        access = await token_response.access_token(service, authorized, scopes, session_id, now)
        token = access.token
        metrics.TOKENS_ISSUED.count("implicit", authorized.token_kind)
        values = {
            "access_token": token,
            "token_type": "Bearer",
            "expires_in": str(access.expires_in),
            "scope": " ".join(scopes),
        }
    id_token = await token_response.id_token(
        service, authorized, scopes, session_id, now, nonce=request.nonce, access_token=token
    )
    return values | {"id_token": id_token}
