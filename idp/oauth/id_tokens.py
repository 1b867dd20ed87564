"""ID tokens (OpenID Connect Core 2): who signed in, when and how, for one client."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec import Struct

from idp import base64url
from idp.oauth import claims, jose, stories
from idp.oauth.errors import InvalidRequest
from idp.records import Application, Authorization, User
from idp.service import Service

TYPE: Final = "JWT"


class Hint(Struct, frozen=True):
    """What a genuine `id_token_hint` says; it may have expired."""

    sub: str
    azp: str
    sid: str | None = None


async def issue(
    service: Service,
    client: Application,
    authorization: Authorization,
    user: User,
    *,
    scopes: Collection[str],
    access_token: str,
    session_id: str | None,
    with_nonce: bool,
    now: datetime,
) -> str:
    """The signed ID token. `aud` is the client alone; `at_hash` ties it to `access_token`."""
    issued_at = int(now.timestamp())
    token: dict[str, Any] = {
        "iss": service.config.issuer,
        "sub": authorization.user_id,
        "aud": client.id,
        "azp": client.id,
        "exp": issued_at + service.config.id_token_seconds,
        "iat": issued_at,
        "auth_time": int(authorization.auth_time.timestamp()),
        "amr": authorization.amr,
        "acr": authorization.acr,
        "at_hash": _half_hash(access_token),
    }
    if with_nonce and authorization.nonce is not None:
        token["nonce"] = authorization.nonce
    if session_id is not None:
        token["sid"] = session_id
    if client.id_token_userinfo_assertion:
        token |= claims.for_scopes(user, scopes)
    return jose.sign(await service.keys.signing(), TYPE, token)


def _half_hash(value: str) -> str:
    """OpenID Connect Core 3.1.3.6, for algorithms that hash by SHA-256."""
    return base64url.encode(hashlib.sha256(value.encode()).digest()[:16])


async def read_hint(service: Service, token: str) -> Hint:
    """What an `id_token_hint` of this issuer says; expired ones count. Raises InvalidRequest."""
    try:
        parsed = jose.parse(token)
        key = await service.keys.for_hints(parsed.header.kid)
        if key is None or parsed.header.typ != TYPE:
            raise jose.NotAToken("not signed by a key of this issuer")
        jose.verify(key, parsed)
        wire = msgspec.json.decode(parsed.payload)
        if wire.get("iss") != service.config.issuer:
            raise jose.NotAToken("issued by someone else")
        return msgspec.convert(wire, Hint)
    except (jose.NotAToken, msgspec.ValidationError) as error:
        told = "id_token_hint is not an ID token of this service"
        raise InvalidRequest(told, story=stories.no_id_token(service.config, token)) from error
