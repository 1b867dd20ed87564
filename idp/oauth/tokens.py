"""Access tokens that carry their own claims: a signed JWT (RFC 9068), or the same claims sealed.

Issuing one writes nothing of its own. Both kinds name every record they depend on (`References`),
so that one look-up of several records tells whether a token still stands.

An opaque token is `v1.` kid `.` salt ‖ ciphertext (base64url), encrypted with AES-256-GCM under
a subkey that HKDF derives from a sealing key and the token's own random 128-bit salt; version
and kid are associated data. The nonce is constant because no subkey is used twice.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from msgspec import Struct

from idp import base64url
from idp.oauth import jose
from idp.records import Application, Authorization
from idp.service import Service

JWT_TYPE: Final = "at+jwt"
_VERSION: Final = "v1"
_SALT_BYTES: Final = 16
_NONCE: Final = bytes(12)


class References(Struct, frozen=True, omit_defaults=True):
    """The records that a token depends on, and the digest of their stamps at its issue."""

    authorization: str
    user_org: str
    client_org: str
    stamps: str
    session: str | None = None


class AccessToken(Struct, frozen=True, omit_defaults=True):
    """The claims of an access token (RFC 9068 2.2); instants in whole seconds."""

    iss: str
    sub: str
    aud: list[str]
    exp: int
    iat: int
    nbf: int
    jti: str
    client_id: str
    scope: str
    auth_time: int
    amr: list[str]
    acr: str
    ref: References


class Issued(Struct, frozen=True):
    """A new access token and what its response says about it."""

    token: str
    expires_in: int


def lifetime_seconds(service: Service, client: Application) -> int:
    """A JWT lives shorter: who validates it alone doesn't learn of its revocation."""
    config = service.config
    if client.access_token_type == "jwt":  # noqa: S105 - a kind, not a secret
        return config.jwt_access_token_seconds
    return config.access_token_seconds


async def issue(
    service: Service,
    client: Application,
    authorization: Authorization,
    *,
    scopes: list[str],
    session_id: str | None,
    now: datetime,
) -> Issued:
    """A new access token of `authorization`. `session_id` None: it outlives the session."""
    expires_in = lifetime_seconds(service, client)
    issued_at = int(now.timestamp())
    claims = AccessToken(
        iss=service.config.issuer,
        sub=authorization.user_id,
        aud=authorization.audience,
        exp=issued_at + expires_in,
        iat=issued_at,
        nbf=issued_at,
        jti=service.random.id(),
        client_id=client.id,
        scope=" ".join(scopes),
        auth_time=int(authorization.auth_time.timestamp()),
        amr=authorization.amr,
        acr=authorization.acr,
        ref=References(
            authorization=authorization.id,
            user_org=authorization.org_id,
            client_org=authorization.client_org_id,
            stamps=authorization.stamps,
            session=session_id,
        ),
    )
    is_jwt = client.access_token_type == "jwt"  # noqa: S105 - a kind, not a secret
    token = await (_sign(service, claims) if is_jwt else _seal(service, claims))
    return Issued(token=token, expires_in=expires_in)


async def read(service: Service, token: str) -> AccessToken | None:
    """The claims of a genuine access token of this issuer, which may have expired; else None."""
    claims = await (_open(service, token) if token.startswith("v1.") else _verify(service, token))
    return claims if claims is not None and claims.iss == service.config.issuer else None


def is_expired(claims: AccessToken, now: datetime) -> bool:
    return now.timestamp() >= claims.exp


async def _sign(service: Service, claims: AccessToken) -> str:
    key = await service.keys.signing()
    return jose.sign(key, JWT_TYPE, _jwt_claims(service, claims))


def _jwt_claims(service: Service, claims: AccessToken) -> dict[str, object]:
    wire: dict[str, object] = msgspec.to_builtins(claims)
    wire[_reference_claim(service)] = wire.pop("ref")
    return wire


def _reference_claim(service: Service) -> str:
    return f"urn:{service.config.vendor}:ref"


async def _verify(service: Service, token: str) -> AccessToken | None:
    try:
        parsed = jose.parse(token)
        key = await service.keys.for_tokens(parsed.header.kid)
        if key is None or parsed.header.typ != JWT_TYPE:
            return None
        jose.verify(key, parsed)
        wire = msgspec.json.decode(parsed.payload)
        wire["ref"] = wire.pop(_reference_claim(service))
        return msgspec.convert(wire, AccessToken)
    except (jose.NotAToken, KeyError, msgspec.ValidationError):
        return None


async def _seal(service: Service, claims: AccessToken) -> str:
    key = await service.keys.sealing()
    salt = service.random.token_bytes(_SALT_BYTES)
    cipher = _cipher(key.symmetric or b"", salt)
    header = f"{_VERSION}.{key.kid}"
    sealed = cipher.encrypt(_NONCE, msgspec.json.encode(claims), header.encode())
    return f"{header}.{base64url.encode(salt + sealed)}"


async def _open(service: Service, token: str) -> AccessToken | None:
    header, _, body = token.rpartition(".")
    if len(token) > jose.MAX_TOKEN_CHARACTERS:
        return None
    key = await service.keys.for_tokens(header.removeprefix(f"{_VERSION}."))
    if key is None or key.symmetric is None:
        return None
    try:
        octets = jose.decode(body)
        cipher = _cipher(key.symmetric, octets[:_SALT_BYTES])
        plain = cipher.decrypt(_NONCE, octets[_SALT_BYTES:], header.encode())
    except (jose.NotAToken, InvalidTag, ValueError):
        return None
    return msgspec.json.decode(plain, type=AccessToken)


def _cipher(key: bytes, salt: bytes) -> AESGCM:
    hkdf = HKDF(algorithm=hashes.SHA256(), length=32, salt=salt, info=b"access-token")
    return AESGCM(hkdf.derive(key))
