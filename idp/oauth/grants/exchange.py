"""What the pipeline hands to a grant, and the parts that grants share."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from idp import credentials
from idp.credentials import Confidential
from idp.identity import sessions, subjects
from idp.identity.subjects import Grantee, Named
from idp.oauth import authorizations, id_tokens, stories, tokens
from idp.oauth.checks.token import GRANT_STANDS
from idp.oauth.errors import InvalidGrant
from idp.oauth.params import Params
from idp.oauth.scopes import OPENID
from idp.records import Application, Authorization, Refresh
from idp.service import Service


@dataclass(frozen=True)
class Exchange:
    """One authenticated request. `record` is what the grant's credential named, or None."""

    service: Service
    client: Application
    params: Params
    record: Authorization | None


class RefreshToken(Confidential, frozen=True):
    """A refresh token in the making: its text, and the record that remembers it by hashes."""

    text: str
    record: Refresh


def new_refresh_token(service: Service, authorization_id: str, now: datetime) -> RefreshToken:
    """The first of a family: the id, a family secret that stays, a secret that changes."""
    family, secret = service.random.token(), service.random.token()
    config = service.config
    absolute = now + timedelta(seconds=config.refresh_token_seconds)
    record = Refresh(
        family_hash=credentials.digest(family),
        current_hash=credentials.digest(secret),
        rotated_at=now,
        idle_expires_at=min(now + timedelta(seconds=config.refresh_token_idle_seconds), absolute),
        expires_at=absolute,
    )
    return RefreshToken(authorization_id + family + secret, record)


async def find_live(exchange: Exchange, authorization: Authorization) -> Grantee:
    """The user and the client, both still allowed. Raises InvalidGrant.

    A session that has ended is no refusal here (`Grantee.session` tells): `offline_access`
    outlives it, and each grant says what it means.
    """
    named = Named(
        authorization_id=authorization.id,
        user_id=authorization.user_id,
        org_id=authorization.org_id,
        client_id=authorization.client_id,
        client_org_id=authorization.client_org_id,
        stamps=authorization.stamps,
    )
    grantee = await subjects.find_grantee(exchange.service, named, authorization.session_id)
    with GRANT_STANDS:
        if grantee is None:
            raise InvalidGrant(
                "the grant was revoked, or its user or client is not active any more",
                story=await stories.fallen(exchange.service, named),
            )
    return grantee


async def respond(
    exchange: Exchange,
    grantee: Grantee,
    *,
    scopes: list[str],
    refresh_token: str | None,
    with_nonce: bool,
    now: datetime,
) -> dict[str, Any]:
    """The token response (RFC 6749 5.1): signs, and writes nothing."""
    service, client, authorization = exchange.service, exchange.client, grantee.authorization
    session_id = _session_id(service, grantee, now)
    access = await tokens.issue(
        service, client, authorization, scopes=scopes, session_id=session_id, now=now
    )
    body: dict[str, Any] = {
        "access_token": access.token,
        "token_type": "Bearer",
        "expires_in": access.expires_in,
        "scope": " ".join(scopes),
    }
    if refresh_token is not None:
        body["refresh_token"] = refresh_token
    if OPENID in scopes:
        body["id_token"] = await id_tokens.issue(
            service,
            client,
            authorization,
            grantee.subject.user,
            scopes=scopes,
            access_token=access.token,
            session_id=session_id,
            with_nonce=with_nonce,
            now=now,
        )
    return body


def _session_id(service: Service, grantee: Grantee, now: datetime) -> str | None:
    """The session that new tokens die with, while it lasts; `offline_access` outlives it."""
    session = grantee.session
    if session is None or sessions.is_over(service.config, session, now):
        return None
    return session.id


def refuse_foreign(exchange: Exchange, authorization: Authorization, what: str) -> None:
    """Raise InvalidGrant when what the authorization gave belongs to another client."""
    if authorization.client_id != exchange.client.id:
        owner, sender = stories.quoted(authorization.client_id), stories.named(exchange.client)
        raise InvalidGrant(
            f"the {what} was issued to another client",
            story=f"The {what} was issued to the client {owner}; {sender} sent it.",
        )


async def refuse_replay(
    exchange: Exchange, authorization: Authorization, what: str, story: str
) -> None:
    """End everything that came of `authorization`, then raise InvalidGrant."""
    await authorizations.revoke(exchange.service, authorization, reason=f"{what} replayed")
    raise InvalidGrant(
        f"the {what} was used before; every token that came of it is revoked",
        story=f"{story} Every token that came of it is revoked.",
    )
