"""JWS (RFC 7515): signing and verification with `cryptography`.

They use no JOSE library because they are on every hot path; the tests compare both with
jwcrypto. `parse` and `verify` are for tokens of this service, whose header has `alg`, `kid` and
`typ` and nothing else; `parse_foreign`, `load_public` and `verify_foreign` for tokens that others
sign with a key registered here. Of their header too nothing else is read: no token can bring its
own key, name an address to fetch one from, or change how it is read.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

import msgspec
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from msgspec import Struct

from idp.foundation import base64url, strict_json
from idp.foundation.errors import InvalidArgument
from idp.keys.algorithms import ALGORITHMS, RSA_BITS, PublicKey
from idp.keys.key_ring import LoadedKey

MAX_TOKEN_CHARACTERS: Final = 16 * 1024
MAX_KEY_CHARACTERS: Final = 16 * 1024


class Header(Struct):
    """The parameters of a JOSE header that are read."""

    alg: str
    kid: str
    typ: str | None = None


class _OwnHeader(Header, forbid_unknown_fields=True):
    """The header of a token of this service."""


class Parsed(Struct, frozen=True):
    """A token that was parsed, and must not be trusted before it was verified."""

    header: Header
    payload: bytes
    signing_input: bytes
    signature: bytes


class NotAToken(ValueError):
    """The text isn't a valid token: malformed, or its signature doesn't verify."""


class UnusableKey(NotAToken):
    """The public key is not accepted. The message gives the reason, and reveals nothing of the
    key."""


def decode(text: str) -> bytes:
    """Decodes canonical unpadded base64url. Raises NotAToken."""
    try:
        return base64url.decode(text)
    except ValueError as error:
        raise NotAToken(str(error)) from None


def sign(key: LoadedKey, typ: str, claims: dict[str, Any]) -> str:
    """Returns the compact JWS of `claims`, signed with the key's own algorithm; `typ` is the
    header parameter, such as `at+jwt`."""
    if key.private is None:
        raise TypeError(f"{key.kid} does not sign")
    algorithm = key.record.algorithm
    header = msgspec.json.encode({"alg": algorithm, "kid": key.kid, "typ": typ})
    signing_input = f"{base64url.encode(header)}.{base64url.encode(msgspec.json.encode(claims))}"
    signature = ALGORITHMS[algorithm].sign(key.private, signing_input.encode())
    return f"{signing_input}.{base64url.encode(signature)}"


def half_hash(algorithm: str, value: str) -> str:
    """Returns the value of `at_hash` or `c_hash` (OpenID Connect Core 3.1.3.6) for `value`, an
    access token or a code.

    `algorithm` is that of the ID token which contains the claim.
    """
    digest: bytes = ALGORITHMS[algorithm].digest(value.encode()).digest()
    return base64url.encode(digest[: len(digest) // 2])


def parse(token: str) -> Parsed:
    """Parses a compact JWS that this service has signed, without verifying it. Raises
    NotAToken."""
    head, payload, signature = _split(token)
    try:
        header = msgspec.json.decode(decode(head), type=_OwnHeader)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise NotAToken("not a header of this service") from None
    return _parsed(header, head, payload, signature)


def parse_foreign(token: str) -> Parsed:
    """Parses a compact JWS of another party, without verifying it. Raises NotAToken, whose message
    gives the reason.

    The header is parsed as strictly as all JSON here: no duplicate name, no bytes after the end.
    Parameters that are not read, such as `x5c` or `jku`, are ignored (RFC 7515 4); `crit` is
    refused, because it requires some of them to be understood (4.1.11).
    """
    head, payload, signature = _split(token)
    return _parsed(_foreign_header(head), head, payload, signature)


def _foreign_header(head: str) -> Header:
    try:
        parameters = strict_json.decode(decode(head))
        header = msgspec.convert(parameters, Header)
    except InvalidArgument:
        raise NotAToken("its header is not one well-formed JSON object") from None
    except msgspec.ValidationError:
        raise NotAToken("its header has to have alg and kid, both strings") from None
    if isinstance(parameters, dict) and "crit" in parameters:
        raise NotAToken("its header has crit, and no extension of JWS is supported")
    return header


def _split(token: str) -> list[str]:
    parts = token.split(".") if len(token) <= MAX_TOKEN_CHARACTERS else []
    if len(parts) != 3:
        raise NotAToken("not a compact JWS")
    return parts


def _parsed(header: Header, head: str, payload: str, signature: str) -> Parsed:
    content = decode(payload)
    return Parsed(header, content, f"{head}.{payload}".encode(), decode(signature))


def verify(key: LoadedKey, parsed: Parsed) -> None:
    """Raises NotAToken unless the token is signed by this key, with the key's own algorithm."""
    if key.public is None or parsed.header.alg != key.record.algorithm:
        raise NotAToken("not signed by this key's algorithm")
    _verify(key.public, parsed)


def load_public(pem: str) -> PublicKey:
    """Returns the public key in a PEM if it fits an algorithm. Raises UnusableKey."""
    try:
        if len(pem) > MAX_KEY_CHARACTERS:
            raise ValueError("too long")
        key: Any = serialization.load_pem_public_key(pem.encode("ascii"))
    except (ValueError, UnsupportedAlgorithm):
        raise UnusableKey("not a public key as PEM, or of a kind that is not taken") from None
    if not any(algorithm.fits(key) for algorithm in ALGORITHMS.values()):
        raise UnusableKey(_unusable_reason(key))
    public_key: PublicKey = key
    return public_key


def _unusable_reason(key: object) -> str:
    if isinstance(key, rsa.RSAPublicKey):
        smallest, largest = RSA_BITS
        return f"an RSA key needs {smallest} to {largest} bits, and an odd exponent of 3 or more"
    return "only RSA, P-256 and Ed25519 keys are taken"


def verify_foreign(key: PublicKey, parsed: Parsed, algorithms: Collection[str]) -> None:
    """Raises NotAToken unless the token is signed by this key, with the algorithm that its header
    names, which must be one of `algorithms` and fit the key."""
    alg = parsed.header.alg
    if alg not in algorithms or alg not in ALGORITHMS:
        raise NotAToken("its alg is not one of those that are taken")
    if not ALGORITHMS[alg].fits(key):
        raise NotAToken("its alg does not fit the key")
    _verify(key, parsed)


def _verify(key: PublicKey, parsed: Parsed) -> None:
    try:
        ALGORITHMS[parsed.header.alg].verify(key, parsed.signature, parsed.signing_input)
    except InvalidSignature:
        raise NotAToken("the signature does not verify") from None
