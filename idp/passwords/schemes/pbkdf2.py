"""PBKDF2 (RFC 8018): `$pbkdf2-sha256$ROUNDS$salt$hash`; without a name of a digest it is SHA-1."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Final

from idp.passwords.schemes.base import ParsedHash, Strength, UnreadableHash, base64_bytes, number

# Bounds of rounds times blocks of output: below a second on a current machine.
MAX_ROUNDS: Final = {
    "sha1": 2_000_000,
    "sha224": 2_000_000,
    "sha256": 2_000_000,
    "sha384": 1_000_000,
    "sha512": 1_000_000,
}
_MAX_SECONDS: Final = 0.5  # of as many rounds
_BASE64: Final = r"([A-Za-z0-9+/.]{1,100}={0,2})"
_ENCODED: Final = re.compile(
    rf"\$pbkdf2(?:-(sha1|sha224|sha256|sha384|sha512))?\$([0-9]{{1,10}})\${_BASE64}\${_BASE64}"
)


def read(encoded: str) -> ParsedHash:
    """Returns the hash, ready to verify. Raises UnreadableHash."""
    match = _ENCODED.fullmatch(encoded)
    if not match:
        raise UnreadableHash("pbkdf2 is written $pbkdf2-sha256$rounds$salt$hash")
    digest, rounds, salt, expected = match.groups()
    key = _decode(expected, "the hash", 16)
    return parsed_hash(digest or "sha1", rounds, _decode(salt, "the salt", 1), key)


def parsed_hash(digest: str, rounds: str, salt: bytes, expected: bytes) -> ParsedHash:
    """Returns the hash with these parameters, ready to verify; for formats that encode them in
    other ways, too.

    `rounds` is a decimal number and `expected` the hash itself. Raises UnreadableHash if a
    parameter is out of bounds.
    """
    blocks = -(-len(expected) // hashlib.new(digest).digest_size)
    count = number(rounds, "rounds", 1, MAX_ROUNDS[digest] // blocks)

    def verify(password: bytes) -> bool:
        computed = hashlib.pbkdf2_hmac(digest, password, salt, count, len(expected))
        return hmac.compare_digest(computed, expected)

    strength = Strength("imported_pbkdf2_min_rounds", count)
    seconds = count * blocks * _MAX_SECONDS / MAX_ROUNDS[digest]
    return ParsedHash(f"pbkdf2-{digest}", (count,), verify, seconds, strength)


def _decode(text: str, name: str, minimum: int) -> bytes:
    """Decodes base64 in one of its two forms: `.` replaces `+` if there is no `+`."""
    if text.endswith("=") and len(text) % 4:
        raise UnreadableHash(f"{name} has the wrong padding")
    standard = text if "+" in text else text.replace(".", "+")
    return base64_bytes(standard.rstrip("="), name, minimum, 64)
