"""Introspection (RFC 7662): whether a token is valid, for the resource servers in its audience."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from idp.oauth.authentication import access_token_verification, client_authentication
from idp.oauth.authentication.access_token_verification import Presented
from idp.oauth.authentication.client_authentication import INTROSPECTION_METHODS
from idp.oauth.errors import InvalidToken
from idp.oauth.params import Params
from idp.oauth.refusals.check import ONCE
from idp.oauth.refusals.introspect import TOKEN_SENT
from idp.oauth.tokens import user_claims
from idp.oauth.tokens import validity as token_validity
from idp.oauth.tokens.access_tokens import AccessToken
from idp.oauth.tokens.validity import LiveRecords
from idp.records import Application, User
from idp.service import Service

INACTIVE: Final[dict[str, Any]] = {"active": False}


async def answer(service: Service, authorization: str | None, params: Params) -> dict[str, Any]:
    """Returns the token's claims, or `{"active": false}` without a reason. Raises `OAuthError`.

    The client, the token and all that it depends on are read in one round trip.
    """
    with ONCE:
        params.refuse_repeated()
    # The token is opened before the caller is authenticated, so that the records of both are read
    # together.
    token = await _open(service, params)
    keys = token_validity.keys(token.dependencies) if token else []
    caller, found = await client_authentication.authenticate_any(
        service, authorization, params, keys, INTROSPECTION_METHODS
    )
    with TOKEN_SENT:
        params.required("token")
    stands = await token_validity.judge(service, token.dependencies, found) if token else None
    # RFC 7662 2.2: a caller that may not know of the token gets the same response as for an
    # invalid one.
    if token is None or stands is None or not _is_meant_for(caller, token, stands):
        return INACTIVE
    # Only for an active token: a refused one was not used.
    access_token_verification.note_use(service, token)
    return await _described(service, caller, token, stands)


async def _open(service: Service, params: Params) -> Presented | None:
    try:
        return await access_token_verification.open(service, params.get("token") or "")
    except InvalidToken:
        return None


def _is_meant_for(caller: Application | User, token: Presented, stands: LiveRecords) -> bool:
    """Returns whether the caller or its project is in the audience.

    A personal access token is meant for every application of its user's organization.
    """
    if isinstance(caller, User):
        return not token.is_pat and caller.id in token.claims.aud
    if token.is_pat:
        return stands.subject is not None and caller.org_id == stands.subject.organization.id
    return caller.id in token.claims.aud or caller.project_id in token.claims.aud


async def _described(
    service: Service, caller: Application | User, token: Presented, stands: LiveRecords
) -> dict[str, Any]:
    """Returns the token's claims, and what its scopes release about its user to the caller."""
    said, reader = token.claims, caller if isinstance(caller, Application) else None
    audience = [*said.aud, reader.project_id] if token.is_pat and reader else said.aud
    told: dict[str, Any] = {}
    if stands.subject is not None:
        user, organization = stands.subject.user, stands.subject.organization
        told = await user_claims.released(
            service,
            stands.subject,
            said.scope.split(" "),
            audience=audience,
            reader=reader,
            reader_org_id=caller.org_id,
        )
        told["username"] = f"{user.user_name}@{organization.primary_domain}"
    return told | _said(said, audience)


def _said(said: AccessToken, audience: list[str]) -> dict[str, Any]:
    body: dict[str, Any] = {
        "active": True,
        "iss": said.iss,
        "sub": said.sub,
        "aud": audience,
        "client_id": said.client_id,
        "exp": said.exp,
        "iat": said.iat,
        "nbf": said.nbf,
        "jti": said.jti,
        "scope": said.scope,
        "token_type": "Bearer",
    }
    if said.auth_time is not None:
        body["auth_time"] = said.auth_time
    if said.amr:
        body["amr"] = said.amr
    if said.act is not None:
        body["act"] = msgspec.to_builtins(said.act)
    return body
