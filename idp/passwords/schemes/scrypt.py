"""scrypt (RFC 7914): `$scrypt$ln=…,r=…,p=…$salt$hash`, which some systems mark `$7$`."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Final

from idp.passwords.schemes.base import ParsedHash, Strength, UnreadableHash, base64_bytes, number

# Bounds: one verification stays below 128 MiB and about a second on a current machine.
MAX_LN: Final = 20
MAX_BLOCK: Final = 32
MAX_PARALLEL: Final = 16
MAX_BYTES: Final = 128 * 1024 * 1024
MAX_BLOCKS: Final = 3 * 1024 * 1024
_SECONDS_PER_BLOCK: Final = 3e-7
_OPENSSL_MAX_BYTES: Final = 2 * MAX_BYTES  # the limit for OpenSSL, which counts more than N and r

_ENCODED: Final = re.compile(
    r"\$(?:scrypt|7)\$ln=([0-9]{1,10}),r=([0-9]{1,10}),p=([0-9]{1,10})"
    r"\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)"
)


def read(encoded: str) -> ParsedHash:
    """Returns the hash, ready to verify. Raises UnreadableHash."""
    match = _ENCODED.fullmatch(encoded)
    if not match:
        raise UnreadableHash("scrypt is written $scrypt$ln=…,r=…,p=…$salt$hash")
    ln, r, p, salt, expected = match.groups()
    key = base64_bytes(expected, "the hash", 16, 64)
    return parsed_hash(
        number(ln, "ln", 1, MAX_LN), r, p, base64_bytes(salt, "the salt", 1, 64), key
    )


def parsed_hash(ln: int, block: str, parallel: str, salt: bytes, expected: bytes) -> ParsedHash:
    """Returns the hash with these parameters, ready to verify; for formats that encode them in
    other ways, too.

    `ln` is the exponent of N, `block` is r, `parallel` is p, and `expected` the hash itself.
    Raises UnreadableHash if a parameter is out of bounds.
    """
    r, p = number(block, "r", 1, MAX_BLOCK), number(parallel, "p", 1, MAX_PARALLEL)
    n = 1 << ln
    if 128 * n * r > MAX_BYTES:
        raise UnreadableHash(f"128 times N times r must be at most {MAX_BYTES}")
    if n * r * p > MAX_BLOCKS:
        raise UnreadableHash(f"N times r times p must be at most {MAX_BLOCKS}")

    def verify(password: bytes) -> bool:
        computed = hashlib.scrypt(
            password, salt=salt, n=n, r=r, p=p, maxmem=_OPENSSL_MAX_BYTES, dklen=len(expected)
        )
        return hmac.compare_digest(computed, expected)

    strength = Strength("imported_scrypt_min_cost", ln)
    return ParsedHash("scrypt", (ln, r, p), verify, n * r * p * _SECONDS_PER_BLOCK, strength)


def exponent(n: str) -> int:
    """Returns the exponent `ln` of N, which is given as a decimal number. Raises UnreadableHash if
    N is not a power of two.
    """
    value = number(n, "N", 2, 1 << MAX_LN)
    if value & (value - 1):
        raise UnreadableHash("N must be a power of two")
    return value.bit_length() - 1
