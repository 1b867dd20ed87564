"""Access tokens that carry their claims: a signed JWT (RFC 9068), or the same claims encrypted.

Issuing a token writes nothing to the store. Both kinds name every record they depend on
(`TokenDependencies`), so one read of several records decides whether a token is still valid.

An opaque token is `v1.` kid `.` salt ‖ ciphertext (base64url), encrypted with AES-256-GCM under a
subkey that HKDF derives from a sealing key and the token's own random 128-bit salt; version and
kid are associated data. The nonce is constant because no subkey is used twice.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from msgspec import Struct

from idp.config.settings import Config
from idp.foundation import base64url
from idp.keys import jws
from idp.keys.key_ring import LoadedKey
from idp.oauth.tokens.dependencies import (
    TokenDependencies,
    TokenReferences,
    from_claims,
    to_claims,
)
from idp.records import Actor, SigningAlgorithm, TokenKind
from idp.service import Service

JWT_TYPE: Final = "at+jwt"
_VERSION: Final = "v1"
_SALT_BYTES: Final = 16
_NONCE: Final = bytes(12)
_INFO: Final = b"access-token"
_CIPHERS: Final = 1000  # of recent tokens: most are presented again and again


class AccessToken(Struct, frozen=True, omit_defaults=True):
    """The claims of an access token (RFC 9068 2.2); times are whole seconds since 1970.

    `ref` has the records that the token depends on and that its other claims do not name.
    """

    iss: str
    sub: str
    aud: list[str]
    exp: int
    iat: int
    nbf: int
    jti: str
    client_id: str
    scope: str
    ref: TokenReferences
    auth_time: int | None = None
    amr: list[str] = []
    acr: str | None = None
    act: Actor | None = None

    @property
    def dependencies(self) -> TokenDependencies:
        """The records that the token depends on, by its claims.

        Nothing of them is verified here.
        """
        return from_claims(
            self.ref,
            user_id=self.sub,
            client_id=self.client_id,
            token_id=self.jti,
            actor=self.act,
        )


class AccessTokenRequest(Struct, frozen=True, kw_only=True):
    """The claims of a token to issue, and its form.

    `ends_at` bounds its lifetime where something it depends on ends sooner; `extra` are claims
    that only a JWT carries, for resource servers that read it themselves.
    """

    sub: str
    client_id: str
    audience: list[str]
    scopes: Sequence[str]
    kind: TokenKind
    dependencies: TokenDependencies
    algorithm: SigningAlgorithm = "RS256"
    auth_time: datetime | None = None
    amr: list[str] = []
    acr: str | None = None
    actor: Actor | None = None
    ends_at: datetime | None = None
    extra: Mapping[str, Any] = {}


class Issued(Struct, frozen=True):
    """A new access token and its lifetime in seconds, as the token response states it."""

    token: str
    expires_in: int


def lifetime(config: Config, kind: TokenKind) -> timedelta:
    """Returns how long an access token of this kind is valid: a JWT shorter than an opaque token.

    A resource server that validates a JWT alone does not learn that it was revoked.
    """
    is_jwt = kind == "jwt"
    seconds = config.jwt_access_token_seconds if is_jwt else config.access_token_seconds
    return timedelta(seconds=seconds)


async def issue(service: Service, request: AccessTokenRequest, now: datetime) -> Issued:
    """Returns a new access token, valid for the lifetime of its kind or until `request.ends_at`.

    The earlier of the two applies. Nothing is stored.
    """
    issued_at = int(now.timestamp())
    expires_at = int((now + lifetime(service.config, request.kind)).timestamp())
    if request.ends_at is not None:
        # A token must not outlive what it was issued for, such as the inputs of a token exchange.
        expires_at = min(expires_at, int(request.ends_at.timestamp()))
    claims = AccessToken(
        iss=service.config.issuer,
        sub=request.sub,
        aud=request.audience,
        exp=expires_at,
        iat=issued_at,
        nbf=issued_at,
        jti=service.random.id(),
        client_id=request.client_id,
        scope=" ".join(request.scopes),
        ref=to_claims(request.dependencies),
        auth_time=int(request.auth_time.timestamp()) if request.auth_time else None,
        amr=request.amr,
        acr=request.acr,
        act=request.actor,
    )
    if request.kind == "jwt":
        token = await _sign(service, claims, request)
    else:
        token = await _seal(service, claims)
    return Issued(token=token, expires_in=expires_at - issued_at)


async def read(service: Service, token: str) -> AccessToken | None:
    """Returns the claims of an access token that this issuer issued, or None for any other text.

    Its signature or authenticated encryption and `iss` are checked, but neither expiry nor
    revocation.
    """
    text = _parse(token)
    key = await service.keys.for_tokens(text.kid) if text else None
    return _open(service, text, key) if text and key else None


def is_refused(service: Service, token: str, now: datetime) -> bool:
    """Returns whether `read` finds nothing in this text with the keys that are in memory, or it
    has expired. Reads no store: a key that another process has just made is not known."""
    text = _parse(token)
    if text is None or not service.keys.is_loaded:
        return text is None
    key = service.keys.loaded_for_tokens(text.kid)
    claims = _open(service, text, key) if key else None
    return claims is None or is_expired(claims, now)


def is_expired(claims: AccessToken, now: datetime) -> bool:
    """Returns whether the token has expired at this time."""
    return now.timestamp() >= claims.exp


async def _sign(service: Service, claims: AccessToken, request: AccessTokenRequest) -> str:
    key = await service.keys.signing(request.algorithm)
    # The token's own claims come last: `extra` must not replace `sub`, `aud` or the references.
    return jws.sign(key, JWT_TYPE, {**request.extra, **_jwt_claims(service, claims)})


# The claim of the references has a name of its own under the vendor's URN, because RFC 9068 has
# none for it.
def _jwt_claims(service: Service, claims: AccessToken) -> dict[str, object]:
    wire: dict[str, object] = msgspec.to_builtins(claims)
    wire[_reference_claim(service)] = wire.pop("ref")
    return wire


def _reference_claim(service: Service) -> str:
    return f"urn:{service.config.vendor}:ref"


class _Sealed(Struct, frozen=True):
    """An opaque token that was not decrypted yet."""

    header: str
    body: str


class _Text(Struct, frozen=True):
    """The text of a token, by its form, and the id of its key."""

    kid: str
    content: jws.Parsed | _Sealed


def _parse(token: str) -> _Text | None:
    """Returns a text that has the form of an access token; None for any other."""
    # The limit comes first: decoding and decrypting cost time in proportion to the length.
    if len(token) > jws.MAX_TOKEN_CHARACTERS:
        return None
    if token.startswith(f"{_VERSION}."):
        header, _, body = token.rpartition(".")
        return _Text(header.removeprefix(f"{_VERSION}."), _Sealed(header, body))
    try:
        parsed = jws.parse(token)
    except jws.NotAToken:
        return None
    # `typ` distinguishes access tokens from ID tokens, which are signed with the same keys
    # (RFC 9068 4).
    return _Text(parsed.header.kid, parsed) if parsed.header.typ == JWT_TYPE else None


def _open(service: Service, text: _Text, key: LoadedKey) -> AccessToken | None:
    content = text.content
    if isinstance(content, _Sealed):
        claims = _decrypt(content, key)
    else:
        claims = _verify(service, content, key)
    return claims if claims is not None and claims.iss == service.config.issuer else None


def _verify(service: Service, parsed: jws.Parsed, key: LoadedKey) -> AccessToken | None:
    try:
        jws.verify(key, parsed)
        wire = msgspec.json.decode(parsed.payload)
        wire["ref"] = wire.pop(_reference_claim(service))
        return msgspec.convert(wire, AccessToken)
    except (jws.NotAToken, KeyError, msgspec.ValidationError):
        return None


async def _seal(service: Service, claims: AccessToken) -> str:
    key = await service.keys.sealing()
    salt = service.random.token_bytes(_SALT_BYTES)
    cipher = _cipher(key.symmetric or b"", salt)
    header = f"{_VERSION}.{key.kid}"
    sealed = cipher.encrypt(_NONCE, msgspec.json.encode(claims), header.encode())
    return f"{header}.{base64url.encode(salt + sealed)}"


def _decrypt(sealed: _Sealed, key: LoadedKey) -> AccessToken | None:
    if key.symmetric is None:
        return None
    try:
        data = jws.decode(sealed.body)
        cipher = _cipher(key.symmetric, data[:_SALT_BYTES])
        plain = cipher.decrypt(_NONCE, data[_SALT_BYTES:], sealed.header.encode())
    except (jws.NotAToken, InvalidTag, ValueError):
        return None
    return msgspec.json.decode(plain, type=AccessToken)


@lru_cache(_CIPHERS)
def _cipher(key: bytes, salt: bytes) -> AESGCM:
    # HKDF-SHA256 (RFC 5869) of one block, at a third of the time that the library's takes.
    extracted = hmac.digest(salt, key, "sha256")
    return AESGCM(hmac.digest(extracted, _INFO + b"\x01", "sha256"))
