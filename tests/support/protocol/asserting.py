"""Clients that authenticate by a signed JWT: a registered key, and assertions signed with it."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from jwcrypto.jwk import JWK
from jwcrypto.jwt import JWT

from idp.records import APP_KEYS, RegisteredKey
from storage import Insert

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


_make_rsa = rsa.generate_private_key  # before a fixture lets the service share its keys


@cache
def private_key(algorithm: str = "RS256", number: int = 0):
    """A key of its own for each algorithm and number; the session shares them."""
    if algorithm == "ES256":
        return ec.generate_private_key(ec.SECP256R1())
    if algorithm == "EdDSA":
        return ed25519.Ed25519PrivateKey.generate()
    return _make_rsa(public_exponent=65537, key_size=2048)


def public_pem(private) -> str:
    return (
        private.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode()
    )


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@cache
def jwk_of(private) -> JWK:
    """The private key for jwcrypto, which checks its numbers at the first use: for 50 ms."""
    return JWK.from_pyca(private)


@dataclass
class Asserting:
    """An issuer of assertions. `claims` are those of a good one but for what changes."""

    server: Any
    issuer: str
    kid: str
    algorithm: str = "RS256"
    private: Any = None
    made: int = field(default=0)

    def claims(self, **changes) -> dict:
        """The claims of a fresh assertion; a change to None leaves one out."""
        self.made += 1
        now = int(self.server.clock.now().timestamp())
        claims = {
            "iss": self.issuer,
            "sub": self.issuer,
            "aud": self.server.issuer,
            "iat": now,
            "exp": now + 300,
            "jti": f"{self.kid}-{self.made}",
        } | changes
        return {name: value for name, value in claims.items() if value is not None}

    def sign(self, claims: dict, key=None, **header) -> str:
        protected = {"alg": self.algorithm, "kid": self.kid, "typ": "JWT"} | header
        protected = {name: value for name, value in protected.items() if value is not None}
        token = JWT(header=protected, claims=claims)
        token.make_signed_token(jwk_of(key or self.private))
        return token.serialize()

    def assertion(self, **changes) -> str:
        return self.sign(self.claims(**changes))

    def client_form(self, **changes) -> dict:
        """The form fields of private_key_jwt."""
        return {
            "client_assertion_type": ASSERTION_TYPE,
            "client_assertion": self.assertion(**changes),
        }


def sign_raw(private, header: bytes, payload: bytes) -> str:
    """A compact JWS of unchanged bytes, well-formed or not."""
    head, body = base64url(header), base64url(payload)
    signature = private.sign(f"{head}.{body}".encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{head}.{body}.{base64url(signature)}"


async def register_key(
    server, owner_id: str, kid: str, *, collection=APP_KEYS, algorithm="RS256", number=0, **changes
) -> Asserting:
    """Registers a public key for an application or a service user, in the store itself."""
    private = private_key(algorithm, number)
    now = server.clock.now()
    record = RegisteredKey(
        id=kid,
        owner_id=owner_id,
        public=public_pem(private),
        created_at=now,
        **({"expires_at": now + timedelta(days=365)} | changes),
    )
    await server.store.commit(Insert(collection, record))
    return Asserting(server, owner_id, kid, algorithm, private)
