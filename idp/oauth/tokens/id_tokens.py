"""ID tokens (OpenID Connect Core 2): which user signed in, when and how, for one client."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from idp.config.settings import Config
from idp.keys import jws
from idp.keys.jws import Parsed
from idp.keys.key_ring import LoadedKey
from idp.oauth.errors import InvalidRequest
from idp.oauth.refusals import details as refusal_details
from idp.records import Actor, SigningAlgorithm
from idp.service import Service

TYPE: Final = "JWT"
T = TypeVar("T")


class Hint(Struct, frozen=True):
    """The claims of an `id_token_hint` with a valid signature; it may have expired."""

    sub: str
    azp: str
    sid: str | None = None


class IdTokenClaims(Struct, frozen=True):
    """The claims of an ID token with a valid signature; it may have expired."""

    sub: str
    aud: str
    exp: int
    auth_time: int
    sid: str | None = None
    amr: list[str] = []
    acr: str | None = None


class IdTokenRequest(Struct, frozen=True, kw_only=True):
    """The claims of an ID token to issue. It carries the hashes of `access_token` and `code`
    (OpenID Connect Core 3.3.2.11)."""

    sub: str
    client_id: str
    auth_time: datetime
    amr: list[str]
    acr: str | None = None
    nonce: str | None = None
    session_id: str | None = None
    access_token: str | None = None
    code: str | None = None
    claims: Mapping[str, Any] = {}
    algorithm: SigningAlgorithm = "RS256"
    actor: Actor | None = None
    ends_at: datetime | None = None


def expiry(config: Config, ends_at: datetime | None, now: datetime) -> int:
    """Returns when an ID token that is issued at `now` expires, in seconds since 1970.

    That is after its configured lifetime, or at `ends_at` if that is sooner.
    """
    expires_at = int(now.timestamp()) + config.id_token_seconds
    return min(expires_at, int(ends_at.timestamp())) if ends_at else expires_at


async def issue(service: Service, request: IdTokenRequest, now: datetime) -> str:
    """Returns a signed ID token. `aud` is the client alone."""
    issued_at = int(now.timestamp())
    optional = {
        "acr": request.acr,
        "nonce": request.nonce,
        "sid": request.session_id,
        "at_hash": _hash(request, request.access_token),
        "c_hash": _hash(request, request.code),
        "act": msgspec.to_builtins(request.actor),
    }
    token = {
        # The protocol's claims come after those about the user: none of these may replace them.
        **request.claims,
        "iss": service.config.issuer,
        "sub": request.sub,
        "aud": request.client_id,
        "azp": request.client_id,
        "exp": expiry(service.config, request.ends_at, now),
        "iat": issued_at,
        "auth_time": int(request.auth_time.timestamp()),
        "amr": request.amr,
        **{name: value for name, value in optional.items() if value is not None},
    }
    return jws.sign(await service.keys.signing(request.algorithm), TYPE, token)


def _hash(request: IdTokenRequest, value: str | None) -> str | None:
    return None if value is None else jws.half_hash(request.algorithm, value)


async def read_hint(service: Service, token: str) -> Hint:
    """Returns the claims of an `id_token_hint` of this issuer, even if it has expired.

    Raises `InvalidRequest` for any other text.
    """
    try:
        parsed = jws.parse(token)
        # A hint may be older than any valid token: it only names the user and the client, and
        # gives no access.
        key = await service.keys.for_hints(parsed.header.kid)
        return _read(service, parsed, key, Hint)
    except (jws.NotAToken, msgspec.ValidationError) as error:
        description = "id_token_hint is not an ID token of this service"
        raise InvalidRequest(
            description, details=refusal_details.no_id_token(service.config, token)
        ) from error


async def read(service: Service, token: str) -> IdTokenClaims:
    """Returns the claims of an ID token of this issuer, even if it has expired.

    Raises `NotAToken` for any other text.
    """
    try:
        parsed = jws.parse(token)
        key = await service.keys.for_tokens(parsed.header.kid)
        return _read(service, parsed, key, IdTokenClaims)
    except msgspec.ValidationError as error:
        raise jws.NotAToken("not an ID token") from error


def _read(service: Service, parsed: Parsed, key: LoadedKey | None, kind: type[T]) -> T:
    if key is None or parsed.header.typ != TYPE:
        raise jws.NotAToken("not signed by a key of this issuer")
    jws.verify(key, parsed)
    wire = msgspec.json.decode(parsed.payload)
    if wire.get("iss") != service.config.issuer:
        raise jws.NotAToken("issued by someone else")
    return msgspec.convert(wire, kind)
