"""Introspection (RFC 7662): whether a token is valid, for the resource servers in its audience."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from idp.oauth.authentication import access_token_verification, client_authentication
from idp.oauth.authentication.access_token_verification import PresentedToken
from idp.oauth.authentication.client_authentication import INTROSPECTION_METHODS, Accepted
from idp.oauth.errors import InvalidToken
from idp.oauth.params import Params
from idp.oauth.paths import INTROSPECT
from idp.oauth.refusals.check import ONCE
from idp.oauth.refusals.introspect import TOKEN_SENT
from idp.oauth.tokens import user_claims
from idp.oauth.tokens import validity as token_validity
from idp.oauth.tokens.access_tokens import AccessToken
from idp.oauth.tokens.validity import ValidRecords
from idp.records import Application, User
from idp.service import Service

_ACCEPTED: Final = Accepted(INTROSPECT, INTROSPECTION_METHODS)
INACTIVE: Final[dict[str, Any]] = {"active": False}


async def respond(service: Service, authorization: str | None, params: Params) -> dict[str, Any]:
    """Returns the claims of the token in the form `params`, or `{"active": false}` without a
    reason.

    The latter is also for a caller that the token is not meant for. `authorization` is the header
    of that name; the client, the token and everything that it depends on are read in one round
    trip. Raises `OAuthError` if the caller is not authenticated or the form is wrong.
    """
    with ONCE:
        params.refuse_repeated()
    # The token is opened before the caller is authenticated, so that the records of both are read
    # together.
    token = await _open(service, params)
    keys = token_validity.keys(token.dependencies) if token else []
    caller, records, _ = await client_authentication.authenticate_any(
        service, authorization, params, keys, _ACCEPTED
    )
    with TOKEN_SENT:
        params.required("token")
    valid_records = (
        await token_validity.validate(service, token.dependencies, records) if token else None
    )
    # RFC 7662 2.2: a caller that may not know of the token gets the same response as for an
    # invalid one.
    if token is None or valid_records is None or not _is_meant_for(caller, token, valid_records):
        return INACTIVE
    # Only for an active token: a refused one was not used.
    access_token_verification.record_use(service, token)
    return await _described(service, caller, token, valid_records)


async def _open(service: Service, params: Params) -> PresentedToken | None:
    try:
        return await access_token_verification.read(service, params.get("token") or "")
    except InvalidToken:
        return None


def _is_meant_for(
    caller: Application | User, token: PresentedToken, valid_records: ValidRecords
) -> bool:
    """Returns whether the caller or its project is in the audience.

    A personal access token is meant for every application of its user's organization.
    """
    if isinstance(caller, User):
        return not token.is_pat and caller.id in token.claims.aud
    if token.is_pat:
        subject = valid_records.subject
        return subject is not None and caller.org_id == subject.organization.id
    return caller.id in token.claims.aud or caller.project_id in token.claims.aud


async def _described(
    service: Service,
    caller: Application | User,
    token: PresentedToken,
    valid_records: ValidRecords,
) -> dict[str, Any]:
    """Returns the token's claims, and what its scopes release about its user to the caller."""
    claims, reader = token.claims, caller if isinstance(caller, Application) else None
    audience = [*claims.aud, reader.project_id] if token.is_pat and reader else claims.aud
    released: dict[str, Any] = {}
    if valid_records.subject is not None:
        user, organization = valid_records.subject.user, valid_records.subject.organization
        released = await user_claims.released(
            service,
            valid_records.subject,
            claims.scope.split(" "),
            audience=audience,
            reader=reader,
            reader_org_id=caller.org_id,
        )
        released["username"] = f"{user.user_name}@{organization.primary_domain}"
    return released | _own_claims(claims, audience)


def _own_claims(claims: AccessToken, audience: list[str]) -> dict[str, Any]:
    body: dict[str, Any] = {
        "active": True,
        "iss": claims.iss,
        "sub": claims.sub,
        "aud": audience,
        "client_id": claims.client_id,
        "exp": claims.exp,
        "iat": claims.iat,
        "nbf": claims.nbf,
        "jti": claims.jti,
        "scope": claims.scope,
        "token_type": "Bearer",
    }
    if claims.auth_time is not None:
        body["auth_time"] = claims.auth_time
    if claims.amr:
        body["amr"] = claims.amr
    if claims.act is not None:
        body["act"] = msgspec.to_builtins(claims.act)
    return body
