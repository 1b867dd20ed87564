"""One round of MD5 or SHA: in hexadecimal, salted, and as a directory (LDAP) stores it.

Guessing these is very cheap, so the password is hashed again, by the installation's own scheme, at
the user's first sign-in.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Final

from idp.passwords.schemes.base import ParsedHash, UnreadableHash, padded_base64_bytes

_HEXADECIMAL: Final = re.compile(r"(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9A-F]{32}|[0-9A-F]{40})")
_BY_LENGTH: Final = {32: "md5", 40: "sha1"}
_SALTED_MD5: Final = re.compile(
    r"\$md5salted-(prefix|suffix)\$([!-#%-~]{1,64})\$([A-Za-z0-9+/]{22}==)"
)
_DIRECTORY: Final = re.compile(r"\{(S?)(MD5|SHA(?:256|384|512)?)\}([A-Za-z0-9+/]{20,176}={0,2})")
NO_KNOWN_FORMAT: Final = "it is neither in a known format nor a hexadecimal MD5 or SHA-1"


def read_hexadecimal(encoded: str) -> ParsedHash:
    """Returns the MD5 or SHA-1 of the password alone, ready to verify. Raises UnreadableHash."""
    if not _HEXADECIMAL.fullmatch(encoded):
        raise UnreadableHash(NO_KNOWN_FORMAT)
    return _stored(_BY_LENGTH[len(encoded)], bytes.fromhex(encoded))


def read_salted_md5(encoded: str) -> ParsedHash:
    """Returns the MD5 of salt and password, ready to verify. Raises UnreadableHash."""
    match = _SALTED_MD5.fullmatch(encoded)
    if not match:
        raise UnreadableHash("salted MD5 is written $md5salted-suffix$salt$base64")
    salt_position, salt, expected = match[1], match[2].encode("ascii"), match[3]
    digest = padded_base64_bytes(expected, "the hash", 16, 16)
    if salt_position == "prefix":
        return _stored("md5", digest, salt_before=salt)
    return _stored("md5", digest, salt_after=salt)


def read_directory(encoded: str) -> ParsedHash:
    """Returns the hash of a directory, ready to verify: the salt, if any, follows the digest.
    Raises UnreadableHash."""
    match = _DIRECTORY.fullmatch(encoded)
    if not match:
        raise UnreadableHash("hashes of directories are written {SSHA}base64")
    name = "sha1" if match[2] == "SHA" else match[2].lower()
    size = hashlib.new(name, usedforsecurity=False).digest_size
    minimum, maximum = (1, 64) if match[1] else (0, 0)
    data = padded_base64_bytes(match[3], "what follows", size + minimum, size + maximum)
    return _stored(name, data[:size], salt_after=data[size:])


def _stored(
    name: str, expected: bytes, salt_before: bytes = b"", salt_after: bytes = b""
) -> ParsedHash:
    def verify(password: bytes) -> bool:
        computed = hashlib.new(name, salt_before + password + salt_after, usedforsecurity=False)
        return hmac.compare_digest(computed.digest(), expected)

    return ParsedHash(name, (), verify, seconds=0.0)
