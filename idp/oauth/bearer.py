"""Bearer tokens (RFC 6750): who is calling, and with which scopes."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import Struct

from idp.identity import pats, subjects
from idp.identity.subjects import Named
from idp.oauth import scopes, stories, tokens
from idp.oauth.checks.userinfo import TOKEN_GENUINE, TOKEN_SENT, TOKEN_STANDS, TOKEN_UNEXPIRED
from idp.oauth.errors import InvalidRequest, InvalidToken
from idp.oauth.params import Params
from idp.records import User
from idp.service import Service

_PAT_SCOPES = (scopes.OPENID, "profile", "email")


class Bearer(Struct, frozen=True):
    """The user that a valid token stands for, what it lets its holder see, and whom it is for."""

    user: User
    scopes: list[str]
    audience: list[str]


def read(authorization: str | None, params: Params) -> str:
    """The token of a request: in the header, or as the form field `access_token`, not both.

    Raises InvalidToken (without a description when there is no token at all) or InvalidRequest.
    """
    with TOKEN_SENT:
        in_form = params.get("access_token")
        if authorization is None:
            if in_form is None:
                story = "The request has no access token; the challenge names no error then"
                raise InvalidToken("", story=f"{story} (RFC 6750, 3.1).")
            return in_form
        if in_form is not None:
            raise InvalidRequest("the token was sent by header and by form; use one of them")
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip(" "):
            raise InvalidToken("the Authorization header has no Bearer token")
        return token.strip(" ")


async def authenticate(service: Service, token: str) -> Bearer:
    """The caller. Raises InvalidToken unless the token and all it depends on still stand."""
    return await (_by_pat if pats.is_pat(service, token) else _by_access_token)(service, token)


def _refused(story: str, client_id: str | None = None) -> InvalidToken:
    """The same words to the caller, whatever the reason."""
    told = "the token is unknown, has expired or was revoked"
    return InvalidToken(told, story=story, client_id=client_id)


async def _by_pat(service: Service, token: str) -> Bearer:
    subject = await pats.find_subject(service, token)
    with TOKEN_STANDS:
        if subject is None:
            raise _refused(
                "The personal access token is unknown, has expired or was deleted, or its user "
                "is not active or was changed since."
            )
    audience = [service.config.issuer]
    return Bearer(user=subject.user, scopes=list(_PAT_SCOPES), audience=audience)


async def _by_access_token(service: Service, token: str) -> Bearer:
    claims = await tokens.read(service, token)
    with TOKEN_GENUINE:
        if claims is None:
            raise _refused(stories.foreign_token(service.config, token))
    with TOKEN_UNEXPIRED:
        now = service.clock.now()
        if tokens.is_expired(claims, now):
            since = stories.span(now - datetime.fromtimestamp(claims.exp, UTC))
            raise _refused(f"The access token expired {since} ago.", claims.client_id)
    named = Named(
        authorization_id=claims.ref.authorization,
        user_id=claims.sub,
        org_id=claims.ref.user_org,
        client_id=claims.client_id,
        client_org_id=claims.ref.client_org,
        stamps=claims.ref.stamps,
    )
    grantee = await subjects.find_grantee(service, named, claims.ref.session)
    with TOKEN_STANDS:
        if grantee is None or (claims.ref.session and grantee.session is None):
            story = await stories.fallen(service, named, claims.ref.session)
            raise _refused(story, claims.client_id)
    user, scopes = grantee.subject.user, claims.scope.split(" ")
    return Bearer(user=user, scopes=scopes, audience=claims.aud)
