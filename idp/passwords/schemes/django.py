"""Django's encoding of hashes: `pbkdf2_sha256$ROUNDS$salt$hash`, and the others of its
settings."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from msgspec import structs

from idp.passwords.schemes import argon2, bcrypt, pbkdf2, scrypt
from idp.passwords.schemes.base import ParsedHash, UnreadableHash, padded_base64_bytes

_PBKDF2: Final = re.compile(
    r"pbkdf2_(sha1|sha256)\$([0-9]{1,10})\$([!-#%-~]{1,64})\$([A-Za-z0-9+/]{1,100}={0,2})"
)
_SCRYPT: Final = re.compile(
    r"scrypt\$([0-9]{1,10})\$([!-#%-~]{1,64})\$([0-9]{1,10})\$([0-9]{1,10})"
    r"\$([A-Za-z0-9+/]{1,100}={0,2})"
)


def read_pbkdf2(encoded: str) -> ParsedHash:
    """Returns the hash, ready to verify. Raises UnreadableHash."""
    match = _PBKDF2.fullmatch(encoded)
    if not match:
        raise UnreadableHash("Django's PBKDF2 is written pbkdf2_sha256$rounds$salt$hash")
    digest, rounds, salt, expected = match.groups()
    size = hashlib.new(digest, usedforsecurity=False).digest_size
    key = padded_base64_bytes(expected, "the hash", size, size)
    return pbkdf2.parsed_hash(digest, rounds, salt.encode("ascii"), key)


def read_scrypt(encoded: str) -> ParsedHash:
    """Returns the hash, ready to verify. Raises UnreadableHash."""
    match = _SCRYPT.fullmatch(encoded)
    if not match:
        raise UnreadableHash("Django's scrypt is written scrypt$N$salt$r$p$hash")
    n, salt, r, p, expected = match.groups()
    key = padded_base64_bytes(expected, "the hash", 64, 64)
    return scrypt.parsed_hash(scrypt.exponent(n), r, p, salt.encode("ascii"), key)


def read_argon2(encoded: str) -> ParsedHash:
    """Returns the hash, ready to verify. Raises UnreadableHash."""
    return argon2.read(encoded.removeprefix("argon2"))


def read_bcrypt(encoded: str) -> ParsedHash:
    """Returns the hash, ready to verify. Raises UnreadableHash."""
    return bcrypt.read(encoded.removeprefix("bcrypt$"))


def read_bcrypt_sha256(encoded: str) -> ParsedHash:
    """Returns the bcrypt hash of the password's SHA-256 in hexadecimal, ready to verify. Raises
    UnreadableHash."""
    inner = bcrypt.read(encoded.removeprefix("bcrypt_sha256$"))

    def verify(password: bytes) -> bool:
        return inner.verify(hashlib.sha256(password).hexdigest().encode("ascii"))

    return structs.replace(inner, scheme="bcrypt-sha256", verify=verify)
