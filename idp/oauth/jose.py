"""JWS as this service makes and reads it (RFC 7515): a thin seam over `cryptography`.

Signing and verifying go the direct way because they are on every hot path; the tests hold both
against jwcrypto. Only tokens of this service are read here: a header with anything but `alg`,
`kid` and `typ` is refused.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from msgspec import Struct

from idp import base64url
from idp.oauth.keys import LoadedKey

MAX_TOKEN_CHARACTERS: Final = 16 * 1024


class Header(Struct, forbid_unknown_fields=True):
    alg: str
    kid: str
    typ: str | None = None


class Parsed(Struct, frozen=True):
    """A token taken apart; nothing in it is to be believed before `verify`."""

    header: Header
    payload: bytes
    signing_input: bytes
    signature: bytes


class NotAToken(ValueError):
    """The text isn't a token of this service: malformed, or its signature doesn't verify."""


def decode(text: str) -> bytes:
    """The octets of canonical unpadded base64url. Raises NotAToken."""
    try:
        return base64url.decode(text)
    except ValueError as error:
        raise NotAToken(str(error)) from None


def sign(key: LoadedKey, typ: str, claims: dict[str, Any]) -> str:
    """The compact JWS of `claims`, signed by the key's own algorithm."""
    if key.private is None:
        raise TypeError(f"{key.kid} does not sign")
    header = msgspec.json.encode({"alg": key.record.algorithm, "kid": key.kid, "typ": typ})
    signing_input = f"{base64url.encode(header)}.{base64url.encode(msgspec.json.encode(claims))}"
    signature = key.private.sign(signing_input.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{signing_input}.{base64url.encode(signature)}"


def parse(token: str) -> Parsed:
    """Take a compact JWS apart. Raises NotAToken."""
    parts = token.split(".") if len(token) <= MAX_TOKEN_CHARACTERS else []
    if len(parts) != 3:
        raise NotAToken("not a compact JWS")
    try:
        header = msgspec.json.decode(decode(parts[0]), type=Header)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise NotAToken("not a header of this service") from None
    signing_input = f"{parts[0]}.{parts[1]}".encode()
    return Parsed(header, decode(parts[1]), signing_input, decode(parts[2]))


def verify(key: LoadedKey, parsed: Parsed) -> None:
    """Raise NotAToken unless the signature is the key's, by the key's own algorithm."""
    if key.public is None or parsed.header.alg != key.record.algorithm:
        raise NotAToken("not signed by this key's algorithm")
    try:
        key.public.verify(
            parsed.signature, parsed.signing_input, padding.PKCS1v15(), hashes.SHA256()
        )
    except InvalidSignature:
        raise NotAToken("the signature does not verify") from None
