"""Modified copies of credentials, as an attacker would try them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator

OTHER = {"A": "B"}


def changed(token: str) -> Iterator[str]:
    """The token with one character changed, for each position."""
    for at, letter in enumerate(token):
        yield token[:at] + OTHER.get(letter, "A") + token[at + 1 :]


def cut(token: str) -> Iterator[str]:
    """Every prefix and every suffix of the token."""
    for at in range(1, len(token)):
        yield token[:at]
        yield token[at:]


def longer(token: str) -> list[str]:
    """The token with characters added."""
    return [token + extra for extra in ("A", "=", "==", ".", "-", "AAAA", "!", token)] + [
        "A" + token,
        "." + token,
    ]


def encode(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def part(token: str, index: int) -> dict:
    """The header (0) or the claims (1) of a JWT, read without verifying its signature."""
    return json.loads(decode(token.split(".")[index]))


def resigned(token: str, header: dict, claims: dict | None = None, secret: bytes = b"") -> str:
    """The token with another header or other claims: signed by HMAC, or by its old signature."""
    head = encode(json.dumps(part(token, 0) | header).encode())
    body = encode(json.dumps(part(token, 1) | (claims or {})).encode())
    signature = token.split(".")[2]
    if secret:
        signature = encode(hmac.digest(secret, f"{head}.{body}".encode(), hashlib.sha256))
    return f"{head}.{body}.{signature}"


def unsigned(token: str, alg: str = "none") -> str:
    """The token with `alg` none (in some spelling) and no signature."""
    head = encode(json.dumps(part(token, 0) | {"alg": alg}).encode())
    return f"{head}.{token.split('.')[1]}."


def hostile_jwts(token: str, public_key: bytes) -> dict[str, str]:
    """Variants of a genuine JWT that other verifiers have accepted by mistake."""
    header, claims, signature = token.split(".")
    return {
        "alg none": unsigned(token),
        "alg None": unsigned(token, "None"),
        "alg none with the old signature": resigned(token, {"alg": "none"}),
        "alg HS256 with the public key": resigned(token, {"alg": "HS256"}, secret=public_key),
        "alg HS256 with nothing": resigned(token, {"alg": "HS256"}, secret=b"\0"),
        "alg null": resigned(token, {"alg": None}),
        "alg RS512": resigned(token, {"alg": "RS512"}),
        "kid of nobody": resigned(token, {"kid": "nobody"}),
        "kid a list": resigned(token, {"kid": ["a"]}),
        "kid a path": resigned(token, {"kid": "../../etc/passwd"}),
        "kid of 10 KB": resigned(token, {"kid": "k" * 10_000}),
        "a jwk of its own": resigned(token, {"jwk": {"kty": "oct", "k": "AA"}}),
        "a jku": resigned(token, {"jku": "https://evil.example/keys"}),
        "an unknown crit": resigned(token, {"crit": ["x"], "x": 1}),
        "b64 false": resigned(token, {"b64": False, "crit": ["b64"]}),
        "other claims": resigned(token, {}, {"sub": "somebody-else"}),
        "no header": f".{claims}.{signature}",
        "no claims": f"{header}..{signature}",
        "no signature": f"{header}.{claims}.",
        "two parts": f"{header}.{claims}",
        "four parts": f"{token}.AAAA",
        "a header that is a list": f"{encode(b'[]')}.{claims}.{signature}",
        "a deep header": f"{encode(b'[' * 5000)}.{claims}.{signature}",
        "not base64url": f"{header}.{claims}.%%%",
        "1 MB cut to what a header may hold": "a" * 15_000,
    }
