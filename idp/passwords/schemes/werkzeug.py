"""Werkzeug's (Flask's) encoding of hashes: `pbkdf2:sha256:ROUNDS$salt$hex`,
`scrypt:N:r:p$salt$hex`."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from idp.passwords.schemes import pbkdf2, scrypt
from idp.passwords.schemes.base import ParsedHash, UnreadableHash

_PBKDF2: Final = re.compile(
    r"pbkdf2:(sha1|sha224|sha256|sha384|sha512):([0-9]{1,10})"
    r"\$([!-#%-~]{1,64})\$((?:[0-9a-f]{2}){20,64})"
)
_SCRYPT: Final = re.compile(
    r"scrypt:([0-9]{1,10}):([0-9]{1,10}):([0-9]{1,10})\$([!-#%-~]{1,64})\$([0-9a-f]{128})"
)


def read_pbkdf2(encoded: str) -> ParsedHash:
    """Returns the hash, ready to verify. Raises UnreadableHash."""
    match = _PBKDF2.fullmatch(encoded)
    if not match:
        raise UnreadableHash("Werkzeug's PBKDF2 is written pbkdf2:sha256:rounds$salt$hex")
    digest, rounds, salt, expected = match.groups()
    size = hashlib.new(digest, usedforsecurity=False).digest_size
    if len(expected) != 2 * size:
        raise UnreadableHash(f"the hash must have {size} bytes")
    return pbkdf2.parsed_hash(digest, rounds, salt.encode("ascii"), bytes.fromhex(expected))


def read_scrypt(encoded: str) -> ParsedHash:
    """Returns the hash, ready to verify. Raises UnreadableHash."""
    match = _SCRYPT.fullmatch(encoded)
    if not match:
        raise UnreadableHash("Werkzeug's scrypt is written scrypt:N:r:p$salt$hex")
    n, r, p, salt, expected = match.groups()
    key = bytes.fromhex(expected)
    return scrypt.parsed_hash(scrypt.exponent(n), r, p, salt.encode("ascii"), key)
