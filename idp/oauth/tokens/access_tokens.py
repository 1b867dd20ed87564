"""Access tokens that carry their claims: a signed JWT (RFC 9068), or the same claims encrypted.

Issuing a token writes nothing to the store. Both kinds name every record they depend on
(`TokenReferences`), so one read of several records decides whether a token is still valid.

An opaque token is `v1.` kid `.` salt ‖ ciphertext (base64url), encrypted with AES-256-GCM under a
subkey that HKDF derives from a sealing key and the token's own random 128-bit salt; version and
kid are associated data. The nonce is constant because no subkey is used twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from msgspec import Struct

from idp.config.settings import Config
from idp.foundation import base64url
from idp.keys import jws
from idp.oauth.tokens.validity import StampOwner, TokenDependencies
from idp.records import Actor, Grounds, SigningAlgorithm, TokenKind, Use
from idp.service import Service

JWT_TYPE: Final = "at+jwt"
_VERSION: Final = "v1"
_SALT_BYTES: Final = 16
_NONCE: Final = bytes(12)


class TokenReferences(Struct, frozen=True, omit_defaults=True):
    """The records that a token depends on, and the digest of their stamps when it was issued.

    A token without `user_org` has no user; one without `client_org` was issued to a service user.
    The fields from `actor_orgs` on come from a token exchange: the organizations of the actors
    (the outermost first), and the authorizations, sessions, tokens, personal access tokens,
    clients and uses of its inputs. A client is a pair of its own id and its organization's.
    `grounds` are those by which the user may use the client.
    """

    stamps: str
    authorization: str | None = None
    user_org: str | None = None
    client_org: str | None = None
    session: str | None = None
    actor_orgs: list[str] = []
    parents: list[str] = []
    sessions: list[str] = []
    tokens: list[str] = []
    pats: list[str] = []
    clients: list[tuple[str, str]] = []
    uses: list[Use] = []
    grounds: Grounds | None = None


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
    ref: TokenReferences
    auth_time: int | None = None
    amr: list[str] = []
    acr: str | None = None
    act: Actor | None = None


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
    ref: TokenReferences
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
    """Returns how long an access token of this kind is valid.

    A JWT has the shorter lifetime: a resource server that validates it alone does not learn that
    it was revoked.
    """
    is_jwt = kind == "jwt"
    seconds = config.jwt_access_token_seconds if is_jwt else config.access_token_seconds
    return timedelta(seconds=seconds)


async def issue(service: Service, terms: AccessTokenRequest, now: datetime) -> Issued:
    """Issues an access token with a lifetime of its kind, at most until `terms.ends_at`. Writes
    nothing."""
    issued_at = int(now.timestamp())
    expires_at = int((now + lifetime(service.config, terms.kind)).timestamp())
    if terms.ends_at is not None:
        # A token must not outlive what it came of, for example the inputs of a token exchange.
        expires_at = min(expires_at, int(terms.ends_at.timestamp()))
    claims = AccessToken(
        iss=service.config.issuer,
        sub=terms.sub,
        aud=terms.audience,
        exp=expires_at,
        iat=issued_at,
        nbf=issued_at,
        jti=service.random.id(),
        client_id=terms.client_id,
        scope=" ".join(terms.scopes),
        ref=terms.ref,
        auth_time=int(terms.auth_time.timestamp()) if terms.auth_time else None,
        amr=terms.amr,
        acr=terms.acr,
        act=terms.actor,
    )
    if terms.kind == "jwt":
        token = await _sign(service, claims, terms)
    else:
        token = await _seal(service, claims)
    return Issued(token=token, expires_in=expires_at - issued_at)


def named(claims: AccessToken) -> TokenDependencies:
    """Returns the records that a token depends on.

    Nothing is verified here, so it may also be given claims of a token that is expired or revoked.
    """
    ref = claims.ref
    return TokenDependencies(
        stamps=ref.stamps,
        user=StampOwner(claims.sub, ref.user_org) if ref.user_org else None,
        client=StampOwner(claims.client_id, ref.client_org) if ref.client_org else None,
        actors=[
            StampOwner(*each) for each in zip(chain(claims.act), ref.actor_orgs, strict=False)
        ],
        authorization_ids=[*([ref.authorization] if ref.authorization else []), *ref.parents],
        session_id=ref.session,
        session_ids=[*([ref.session] if ref.session else []), *ref.sessions],
        token_ids=[claims.jti, *ref.tokens],
        pat_ids=ref.pats,
        others=[StampOwner(*each) for each in ref.clients],
        uses=[*_own_use(claims), *ref.uses],
    )


def _own_use(claims: AccessToken) -> list[Use]:
    """Returns the use of the token's client by its user, if the token has both."""
    ref = claims.ref
    if ref.user_org is None or ref.client_org is None:
        return []
    return [
        Use(
            user_id=claims.sub,
            user_org_id=ref.user_org,
            client_id=claims.client_id,
            client_org_id=ref.client_org,
            grounds=ref.grounds,
        )
    ]


def chain(actor: Actor | None) -> Iterator[str]:
    """Yields the subjects of a chain of actors (RFC 8693 4.1), the outermost first."""
    while actor is not None:
        yield actor.sub
        actor = actor.act


async def read(service: Service, token: str) -> AccessToken | None:
    """Returns the claims of an access token that this issuer made, or None for any other text.

    Checks the signature or the authenticated encryption and `iss`, but neither the expiry nor a
    revocation.
    """
    claims = await (_open(service, token) if token.startswith("v1.") else _verify(service, token))
    return claims if claims is not None and claims.iss == service.config.issuer else None


def is_expired(claims: AccessToken, now: datetime) -> bool:
    """Returns whether the token's lifetime is over at this time."""
    return now.timestamp() >= claims.exp


async def _sign(service: Service, claims: AccessToken, terms: AccessTokenRequest) -> str:
    key = await service.keys.signing(terms.algorithm)
    # The token's own claims come last: `extra` must not replace `sub`, `aud` or the references.
    return jws.sign(key, JWT_TYPE, {**terms.extra, **_jwt_claims(service, claims)})


# The claim of the references has a name of its own under the vendor's URN, because RFC 9068 has
# none for it.
def _jwt_claims(service: Service, claims: AccessToken) -> dict[str, object]:
    wire: dict[str, object] = msgspec.to_builtins(claims)
    wire[_reference_claim(service)] = wire.pop("ref")
    return wire


def _reference_claim(service: Service) -> str:
    return f"urn:{service.config.vendor}:ref"


async def _verify(service: Service, token: str) -> AccessToken | None:
    try:
        parsed = jws.parse(token)
        key = await service.keys.for_tokens(parsed.header.kid)
        # `typ` distinguishes access tokens from ID tokens, which are signed with the same keys
        # (RFC 9068 4).
        if key is None or parsed.header.typ != JWT_TYPE:
            return None
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


async def _open(service: Service, token: str) -> AccessToken | None:
    header, _, body = token.rpartition(".")
    # The limit comes first: decoding and decrypting cost time in proportion to the length.
    if len(token) > jws.MAX_TOKEN_CHARACTERS:
        return None
    key = await service.keys.for_tokens(header.removeprefix(f"{_VERSION}."))
    if key is None or key.symmetric is None:
        return None
    try:
        octets = jws.decode(body)
        cipher = _cipher(key.symmetric, octets[:_SALT_BYTES])
        plain = cipher.decrypt(_NONCE, octets[_SALT_BYTES:], header.encode())
    except (jws.NotAToken, InvalidTag, ValueError):
        return None
    return msgspec.json.decode(plain, type=AccessToken)


def _cipher(key: bytes, salt: bytes) -> AESGCM:
    hkdf = HKDF(algorithm=hashes.SHA256(), length=32, salt=salt, info=b"access-token")
    return AESGCM(hkdf.derive(key))
