"""One round of MD5 or SHA: in hexadecimal, salted, and as a directory (LDAP) stores it.

Guessing these is very cheap, so the password is hashed anew at the user's first sign-in.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Final

from idp.passwords.schemes.base import Stored, UnreadableHash, padded_base64_bytes

_HEXADECIMAL: Final = re.compile(r"(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9A-F]{32}|[0-9A-F]{40})")
_BY_LENGTH: Final = {32: "md5", 40: "sha1"}
_SALTED_MD5: Final = re.compile(
    r"\$md5salted-(prefix|suffix)\$([!-#%-~]{1,64})\$([A-Za-z0-9+/]{22}==)"
)
_DIRECTORY: Final = re.compile(r"\{(S?)SHA(256|384|512)?\}([A-Za-z0-9+/]{20,176}={0,2})")


def read_hexadecimal(encoded: str) -> Stored:
    """Returns the MD5 or SHA-1 of the password alone, ready to verify. Raises UnreadableHash."""
    if not _HEXADECIMAL.fullmatch(encoded):
        raise UnreadableHash("it begins as no known format and is no hexadecimal MD5 or SHA-1")
    return _stored(_BY_LENGTH[len(encoded)], bytes.fromhex(encoded))


def read_salted_md5(encoded: str) -> Stored:
    """Returns the MD5 of salt and password, ready to verify. Raises UnreadableHash."""
    match = _SALTED_MD5.fullmatch(encoded)
    if not match:
        raise UnreadableHash("salted MD5 is written $md5salted-suffix$salt$base64")
    place, salt, expected = match[1], match[2].encode("ascii"), match[3]
    digest = padded_base64_bytes(expected, "the hash", 16, 16)
    if place == "prefix":
        return _stored("md5", digest, before=salt)
    return _stored("md5", digest, behind=salt)


def read_directory(encoded: str) -> Stored:
    """Returns the hash of a directory, ready to verify: the salt, if any, follows the digest.
    Raises UnreadableHash."""
    match = _DIRECTORY.fullmatch(encoded)
    if not match:
        raise UnreadableHash("hashes of directories are written {SSHA}base64")
    name = f"sha{match[2] or 1}"
    size = hashlib.new(name, usedforsecurity=False).digest_size
    least, most = (1, 64) if match[1] else (0, 0)
    data = padded_base64_bytes(match[3], "what follows", size + least, size + most)
    return _stored(name, data[:size], behind=data[size:])


def _stored(name: str, expected: bytes, before: bytes = b"", behind: bytes = b"") -> Stored:
    def verify(password: bytes) -> bool:
        computed = hashlib.new(name, before + password + behind, usedforsecurity=False)
        return hmac.compare_digest(computed.digest(), expected)

    return Stored(name, (), verify)
